package scan

import (
	"encoding/binary"
	"math/bits"
)

// Classes says which bytes a Survey marks.
type Classes struct {
	// nibbles holds the tables of the plain bytes and of the host bytes,
	// each in the form of Set.nibbles.
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
	classNear  // '/' or not plain: a '.' after such a byte is special
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
	// Special marks the bytes that are not plain, each '.' after such a byte or after a
	// '/', and each '/' after a '/'. A '.' or '/' at the start of the text may be special
	// or not. The mark of byte i is bit i%8 of Special[i/8]. The end of the text is
	// marked, and there are at least 64 marks after that.
	Special []byte
	Words   []Word // other marks, in the same form, with at least one word after the end of the text
	// Copy starts with a copy of the text and three zeros. There are at least
	// Margin bytes after the text.
	Copy   []byte
	Labels Labels
	firsts Firsts // the first special byte, '?' and '#' of the first 128 bytes; 128: none
	memory []byte // 64 bytes, which vector code may overwrite, then Copy
}

// Margin is the number of bytes after the text in Survey.Copy.
const Margin = 64

// A Word has the marks of 64 bytes, from the lowest bit on.
type Word struct {
	Question uint64 // '?'
	Hash     uint64 // '#'
}

// Labels marks the first 64 bytes of a text.
type Labels struct {
	other uint64 // bytes that are not host bytes, and the places after the text
	pause uint64 // '.' and '-'
	upper uint64 // capital letters
}

// Firsts holds the offsets of the first special byte, the first '?' and the first '#'.
type Firsts struct{ Special, Question, Hash int }

// Read surveys text. The bytes before start are not special; start is at most 8 and
// not greater than the length of the text.
func (s *Survey) Read(text []byte, start int, c *Classes) {
	if n := len(text)/64 + 2; n > len(s.Words) {
		s.grow(n)
	}
	if vector && len(text) > 0 {
		surveyAVX2(s, &text[0], len(text), start, c)
		return
	}
	s.slowRead(text, start, c)
}

// grow makes room for n words, and more.
func (s *Survey) grow(n int) {
	n = max(2*n, 16)
	s.Special, s.Words = make([]byte, 8*n+8), make([]Word, n)
	s.memory = make([]byte, 64+64*n)
	s.Copy = s.memory[64:]
}

// slowRead is Read without vectors.
func (s *Survey) slowRead(text []byte, start int, c *Classes) {
	n := len(text)/64 + 2
	clear(s.Special[:8*n])
	clear(s.Words[:n])
	near, slash := false, false
	for i, b := range text {
		class, w := c.class[b], &s.Words[i/64]
		s.Special[i/8] |= byte(bit(i >= start && (class&classOther != 0 || class&classDot != 0 && near || b == '/' && slash)) << (i % 8))
		w.Question |= bit(b == '?') << (i % 64)
		w.Hash |= bit(b == '#') << (i % 64)
		near, slash = class&classNear != 0, b == '/'
	}
	end := uint64(1) << (len(text) % 64)
	last := &s.Words[n-2]
	s.Special[len(text)/8] |= 1 << (len(text) % 8)
	last.Question |= end
	last.Hash |= end
	s.Words[n-1] = Word{^uint64(0), ^uint64(0)}
	binary.LittleEndian.PutUint64(s.Special[8*(n-1):], ^uint64(0))
	s.firsts = Firsts{
		zeros(binary.LittleEndian.Uint64(s.Special), binary.LittleEndian.Uint64(s.Special[8:])),
		zeros(s.Words[0].Question, s.Words[1].Question),
		zeros(s.Words[0].Hash, s.Words[1].Hash),
	}
	s.Labels = Labels{other: ^uint64(0)}
	for i, b := range text[:min(len(text), 64)] {
		class := c.class[b]
		s.Labels.other &^= bit(class&classHost != 0) << i
		s.Labels.pause |= bit(class&classPause != 0) << i
		s.Labels.upper |= bit(class&classUpper != 0) << i
	}
	copy(s.Copy, text)
	clear(s.Copy[len(text) : len(text)+3])
}

// From returns the number n of host bytes from offset i on. Among these bytes,
// pauses marks each '.' or '-', and capitals marks the capital letters: bit k
// is for byte i+k. If n is 64, the host bytes do not end within the first 64
// bytes of the text. i is less than 64.
func (l *Labels) From(i int) (n int, pauses, capitals uint64) {
	n = bits.TrailingZeros64(l.other >> (i & 63))
	in := uint64(1)<<(n&63) - 1
	return n, l.pause >> (i & 63) & in, l.upper >> (i & 63) & in
}

// First returns the first marks of the text, or its length for a kind without marks.
func (s *Survey) First() *Firsts {
	f := &s.firsts
	if f.Special|f.Question|f.Hash < 128 { // all three are below 128
		return f
	}
	return s.farFirst()
}

// farFirst is First for a text whose first marks of a kind may be after 128 bytes.
func (s *Survey) farFirst() *Firsts {
	s.firsts = Firsts{s.Next(0), s.nextOf(0, func(w *Word) uint64 { return w.Question }), s.NextHash(0)}
	return &s.firsts
}

// zeros returns the number of zeros before the first one in a and b.
func zeros(a, b uint64) int {
	if a == 0 {
		return 64 + bits.TrailingZeros64(b)
	}
	return bits.TrailingZeros64(a)
}

// Next returns the offset of the first special byte at or after i, or the length of
// the text.
func (s *Survey) Next(i int) int {
	for {
		if marks := s.MarksAt(i); marks != 0 {
			return i + bits.TrailingZeros64(marks)
		}
		i += minMarks
	}
}

// MarksAt returns the marks of the special bytes from i on: bit k is for byte
// i+k. They cover at least minMarks bytes; the other bits are 0.
func (s *Survey) MarksAt(i int) uint64 {
	return binary.LittleEndian.Uint64(s.Special[i>>3:]) >> (i & 7)
}

// minMarks is the number of marks that eight bytes hold from any bit of the first one on.
const minMarks = 64 - 7

// NextHash is Next for '#'.
func (s *Survey) NextHash(i int) int {
	return s.nextOf(i, func(w *Word) uint64 { return w.Hash })
}

func (s *Survey) nextOf(i int, marks func(*Word) uint64) int {
	w := i >> 6
	x := marks(&s.Words[w]) >> (i & 63) << (i & 63)
	for ; x == 0; x = marks(&s.Words[w]) {
		w++
	}
	return w<<6 + bits.TrailingZeros64(x)
}

// HashesAreSpecial makes each '#' from i to end special.
func (s *Survey) HashesAreSpecial(i, end int) {
	for i = s.NextHash(i); i < end; i = s.NextHash(i + 1) {
		s.Special[i/8] |= 1 << (i % 8)
	}
}
