package insight

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/parquet"
)

// A Column is a column of a result.
type Column struct {
	Name   string
	Number record.ColumnKind // how the numbers of the column are written to Parquet; numbers are not quoted in JSON, and are aligned to the right. 0: a column of texts
	Table  bool              // only for people: not part of the other forms
	Data   bool              // not for people: not part of a table
	URL    bool              // a table shows it as people read it
}

// numberOf returns Column.Number for a field.
func numberOf(field string) record.ColumnKind {
	if c, ok := record.ParseComputed(field); ok && c.IsNumber() {
		return record.ColumnInt
	}
	for _, c := range record.Fields() {
		if c.Name == field && (c.Kind == record.ColumnInt || c.Kind == record.ColumnDecimal) {
			return c.Kind
		}
	}
	return 0
}

// A Printer writes the rows of a result.
type Printer interface {
	// Row writes a row. Values are escaped for tsv; a nil value is absent. Row
	// does not retain the values.
	Row(values [][]byte) error
	// Close writes the rest. It does not close the underlying writer.
	Close() error
}

// Forms returns the names of the forms that NewPrinter writes.
func Forms() []string { return []string{"table", "tsv", "csv", "jsonl", "parquet"} }

// NewPrinter returns a Printer to w. With header, tsv and csv begin with the
// names of the columns. A table is as wide as st if clip is set; otherwise it
// shows all values in full.
func NewPrinter(w io.Writer, form string, columns []Column, header, clip bool, st terminal.Style) (Printer, error) {
	if form == "table" {
		return &tablePrinter{w: w, all: columns, columns: slices.DeleteFunc(slices.Clone(columns), func(c Column) bool { return c.Data }), style: st, clip: clip}, nil
	}
	p := &textPrinter{w: w, columns: columns}
	switch form {
	case "tsv":
		p.row = p.tsv
	case "csv":
		p.row = p.csv
	case "jsonl":
		p.row = p.json
		header = false
	default:
		return newParquetPrinter(w, columns)
	}
	if header {
		var names [][]byte
		for _, c := range columns {
			names = append(names, []byte(c.Name))
		}
		if err := p.Row(names); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// A textPrinter writes each row immediately.
type textPrinter struct {
	w       io.Writer
	columns []Column
	row     func(values [][]byte)
	line    []byte
	value   []byte
}

func (p *textPrinter) Close() error { return nil }

func (p *textPrinter) Row(values [][]byte) error {
	p.line = p.line[:0]
	p.row(values)
	p.line = append(p.line, '\n')
	_, err := p.w.Write(p.line)
	return err
}

// each calls do for each value, with its number among the written values.
func (p *textPrinter) each(values [][]byte, do func(n int, c *Column, v []byte)) {
	n := 0
	for i := range p.columns {
		if !p.columns[i].Table {
			do(n, &p.columns[i], values[i])
			n++
		}
	}
}

func (p *textPrinter) tsv(values [][]byte) {
	p.each(values, func(n int, _ *Column, v []byte) {
		if n > 0 {
			p.line = append(p.line, '\t')
		}
		p.line = append(p.line, v...)
	})
}

// csv writes a record of RFC 4180. Absent values are empty.
func (p *textPrinter) csv(values [][]byte) {
	p.each(values, func(n int, _ *Column, v []byte) {
		if n > 0 {
			p.line = append(p.line, ',')
		}
		p.value = tsv.AppendUnescaped(p.value[:0], v)
		if !bytes.ContainsAny(p.value, ",\"\n\r") {
			p.line = append(p.line, p.value...)
			return
		}
		p.line = append(p.line, '"')
		p.line = append(p.line, bytes.ReplaceAll(p.value, []byte(`"`), []byte(`""`))...)
		p.line = append(p.line, '"')
	})
}

// json writes an object without the absent values. A value that is not UTF-8
// becomes a member NAME_b64, as in the rendering jsonl.
func (p *textPrinter) json(values [][]byte) {
	p.line = append(p.line, '{')
	p.each(values, func(_ int, c *Column, v []byte) {
		if v == nil {
			return
		}
		if len(p.line) > 1 {
			p.line = append(p.line, ',')
		}
		p.value = tsv.AppendUnescaped(p.value[:0], v)
		switch {
		case c.Number > 0 && json.Valid(p.value):
			p.line = append(appendString(p.line, c.Name), ':')
			p.line = append(p.line, p.value...)
		case utf8.Valid(p.value):
			p.line = append(appendString(p.line, c.Name), ':')
			p.line = appendString(p.line, string(p.value))
		default:
			p.line = append(appendString(p.line, c.Name+"_b64"), ':')
			p.line = appendString(p.line, base64.StdEncoding.EncodeToString(p.value))
		}
	})
	p.line = append(p.line, '}')
}

// appendString appends a JSON string.
func appendString(dst []byte, s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can be encoded
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte{'\n'})...)
}

