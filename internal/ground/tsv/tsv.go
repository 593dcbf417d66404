// Package tsv reads and writes the fields of the rendering tsv: in a value, tab,
// line feed, carriage return and backslash are written as \t, \n, \r and \\.
package tsv

import "bytes"

// AppendEscaped appends v as a value for tsv.
func AppendEscaped(dst, v []byte) []byte {
	from := 0
	for i, c := range v {
		if letter := letters[c]; letter != 0 {
			dst = append(append(dst, v[from:i]...), '\\', letter)
			from = i + 1
		}
	}
	return append(dst, v[from:]...)
}

// letters has what is written after a backslash for a character, or 0.
var letters = [256]byte{'\t': 't', '\n': 'n', '\r': 'r', '\\': '\\'}

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
