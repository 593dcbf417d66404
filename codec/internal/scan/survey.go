package scan

import (
	"bytes"
	"math/bits"
)

// Classes says which bytes a Survey marks.
type Classes struct {
	// nibbles holds the tables of the plain bytes and of the host bytes, each as
	// in a Set.
	nibbles [64]uint8
	class   [256]uint8 // for the loops
}

// Bits in Classes.class.
const (
	classOther uint8 = 1 << iota // not plain
	classDot
	classHost
	classPause // '.' or '-'
	classUpper // a capital letter
	classNear  // '/', or not plain: a '.' after it is special
)

// NewClasses returns the classes for two sets of ASCII bytes: plain bytes, which
// include '?', '#', '/' and '.', and host bytes.
func NewClasses(plain, host func(c byte) bool) *Classes {
	c := new(Classes)
	copy(c.nibbles[:], NewSet(plain).nibbles[:])
	copy(c.nibbles[32:], NewSet(host).nibbles[:])
	for i := range c.class {
		b := byte(i)
		set := func(class uint8, on bool) {
			if on {
				c.class[i] |= class
			}
		}
		set(classOther, b >= 0x80 || !plain(b))
		set(classDot, b == '.')
		set(classHost, b < 0x80 && host(b))
		set(classPause, b == '.' || b == '-')
		set(classUpper, 'A' <= b && b <= 'Z')
		set(classNear, b == '/' || b >= 0x80 || !plain(b))
	}
	return c
}

// A Survey marks the bytes of a text that need attention, so that a parser can go
// from one to the next. The zero Survey is ready for use, and reusing it avoids
// allocations.
type Survey struct {
	// Special marks the bytes that are not plain, and each '.' after one of them or
	// after a '/'. A '.' at the start may be special or not.
	Special Marks
	// Delims marks each '?' and '#'.
	Delims Marks

	labels labels

	text    []byte // the first 64 bytes, only without vectors: Labels looks at them
	classes *Classes
}

// labels describes the first 64 bytes.
type labels struct {
	other uint64 // not host bytes
	pause uint64 // '.' and '-'
	upper uint64 // capital letters
}

// Read surveys text, and retains it if there are no vectors. Special may lack marks
// before from.
func (s *Survey) Read(text []byte, from int, c *Classes) {
	if n := len(text)/64 + 2; n > len(s.Special) {
		s.Special, s.Delims = make(Marks, 2*n), make(Marks, 2*n)
	}
	switch {
	case !vector:
		s.slowRead(text, from, c)
	case len(text) == 0:
		s.Special[0], s.Delims[0], s.labels = 1, 1, labels{other: 1}
	case vector512:
		surveyAVX512(&text[0], len(text), &c.nibbles, &s.Special[0], &s.Delims[0], &s.labels)
	default:
		surveyAVX2(&text[0], len(text), &c.nibbles, &s.Special[0], &s.Delims[0], &s.labels)
	}
}

// slowRead is Read without vectors.
func (s *Survey) slowRead(text []byte, from int, c *Classes) {
	s.text, s.classes = text[:min(len(text), 64)], c
	last := len(text) / 64
	clear(s.Special[:last+1])
	clear(s.Delims[:last+1])
	for i := from; i < len(text); i++ {
		switch class := c.class[text[i]]; {
		case class&(classOther|classDot) == 0:
		case class&classOther != 0, i > 0 && c.class[text[i-1]]&classNear != 0:
			s.Special.set(i)
		}
	}
	s.Special.set(len(text))
	for _, delim := range []byte("?#") {
		for i := 0; ; i++ {
			n := bytes.IndexByte(text[i:], delim)
			if n < 0 {
				break
			}
			i += n
			s.Delims.set(i)
		}
	}
	s.Delims.set(len(text))
}

// Labels returns the end of the host bytes that begin at i. It marks those that
// are '.' or '-', and the capital letters: bit k stands for byte i+k. Labels sees
// only the first 64 bytes of the text: if end is 64, the marks are undefined. i
// is less than 64.
func (s *Survey) Labels(i int) (end int, pauses, capitals uint64) {
	if s.text != nil {
		return s.slowLabels(i)
	}
	l := &s.labels
	n := bits.TrailingZeros64(l.other >> (i % 64))
	in := uint64(1)<<(n%64) - 1
	return min(i+n, 64), l.pause >> (i % 64) & in, l.upper >> (i % 64) & in
}

func (s *Survey) slowLabels(i int) (end int, pauses, capitals uint64) {
	start := i
	for ; i < len(s.text); i++ {
		class := s.classes.class[s.text[i]]
		if class&classHost == 0 {
			break
		}
		// The bit of the last byte is the highest one.
		pauses = pauses>>1 | uint64(class/classPause)<<63
		capitals = capitals>>1 | uint64(class/classUpper)<<63
	}
	unused := 64 - (i - start)
	return i, pauses >> unused, capitals >> unused
}