// A parquetPrinter writes a Parquet file.
type parquetPrinter struct {
	out     *parquet.Writer
	columns []Column
	kinds   []record.ColumnKind
	row     []byte
	value   []byte
}

func newParquetPrinter(w io.Writer, columns []Column) (*parquetPrinter, error) {
	p := &parquetPrinter{columns: columns}
	var list []record.Column
	for _, c := range columns {
		p.kinds = append(p.kinds, c.Number)
		if !c.Table {
			list = append(list, record.Column{Name: c.Name, Kind: c.Number})
		}
	}
	var err error
	p.out, err = parquet.NewWriter(w, list, "")
	return p, err
}

func (p *parquetPrinter) Close() error { return p.out.Close() }

// Row implements Printer. Bytes that are not UTF-8 become U+FFFD, because
// strings of Parquet are UTF-8.
func (p *parquetPrinter) Row(values [][]byte) error {
	p.row = p.row[:0]
	for i, v := range values {
		if p.columns[i].Table {
			continue
		}
		p.value = tsv.AppendUnescaped(p.value[:0], v)
		n := uint64(0)
		for _, c := range p.value {
			n = n*10 + uint64(c-'0')
		}
		switch {
		case v == nil:
			p.row = append(p.row, 0)
		case p.kinds[i] == record.ColumnInt:
			p.row = binary.AppendUvarint(p.row, n+1)
		default:
			text := strings.ToValidUTF8(string(p.value), "\uFFFD")
			p.row = append(binary.AppendUvarint(p.row, uint64(len(text))+1), text...)
		}
	}
	p.row = append(p.row, '\n')
	return p.out.Append(p.row)
}

// A tablePrinter collects the rows, because columns are as wide as their widest
// value.
type tablePrinter struct {
	w       io.Writer
	all     []Column
	columns []Column // the columns to show
	style   terminal.Style
	clip    bool
	rows    [][]string
}

// absent is shown for an absent value in a table.
const absent = "(none)"

func (p *tablePrinter) Row(values [][]byte) error {
	var row []string
	for i, v := range values {
		c := &p.all[i]
		if c.Data {
			continue
		}
		text := string(tsv.AppendUnescaped(nil, v))
		if readable := Readable(text); c.URL && p.style.Escape(readable) == readable {
			text = readable
		}
		text = p.style.Escape(text)
		switch {
		case v == nil && c.Number > 0:
		case v == nil:
			text = absent
		case c.Number > 0 && c.Name != "status":
			text = grouped(text)
		}
		row = append(row, text)
	}
	p.rows = append(p.rows, row)
	return nil
}

