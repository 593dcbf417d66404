package record

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// tableFormat is one of the table formats: RFC 4180 with a comma, a semicolon, a
// bar or a tab as separator.
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
	records := t.sample(s)
	all := len(s.Records)
	switch {
	case fitTable(records, t.sep, true) > 0:
		return Fit{all, looksLikeHeader + tabs}
	case fitTable(records, t.sep, false) > 0:
		return Fit{all, looksLikeTable + tabs}
	}
	return Fit{}
}

// unlined implements [unlined].
func (t tableFormat) unlined() Reader {
	syntax, _ := new(Config).tableSyntax(t.sep) // the default, which is valid
	return &tableReader{tableSyntax: syntax}
}

// sample returns the records of s, without those that have an open quote. If a quoted cell
// can contain a line end, they are not its lines.
func (t tableFormat) sample(s *Sample) (records [][]byte) {
	table, _ := new(Config).tableSyntax(t.sep)
	if table.byLine || bytes.IndexByte(s.Head, '"') < 0 {
		return s.Records
	}
	for rest := s.Head[markLen(s.Head):]; len(rest) > 0 && len(records) < detectRecords; {
		n, open := table.recordEnd(rest, false)
		if n < 0 && len(records) < 2 { // the quote may be open
			n, open = table.recordEnd(rest, true)
		}
		if n <= 0 {
			break
		}
		if body := trimEnd(rest[:n]); !isBlank(body) && !open {
			records = append(records, body)
		}
		rest = rest[n:]
	}
	if len(records) == 0 {
		return s.Records // its only line is incomplete
	}
	return records
}

// fitTable returns len(records) if they form a table, else 0. The separator
// must occur in each record, always the same number of times, and at least half
// of the records must have a URL in a cell. If header is set, the first record
// must have none.
func fitTable(records [][]byte, sep byte, header bool) int {
	columns, withURL := 0, 0
	table, _ := new(Config).tableSyntax(sep)
	for i, r := range records {
		n, hasURL := countCells(r, &table)
		switch {
		case n < 2 || i > 0 && n != columns:
			return 0
		case header && i == 0 && hasURL:
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

// countCells returns the number of cells in body and whether one of them looks
// like a URL. The number is 0 if body is malformed.
func countCells(body []byte, table *tableSyntax) (n int, hasURL bool) {
	table = table.of(body)
	for pos := 0; pos <= len(body); n++ {
		s, _, next, ok := table.cell(body, pos)
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
	syntax, errSyntax := c.tableSyntax(t.sep)
	r := &tableReader{tableSyntax: syntax, base: column{index: noColumn}, host: column{index: noColumn}}
	errs := []error{errSyntax, r.setColumns(c), c.refuseReferer()}
	if c.Dialect != dialectBackslash {
		errs = append(errs, c.refuseDialect())
	}
	if name, _, ok := c.baseHost(); ok && r.composer == nil {
		var err error
		r.host, err = parseColumn(name)
		errs = append(errs, in("Base", err))
	}
	if c.OnOversize == DispositionTruncate {
		errs = append(errs, wrong("OnOversize", "records of a table cannot be truncated, because an open quote would swallow the records after it"))
	}
	r.named = r.url.name != nil || r.base.name != nil || r.host.name != nil || slices.ContainsFunc(r.parts, func(c column) bool { return c.name != nil })
	if c.NoHeader && r.named {
		errs = append(errs, wrong("NoHeader", "columns must be given by number, because a table without a header has no column names"))
	}
	if c.Render == RenderExtend {
		r.extends = true
		for _, e := range c.Extend {
			r.names = append(r.names, []byte(e.Name))
		}
		if c.Note.Name != "" {
			r.names = append(r.names, []byte(c.Note.Name))
		}
	}
	return r, errors.Join(errs...)
}

// setColumns sets the columns from c.URLField and c.BaseField.
func (t *tableReader) setColumns(c *Config) error {
	if !c.URL.IsZero() {
		t.url.index = noColumn
		return t.setParts(c)
	}
	if c.URLField == "" {
		return wrong("URLField", "missing: "+c.Format+" needs the name or number of the column with the URL")
	}
	var err, errBase error
	t.url, err = parseColumn(c.URLField)
	if c.BaseField != "" {
		t.base, errBase = parseColumn(c.BaseField)
	}
	return errors.Join(in("URLField", err), in("BaseField", errBase))
}

// tableReader reads the records of a table. A record ends at a line feed
// outside quotes.
type tableReader struct {
	tableSyntax
	url, base, host column
	named           bool // at least one column is given by name, so there is a header
	extends         bool // the job adds cells
	names           [][]byte
	composer        *composer // nil if the URL is in one column
	parts           []column  // columns of the parts, by the index of their value
}

// Head implements [Framing].
func (t *tableReader) Head(block []byte) int {
	if !t.named {
		return 0
	}
	n, _ := t.recordEnd(block, false)
	return max(0, n)
}

// Next implements [Reader].
func (t *tableReader) Next(in []byte) int {
	n, _ := t.recordEnd(in, true)
	return n
}

// multiline implements [lineCounter].
func (*tableReader) multiline() {}

// Locator implements [Reader].
func (t *tableReader) Locator() Locator {
	l := &tableLocator{tableReader: t, urlColumn: t.url.index, baseColumn: t.base.index, hostColumn: t.host.index}
	if t.composer != nil {
		l.values = make([]fieldValue, len(t.parts))
		l.setWanted()
	}
	return l
}

// tableLocator holds the columns of the current header.
type tableLocator struct {
	*tableReader
	head       []byte // header that the columns belong to
	headKnown  bool
	urlColumn  int
	baseColumn int
	hostColumn int
	cells      []byte // cells to add to the record

	spans []span // cells of the record that keep reads

	// For a composed URL.
	wanted []int        // index of the value in each column, -1 if it is not used
	values []fieldValue // of a record
}

// column is a column given by name or, if name is nil, by number.
type column struct {
	name  []byte
	index int // from 0; -1 if unknown or not wanted
}

// parseColumn parses a column name or number. Text that consists of digits is a
// number.
func parseColumn(text string) (column, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return column{name: []byte(text), index: -1}, nil
	}
	if n < 1 {
		return column{}, fmt.Errorf("invalid column %d: columns are counted from 1", n)
	}
	return column{index: n - 1}, nil
}

// noColumn is the index of a column that is not configured.
const noColumn = -1

// columns sets the columns of URL, base and host for records with the header
// head. It looks them up only if the header has changed.
func (l *tableLocator) columns(head []byte) {
	if !l.named || l.headKnown && bytes.Equal(head, l.head) {
		return
	}
	l.head, l.headKnown = append(l.head[:0], head...), true
	l.urlColumn, l.baseColumn, l.hostColumn = l.resolve(l.url), l.resolve(l.base), l.resolve(l.host)
	if l.composer != nil {
		l.setWanted()
	}
}

// resolve returns the index of a column in the header.
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
		err := fmt.Errorf("no column %q in the header", c.name)
		if near := suggest.Nearest(names, string(c.name)); near != "" {
			err = fmt.Errorf("%w (did you mean %q?)", err, near)
		}
		errs = append(errs, in(c.field, err))
	}
	return errors.Join(append(errs, t.checkParts(names)...)...)
}

// columnNames returns the cells of a header record, without a byte order mark
// before the first one.
func (t *tableReader) columnNames(head []byte) (names []string) {
	body := trimEnd(head[markLen(head):])
	syntax := t.of(body)
	for pos := 0; pos <= len(body); {
		s, d, next, ok := syntax.cell(body, pos)
		if !ok {
			break
		}
		name, _, _ := d.unescape(nil, s.in(body), nil)
		names = append(names, string(name))
		pos = next
	}
	return names
}

// Locate implements [Locator]. If cells are added to the record, Locate reads
// all of it, because an open quote at the end would swallow them. Otherwise it
// reads a URL before an open quote, which the source reports as damage.
func (l *tableLocator) Locate(f *Found, body []byte, at *Position) (Reason, int) {
	if l.named && at.Off == 0 && l.isHead(body, at.Head) {
		f.PassThrough()
		return 0, 0
	}
	l.columns(at.Head)
	if l.composer != nil {
		return l.locateParts(f, body)
	}
	url, base, host := l.urlColumn, l.baseColumn, l.hostColumn
	if url < 0 {
		return NoField, 0
	}
	found, last := false, max(url, base, host)
	if l.extends {
		last = len(body)
	}
	syntax := l.of(body)
	for i, pos := 0, 0; pos <= len(body) && i <= last; i++ {
		s, d, next, ok := syntax.cell(body, pos)
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
			l.addURL(f, body, s, d)
		}
		pos = next
	}
	if !found {
		return NoField, 0
	}
	return 0, 0
}

