package table

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file has the variant of tables in which a backslash makes the next byte
// literal, as MySQL and other databases write them.

// escapedCell is like cell, for a table with escapes. Quotes are not doubled in
// it.
func (t *Syntax) escapedCell(body []byte, pos int) (s locate.Span, d *locate.Dialect, next int, ok bool) {
	if pos == len(body) || body[pos] != t.Quote || t.Quote == 0 {
		end := pos
		for {
			n := bytes.IndexByte(body[end:], t.Sep)
			if n < 0 {
				return locate.Between(pos, len(body)), t.plain, len(body) + 1, true
			}
			if end += n; !locate.IsEscaped(body[pos:end]) {
				return locate.Between(pos, end), t.plain, end + 1, true
			}
			end++
		}
	}
	end := escapedEnd(body, pos+1, t.Quote)
	if end < 0 || end < len(body) && body[end] != t.Sep {
		return locate.Span{}, t.Quoted, 0, false
	}
	return locate.Between(pos+1, end-1), t.Quoted, end + 1, true
}

// isNull reports whether a cell of a table with escapes is \N, which means an
// absent value in MySQL, PostgreSQL, ClickHouse and Hive.
func (t *Syntax) isNull(body []byte, s locate.Span, d *locate.Dialect) bool {
	return t.Escaped && d == t.plain && s.End-s.Start == 2 && body[s.Start] == '\\' && body[s.Start+1] == 'N'
}

// escapedEnd is like QuotedEnd, for a table with escapes.
func escapedEnd(b []byte, pos int, quote byte) int {
	for i := pos; ; i++ {
		n := bytes.IndexByte(b[i:], quote)
		if n < 0 {
			return -1
		}
		if i += n; !locate.IsEscaped(b[pos:i]) {
			return i + 1
		}
	}
}

// Dialects of cells without and with quotes.
var (
	escapedDialect = &locate.Dialect{Mark: '\\', Decode: decodeEscaped, Encode: encodeEscapedCell, Backslash: true}
	escapedQuoted  = &locate.Dialect{Mark: '\\', Decode: decodeEscaped, Encode: encodeEscaped, Backslash: true}
)

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