// grouped inserts commas into an integer.
func grouped(digits string) string {
	if strings.Trim(digits, "0123456789") != "" {
		return digits
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func (p *tablePrinter) Close() error {
	widths := p.widths()
	var b bytes.Buffer
	var head []string
	for _, c := range p.columns {
		head = append(head, strings.ReplaceAll(c.Name, "_", " "))
	}
	p.line(&b, head, widths, terminal.Bold)
	for _, row := range p.rows {
		p.line(&b, row, widths, "")
	}
	_, err := p.w.Write(b.Bytes())
	return err
}

// leastColumn is the smallest width of a clipped column.
const leastColumn = 12

// widths returns the widths of the columns. If the table is to be clipped and
// is wider than the terminal, widths narrows the widest columns.
func (p *tablePrinter) widths() []int {
	widths := make([]int, len(p.columns))
	for i, c := range p.columns {
		widths[i] = len(c.Name)
		for _, row := range p.rows {
			widths[i] = max(widths[i], p.width(row[i]))
		}
	}
	for p.clip {
		sum, widest := 2*(len(widths)-1), 0
		for i, w := range widths {
			sum += w
			if w > widths[widest] {
				widest = i
			}
		}
		if sum <= p.style.Width || widths[widest] <= leastColumn {
			break
		}
		widths[widest] = max(leastColumn, widths[widest]-(sum-p.style.Width+1)/2)
	}
	return widths
}

// width returns the columns that text takes.
func (p *tablePrinter) width(text string) (n int) {
	for _, c := range p.style.Cells([]byte(text)) {
		n += c.Width
	}
	return n
}

func (p *tablePrinter) line(b *bytes.Buffer, row []string, widths []int, color string) {
	for i, text := range row {
		text = p.fit(text, widths[i])
		pad := strings.Repeat(" ", widths[i]-p.width(text))
		last := i == len(row)-1
		switch {
		case p.columns[i].Number > 0:
			text = pad + p.style.Paint(color, text)
		case last:
			text = p.style.Paint(color, text)
		default:
			text = p.style.Paint(color, text) + pad
		}
		b.WriteString(text)
		if !last {
			b.WriteString("  ")
		}
	}
	b.WriteByte('\n')
}

// fit shortens text to a width.
func (p *tablePrinter) fit(text string, width int) string {
	if p.width(text) <= width {
		return text
	}
	more := p.style.Pick("…", "~")
	out, n := "", 1
	for _, c := range p.style.Cells([]byte(text)) {
		if n += c.Width; n > width {
			break
		}
		out += c.Text
	}
	return out + more
}

// TopColumns returns the columns of the rows of a Top.
func TopColumns(b By, per Per) (list []Column) {
	if per != PerRun {
		list = append(list, Column{Name: "period"})
	}
	list = append(list, Column{Name: "count", Number: record.ColumnInt}, Column{Name: "share", Number: record.ColumnInt, Table: true})
	for _, name := range b.Columns {
		list = append(list, Column{Name: name, Number: numberOf(name), Data: name == "key" && len(b.Columns) == 1})
	}
	return append(list, Column{Name: "example", URL: true})
}

// PrintTop writes the periods of a Top.
func PrintTop(p Printer, b By, per Per, periods []Period) error {
	for _, period := range periods {
		for _, g := range period.Top {
			var row [][]byte
			if per != PerRun {
				row = append(row, present([]byte(period.Name)))
			}
			row = append(row, appendInt(g.Count), appendShare(g.Count, period.URLs))
			rest := g.Values
			for range b.Columns {
				v, more, _ := bytes.Cut(rest, []byte{'\t'})
				row, rest = append(row, present(v)), more
			}
			if err := p.Row(append(row, g.Example)); err != nil {
				return err
			}
		}
	}
	return p.Close()
}

// TotalColumns returns the columns of the rows of a Count.
func TotalColumns(per Per) (list []Column) {
	if per != PerRun {
		list = append(list, Column{Name: "period"})
	}
	return append(list, Column{Name: "by"}, Column{Name: "urls", Number: record.ColumnInt}, Column{Name: "without", Number: record.ColumnInt}, Column{Name: "distinct", Number: record.ColumnInt})
}

// PrintTotals writes the totals of a Count.
func PrintTotals(p Printer, per Per, totals []Total) error {
	for _, t := range totals {
		var row [][]byte
		if per != PerRun {
			row = append(row, present([]byte(t.Period)))
		}
		if err := p.Row(append(row, []byte(t.By), appendInt(t.URLs), appendInt(t.Without), appendInt(t.Distinct))); err != nil {
			return err
		}
	}
	return p.Close()
}

// present returns v, or nil if it is empty.
func present(v []byte) []byte {
	if len(v) == 0 {
		return nil
	}
	return v
}

func appendInt(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// appendShare returns n as a percentage of all.
func appendShare(n, all int64) []byte {
	if all == 0 {
		return nil
	}
	return fmt.Appendf(nil, "%.1f %%", float64(n)*100/float64(all))
}
