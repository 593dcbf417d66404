package percent

import "fmt"

// ByteSet is the set of bytes that must be escaped in a component under a standard.
// The zero ByteSet, [None], is empty. All other sets contain the bytes 00 to 1F, 7F
// and 80 to FF.
//
// Only [WHATWGComponent] and [WHATWGForm] contain '%', because their standard
// defines them for encoding data. In a component, [EscapeRules] decides what happens
// to a '%'; in data, [AppendEncode] always escapes it.
type ByteSet uint8

// Has reports whether c is in s.
func (s ByteSet) Has(c byte) bool { return classes[c]>>s&1 != 0 }

// Index returns the offset of the first byte of the text src that must be
// escaped according to s, or -1. It ignores '%', see [IndexMalformed], and with
// [WHATWGForm] also '+', which is an encoded space. Not covered by the stability page.
func (s ByteSet) Index(src []byte) int {
	for i, c := range src {
		if s.Has(c) && c != '%' && (c != '+' || s != WHATWGForm) {
			return i
		}
	}
	return -1
}

// String returns the name of the constant.
func (s ByteSet) String() string {
	if int(s) < len(setNames) {
		return setNames[s]
	}
	return fmt.Sprintf("ByteSet(%d)", uint8(s))
}

// IsUnreserved reports whether c is ALPHA, DIGIT, '-', '.', '_' or '~' (RFC
// 3986 §2.3). An escape of an unreserved byte is equivalent to the byte.
// Not covered by the stability page.
func IsUnreserved(c byte) bool { return classes[c]&isUnreserved != 0 }

// IsReserved reports whether c is in gen-delims or sub-delims (RFC 3986 §2.2).
// An escape of a reserved byte must never be decoded in a URL.
// Not covered by the stability page.
func IsReserved(c byte) bool { return classes[c]&isReserved != 0 }

// IsHex reports whether c is a hexadecimal digit in either case (RFC 3986
// §2.1). Not covered by the stability page.
func IsHex(c byte) bool { return classes[c]&isHex != 0 }

// Unhex returns the value of the hexadecimal digit c, or 0 if c is not one.
// Not covered by the stability page.
func Unhex(c byte) byte { return hexValue[c] }

// isTriplet reports whether the '%' at src[i] starts an escape, '%' HEXDIG
// HEXDIG. '%' is not a hexadecimal digit, so escapes never overlap and the
// result does not depend on the bytes before i.
func isTriplet(src []byte, i int) bool {
	return i+2 < len(src) && classes[src[i+1]]&classes[src[i+2]]&isHex != 0
}

// tripletByte returns the byte that the escape at src[i] encodes.
func tripletByte(src []byte, i int) byte {
	return hexValue[src[i+1]]<<4 | hexValue[src[i+2]]
}

// AppendEscape appends the escape of c to dst, with upper-case digits (RFC 3986
// §2.1). Not covered by the stability page.
func AppendEscape(dst []byte, c byte) []byte {
	return append(dst, '%', upperHex[c>>4], upperHex[c&15])
}

const upperHex = "0123456789ABCDEF"
