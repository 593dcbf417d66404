// Package table reads tables: records of cells that are separated by a character and may be
// quoted, as RFC 4180 describes them, and the variants that databases write.
package table

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// Format is one of the table formats: RFC 4180 with a comma, a semicolon, a
// bar or a tab as separator.
type Format struct {
	ID  string
	Sep byte
}

// Name implements [locate.Format].
func (t Format) Name() string { return t.ID }

// Detect implements [locate.Format].
func (t Format) Detect(s *locate.Sample) locate.Fit {
	tabs := uint8(0)
	if t.Sep == '\t' {
		tabs = 1
	}
	records := t.sample(s)
	all := len(s.Records)
	switch {
	case fitTable(records, t.Sep, true) > 0:
		return locate.Fit{Records: all, Certainty: locate.LooksLikeHeader + tabs}
	case fitTable(records, t.Sep, false) > 0:
		return locate.Fit{Records: all, Certainty: locate.LooksLikeTable + tabs}
	}
	return locate.Fit{}
}

// Unlined implements [locate.Unlined].
func (t Format) Unlined() locate.Reader {
	syntax, _ := SyntaxFor(new(locate.Settings), t.Sep) // the default, which is valid
	return &Reader{Syntax: syntax}
}

// sample returns the records of s, without records that have an open quote.
// If a quoted cell can contain a line end, these records are not the lines
// of s.
func (t Format) sample(s *locate.Sample) (records [][]byte) {
	table, _ := SyntaxFor(new(locate.Settings), t.Sep)
	if table.ByLine || bytes.IndexByte(s.Head, '"') < 0 {
		return s.Records
	}
	for rest := s.Head[locate.MarkLen(s.Head):]; len(rest) > 0 && len(records) < locate.DetectRecords; {
		n, open := table.recordEnd(rest, false)
		if n < 0 && len(records) < 2 { // the quote may be open
			n, open = table.recordEnd(rest, true)
		}
		if n <= 0 {
			break
		}
		if body := locate.TrimEnd(rest[:n]); !locate.IsBlank(body) && !open {
			records = append(records, body)
		}
		rest = rest[n:]
	}
	if len(records) == 0 {
		return s.Records // the only line of the sample is incomplete
	}
	return records
}

