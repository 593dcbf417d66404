package parquet

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/storage/table"
)

// A Rewriter copies Parquet files and replaces the values of the columns from
// which a Text was made:
//
//	lines of the Text, rewritten ──▶ columns with URLs, encoded as they were ─┐
//	other columns, byte for byte, or without the dropped rows ────────────────┴▶ file
//
// The row groups come from the inputs, which must have the same columns. Groups
// without a kept row are omitted. A Rewriter is not safe for concurrent use.
type Rewriter struct {
	open    func(name string) (table.Input, error)
	opt     RewriterOptions
	splicer splicer
	in      io.ReaderAt // reads the output back, to check it; nil if the output cannot be read

	name   string // name of the current input
	input  table.Input
	first  *file // the file whose schema the output has
	leaves []int // leaves of the Text
	sel    selection
	base   int64 // number of the first row of the row group
	next   int64 // number of the next row
	bufs   []scratch

	err   error       // error of Flush
	lines table.Lines // lines that are not yet written
	cell  []byte
}

// RewriterOptions configures a Rewriter. The zero value is ready to use.
type RewriterOptions struct {
	Columns []string // columns of the Text
	Limits  Limits
	TempDir string // directory of temporary files; "": the operating system's
}

// NewRewriter returns a Rewriter to w. It opens inputs with open and closes
// them. The output has the columns and the metadata of the input called first.
// If w is an io.ReaderAt, Close reads the new chunks back from w and checks
// them.
func NewRewriter(w io.Writer, open func(name string) (table.Input, error), first string, opt RewriterOptions) (_ *Rewriter, err error) {
	defer table.Catch(&err)
	rw := &Rewriter{open: open, opt: opt}
	rw.in, _ = w.(io.ReaderAt)
	rw.splicer = splicer{out: bufio.NewWriterSize(w, 256<<10), dir: opt.TempDir, readBack: rw.in != nil}
	if err := rw.begin(first); err != nil {
		return nil, err
	}
	return rw, rw.splicer.begin(rw.first)
}

// begin opens an input.
func (w *Rewriter) begin(name string) error {
	in, err := w.open(name)
	if err != nil {
		return err
	}
	f, err := openFile(in, in.Size, w.opt.Limits)
	if err == nil {
		w.leaves, err = chooseColumns(f, w.opt.Columns)
	}
	if err == nil && w.first != nil {
		err = sameSchema(f, w.first)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", name, err), in.Close())
	}
	w.end()
	if w.first == nil {
		w.first = f
	}
	w.name, w.input, w.sel, w.base, w.next = name, in, selection{file: f, group: -1}, 0, 0
	w.bufs = make([]scratch, len(w.leaves))
	return nil
}

// sameSchema checks that chunks of f can follow chunks of first in a file.
// Readers interpret some statistics and values by created_by.
func sameSchema(f, first *file) error {
	const remedy = ": use --output-dir, which writes one output for each input"
	for _, id := range []int16{2, 7} { // schema, column orders
		a, b := f.meta.find(id), first.meta.find(id)
		if (a == nil) != (b == nil) || a != nil && !bytes.Equal(a.raw, b.raw) {
			return errors.New("the columns differ from the columns of the first input" + remedy)
		}
	}
	if a, b := f.meta.bytes(6), first.meta.bytes(6); !bytes.Equal(a, b) {
		return fmt.Errorf("%q wrote the file and %q the first input, and readers may treat their values differently%s", a, b, remedy)
	}
	return nil
}

// end closes the input.
func (w *Rewriter) end() {
	for _, m := range w.sel.makers {
		m.out.close()
	}
	w.sel.makers = nil
	if w.input.Closer != nil {
		_ = w.input.Close() // opened for reading only
	}
	w.input.Closer = nil
}

// Add adds a rewritten line of the Text of an input, or a piece of a line. row
// is the number of the line's row, counted from 0. Call Add in the order of the
// rows; rows for which it is not called are dropped.
func (w *Rewriter) Add(name string, row int64, text []byte) error {
	if name != w.name {
		w.lines.End()
		if err := w.Flush(); err != nil {
			return err
		}
		if err := w.endInput(); err != nil {
			return err
		}
		if err := w.begin(name); err != nil {
			return err
		}
	}
	w.lines.Add(row, text)
	return nil
}

