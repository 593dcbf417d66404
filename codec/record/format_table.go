package record

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/urlfold/urlfold/internal/suggest"
)

// A tableFormat is csv or tsv: RFC 4180 with a separator of its own.
type tableFormat struct {
	name string
	sep  byte
}

// Name implements [Format].
func (t tableFormat) Name() string { return t.name }

// Detect implements [Format].
func (t tableFormat) Detect(s *Sample) Fit {
	tabs := uint8(0)
	if t.sep == '\t' {
		tabs = 1
	}
	if n := fitTable(s.Records, t.sep, true); n > 0 {
		return Fit{n, looksLikeHeader + tabs}
	}
	return Fit{fitTable(s.Records, t.sep, false), looksLikeTable + tabs}
}

// fitTable returns the number of records if they are a table, else 0: the
// separator occurs equally often, and at all, in each record, and at least half
// of the records have a URL in a cell. With header, the first record has none,
// and all others have.
func fitTable(records [][]byte, sep byte, header bool) int {
	columns, withURL := 0, 0
	for i, r := range records {
		n, hasURL := countCells(r, sep)
		switch {
		case n < 2 || i > 0 && n != columns:
			return 0
		case header && hasURL != (i > 0):
			return 0
		case hasURL:
			withURL++
		}
		columns = n
	}
	if header && len(records) < 2 || withURL*2 < len(records) {
		return 0
	}
	return len(records)
}

// countCells returns how many cells body has, and whether one looks like a URL.
// It is 0 if body is no record.
func countCells(body []byte, sep byte) (n int, hasURL bool) {
	for pos := 0; pos <= len(body); n++ {
		s, _, next, ok := cell(body, pos, sep)
		if !ok {
			return 0, false
		}
		hasURL = hasURL || !isBlank(s.in(body)) && looksURL(s.in(body))
		pos = next
	}
	return n, hasURL
}

// Open implements [Format].
func (t tableFormat) Open(c *Config) (Reader, error) {
	r := &tableReader{sep: t.sep, base: column{index: noColumn}, host: column{index: noColumn}}
	errs := []error{r.setColumns(c), c.refuseDialect()}
	if name, _, ok := c.baseHost(); ok {
		var err error
		r.host, err = parseColumn(name)
		errs = append(errs, in("Base", err))
	}
	if c.OnOversize == DispositionTruncate {
		errs = append(errs, wrong("OnOversize", "records of a table cannot be truncated: an open quote would swallow the records behind it"))
	}
	r.named = r.url.name != nil || r.base.name != nil || r.host.name != nil
	if c.Render == RenderExtend {
		r.extends = true
		for _, e := range c.Extend {
			r.names = append(r.names, []byte(e.Name))
		}
	}
	return r, errors.Join(errs...)
}

// setColumns reads URLField and BaseField.
func (t *tableReader) setColumns(c *Config) error {
	if c.URLField == "" {
		return wrong("URLField", c.Format+" needs the name or number of the column that holds the URL")
	}
	var err, errBase error
	t.url, err = parseColumn(c.URLField)
	if c.BaseField != "" {
		t.base, errBase = parseColumn(c.BaseField)
	}
	return errors.Join(in("URLField", err), in("BaseField", errBase))
}

// A tableReader reads the records of a table. A record ends at a line feed outside
// quotes.
type tableReader struct {
	sep             byte
	url, base, host column
	named           bool // a column is given by name, so there is a header
	extends         bool // the job adds cells
	names           [][]byte
}

// Cut implements [Framing].
func (t *tableReader) Cut(block []byte) int {
	if bytes.IndexByte(block, '"') < 0 {
		return bytes.LastIndexByte(block, '\n') + 1
	}
	pos := 0
	for {
		n := tableRecordEnd(block[pos:], t.sep)
		if n < 0 {
			return pos
		}
		pos += n
	}
}

// Head implements [Framing].
func (t *tableReader) Head(block []byte) int {
	if !t.named {
		return 0
	}
	return max(0, tableRecordEnd(block, t.sep))
}

// Next implements [Reader].
func (t *tableReader) Next(in []byte) int {
	if n := tableRecordEnd(in, t.sep); n > 0 {
		return n
	}
	return len(in)
}

// multiline implements [lineCounter].
func (*tableReader) multiline() {}

// Locator implements [Reader].
func (t *tableReader) Locator() Locator {
	return &tableLocator{tableReader: t, urlColumn: t.url.index, baseColumn: t.base.index, hostColumn: t.host.index}
}

// A tableLocator knows the columns of the header at hand.
type tableLocator struct {
	*tableReader
	head       []byte // the header that the columns were found in
	headKnown  bool
	urlColumn  int
	baseColumn int
	hostColumn int
	cells      []byte // those that a record is extended with
}

// A column is given by name, or by number if the name is nil.
type column struct {
	name  []byte
	index int // from 0; -1: there is none
}

// parseColumn reads a column's name or number. What is all digits is a number.
func parseColumn(text string) (column, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return column{name: []byte(text), index: -1}, nil
	}
	if n < 1 {
		return column{}, fmt.Errorf("column %d: columns are counted from 1", n)
	}
	return column{index: n - 1}, nil
}

// noColumn stands for a column that nobody asked for.
const noColumn = -1

// columns finds the columns of the URL, the base and the host in records below
// head. They are looked up when the header changes, not per record.
func (l *tableLocator) columns(head []byte) {
	if !l.named || l.headKnown && bytes.Equal(head, l.head) {
		return
	}
	l.head, l.headKnown = append(l.head[:0], head...), true
	l.urlColumn, l.baseColumn, l.hostColumn = l.resolve(l.url), l.resolve(l.base), l.resolve(l.host)
}

