// Package ascii has the tests and conversions of ASCII bytes that the programs
// in package peer and the slow paths of other packages share. Package codec has
// its own copies, which its fast paths inline.
//
//	ascii.go   classes of bytes, the case of letters, the end of a scheme
//	escape.go  percent-encoding
package ascii

import "unicode/utf8"

// IsAlpha reports whether c is a letter.
func IsAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsHex reports whether c is a hex digit.
func IsHex(c byte) bool { return IsDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// IsAlnum reports whether text consists of letters and digits.
func IsAlnum(text []byte) bool {
	for _, c := range text {
		if !IsAlpha(c) && !IsDigit(c) {
			return false
		}
	}
	return true
}

// Unhex returns the value of a hex digit.
func Unhex(c byte) byte { return 9*(c>>6) + c&15 }

// Lower returns c in lower case.
func Lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// LowerInPlace changes the letters of text to lower case.
func LowerInPlace(text []byte) {
	for i, c := range text {
		text[i] = Lower(c)
	}
}

// AppendLower appends text with its letters in lower case.
func AppendLower(dst, text []byte) []byte {
	start := len(dst)
	dst = append(dst, text...)
	LowerInPlace(dst[start:])
	return dst
}

// Replace changes each byte from of text to to.
func Replace(text []byte, from, to byte) {
	for i, c := range text {
		if c == from {
			text[i] = to
		}
	}
}

// Only reports whether text has no byte or character above 0x7F.
func Only[C byte | rune](text []C) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// SchemeEnd returns the offset of the ':' after the scheme that text starts with, or 0:
// RFC 3986, section 3.1.
func SchemeEnd(text []byte) int {
	for i, c := range text {
		switch {
		case IsAlpha(c):
		case i > 0 && (IsDigit(c) || c == '+' || c == '-' || c == '.'):
		case c == ':':
			return i
		default:
			return 0
		}
	}
	return 0
}
