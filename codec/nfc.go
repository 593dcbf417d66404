package codec

import (
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/idna"
	"github.com/urlfold/urlfold/codec/percent"
)

// appendNFC appends text, a component of a key, with the characters that its
// escapes stand for in Normalization Form C (UAX 15), and reports whether that
// changed something: "e%CC%81" becomes "%C3%A9".
//
// A letter as such can be the base of what follows it. No other byte as such is,
// and no escape of ASCII: '=' and U+0338 would else make one character of a
// delimiter and a value. What is not UTF-8 stays. An ASCII character that comes
// about is escaped if it is not unreserved: U+037E becomes %3B.
func appendNFC(dst, text []byte, s *scratch) (_ []byte, changed bool) {
	run := s.runes[0][:0]
	start := 0 // where run begins
	flush := func(end int) {
		var differ bool
		s.runes[1], differ = idna.AppendNFC(s.runes[1][:0], run)
		if differ {
			dst, changed = appendRunes(dst, s.runes[1]), true
		} else {
			dst = append(dst, text[start:end]...)
		}
		run = run[:0]
	}
	for i := 0; i < len(text); {
		r, n := letterOrEscaped(text[i:])
		if n > 0 {
			run = append(run, r)
			i += n
			continue
		}
		n = 1 + 2*b2i(isTriplet(text[i:])) // the digits of an escape are no letters
		flush(i)
		dst = append(dst, text[i:i+n]...)
		i += n
		start = i
	}
	flush(len(text))
	s.runes[0] = run
	return dst, changed
}

// letterOrEscaped returns the ASCII letter, or the character beyond ASCII in
// escapes, that text begins with, and the length of its spelling, or 0.
func letterOrEscaped(text []byte) (r rune, n int) {
	if isAlpha(text[0]) {
		return rune(text[0]), 1
	}
	var b [utf8.UTFMax]byte
	have := 0
	for have < len(b) && isTriplet(text[3*have:]) {
		b[have] = percent.Unhex(text[3*have+1])<<4 | percent.Unhex(text[3*have+2])
		have++
	}
	r, size := utf8.DecodeRune(b[:have])
	if size < 2 { // ASCII, or not UTF-8
		return 0, 0
	}
	return r, 3 * size
}

// appendRunes appends characters in escapes, but for ASCII letters: the other
// ASCII that NFC makes of something else is ';' and '`'.
func appendRunes(dst []byte, runes []rune) []byte {
	for _, r := range runes {
		var b [utf8.UTFMax]byte
		dst = percent.AppendEncode(dst, utf8.AppendRune(b[:0], r), percent.WHATWGComponent)
	}
	return dst
}
