package scan

import "bytes"

// This file marks the bytes of a line while it searches for its end.

// maxLine is the length of the longest line that the functions of this file read. It
// limits the memory for marks.
const maxLine = 1 << 16

// MarkLine sets the marks of the bytes of the first line of text that are outside s, in
// the memory of m if that is large enough. n is the length of the line with its line
// feed. It is 0 if the line has none, or is too long. The marks have no end: call
// Marks.End.
func (s *Set) MarkLine(m Marks, text []byte) (_ Marks, n int) {
	text = text[:min(len(text), maxLine)]
	m = m.resize(len(text)>>6 + 2)
	switch {
	case len(text) == 0:
		return m, 0
	case vector:
		return m, lineAVX2(&text[0], len(text), &s.nibbles, &m[0])
	}
	n = bytes.IndexByte(text, '\n') + 1
	s.slowMark(m[:n>>6+2], text[:n])
	return m, n
}

// MarkLine sets the marks of the bytes of the first line of text that are equal to x, in
// the memory of a, and of those equal to y, in that of b. It has the results of
// Set.MarkLine.
func MarkLine(a, b Marks, text []byte, x, y byte) (_, _ Marks, n int) {
	text = text[:min(len(text), maxLine)]
	a, b = a.resize(len(text)>>6+2), b.resize(len(text)>>6+2)
	switch {
	case len(text) == 0:
		return a, b, 0
	case vector:
		return a, b, lineOfTwoAVX2(&text[0], len(text), x, y, &a[0], &b[0])
	}
	n = bytes.IndexByte(text, '\n') + 1
	slowMarkTwo(a[:n>>6+2], b[:n>>6+2], text[:n], x, y)
	return a, b, n
}

// MarkTwo is MarkLine for all of text, however long it is and whatever it contains. The
// marks have an end.
func MarkTwo(a, b Marks, text []byte, x, y byte) (_, _ Marks) {
	a, b = a.resize(len(text)>>6+2), b.resize(len(text)>>6+2)
	if vector {
		for from := 0; from < len(text); {
			n := lineOfTwoAVX2(&text[from], len(text)-from, x, y, &a[from>>6], &b[from>>6])
			if n == 0 {
				break
			}
			from = (from+n-1)&^63 + 64 // the bytes after the line feed up to there are marked
		}
	} else {
		slowMarkTwo(a, b, text, x, y)
	}
	a.End(len(text))
	b.End(len(text))
	return a, b
}

func slowMarkTwo(a, b Marks, text []byte, x, y byte) {
	clear(a)
	clear(b)
	for i, c := range text {
		a[i>>6] |= bit(c == x) << (i & 63)
		b[i>>6] |= bit(c == y) << (i & 63)
	}
}

// End sets a mark at the end of a text of n bytes. Marks after it do not count.
func (m Marks) End(n int) {
	last := n >> 6
	m[last] = m[last]&(1<<(n&63)-1) | 1<<(n&63)
}
