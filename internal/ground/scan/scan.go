// Package scan finds the bytes of a text that are outside a set of ASCII bytes:
// the first one (Set), or all of them (Survey). Where the processor has AVX2 it
// looks at 32 bytes at a time; elsewhere, and for short texts, a loop does the same. A
// Block marks the bytes of many lines, and Cut finds the records of a table.
//
// # Files
//
//	scan.go, scan_*.go   Set: the first byte outside a set
//	survey.go, marks.go  Survey: all of them, as bits
//	block.go, block_*.go Block: marks of a text with many lines
//	cut.go, cut_*.go     Cut: the records of a table
//	chart.go             Chart: the bytes of a query
package scan

// A Set is a set of ASCII bytes. The zero Set is empty.
type Set struct {
	// nibbles answers for 16 bytes at a time, with a shuffle for each half:
	// byte h<<4|l is in the set if nibbles[l]&nibbles[16+h] is not 0.
	nibbles [32]uint8
	table   [256]bool
}

// HasVectors reports whether the processor has the vectors that make a Survey
// faster than a loop.
func HasVectors() bool { return vector }

// WithoutVectors calls f as on a processor without vectors. It is for tests; no
// other test may run at the same time.
func WithoutVectors(f func()) {
	defer func(has bool) { vector = has }(vector)
	vector = false
	f()
}

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

// PathEnd returns the offset of the first byte of text that is not in s, or that is a
// '.' or '/' after a '/'. Without such a byte it returns len(text). The first byte
// must be a '/' that is in s.
func (s *Set) PathEnd(text []byte) int {
	if vector && len(text) >= minVector {
		return dotEndAVX2(&text[0], len(text), 1, &s.nibbles)
	}
	return s.slowPathEnd(text)
}

func (s *Set) slowPathEnd(text []byte) int {
	for i := 1; i < len(text); i++ {
		if c := text[i]; !s.table[c] || text[i-1] == '/' && (c == '/' || c == '.') {
			return i
		}
	}
	return len(text)
}

// minVector is the length of the shortest text from which a vector can be
// loaded, even if the vector begins a byte earlier.
const minVector = 33

func (s *Set) slowEnd(text []byte, i int) int {
	for n, c := range text[i:] {
		if !s.table[c] {
			return i + n
		}
	}
	return len(text)
}
