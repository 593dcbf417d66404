package record

import "bytes"

// This file has the variant of tables in which a backslash makes the next byte
// literal, as MySQL and other databases write them.

// dialectBackslash is the value of Config.Dialect that selects it.
const dialectBackslash = "backslash"

// escapedCell is like cell, for such a table. Quotes are not doubled in it.
func (t *tableSyntax) escapedCell(body []byte, pos int) (s span, d *Dialect, next int, ok bool) {
	if pos == len(body) || body[pos] != t.quote || t.quote == 0 {
		end := pos
		for {
			n := bytes.IndexByte(body[end:], t.sep)
			if n < 0 {
				return span{pos, len(body)}, t.plain, len(body) + 1, true
			}
			if end += n; !isEscaped(body[pos:end]) {
				return span{pos, end}, t.plain, end + 1, true
			}
			end++
		}
	}
	end := escapedEnd(body, pos+1, t.quote)
	if end < 0 || end < len(body) && body[end] != t.sep {
		return span{}, t.quoted, 0, false
	}
	return span{pos + 1, end - 1}, t.quoted, end + 1, true
}

// isNull reports whether a cell of such a table is \N, which stands for an
// absent value in MySQL, PostgreSQL, ClickHouse and Hive.
func (t *tableSyntax) isNull(body []byte, s span, d *Dialect) bool {
	return t.escaped && d == t.plain && s.end-s.start == 2 && body[s.start] == '\\' && body[s.start+1] == 'N'
}

// escapedEnd is like quotedEnd, for such a table.
func escapedEnd(b []byte, pos int, quote byte) int {
	for i := pos; ; i++ {
		n := bytes.IndexByte(b[i:], quote)
		if n < 0 {
			return -1
		}
		if i += n; !isEscaped(b[pos:i]) {
			return i + 1
		}
	}
}

// Dialects of cells without and with quotes.
var (
	escapedDialect = &Dialect{Mark: '\\', Decode: decodeEscaped, Encode: encodeEscapedCell, backslash: true}
	escapedQuoted  = &Dialect{Mark: '\\', Decode: decodeEscaped, Encode: encodeEscaped, backslash: true}
)

// escapedControls maps the letters that stand for control characters after a
// backslash to these, as in MySQL, PostgreSQL and ClickHouse. \0 is NUL.
var escapedControls = [256]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// decodeEscaped decodes a backslash and the byte after it.
func decodeEscaped(dst, s []byte) ([]byte, int) {
	if len(s) < 2 {
		return append(dst, s...), len(s)
	}
	if c := escapedControls[s[1]]; c != 0 || s[1] == '0' {
		return append(dst, c), 2
	}
	return append(dst, s[1]), 2
}

// encodeEscapedCell encodes text as a cell, with quotes if needed.
func encodeEscapedCell(dst, text []byte, stop byte) []byte {
	for _, c := range text {
		if c == stop || c == '"' || c == '\\' || c == '\n' || c == '\r' {
			return append(encodeEscaped(append(dst, '"'), text, stop), '"')
		}
	}
	return append(dst, text...)
}

// encodeEscaped encodes text as the inside of a cell with quotes.
func encodeEscaped(dst, text []byte, _ byte) []byte {
	for _, c := range text {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst
}