// Flush copies the rows that were added. After an error the Rewriter cannot go
// on: each call of Flush and Close returns the error again.
func (w *Rewriter) Flush() (err error) {
	if w.err != nil {
		return w.err
	}
	defer func() { w.err = err }()
	defer table.Catch(&err)
	lines := w.lines.Whole()
	for _, line := range lines {
		if err := w.moveTo(line.Row); err != nil {
			return err
		}
		if err := w.row(line); err != nil {
			return w.place(err)
		}
	}
	w.lines.Drop(len(lines))
	return nil
}

// moveTo moves to the row group that holds a row.
func (w *Rewriter) moveTo(row int64) error {
	f := w.sel.file
	if row < w.next {
		return fmt.Errorf("%s: rows are not in order", w.name)
	}
	for w.sel.group < 0 || row >= w.base+f.rows[w.sel.group] {
		if w.sel.group+1 >= len(f.groups) {
			return fmt.Errorf("%s: row %d does not exist", w.name, row+1)
		}
		if err := w.nextGroup(); err != nil {
			return err
		}
	}
	return nil
}

// nextGroup writes the row group and begins the next one, if any.
func (w *Rewriter) nextGroup() error {
	f := w.sel.file
	if g := w.sel.group; g >= 0 {
		if w.sel.kept > 0 || f.rows[g] == 0 {
			w.sel.end = w.next - w.base
			if err := w.splicer.writeGroup(&w.sel); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
		for _, m := range w.sel.makers {
			m.out.close()
		}
		w.base += f.rows[g]
		w.next = w.base
	}
	w.sel = selection{file: f, group: w.sel.group + 1}
	if w.sel.group == len(f.groups) || f.rows[w.sel.group] == 0 {
		return nil
	}
	_, chunks, err := f.group(w.sel.group)
	if err != nil {
		return w.place(err)
	}
	w.sel.makers = map[int]*maker{}
	for i, at := range w.leaves {
		m := newMaker(f.readChunk(&chunks[at], &f.leaves[at], &w.bufs[i], f.limits.urlPage(len(w.leaves))), true, w.opt.TempDir)
		if m.bloom, err = f.emptyBloom(&chunks[at]); err != nil {
			return w.place(err)
		}
		w.sel.makers[at] = m
	}
	return nil
}

// row writes a row of the row group to the columns with URLs, and drops the
// earlier rows.
func (w *Rewriter) row(line table.Line) error {
	for i, leaf := range w.leaves {
		m := w.sel.makers[leaf]
		for m.next < line.Row-w.base {
			if err := m.row(false, nil); err != nil {
				return fmt.Errorf("column %s: %w", w.sel.file.leaves[leaf].path, err)
			}
		}
		w.cell = tsv.AppendUnescaped(w.cell[:0], w.lines.Cell(line, i))
		if err := m.row(true, w.cell); err != nil {
			return fmt.Errorf("column %s: %w", w.sel.file.leaves[leaf].path, err)
		}
	}
	w.next = line.Row + 1
	row := line.Row - w.base
	if n := int(row/64) + 1; n > len(w.sel.keep) {
		w.sel.keep = append(w.sel.keep, make([]uint64, n-len(w.sel.keep))...)
	}
	w.sel.keep[row/64] |= 1 << (row % 64)
	w.sel.kept++
	return nil
}

// place adds the input and the row group to an error.
func (w *Rewriter) place(err error) error {
	return fmt.Errorf("%s: row group %d of %d, %w", w.name, w.sel.group+1, len(w.sel.file.groups), err)
}

// endInput writes the last row group with rows, and copies empty ones.
func (w *Rewriter) endInput() error {
	for w.sel.group < len(w.sel.file.groups) {
		if err := w.nextGroup(); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the rest and the footer of the file. It does not close the
// underlying writer.
func (w *Rewriter) Close() (err error) {
	defer table.Catch(&err)
	defer w.splicer.close()
	defer w.end()
	w.lines.End() // the last line may lack its line feed
	if err := w.Flush(); err != nil {
		return err
	}
	if err := w.endInput(); err != nil {
		return err
	}
	return w.splicer.end(w.in)
}

// chooseColumns returns the leaves that table.Choose selects for names.
func chooseColumns(f *file, names []string) (list []int, err error) {
	var paths []string
	var at []int
	for i, l := range f.leaves { // columns that can hold URLs
		if l.maxRep == 0 && l.typ == typeBytes {
			paths, at = append(paths, l.path), append(at, i)
		}
	}
	chosen, err := table.Choose(paths, names)
	for _, i := range chosen {
		list = append(list, at[i])
	}
	return slices.Clip(list), err
}
