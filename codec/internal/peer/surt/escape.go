package surt

import (
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/peer/python"
)

// unescape decodes the escapes of text until nothing changes. The result is
// valid until the next call.
func (c *canonicalizer) unescape(text []byte) []byte {
	c.spare = append(c.spare[:0], text...)
	for {
		n := len(c.spare)
		if c.spare = unescapeOnce(c.spare); len(c.spare) == n {
			return c.spare
		}
	}
}

// unescapeOnce decodes the escapes of text in place.
func unescapeOnce(text []byte) []byte {
	out := text[:0]
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if high, low := python.Unhex(text[i+1]), python.Unhex(text[i+2]); high|low != 255 {
				out = append(out, high<<4|low)
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}

// appendEscaped appends text with controls, spaces, '#', '%', DEL and bytes
// from 0x80 escaped.
func appendEscaped(dst, text []byte) []byte {
	const hex = "0123456789ABCDEF"
	for _, b := range text {
		if b <= ' ' || b >= 0x7f || b == '#' || b == '%' {
			dst = append(dst, '%', hex[b>>4], hex[b&15])
			continue
		}
		dst = append(dst, b)
	}
	return dst
}

func appendLower(dst, text []byte) []byte {
	start := len(dst)
	dst = append(dst, text...)
	lowerInPlace(dst[start:])
	return dst
}

func lowerInPlace(text []byte) {
	for i, b := range text {
		if 'A' <= b && b <= 'Z' {
			text[i] = b | 0x20
		}
	}
}

func isASCII(text []byte) bool {
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
