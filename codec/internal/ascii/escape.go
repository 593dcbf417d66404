package ascii

import "strings"

const upperHex = "0123456789ABCDEF"

// Alnum lists the letters and digits, and Unreserved the characters that never need an
// escape (RFC 3986, section 2.3).
const (
	Alnum      = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	Unreserved = Alnum + "-._~"
)

// A Set is a set of bytes.
type Set [256]bool

// SetOf returns the set of the bytes of text.
func SetOf(text string) *Set {
	s := new(Set)
	for _, c := range []byte(text) {
		s[c] = true
	}
	return s
}

// AllBut returns the set of the printable bytes that are not in text.
func AllBut(text string) *Set {
	s := new(Set)
	for c := range s {
		s[c] = c >= ' ' && c < 0x7F && !strings.ContainsRune(text, rune(c))
	}
	return s
}

// IsEscape reports whether text starts with an escape: '%' and two hex digits.
func IsEscape(text []byte) bool {
	return len(text) >= 3 && text[0] == '%' && IsHex(text[1]) && IsHex(text[2])
}

// Unescape returns the first byte of text, decoded, and how many bytes it takes: 3 if text
// starts with an escape, otherwise 1. text must not be empty.
func Unescape(text []byte) (c byte, n int) {
	if IsEscape(text) {
		return Unhex(text[1])<<4 | Unhex(text[2]), 3
	}
	return text[0], 1
}

// AppendUnescaped appends text with its escapes decoded once.
func AppendUnescaped(dst, text []byte) []byte {
	for len(text) > 0 {
		c, n := Unescape(text)
		dst, text = append(dst, c), text[n:]
	}
	return dst
}

// AppendAllUnescaped appends text with its escapes decoded until none remains.
//
// One pass is enough: escapes do not overlap, so their order does not matter, and
// an escape that decoding creates ends with the byte that was written last.
func AppendAllUnescaped(dst, text []byte) []byte {
	start := len(dst)
	for _, b := range text {
		dst = append(dst, b)
		for n := len(dst) - 3; n >= start && IsEscape(dst[n:]); n = len(dst) - 3 {
			dst[n], _ = Unescape(dst[n:])
			dst = dst[:n+1]
		}
	}
	return dst
}

// AppendEscape appends the escape of c.
func AppendEscape(dst []byte, c byte) []byte {
	return append(dst, '%', upperHex[c>>4], upperHex[c&15])
}

// AppendEscaped appends text with the bytes escaped that are not in plain. text may be a
// part of dst.
func AppendEscaped(dst, text []byte, plain *Set) []byte {
	for _, c := range text {
		if plain[c] {
			dst = append(dst, c)
		} else {
			dst = AppendEscape(dst, c)
		}
	}
	return dst
}

var formPlain = SetOf(Unreserved + " ") // a space becomes '+'

// AppendForm appends text as the value of a form field, as url.QueryEscape and Python's
// quote_plus return it. text may be a part of dst.
func AppendForm(dst, text []byte) []byte {
	start := len(dst)
	dst = AppendEscaped(dst, text, formPlain)
	Replace(dst[start:], ' ', '+')
	return dst
}