// fitTable returns len(records) if they form a table, else 0. The separator
// must occur in each record, always the same number of times, and at least
// half of the records must have a URL in a cell. If header is set, the first
// record must have no URL.
func fitTable(records [][]byte, sep byte, header bool) int {
	columns, withURL := 0, 0
	table, _ := SyntaxFor(new(locate.Settings), sep)
	for i, r := range records {
		n, hasURL := countCells(r, &table, header)
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

// countCells returns the number of cells in body and whether a cell looks like a URL or,
// if requests is set, a request line. The number is 0 if body is malformed.
func countCells(body []byte, table *Syntax, requests bool) (n int, hasURL bool) {
	table = table.Of(body)
	for pos := 0; pos <= len(body); n++ {
		s, _, next, ok := table.cell(body, pos)
		if !ok {
			return 0, false
		}
		hasURL = hasURL || !locate.IsBlank(s.In(body)) && locate.LooksURL(s.In(body)) || requests && locate.IsRequestLine(s.In(body))
		pos = next
	}
	return n, hasURL
}

// Open implements [locate.Format].
func (t Format) Open(c *locate.Settings) (locate.Reader, error) {
	syntax, errSyntax := SyntaxFor(c, t.Sep)
	r := &Reader{Syntax: syntax, Base: column{index: noColumn}, Host: column{index: noColumn}}
	errs := []error{errSyntax, r.setColumns(c), c.RefuseReferer()}
	if c.Dialect != locate.DialectBackslash {
		errs = append(errs, c.RefuseDialect())
	}
	if name, _, ok := c.BaseHost(); ok && r.Composer == nil {
		var err error
		r.Host, err = parseColumn(name)
		errs = append(errs, locate.About("Base", err))
	}
	if c.OnOversize == locate.DispositionTruncate {
		errs = append(errs, locate.Wrong("OnOversize", "records of a table cannot be truncated, because an open quote would swallow the records after it"))
	}
	errs = append(errs, r.setAttrs(c))
	r.Named = r.url.name != nil || r.mapsNames() || r.Base.name != nil || r.Host.name != nil || slices.ContainsFunc(r.parts, func(c column) bool { return c.name != nil })
	if c.NoHeader && r.Named {
		errs = append(errs, locate.Wrong("NoHeader", "columns must be given by number, because a table without a header has no column names"))
	}
	if c.Render == locate.RenderExtend {
		r.extends, r.added = true, len(c.Extend)
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
func (t *Reader) setColumns(c *locate.Settings) error {
	if !c.URL.IsZero() {
		t.url.index = noColumn
		return t.setParts(c)
	}
	if c.URLField == "" {
		return locate.Wrong("URLField", "missing: "+c.Format+" needs the name or number of the column with the URL")
	}
	var err, errBase error
	t.url, err = parseColumn(c.URLField)
	if c.BaseField != "" {
		t.Base, errBase = parseColumn(c.BaseField)
	}
	return errors.Join(locate.About("URLField", err), locate.About("BaseField", errBase))
}

// Reader reads the records of a table. A record ends at a line feed
// outside quotes.
type Reader struct {
	Syntax
	url, Base, Host column
	Named           bool             // at least one column is given by name, so there is a header
	extends         bool             // the job adds cells
	names           [][]byte         // names of the added cells, and of the note
	added           int              // number of the added cells
	Composer        *locate.Composer // nil if the URL is in one column
	parts           []column         // columns of the parts, by the index of their value
	attrs           []attrColumn     // columns that may hold attributes
}

// Head implements [locate.Framing].
func (t *Reader) Head(block []byte) int {
	if !t.Named {
		return 0
	}
	n, _ := t.recordEnd(block, false)
	return max(0, n)
}

// Next implements [locate.Reader].
func (t *Reader) Next(in []byte) int {
	if n := locate.HoleLen(in); n > 0 {
		return n
	}
	n, _ := t.recordEnd(in, true)
	return n
}

// Multiline implements [locate.LineCounter].
func (*Reader) Multiline() {}

// Locator implements [locate.Reader].
func (t *Reader) Locator() locate.Locator {
	l := &Locator{Reader: t, URLColumn: t.url.index, baseColumn: t.Base.index, hostColumn: t.Host.index}
	if t.Composer != nil {
		l.values = make([]locate.FieldValue, len(t.parts))
		l.setWanted()
	}
	l.setAttrColumns(nil)
	return l
}

// Locator finds the URLs in the rows of a table. It remembers the columns of
// the current header.
type Locator struct {
	*Reader
	head       []byte // header that the columns belong to
	headKnown  bool
	URLColumn  int
	baseColumn int
	hostColumn int
	cells      []byte // cells to add to the record

	Spans []locate.Span // cells of the record that a keeper of package record reads

	// For a composed URL.
	Wanted []int               // index of the value in each column, -1 if it is not used
	values []locate.FieldValue // values of a record

	attrComposer locate.Composer     // Source.Value is the index of a column
	attrValues   []locate.FieldValue // the columns up to the last column that is a source
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

// Columns sets the columns of URL, base and host for records with the header
// head. It looks them up only if the header has changed.
func (l *Locator) Columns(head []byte) {
	if !l.Named || l.headKnown && bytes.Equal(head, l.head) {
		return
	}
	l.head, l.headKnown = append(l.head[:0], head...), true
	l.URLColumn, l.baseColumn, l.hostColumn = l.resolve(l.url), l.resolve(l.Base), l.resolve(l.Host)
	if l.Composer != nil {
		l.setWanted()
	}
	l.setAttrColumns(l.columnNames(l.head))
}

// resolve returns the index of a column in the header.
func (l *Locator) resolve(c column) int {
	if c.name == nil {
		return c.index
	}
	return slices.Index(l.columnNames(l.head), string(c.name)) // -1 is noColumn
}

// CheckHead implements [locate.HeadChecker].
func (t *Reader) CheckHead(head []byte) error {
	if !t.Named {
		return nil
	}
	names := t.columnNames(head)
	var errs []error
	for _, c := range []struct {
		field string
		column
	}{{"URLField", t.url}, {"BaseField", t.Base}, {"Base", t.Host}} {
		if c.name == nil || slices.Contains(names, string(c.name)) {
			continue
		}
		err := fmt.Errorf("no column %q in the header", c.name)
		if near := suggest.Nearest(names, string(c.name)); near != "" {
			err = fmt.Errorf("%w (did you mean %q?)", err, near)
		}
		errs = append(errs, locate.About(c.field, err))
	}
	for _, a := range t.attrs {
		if a.given && a.name != nil {
			errs = append(errs, locate.About("Map", missingColumn(names, string(a.name), locate.AttrNames[a.attr])))
		}
	}
	return errors.Join(append(errs, t.checkParts(names)...)...)
}

// columnNames returns the cells of a header record, without a byte order mark
// before the first cell.
func (t *Reader) columnNames(head []byte) (names []string) {
	body := locate.TrimEnd(head[locate.MarkLen(head):])
	syntax := t.Of(body)
	for pos := 0; pos <= len(body); {
		s, d, next, ok := syntax.cell(body, pos)
		if !ok {
			break
		}
		name, _, _ := d.Unescape(nil, s.In(body), nil)
		names = append(names, string(name))
		pos = next
	}
	return names
}

// Locate implements [locate.Locator]. If cells are added to the record, Locate
// reads all of it, because an open quote at the end would swallow the added
// cells. Otherwise it accepts an open quote after the URL, which the source
// reports as damage.
func (l *Locator) Locate(f *locate.Found, body []byte, at *locate.Position) (locate.Reason, int) {
	if l.Named && at.Off == 0 && l.isHead(body, at.Head) {
		f.PassThrough()
		return 0, 0
	}
	l.Columns(at.Head)
	if f.Attrs.Needed != 0 {
		l.readAttrs(f, body)
	}
	if l.Composer != nil {
		return l.locateParts(f, body)
	}
	url, base, host := l.URLColumn, l.baseColumn, l.hostColumn
	if url < 0 {
		return locate.NoField, 0
	}
	found, last := false, max(url, base, host)
	if l.extends {
		last = len(body)
	}
	syntax := l.Of(body)
	for i, pos := 0, 0; pos <= len(body) && i <= last; i++ {
		s, d, next, ok := syntax.cell(body, pos)
		if !ok {
			return locate.Unparsed, pos
		}
		if i == base && s.End > s.Start {
			f.Base, f.BaseDialect = s, d
		}
		if i == host {
			f.Host, f.HostDialect = s, d
		}
		if i == url {
			found = true
			l.AddURL(f, body, s, d)
		}
		pos = next
	}
	if !found {
		return locate.NoField, 0
	}
	return 0, 0
}

// isHead reports whether body, the first record of a stream with the header head, is
// that header. If the header lacks its line end, head is empty; then body must have
// the columns that the job names.
func (l *Locator) isHead(body, head []byte) bool {
	if len(head) == 0 {
		return l.CheckHead(body) == nil
	}
	return bytes.Equal(body, locate.TrimEnd(head[locate.MarkLen(head):]))
}

// AddURL adds the URL in the cell s, unless the cell is empty or \N.
func (l *Locator) AddURL(f *locate.Found, body []byte, s locate.Span, d *locate.Dialect) {
	if s.End > s.Start && !l.isNull(body, s, d) {
		f.AddField(body, s, locate.RoleURL, l.urlDialect(body, s, d))
		f.SetStop(l.Sep)
	}
}

// AddFields implements [locate.Adder]. It writes an empty cell for an absent field, so
// that every row has the same number of cells.
func (l *Locator) AddFields(out, rec []byte, more locate.Addition) []byte {
	end := len(locate.TrimEnd(rec))
	l.cells = l.cells[:0]
	for i := range l.added {
		l.cells = append(l.cells, l.Sep)
		if v := more.Text(i); v != nil {
			l.cells = l.plain.Escape(l.cells, v, l.Sep)
		}
	}
	out = append(more.AppendPart(out, rec, 0, end), l.cells...)
	if note, _ := more.Note(); note != nil {
		out = append(append(out, l.Sep), note...)
	}
	return append(out, rec[end:]...)
}

// AddNames implements [locate.Adder].
func (l *Locator) AddNames(out, rec []byte) []byte {
	end := len(locate.TrimEnd(rec))
	out = append(out, rec[:end]...)
	for _, name := range l.names {
		out = l.plain.Escape(append(out, l.Sep), name, l.Sep)
	}
	return append(out, rec[end:]...)
}

// recordEnd does what Syntax.recordEnd does. b may begin with a byte order mark.
func (t *Reader) recordEnd(b []byte, last bool) (n int, open bool) {
	mark := locate.MarkLen(b)
	if n := bytes.IndexByte(b[mark:], '\n') + 1; n > 0 {
		line := b[mark : mark+n]
		if t.ByLine || !t.hasQuote(line) || t.closes(line) {
			return mark + n, false
		}
	}
	if n, open = t.Syntax.recordEnd(b[mark:], last); n >= 0 {
		n += mark
	}
	return n, open
}
