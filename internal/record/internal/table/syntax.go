package table

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// Syntax says how the cells of a table are separated and quoted.
type Syntax struct {
	Sep     byte
	Quote   byte // 0: cells are never quoted
	Escaped bool // a backslash makes the next byte literal
	ByLine  bool // records are lines; the quotes of a line count only if all of them close on it
	longest int  // maximum length in bytes of a quoted cell with a line end

	plain, Quoted *locate.Dialect // dialects of cells without and with quotes
	part          *locate.Dialect // dialect of a part of a cell without quotes
	Bare          *Syntax         // the same table without quotes, if ByLine
}

// Values of Config.Delimiter, Config.Quote and Config.Escape besides single
// characters.
const (
	delimiterTab = "tab"
	QuoteNone    = "none"
)

// SyntaxFor returns the syntax of a table with the settings in c. The separator
// is sep unless c names another.
func SyntaxFor(c *locate.Settings, sep byte) (t Syntax, err error) {
	t = Syntax{Sep: sep, Quote: '"', Escaped: c.Dialect == locate.DialectBackslash, longest: cmp.Or(c.MaxQuoted, locate.DefaultMaxQuoted)}
	var errSep, errQuote, errEscape, errQuoted error
	switch {
	case c.Delimiter == "":
	case c.Format != "csv":
		errSep = fmt.Errorf("applies only to the format csv; the format %s has its own delimiter", c.Format)
	case c.Delimiter == delimiterTab || c.Delimiter == `\t`:
		t.Sep = '\t'
	default:
		t.Sep, errSep = tableByte(c.Delimiter, "such as ; or |, or tab")
	}
	switch {
	case c.Quote == QuoteNone:
		t.Quote = 0
	case c.Quote != "":
		t.Quote, errQuote = tableByte(c.Quote, "such as ', or none")
	}
	switch {
	case c.Escape == "" || c.Escape == c.Quote || c.Quote == "" && c.Escape == `"`:
	case c.Escape != `\`:
		errEscape = errors.New(`must be a backslash, or the quote character for quotes that are doubled`)
	case c.Dialect != "" && !t.Escaped:
		errEscape = errors.New("cannot be combined with a dialect")
	default:
		t.Escaped = true
	}
	switch {
	case errSep != nil || errQuote != nil:
	case t.Sep == t.Quote:
		errQuote = errors.New("must differ from the delimiter")
	case t.Escaped && (t.Sep == '\\' || t.Quote == '\\'):
		errEscape = errors.New("must differ from the delimiter and the quote")
	}
	if c.MaxQuoted < 0 {
		errQuoted = errors.New("the limit of quoted cells must not be negative")
	}
	if t.ByLine = t.Sep == '\t' && c.Quote == ""; t.ByLine {
		bare := t
		bare.Quote, bare.ByLine = 0, false
		bare.setDialects()
		t.Bare = &bare
	}
	t.setDialects()
	return t, errors.Join(locate.About("Delimiter", errSep), locate.About("Quote", errQuote), locate.About("Escape", errEscape), locate.About("MaxQuoted", errQuoted))
}

// tableByte returns the byte that word consists of.
func tableByte(word, examples string) (byte, error) {
	if len(word) != 1 || word[0] >= 0x80 || strings.ContainsAny(word, "\r\n\x00") {
		return 0, fmt.Errorf("must be one ASCII character, %s", examples)
	}
	return word[0], nil
}

// setDialects sets the dialects of cells.
func (t *Syntax) setDialects() {
	q := t.Quote
	if t.part = bareCell; t.Escaped {
		t.part = bareEscaped
	}
	switch {
	case q == 0:
		t.plain = t.part
	case t.Escaped:
		t.plain = &locate.Dialect{Mark: '\\', Decode: decodeEscaped, Encode: encodeWithin(q, "\\\r\n", encodeEscapedBy(q)), Backslash: true}
		t.Quoted = &locate.Dialect{Mark: '\\', Decode: decodeEscaped, Encode: encodeEscapedBy(q), Backslash: true}
	case q == '"':
		t.plain, t.Quoted = locate.CellDialect, locate.QuotedDialect
	default:
		t.plain = &locate.Dialect{Encode: encodeWithin(q, "\r\n", encodeDoubled(q))}
		t.Quoted = &locate.Dialect{Mark: q, Decode: decodeDoubled(q), Encode: encodeDoubled(q)}
	}
}

// Dialects of cells that cannot be quoted.
var (
	bareCell    = &locate.Dialect{Encode: encodeBare(false)}
	bareEscaped = &locate.Dialect{Mark: '\\', Decode: decodeEscaped, Encode: encodeBare(true), Backslash: true}
)

// urlDialect returns the dialect of the URL in the cell s, whose dialect is d.
// If the cell is a request line, the URL is only a part of the cell, and a
// quote before the URL would not open a quoted cell.
func (t *Syntax) urlDialect(body []byte, s locate.Span, d *locate.Dialect) *locate.Dialect {
	if d == t.plain && locate.IsRequestLine(s.In(body)) {
		return t.part
	}
	return d
}

// encodeBare returns an encoder of cells that cannot be quoted. If escaped is
// set, it puts a backslash before bytes that would end the cell. Otherwise it
// percent-encodes them, which is valid because the cell is a URL.
func encodeBare(escaped bool) func(dst, text []byte, stop byte) []byte {
	return func(dst, text []byte, stop byte) []byte {
		for _, c := range text {
			switch {
			case escaped && (c == stop || c == '\\'):
				dst = append(dst, '\\', c)
			case c == stop || c == '\r' || c == '\n':
				dst = percent.AppendEscape(dst, c)
			default:
				dst = append(dst, c)
			}
		}
		return dst
	}
}

// encodeWithin returns an encoder of cells that adds quotes if the text has a
// separator, a quote or a byte of other. inside encodes the text in quotes.
func encodeWithin(quote byte, other string, inside func(dst, text []byte, stop byte) []byte) func(dst, text []byte, stop byte) []byte {
	return func(dst, text []byte, stop byte) []byte {
		if bytes.IndexByte(text, stop) < 0 && bytes.IndexByte(text, quote) < 0 && !bytes.ContainsAny(text, other) {
			return append(dst, text...)
		}
		return append(inside(append(dst, quote), text, stop), quote)
	}
}

// encodeDoubled returns an encoder of quoted text that doubles quotes.
func encodeDoubled(quote byte) func(dst, text []byte, stop byte) []byte {
	return func(dst, text []byte, _ byte) []byte {
		for _, c := range text {
			if c == quote {
				dst = append(dst, c)
			}
			dst = append(dst, c)
		}
		return dst
	}
}

// decodeDoubled returns the decoder for encodeDoubled.
func decodeDoubled(quote byte) func(dst, s []byte) ([]byte, int) {
	return func(dst, s []byte) ([]byte, int) {
		if len(s) > 1 && s[1] == quote {
			return append(dst, quote), 2
		}
		return append(dst, quote), 1
	}
}

// RefuseTableSyntax returns an error for each setting in c that only tables
// have.
func RefuseTableSyntax(c *locate.Settings) (errs []error) {
	for _, f := range []struct {
		field string
		set   bool
	}{{"Delimiter", c.Delimiter != ""}, {"Quote", c.Quote != ""}, {"Escape", c.Escape != ""}, {"NoHeader", c.NoHeader}} {
		if f.set {
			errs = append(errs, locate.About(f.field, fmt.Errorf("applies only to tables such as csv, not to the format %s", c.Format)))
		}
	}
	return errs
}

// Of returns the syntax by which body, a record, is read. It returns t, except
// that it returns t.Bare if t.ByLine is set and a quote stays open or text
// follows a closing quote.
func (t *Syntax) Of(body []byte) *Syntax {
	if !t.ByLine || !t.hasQuote(body) {
		return t
	}
	for pos := 0; pos <= len(body); {
		var ok bool
		if _, _, pos, ok = t.cell(body, pos); !ok {
			return t.Bare
		}
	}
	return t
}

// cell returns the inside of the cell at pos, its dialect, and the offset of
// the next cell, which is greater than len(body) after the last cell. Text
// after a closing quote is an error (RFC 4180 §2).
func (t *Syntax) cell(body []byte, pos int) (s locate.Span, d *locate.Dialect, next int, ok bool) {
	if pos < len(body) && body[pos] == t.Quote && t.Quote != 0 {
		end := t.quotedEnd(body, pos+1)
		if end < 0 || end < len(body) && body[end] != t.Sep {
			return locate.Span{}, t.Quoted, 0, false
		}
		return locate.Between(pos+1, end-1), t.Quoted, end + 1, true
	}
	end := bytes.IndexByte(body[pos:], t.Sep)
	if t.Escaped {
		end = locate.IndexUnescaped(body, pos, t.Sep) - pos
	}
	if end < 0 {
		end = len(body) - pos
	}
	return locate.Between(pos, pos+end), t.plain, pos + end + 1, true
}

// quotedEnd returns the offset after the quote that closes the cell whose text starts at
// pos of b, or -1.
func (t *Syntax) quotedEnd(b []byte, pos int) int {
	if !t.Escaped {
		return locate.QuotedEnd(b, pos, t.Quote)
	}
	if n := locate.IndexUnescaped(b, pos, t.Quote); n >= 0 { // such quotes are not doubled
		return n + 1
	}
	return -1
}

// recordEnd returns the length of the first record of b, including its line end, or -1
// if b does not hold all of it. If last is set, b ends where the last record ends. A quote
// opens a quoted cell only at the start of the cell, and a line feed inside a quoted cell
// does not end the record. If t.Escaped is set, a backslash makes the next byte literal,
// except for a line feed outside quotes.
//
// open reports one of two mistakes: a quoted cell of the record does not end
// (see runsAway), or a quoted cell spans lines and text follows its closing
// quote, which was meant to open another cell. The record then ends with the
// line on which the cell begins.
func (t *Syntax) recordEnd(b []byte, last bool) (n int, open bool) {
	for pos, end := 0, 0; ; {
		if end <= pos { // search once per line, which may have many cells
			n := bytes.IndexByte(b[pos:], '\n') + 1
			switch {
			case n > 0:
				end = pos + n
			case last:
				end = len(b)
			default:
				return -1, false
			}
		}
		q := t.openingQuote(b[:end], pos)
		if q < 0 {
			return end, false
		}
		if t.Escaped && q > 0 && locate.IsEscaped(b[:q-1]) {
			pos = q + 1 // the separator is part of the cell
			continue
		}
		pos = t.quotedEnd(b, q+1)
		switch {
		case 0 < pos && pos <= end:
		case pos < 0 && last, t.runsAway(b, q, pos), pos > 0 && t.isText(b[pos:]):
			return end, true
		case pos < 0:
			return -1, false
		}
	}
}

// isText reports whether rest, which follows a closing quote, continues its cell.
func (t *Syntax) isText(rest []byte) bool {
	return len(rest) > 0 && rest[0] != t.Sep && rest[0] != '\n' && (rest[0] != '\r' || len(rest) > 1 && rest[1] != '\n')
}

// spills reports whether a quoted cell of text, which consists of records, spans lines
// and has text after its closing quote.
func (t *Syntax) spills(text []byte) bool {
	quoted := false
	for len(text) > 0 {
		line := text[:bytes.IndexByte(text, '\n')+1]
		if quoted {
			if end := locate.QuotedEnd(line, 0, t.Quote); end > 0 && t.isText(text[end:]) {
				return true
			}
		}
		quoted = quoted != (bytes.Count(line, []byte{t.Quote})%2 == 1)
		text = text[len(line):]
	}
	return false
}

// runsAway reports whether the cell that opens with the quote at q of b is
// longer than a cell with line ends may be. The cell ends before end; if end is
// negative, b does not contain its end. The opening quote of such a long cell was
// not meant to open a cell, and would swallow the next rows.
func (t *Syntax) runsAway(b []byte, q, end int) bool {
	if end < 0 {
		end = len(b)
	}
	return end-q > t.longest || bytes.Count(b[q:end], locate.LineFeed) >= t.mostLines()
}

// mostLines returns the number of lines that a quoted cell may span: 1,000 for each MiB of
// its maximum length, and at least 1,000.
func (t *Syntax) mostLines() int { return max(1000, t.longest/(locate.DefaultMaxQuoted/1000)) }

// openingQuote returns the offset of the first quote in line at or after pos
// that starts a cell, or -1.
func (t *Syntax) openingQuote(line []byte, pos int) int {
	if t.Quote == 0 || t.ByLine {
		return -1
	}
	for {
		n := bytes.IndexByte(line[pos:], t.Quote)
		if n < 0 {
			return -1
		}
		pos += n
		if pos == 0 || line[pos-1] == t.Sep {
			return pos
		}
		pos++
	}
}

// hasQuote reports whether line has the quote of the table.
func (t *Syntax) hasQuote(line []byte) bool {
	return t.Quote != 0 && bytes.IndexByte(line, t.Quote) >= 0
}
