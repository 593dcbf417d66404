package locate

import (
	"encoding/base64"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/ground/scan"
)

// PlainJSON is the set of bytes that stand for themselves in a JSON string
// whatever precedes or follows them: ASCII without controls, '"' and '\'.
var PlainJSON = func() (t [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// PlainText is the set of the bytes in PlainJSON. Most strings have no others.
var PlainText = scan.NewSet(func(c byte) bool { return PlainJSON[c] })

// AppendMember appends the member name with the string s, and a comma. JSON
// text must be UTF-8 (RFC 8259 §8.1), so AppendMember writes a string that is
// not valid UTF-8 in base64 (RFC 4648 §4) as the member name_b64.
func AppendMember(dst []byte, name string, s []byte) []byte {
	dst = append(append(dst, '"'), name...)
	plain := PlainText.End(s, 0)
	if plain < len(s) && !utf8.Valid(s[plain:]) {
		dst = append(dst, `_b64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, s)
		return append(dst, `",`...)
	}
	dst = append(append(dst, `":"`...), s[:plain]...)
	if plain < len(s) {
		dst = AppendString(dst, s[plain:])
	}
	return append(dst, `",`...)
}

// AppendBase64 appends s in base64 (RFC 4648 §4).
func AppendBase64(dst, s []byte) []byte { return base64.StdEncoding.AppendEncode(dst, s) }

// AppendString appends s, which must be valid UTF-8, as the inside of a JSON
// string.
func AppendString(dst, s []byte) []byte {
	from := 0
	for i, c := range s {
		if PlainJSON[c] || c >= utf8.RuneSelf {
			continue
		}
		dst = append(dst, s[from:i]...)
		dst = AppendJSONByte(dst, c)
		from = i + 1
	}
	return append(dst, s[from:]...)
}

// AppendJSONByte appends the escape for c, which is a control, '"' or '\'.
func AppendJSONByte(dst []byte, c byte) []byte {
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
	return append(dst, '\\', 'u', '0', '0', LowerHex[c>>4], LowerHex[c&15])
}

// AppendASCIIString appends s as the inside of a JSON string that has only
// ASCII bytes. Invalid UTF-8 becomes U+FFFD. Normal forms are ASCII, so other
// bytes are rare.
func AppendASCIIString(dst, s []byte) []byte {
	plain := PlainText.End(s, 0)
	dst = append(dst, s[:plain]...)
	for i := plain; i < len(s); {
		c := s[i]
		switch {
		case PlainJSON[c]:
			dst = append(dst, c)
			i++
		case c < utf8.RuneSelf:
			dst = AppendJSONByte(dst, c)
			i++
		default:
			r, n := utf8.DecodeRune(s[i:])
			dst = appendUTF16(dst, r)
			i += n
		}
	}
	return dst
}

// appendUTF16 appends r as one or two escapes \uXXXX.
func appendUTF16(dst []byte, r rune) []byte {
	if r > 0xFFFF {
		hi, lo := utf16.EncodeRune(r)
		return appendUTF16(appendUTF16(dst, hi), lo)
	}
	return append(dst, '\\', 'u', LowerHex[r>>12&15], LowerHex[r>>8&15], LowerHex[r>>4&15], LowerHex[r&15])
}
