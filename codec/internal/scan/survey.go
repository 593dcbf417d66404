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
	}
	return c
}

// A Survey finds the bytes of a text that need attention, so that a parser can
// go from one to the next. With vectors, Read marks them all; without, a loop
// looks for the next one when it is asked for. The zero Survey is ready for use,
// and reusing it avoids allocations.
type Survey struct {
	text    []byte
	classes *Classes
	words   []word // only with vectors, like labels
	labels  labels
}

// labels describes the first 64 bytes.
type labels struct {
	other uint64 // not host bytes
	pause uint64 // '.' and '-'
	upper uint64 // capital letters
}

// A word describes 64 bytes, from the lowest bit on.
type word struct {
	special uint64 // see Survey.Special
	delim   uint64 // '?' and '#'
}

// Read surveys text and retains it.
func (s *Survey) Read(text []byte, c *Classes) {
	s.text, s.classes = text, c
	if !vector {
		return
	}
	n := len(text)
	last := n / 64
	if last >= cap(s.words) {
		s.words = make([]word, last+1, 2*last+8)
	}
	s.words = s.words[:last+1]
	s.words[last], s.labels = word{}, labels{}
	if n > 0 {
		surveyAVX2(&text[0], n, &c.nibbles, &s.words[0], &s.labels)
	}
	end := uint64(1) << (n % 64)
	s.words[last].special |= end
	s.words[last].delim |= end
	if n < 64 {
		s.labels.other |= -end
	}
}

// Special returns the offset of the first special byte at or after i, or the
// length of the text. Special are the bytes that are not plain, and each '.' after
// one of them or after a '/'. A '.' at the start may be special or not. i is at
// most the length of the text.
func (s *Survey) Special(i int) int {
	if !vector {
		return s.slowSpecial(i)
	}
	w := i / 64
	x := s.words[w].special >> (i % 64) << (i % 64)
	for x == 0 {
		w++
		x = s.words[w].special
	}
	return w*64 + bits.TrailingZeros64(x)
}

func (s *Survey) slowSpecial(i int) int {
	text, class := s.text, &s.classes.class
	for ; i < len(text); i++ {
		switch c := class[text[i]]; {
		case c&(classOther|classDot) == 0:
		case c&classOther != 0, i > 0 && (text[i-1] == '/' || class[text[i-1]]&classOther != 0):
			return i
		}
	}
	return i
}

// Delim returns the offset of the first '?' or '#' at or after i, or the length
// of the text if there is none. i must not exceed the length.
func (s *Survey) Delim(i int) int {
	if !vector {
		return s.slowDelim(i)
	}
	w := i / 64
	x := s.words[w].delim >> (i % 64) << (i % 64)
	for x == 0 {
		w++
		x = s.words[w].delim
	}
	return w*64 + bits.TrailingZeros64(x)
}

func (s *Survey) slowDelim(i int) int {
	rest := s.text[i:]
	if hash := bytes.IndexByte(rest, '#'); hash >= 0 {
		rest = rest[:hash]
	}
	if query := bytes.IndexByte(rest, '?'); query >= 0 {
		return i + query
	}
	return i + len(rest)
}

// Labels returns the end of the host bytes that begin at i. It marks those that
// are '.' or '-', and the capital letters: bit k stands for byte i+k. Labels sees
// only the first 64 bytes of the text: if end is 64, the marks are undefined. i
// is less than 64.
func (s *Survey) Labels(i int) (end int, pauses, capitals uint64) {
	if !vector {
		return s.slowLabels(i)
	}
	l := &s.labels
	n := bits.TrailingZeros64(l.other >> (i % 64))
	in := uint64(1)<<(n%64) - 1
	return min(i+n, 64), l.pause >> (i % 64) & in, l.upper >> (i % 64) & in
}

func (s *Survey) slowLabels(i int) (end int, pauses, capitals uint64) {
	text, start := s.text[:min(len(s.text), 64)], i
	for ; i < len(text); i++ {
		class := s.classes.class[text[i]]
		if class&classHost == 0 {
			break
		}
		pauses |= uint64(class/classPause&1) << (i - start)
		capitals |= uint64(class/classUpper&1) << (i - start)
	}
	return i, pauses, capitals
}