// isHead reports whether body, the first record of a stream with the header head, is
// that header. If the header lacks its line end, head is empty; then body must have
// the columns that the job names.
func (l *tableLocator) isHead(body, head []byte) bool {
	if len(head) == 0 {
		return l.checkHead(body) == nil
	}
	return bytes.Equal(body, trimEnd(head[markLen(head):]))
}

// addURL adds the URL in the cell s, unless that is empty.
func (l *tableLocator) addURL(f *Found, body []byte, s span, d *Dialect) {
	if s.end > s.start && !l.isNull(body, s, d) {
		f.add(s, roleURL, d)
		f.sites[0].stop = l.sep
	}
}

// addFields implements [adder]. It writes an empty cell for an absent field, so
// that every row has the same number of cells.
func (l *tableLocator) addFields(out []byte, r *renderer, s *site, rec []byte, at *Position) []byte {
	end := len(trimEnd(rec))
	l.cells = l.cells[:0]
	for i := range r.job.extend {
		l.cells = append(l.cells, l.sep)
		if f := r.job.extend[i]; s != nil || ofRecord.has(f) {
			v, _ := r.v.plainValue(f, s, rec, at)
			l.cells = l.plain.escape(l.cells, v, l.sep)
		}
	}
	out = r.red.part(out, rec, 0, end)
	return append(r.job.noteCell(append(out, l.cells...), l.sep), rec[end:]...)
}

// addNames implements [adder].
func (l *tableLocator) addNames(out, rec []byte) []byte {
	end := len(trimEnd(rec))
	out = append(out, rec[:end]...)
	for _, name := range l.names {
		out = l.plain.escape(append(out, l.sep), name, l.sep)
	}
	return append(out, rec[end:]...)
}

// markLen returns the length of the byte order mark at the start of b, or 0.
func markLen(b []byte) int {
	if len(b) >= 3 && string(b[:3]) == "\xEF\xBB\xBF" { // without a call
		return 3
	}
	return 0
}

// recordEnd is recordEnd of the syntax for b that may begin with a byte order mark.
func (t *tableReader) recordEnd(b []byte, last bool) (n int, open bool) {
	mark := markLen(b)
	if n := bytes.IndexByte(b[mark:], '\n') + 1; n > 0 {
		line := b[mark : mark+n]
		if t.byLine || !t.hasQuote(line) || t.closes(line) {
			return mark + n, false
		}
	}
	if n, open = t.tableSyntax.recordEnd(b[mark:], last); n >= 0 {
		n += mark
	}
	return n, open
}
