package scan

import "math/bits"

// Marks has a bit for each byte of a text that stands out, such as one outside a
// set, and one for the end of the text. To find the ends of many short fields it
// is faster than End.
type Marks []uint64

// Mark returns the marks of text, in the memory of m if that is large enough.
func (s *Set) Mark(m Marks, text []byte) Marks {
	last := len(text) >> 6
	for cap(m) <= last {
		m = append(m[:cap(m)], 0)
	}
	m = m[:last+1]
	if vector && len(text) >= minVector {
		m[last] = 0
		markAVX2(&m[0], &text[0], len(text), &s.nibbles)
	} else {
		s.slowMark(m, text)
	}
	m[last] |= 1 << (len(text) & 63)
	return m
}

// slowMark sets the marks of text, and clears the bits after its end.
func (s *Set) slowMark(m Marks, text []byte) {
	clear(m)
	for i, c := range text {
		if !s.table[c] {
			m[i>>6] |= 1 << (i & 63)
		}
	}
}

func (m Marks) set(i int) { m[i>>6] |= 1 << (i & 63) }

// Next returns the offset of the first mark at or after i, which must not be
// greater than the length of the text.
func (m Marks) Next(i int) int {
	if w := m[i>>6] >> (i & 63); w != 0 {
		return i + bits.TrailingZeros64(w)
	}
	return m.after(i >> 6)
}

// after returns the offset of the first mark in the words after w.
func (m Marks) after(w int) int {
	for w++; m[w] == 0; w++ {
	}
	return w<<6 + bits.TrailingZeros64(m[w])
}
