package scan

// Chart returns a bit for each byte of text that is equal to a, to b, or outside s,
// from the lowest bit on. text has at most 64 bytes.
func (s *Set) Chart(text []byte, a, b byte) (isA, isB, outside uint64) {
	if !vector || len(text) == 0 {
		return s.slowChart(text, a, b)
	}
	return chartAVX2(&text[0], len(text), &s.nibbles, a, b)
}

func (s *Set) slowChart(text []byte, a, b byte) (isA, isB, outside uint64) {
	for i, c := range text {
		isA |= bit(c == a) << i
		isB |= bit(c == b) << i
		outside |= bit(!s.table[c]) << i
	}
	return isA, isB, outside
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
