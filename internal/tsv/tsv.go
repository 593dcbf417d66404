// Package tsv reads and writes the fields of the rendering tsv: in a value, tab,
// line feed, carriage return and backslash are written as \t, \n, \r and \\.
package tsv

import "bytes"

// AppendUnescaped appends the original form of a value that was escaped for tsv.
func AppendUnescaped(dst, v []byte) []byte {
	for {
		i := bytes.IndexByte(v, '\\')
		if i < 0 || i+1 == len(v) {
			return append(dst, v...)
		}
		dst = append(dst, v[:i]...)
		switch v[i+1] {
		case 't':
			dst = append(dst, '\t')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		default:
			dst = append(dst, v[i+1])
		}
		v = v[i+2:]
	}
}

// AppendEscaped appends v as a value for tsv.
func AppendEscaped(dst, v []byte) []byte {
	for _, c := range v {
		switch c {
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\\':
			dst = append(dst, '\\', '\\')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
