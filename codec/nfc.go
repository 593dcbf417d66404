package codec

import (
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/idna"
	"github.com/urlfold/urlfold/codec/percent"
)

// appendNFC appends text, a component of a key, with the escaped characters in
// Normalization Form C (UAX 15), and reports whether that changed something:
// "e%CC%81" becomes "%C3%A9".
//
// A raw letter can be the base of combining characters that follow. No other raw byte
// and no escape of ASCII can be a base: otherwise '=' and U+0338 would combine a
// delimiter and a value into one character. Bytes that are not valid UTF-8 stay. An
// ASCII character that normalization produces is escaped unless it is unreserved:
// U+037E becomes %3B.
func appendNFC(dst, text []byte, s *scratch) (_ []byte, changed bool) {
	run := s.runes[0][:0]
	start := 0 // start of run in text
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
		n = 1 + 2*b2i(isTriplet(text[i:])) // the digits of an escape are not letters
		flush(i)
		dst = append(dst, text[i:i+n]...)
		i += n
		start = i
	}
	flush(len(text))
	s.runes[0] = run
	return dst, changed
}

// letterOrEscaped returns the ASCII letter, or the escaped non-ASCII character,
// at the start of text, and the number of bytes it occupies there, or 0.
func letterOrEscaped(text []byte) (r rune, n int) {
	if isAlpha(text[0]) {
		return rune(text[0]), 1
	}
	var b [utf8.UTFMax]byte
	have := 0
	for have < len(b) && isTriplet(text[3*have:]) {
		b[have] = tripletValue(text[3*have:])
		have++
	}
	r, size := utf8.DecodeRune(b[:have])
	if size < 2 { // ASCII, or not UTF-8
		return 0, 0
	}
	return r, 3 * size
}

// appendRunes appends characters as escapes, except ASCII letters. The only
// other ASCII characters that NFC produces are ';' and '`'.
func appendRunes(dst []byte, runes []rune) []byte {
	for _, r := range runes {
		var b [utf8.UTFMax]byte
		dst = percent.AppendEncode(dst, utf8.AppendRune(b[:0], r), percent.WHATWGComponent)
	}
	return dst
}
