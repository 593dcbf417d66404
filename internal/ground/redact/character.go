package redact

import (
	"bytes"
	"encoding/hex"
	"html"
	"unicode/utf8"
)

// Character decodes the character at the start of text, which has n bytes there.
// depth counts the levels of percent-encoding. Character also decodes those escapes of
// JSON, logs and HTML that stand for the characters around names and values.
func Character(text []byte) (c byte, n, depth int) {
	switch c = text[0]; c {
	case '%':
		n, depth = 1, 1
		for bytes.HasPrefix(text[n:], hex25) {
			n, depth = n+len(hex25), depth+1
		}
		if r, ok := digits(text[n:], 2); ok {
			return byte(r), n + 2, depth
		}
		if r, ok := unit(text); ok && r < utf8.RuneSelf {
			return byte(r), len("%uXXXX"), depth
		}
		return c, n, depth - 1
	case '\\':
		return backslashed(text)
	case '&': // in other references, the ';' can be a separator
		if s, n := reference(text); s == "&" || s == "=" {
			return s[0], n, 0
		}
	}
	return c, 1, 0
}

var hex25 = []byte("25")

// appendCharacter appends the character at the start of text, which has n bytes
// there. It also decodes JSON and HTML escapes that stand for other characters.
func appendCharacter(dst, text []byte) (_ []byte, n int) {
	switch text[0] {
	case '\\', '%':
		if r, ok := unit(text); ok && r >= utf8.RuneSelf {
			return utf8.AppendRune(dst, r), len(`\uXXXX`)
		}
	case '&':
		s, n := reference(text)
		return append(dst, s...), n
	}
	c, n, _ := Character(text)
	return append(dst, c), n
}

// reference decodes the reference of HTML at the start of text, whose first
// byte is '&', and returns its length.
func reference(text []byte) (s string, n int) {
	end := bytes.IndexByte(text[:min(len(text), maxReference)], ';') + 1
	s = html.UnescapeString(string(text[:end]))
	if end == 0 || len(s) > 1 && s[0] == '&' {
		return "&", 1
	}
	return s, end
}

// maxReference is the maximum length in bytes of a reference that is decoded.
// Most references are shorter.
const maxReference = 12

// backslashed is Character for a text whose first byte is a backslash.
func backslashed(text []byte) (c byte, n, depth int) {
	if len(text) < 2 {
		return text[0], 1, 0
	}
	switch c = text[1]; c {
	case 'x', 'X':
		if r, ok := digits(text[2:], 2); ok {
			return byte(r), len(`\xHH`), 0
		}
	case 'u':
		if r, ok := unit(text); ok && r < utf8.RuneSelf {
			return byte(r), len(`\uXXXX`), 0
		}
	case '"', '\'', '/', '\\':
		return c, 2, 0
	case 'n', 'r', 't':
		return ' ', 2, 0
	}
	return text[0], 1, 0
}

// unit decodes the four digits after the first two bytes of text, of which the
// second is 'u'.
func unit(text []byte) (rune, bool) {
	if len(text) < 2 || text[1] != 'u' {
		return 0, false
	}
	return digits(text[2:], 4)
}

// digits decodes the first n hexadecimal digits of text, at most four.
func digits(text []byte, n int) (rune, bool) {
	var b [2]byte
	if len(text) < n {
		return 0, false
	}
	_, err := hex.Decode(b[2-n/2:], text[:n])
	return rune(b[0])<<8 | rune(b[1]), err == nil
}
