package codec

import "github.com/urlfold/urlfold/codec/percent"

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// isSchemeByte reports whether c is allowed in a scheme after its first letter
// (RFC 3986 §3.1).
func isSchemeByte(c byte) bool {
	return isAlpha(c) || isDigit(c) || c == '+' || c == '-' || c == '.'
}

func hasPrefix(b []byte, c byte) bool { return len(b) > 0 && b[0] == c }

// isTriplet reports whether b starts with '%' and two hex digits.
func isTriplet(b []byte) bool {
	return len(b) >= 3 && b[0] == '%' && percent.IsHex(b[1]) && percent.IsHex(b[2])
}

// inTriplet reports whether b[i] is a hex digit of an escape.
func inTriplet(b []byte, i int) bool {
	return i >= 1 && isTriplet(b[i-1:]) || i >= 2 && isTriplet(b[i-2:])
}

// lower returns c in lower case if it is an ASCII letter.
func lower(c byte) byte {
	if isUpper(c) {
		return c | 0x20
	}
	return c
}

// upperHex returns c in upper case if it is a hex digit.
func upperHex(c byte) byte {
	if 'a' <= c && c <= 'f' {
		return c &^ 0x20
	}
	return c
}

// appendLower appends src with ASCII letters in lower case.
func appendLower(dst, src []byte) []byte {
	for _, c := range src {
		dst = append(dst, lower(c))
	}
	return dst
}

// lowerInPlace lower-cases ASCII letters, except in escapes (RFC 3986
// §6.2.2.1).
func lowerInPlace(b []byte) (changed bool) {
	for i := 0; i < len(b); i++ {
		if b[i] == '%' && isTriplet(b[i:]) {
			i += 2
			continue
		}
		if isUpper(b[i]) {
			b[i], changed = lower(b[i]), true
		}
	}
	return changed
}

// colonInFirstSegment returns the offset of a ':' in the first segment of a
// path, or -1.
func colonInFirstSegment(path []byte) int {
	for i, c := range path {
		switch c {
		case ':':
			return i
		case '/':
			return -1
		}
	}
	return -1
}
