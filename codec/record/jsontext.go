package record

import (
	"encoding/base64"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// plainJSON marks the bytes that stand for themselves in a JSON string and need
// no look at their neighbours: ASCII without controls, '"' and '\'.
var plainJSON = func() (t [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// plainText is the set of those bytes. Most strings have no others.
var plainText = scan.NewSet(func(c byte) bool { return plainJSON[c] })

// appendMember appends "name": and s as a JSON string, and a comma. A string
// that is not UTF-8 cannot stand in JSON (RFC 8259 §8.1): its member is called
// name_b64 and holds it in base64 (RFC 4648 §4).
func appendMember(dst []byte, name string, s []byte) []byte {
	dst = append(append(dst, '"'), name...)
	plain := plainText.End(s, 0)
	if plain < len(s) && !utf8.Valid(s[plain:]) {
		dst = append(dst, `_b64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, s)
		return append(dst, `",`...)
	}
	dst = append(append(dst, `":"`...), s[:plain]...)
	if plain < len(s) {
		dst = appendString(dst, s[plain:])
	}
	return append(dst, `",`...)
}

// appendBase64 appends s in base64 (RFC 4648 §4).
func appendBase64(dst, s []byte) []byte { return base64.StdEncoding.AppendEncode(dst, s) }

// appendString appends s, which must be UTF-8, as the inside of a JSON string.
func appendString(dst, s []byte) []byte {
	from := 0
	for i, c := range s {
		if plainJSON[c] || c >= utf8.RuneSelf {
			continue
		}
		dst = append(dst, s[from:i]...)
		dst = appendJSONByte(dst, c)
		from = i + 1
	}
	return append(dst, s[from:]...)
}

// appendJSONByte appends the escape of c, a control, '"' or '\'.
func appendJSONByte(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15])
}

// appendASCIIString appends s as the inside of a JSON string of ASCII bytes.
// Normal forms are ASCII, so what is beyond is rare; a byte that is no UTF-8
// has no place in JSON and becomes U+FFFD.
func appendASCIIString(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case plainJSON[c]:
			dst = append(dst, c)
			i++
		case c < utf8.RuneSelf:
			dst = appendJSONByte(dst, c)
			i++
		default:
			r, n := utf8.DecodeRune(s[i:])
			dst = appendUTF16(dst, r)
			i += n
		}
	}
	return dst
}

// appendUTF16 appends r as one or two \uXXXX.
func appendUTF16(dst []byte, r rune) []byte {
	if r > 0xFFFF {
		hi, lo := utf16.EncodeRune(r)
		return appendUTF16(appendUTF16(dst, hi), lo)
	}
	return append(dst, '\\', 'u', lowerHex[r>>12&15], lowerHex[r>>8&15], lowerHex[r>>4&15], lowerHex[r&15])
}
