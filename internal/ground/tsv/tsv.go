// Package tsv reads and writes the fields of the rendering tsv: in a value, tab,
// line feed, carriage return and backslash are written as \t, \n, \r and \\.
package tsv

import "bytes"

// AppendEscaped appends v as a value for tsv.
func AppendEscaped(dst, v []byte) []byte {
	for {
		i := bytes.IndexAny(v, "\t\n\r\\")
		if i < 0 {
			return append(dst, v...)
		}
		dst = append(append(dst, v[:i]...), '\\')
		switch v[i] {
		case '\t':
			dst = append(dst, 't')
		case '\n':
			dst = append(dst, 'n')
		case '\r':
			dst = append(dst, 'r')
		default:
			dst = append(dst, '\\')
		}
		v = v[i+1:]
	}
}

// AppendUnescaped appends the original form of a value that was escaped for tsv.
func AppendUnescaped(dst, v []byte) []byte {
	for {
		i := bytes.IndexByte(v, '\\')
		if i < 0 {
			return append(dst, v...)
		}
		dst = append(dst, v[:i]...)
		var n int
		dst, n = Decode(dst, v[i:])
		v = v[i+n:]
	}
}

// Decode appends the character that the escape at the start of v encodes, and
// returns the length of the escape. A backslash that does not begin an escape
// is literal.
func Decode(dst, v []byte) (_ []byte, n int) {
	if len(v) >= 2 {
		switch v[1] {
		case 't':
			return append(dst, '\t'), 2
		case 'n':
			return append(dst, '\n'), 2
		case 'r':
			return append(dst, '\r'), 2
		case '\\':
			return append(dst, '\\'), 2
		}
	}
	return append(dst, '\\'), 1
}
