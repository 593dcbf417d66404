// Package needle finds several short texts in a long one, and remembers answers about
// texts that come again.
package needle

import (
	"bytes"
	"slices"
)

// A Set holds texts to look for. It is immutable and safe for concurrent use.
type Set struct {
	texts [][]byte // in lower case if fold is set
	fold  bool     // ASCII case does not matter
	near  int      // the number of bytes that the tables compare: 3, or the length of the shortest text
	// Bit i%32 of table[k][c] is set if a text with index i has the byte c
	// at place k.
	table [3][256]uint32
}

// NewSet returns the set of texts, none of which may be empty.
func NewSet(texts []string, fold bool) *Set {
	s := &Set{fold: fold, near: 3}
	for _, text := range texts {
		s.texts = append(s.texts, []byte(text))
		s.near = min(s.near, len(text))
	}
	for i, t := range s.texts {
		for k := range t {
			if t[k] = s.byteOf(t[k]); k < s.near {
				s.table[k][t[k]] |= 1 << (i % 32)
			}
		}
	}
	for k := range s.near {
		for c := byte('A'); fold && c <= 'Z'; c++ {
			s.table[k][c] = s.table[k][s.byteOf(c)]
		}
	}
	return s
}

// byteOf returns a byte as the set compares it.
func (s *Set) byteOf(c byte) byte {
	if s.fold && 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// In reports whether t contains a text of the set.
func (s *Set) In(t []byte) bool {
	if len(s.texts) == 1 && !s.fold {
		return bytes.Contains(t, s.texts[0])
	}
	at, _ := s.Find(t)
	return at >= 0
}

// Find returns where in t the first text of the set begins, and its index.
// If several texts begin there, it is the index of the longest one. at is -1
// if t contains none.
func (s *Set) Find(t []byte) (at, text int) {
	var one, two uint32 // bits of the texts whose first byte can be the last byte (one), or whose first two bytes can be the last two (two)
	for i, c := range t {
		hit := two & s.table[2][c]
		two = one & s.table[1][c]
		one = s.table[0][c]
		if s.near < 3 {
			if hit = two; s.near == 1 {
				hit = one
			}
		}
		if hit != 0 {
			if text = s.longest(hit, t[i+1-s.near:]); text >= 0 {
				return i + 1 - s.near, text
			}
		}
	}
	return -1, -1
}

// longest returns the index of the longest text at the start of t among those whose bits
// are in hit, or -1.
func (s *Set) longest(hit uint32, t []byte) int {
	best := -1
	for i, text := range s.texts {
		if hit>>(i%32)&1 != 0 && (best < 0 || len(text) > len(s.texts[best])) && s.begins(t, text) {
			best = i
		}
	}
	return best
}

// begins reports whether text, of the set, is at the start of t.
func (s *Set) begins(t, text []byte) bool { return len(t) >= len(text) && s.equal(t[:len(text)], text) }

// equal reports whether t equals text, a text of the set. Both have the same
// length.
func (s *Set) equal(t, text []byte) bool {
	if !s.fold {
		return bytes.Equal(t, text)
	}
	for i, c := range text {
		if s.byteOf(t[i]) != c {
			return false
		}
	}
	return true
}

// At reports whether a text of the set is at the start of t if start is set, at
// the end of t if end is set, or is equal to t if both are set.
func (s *Set) At(t []byte, start, end bool) bool {
	return slices.ContainsFunc(s.texts, func(text []byte) bool {
		n := len(t) - len(text)
		switch {
		case n < 0 || start && end && n > 0:
			return false
		case start:
			return s.equal(t[:len(text)], text)
		}
		return s.equal(t[n:], text)
	})
}
