// Package scan finds the bytes of a text that are outside a set of ASCII bytes:
// the first one (Set), or all of them (Survey). Where the processor has AVX2 it
// looks at 32 bytes at a time, a Survey at 64 with AVX-512; elsewhere, and for
// short texts, a loop over a table does the same.
package scan

// A Set is a set of ASCII bytes. The zero Set is empty.
type Set struct {
	// nibbles answers for 16 bytes at once, with a shuffle for each half: byte
	// h<<4|l is in the set if nibbles[l]&nibbles[16+h] is not 0.
	nibbles [32]uint8
	table   [256]bool
}

// HasVectors reports whether the processor has the vectors that make a Survey
// faster than a loop.
func HasVectors() bool { return vector }

// NewSet returns the set of the ASCII bytes for which in reports true.
func NewSet(in func(c byte) bool) *Set {
	s := new(Set)
	for h := range byte(8) {
		s.nibbles[16+h] = 1 << h
		for l := range byte(16) {
			if in(h<<4 | l) {
				s.nibbles[l] |= 1 << h
				s.table[h<<4|l] = true
			}
		}
	}
	return s
}

// End returns the offset of the first byte of text[i:] that is not in s, from the
// start of text, or len(text). The bytes before i may be read, but do not count.
func (s *Set) End(text []byte, i int) int {
	if vector && len(text) >= minVector {
		return endAVX2(&text[0], len(text), i, &s.nibbles)
	}
	return s.slowEnd(text, i)
}

// SlashEnd is End for a path: it also stops at a '/' that follows a '/'. i must
// be greater than 0. On a CPU without vector instructions it returns -1, because
// searching for single bytes is as fast there.
func (s *Set) SlashEnd(text []byte, i int) int {
	if vector && len(text) >= minVector {
		return slashEndAVX2(&text[0], len(text), i, &s.nibbles)
	}
	return -1
}

// minVector is the length of the shortest text that a vector can be loaded from,
// also one that begins a byte earlier.
const minVector = 33

func (s *Set) slowEnd(text []byte, i int) int {
	for n, c := range text[i:] {
		if !s.table[c] {
			return i + n
		}
	}
	return len(text)
}
