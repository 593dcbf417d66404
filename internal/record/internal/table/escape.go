package table

import "github.com/urlfold/urlfold/internal/record/internal/locate"

// This file has the variant of tables in which a backslash makes the next byte
// literal, as MySQL and other databases write them.

// isNull reports whether a cell of a table with escapes is \N, which means an
// absent value in MySQL, PostgreSQL, ClickHouse and Hive.
func (t *Syntax) isNull(body []byte, s locate.Span, d *locate.Dialect) bool {
	return t.Escaped && d == t.plain && s.End-s.Start == 2 && body[s.Start] == '\\' && body[s.Start+1] == 'N'
}

// escapedControls maps the letters that stand for control characters after a
// backslash to these characters, as in MySQL, PostgreSQL and ClickHouse. \0
// is NUL.
var escapedControls = [256]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// decodeEscaped decodes a backslash and the next byte.
func decodeEscaped(dst, s []byte) ([]byte, int) {
	if len(s) < 2 {
		return append(dst, s...), len(s)
	}
	if c := escapedControls[s[1]]; c != 0 || s[1] == '0' {
		return append(dst, c), 2
	}
	return append(dst, s[1]), 2
}

// encodeEscapedBy returns an encoder of quoted text that puts a backslash
// before quotes and backslashes.
func encodeEscapedBy(quote byte) func(dst, text []byte, stop byte) []byte {
	return func(dst, text []byte, _ byte) []byte {
		for _, c := range text {
			if c == quote || c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
		}
		return dst
	}
}
