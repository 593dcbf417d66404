package percent

import "fmt"

//go:generate go run gen.go

// A Set is a set of bytes that a component of a standard cannot hold raw: these become escapes.
// The zero Set, [None], is empty. All other sets hold 00 to 1F, 7F and 80 to FF.
// '%' is in no Set but [WHATWGComponent] and [WHATWGForm], whose standard encodes data with them: what happens to a '%'
// in a component is decided by the escape rules ([Rules]), and data ([AppendEncode]) always has its '%' escaped.
type Set uint8

// Has reports whether c is in s.
func (s Set) Has(c byte) bool { return classes[c]>>s&1 != 0 }

// Index returns the offset of the first byte of the text src that s does not let stand raw, or -1. A '%' is passed over, see
// [IndexMalformed]; so is '+' with [WHATWGForm], as it is an escaped space there.
func (s Set) Index(src []byte) int {
	for i, c := range src {
		if s.Has(c) && c != '%' && (c != '+' || s != WHATWGForm) {
			return i
		}
	}
	return -1
}

// String returns the name of the constant.
func (s Set) String() string {
	if int(s) < len(setNames) {
		return setNames[s]
	}
	return fmt.Sprintf("Set(%d)", uint8(s))
}

// IsUnreserved reports whether c is ALPHA, DIGIT, '-', '.', '_' or '~' (RFC 3986 §2.3): an escape of it means the same as the byte.
func IsUnreserved(c byte) bool { return classes[c]&isUnreserved != 0 }

// IsReserved reports whether c is in gen-delims or sub-delims (RFC 3986 §2.2): an escape of it must never be decoded in a URL.
func IsReserved(c byte) bool { return classes[c]&isReserved != 0 }

// IsHex reports whether c is a hex digit in either case (RFC 3986 §2.1).
func IsHex(c byte) bool { return classes[c]&isHex != 0 }

// Unhex returns the value of the hex digit c, and 0 if c is none.
func Unhex(c byte) byte { return hexValue[c] }

// isTriplet reports whether an escape, '%' HEXDIG HEXDIG, begins at src[i], which is '%'.
// As '%' is no hex digit, escapes never overlap: the answer does not depend on what stands before i.
func isTriplet(src []byte, i int) bool {
	return i+2 < len(src) && classes[src[i+1]]&classes[src[i+2]]&isHex != 0
}

// tripletByte returns the byte that the escape at src[i] stands for.
func tripletByte(src []byte, i int) byte {
	return hexValue[src[i+1]]<<4 | hexValue[src[i+2]]
}

// AppendEscape appends the escape of c to dst, with upper-case digits (RFC 3986 §2.1).
func AppendEscape(dst []byte, c byte) []byte {
	return append(dst, '%', upperHex[c>>4], upperHex[c&15])
}

const upperHex = "0123456789ABCDEF"