// resolve finds a column in the header.
func (l *tableLocator) resolve(c column) int {
	if c.name == nil {
		return c.index
	}
	return slices.Index(l.columnNames(l.head), string(c.name)) // -1 is noColumn
}

// checkHead implements [headChecker].
func (t *tableReader) checkHead(head []byte) error {
	if !t.named {
		return nil
	}
	names := t.columnNames(head)
	var errs []error
	for _, c := range []struct {
		field string
		column
	}{{"URLField", t.url}, {"BaseField", t.base}, {"Base", t.host}} {
		if c.name == nil || slices.Contains(names, string(c.name)) {
			continue
		}
		err := fmt.Errorf("the header has no column %q", c.name)
		if near := suggest.Nearest(names, string(c.name)); near != "" {
			err = fmt.Errorf("%w (did you mean %q?)", err, near)
		}
		errs = append(errs, in(c.field, err))
	}
	return errors.Join(errs...)
}

// columnNames returns the cells of a header record. A byte order mark before the
// first is no part of it.
func (t *tableReader) columnNames(head []byte) (names []string) {
	body := trimEnd(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")))
	for pos := 0; pos <= len(body); {
		s, d, next, ok := cell(body, pos, t.sep)
		if !ok {
			break
		}
		name, _, _ := d.unescape(nil, s.in(body), nil)
		names = append(names, string(name))
		pos = next
	}
	return names
}

// Locate implements [Locator]. A record that is to be extended must be read to its
// end: a quote that is open there would swallow what is added.
func (l *tableLocator) Locate(f *Found, body []byte, at *Position) (Reason, int) {
	if l.named && at.Off == 0 && len(at.Head) > 0 && bytes.Equal(body, trimEnd(at.Head)) {
		f.PassThrough()
		return 0, 0
	}
	l.columns(at.Head)
	url, base, host := l.urlColumn, l.baseColumn, l.hostColumn
	if url < 0 {
		return NoField, 0
	}
	found, last := false, max(url, base, host)
	if l.extends {
		last = len(body)
	}
	for i, pos := 0, 0; pos <= len(body) && i <= last; i++ {
		s, d, next, ok := cell(body, pos, l.sep)
		if !ok {
			return Unparsed, pos
		}
		if i == base && s.end > s.start {
			f.base, f.baseDialect = s, d
		}
		if i == host {
			f.host, f.hostDialect = s, d
		}
		if i == url {
			found = true
			if s.end > s.start {
				f.add(s, roleURL, d)
				f.sites[0].stop = l.sep
			}
		}
		pos = next
	}
	if !found {
		return NoField, 0
	}
	return 0, 0
}

// addFields implements [adder]. A table stays rectangular: a field that is absent is
// an empty cell.
func (l *tableLocator) addFields(out []byte, r *renderer, s *site, rec []byte, at *Position) []byte {
	end := len(trimEnd(rec))
	l.cells = l.cells[:0]
	for i := range r.job.extend {
		l.cells = append(l.cells, l.sep)
		if f := r.job.extend[i]; s != nil || ofRecord.has(f) {
			l.cells = cellDialect.escape(l.cells, r.v.plainValue(f, s, rec, at), l.sep)
		}
	}
	out = r.red.part(out, rec, 0, end)
	return append(append(out, l.cells...), rec[end:]...)
}

// addNames implements [adder].
func (l *tableLocator) addNames(out, rec []byte) []byte {
	end := len(trimEnd(rec))
	out = append(out, rec[:end]...)
	for _, name := range l.names {
		out = cellDialect.escape(append(out, l.sep), name, l.sep)
	}
	return append(out, rec[end:]...)
}

// cell returns the inside of the cell that starts at pos, how it is escaped,
// and where the next one starts: beyond the end of body if there is none. Text
// behind a closing quote is refused (RFC 4180 §2).
func cell(body []byte, pos int, sep byte) (s span, d *Dialect, next int, ok bool) {
	if pos == len(body) || body[pos] != '"' {
		end := bytes.IndexByte(body[pos:], sep)
		if end < 0 {
			end = len(body) - pos
		}
		return span{pos, pos + end}, cellDialect, pos + end + 1, true
	}
	end := quotedEnd(body, pos+1)
	if end < 0 || end < len(body) && body[end] != sep {
		return span{}, quotedDialect, 0, false
	}
	return span{pos + 1, end - 1}, quotedDialect, end + 1, true
}

// quotedEnd returns the offset behind the quote that closes a quoted cell whose
// inside starts at pos, or -1.
func quotedEnd(b []byte, pos int) int {
	for {
		n := bytes.IndexByte(b[pos:], '"')
		if n < 0 {
			return -1
		}
		pos += n + 1
		if pos == len(b) || b[pos] != '"' {
			return pos
		}
		pos++
	}
}

// tableRecordEnd returns the length of the first record of b, line end
// included, or -1 if b does not hold all of it. A quote opens a quoted cell only
// at the start of a cell; a line feed inside one ends nothing.
func tableRecordEnd(b []byte, sep byte) int {
	for pos, end := 0, -1; ; {
		if end < pos { // not for each cell anew: a line may have many
			n := bytes.IndexByte(b[pos:], '\n')
			if n < 0 {
				return -1
			}
			end = pos + n
		}
		q := openingQuote(b[:end], pos, sep)
		if q < 0 {
			return end + 1
		}
		if pos = quotedEnd(b, q+1); pos < 0 {
			return -1
		}
	}
}

// openingQuote returns the offset of the first quote in line, at or behind pos,
// that starts a cell, or -1.
func openingQuote(line []byte, pos int, sep byte) int {
	for {
		n := bytes.IndexByte(line[pos:], '"')
		if n < 0 {
			return -1
		}
		pos += n
		if pos == 0 || line[pos-1] == sep {
			return pos
		}
		pos++
	}
}
