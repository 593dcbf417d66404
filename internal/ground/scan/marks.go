package scan

import "math/bits"

// Marks has a bit for each byte of a text, and one for the end of the text. The
// bits of some bytes, such as the bytes outside a set, and of the end are set.
// One more word follows, so that Next can look at 64 bits from any bit on.
// Marks finds the ends of many short fields faster than End does.
type Marks []uint64

// Mark returns the marks of the bytes of text outside s, in the memory of m if that
// is large enough.
func (s *Set) Mark(m Marks, text []byte) Marks {
	last := len(text) >> 6
	m = m.resize(last + 2)
	m[last], m[last+1] = 0, 0
	if vector && len(text) >= minVector {
		markAVX2(&m[0], &text[0], len(text), &s.nibbles)
	} else {
		s.slowMark(m, text)
	}
	m[last] |= 1 << (len(text) & 63)
	return m
}

// resize returns m with n words.
func (m Marks) resize(n int) Marks {
	if n <= cap(m) {
		return m[:n]
	}
	return make(Marks, 2*n)[:n]
}

// slowMark sets the marks of text, and clears the bits after the end.
func (s *Set) slowMark(m Marks, text []byte) {
	clear(m)
	for i, c := range text {
		if !s.table[c] {
			m[i>>6] |= 1 << (i & 63)
		}
	}
}

// From begins a walk over the marks at and after i, which must not be greater than
// the length of the text: it returns k and w for the first Step.
func (m Marks) From(i int) (k int, w uint64) {
	return i >> 6, m[i>>6] >> (i & 63) << (i & 63)
}

// Step returns the offset of the next mark of a walk, and k and w for the next
// Step. There must be a mark: the walk ends with the mark of the end of the
// text.
func (m Marks) Step(k int, w uint64) (i, _ int, _ uint64) {
	for w == 0 {
		k++
		w = m[k]
	}
	return k<<6 + bits.TrailingZeros64(w), k, w & (w - 1)
}

// Next returns the offset of the first mark at or after i, which must not be
// greater than the length of the text. Most marks are near, and then Next does
// not branch on where a word ends, which the processor could not guess.
func (m Marks) Next(i int) int {
	k, n := i>>6, uint(i)
	if w := m[k]>>(n&63) | m[k+1]<<1<<(^n&63); w != 0 {
		return i + bits.TrailingZeros64(w)
	}
	return m.after(k)
}

// after returns the offset of the first mark in the words after w.
func (m Marks) after(w int) int {
	for w++; m[w] == 0; w++ {
	}
	return w<<6 + bits.TrailingZeros64(m[w])
}
