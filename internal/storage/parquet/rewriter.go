package parquet

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/urlfold/urlfold/internal/storage/table"
	"github.com/urlfold/urlfold/internal/tsv"
)

// A Rewriter copies Parquet files with other values in the columns of a Text:
//
//	lines of the Text, rewritten ──▶ columns with URLs ─┐
//	other columns of the input ─────────────────────────┴▶ row group ──▶ file
//
// Columns, their types, compression and row groups are those of the inputs,
// which must have the same columns; a row group of more than groupBytes is
// divided. A Rewriter is not safe for concurrent use.
type Rewriter struct {
	open  func(name string) (table.Input, error)
	names []string // columns of the Text
	out   *parquet.GenericWriter[any]

	name    string // of the current input
	in      table.Input
	file    *parquet.File
	leaves  []int // of the Text
	cursors []cursor
	group   int   // index of the row group, -1 before the first one
	first   int64 // number of its first row
	next    int64 // number of the next row to copy
	begun   int64 // size of the output at the beginning of its row group

	lines table.Lines // not written yet
	cell  [][]byte    // scratch of each column of the Text
}

// NewRewriter returns a Rewriter to w. It opens inputs with open and closes
// them. The output has the columns of the input called first. names are those
// given to OpenText.
func NewRewriter(w io.Writer, open func(name string) (table.Input, error), first string, names []string) (_ *Rewriter, err error) {
	defer catch(&err)
	rw := &Rewriter{open: open, names: names}
	if err := rw.begin(first); err != nil {
		return nil, err
	}
	options := []parquet.WriterOption{writableSchema(rw.file), parquet.CreatedBy("urlfold", "", "")}
	for _, kv := range rw.file.Metadata().KeyValueMetadata {
		options = append(options, parquet.KeyValueMetadata(kv.Key, kv.Value))
	}
	rw.out = parquet.NewGenericWriter[any](w, options...)
	return rw, nil
}

// begin opens an input.
func (w *Rewriter) begin(name string) (err error) {
	defer catch(&err)
	in, err := w.open(name)
	if err != nil {
		return err
	}
	f, err := openFile(in, in.Size)
	if err == nil {
		w.leaves, err = chooseColumns(f, w.names)
	}
	if err == nil && w.file != nil && f.Schema().String() != w.file.Schema().String() {
		err = fmt.Errorf("the columns differ from those of %s: use --output-dir, which writes one output for each input", w.name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", name, err), in.Close())
	}
	w.end()
	w.name, w.in, w.file = name, in, f
	w.cursors = make([]cursor, len(f.Schema().Columns()))
	w.cell = make([][]byte, len(w.cursors))
	w.group, w.first, w.next = -1, 0, 0
	return nil
}

// end closes the input.
func (w *Rewriter) end() {
	for i := range w.cursors {
		w.cursors[i].close()
	}
	if w.in.Closer != nil {
		_ = w.in.Close() // it was only read
	}
}

// Add adds a line of the Text of an input, or a piece of it, after it was
// rewritten. row is the number of its row, counted from 0. Rows are added in
// order; those between them are dropped.
func (w *Rewriter) Add(name string, row int64, text []byte) error {
	if name != w.name {
		w.lines.End()
		if err := w.Flush(); err != nil {
			return err
		}
		if err := w.endGroup(); err != nil {
			return err
		}
		if err := w.begin(name); err != nil {
			return err
		}
	}
	w.lines.Add(row, text)
	return nil
}

// Flush copies the rows that were added.
func (w *Rewriter) Flush() (err error) {
	defer catch(&err)
	lines := w.lines.Whole()
	for at := 0; at < len(lines); {
		if err := w.moveTo(lines[at].Row); err != nil {
			return err
		}
		end := w.first + w.file.RowGroups()[w.group].NumRows()
		n, _ := slices.BinarySearchFunc(lines[at:], end, func(l table.Line, end int64) int {
			if l.Row < end {
				return -1
			}
			return 1
		})
		if err := w.copyRows(lines[at : at+n]); err != nil {
			return err
		}
		at += n
	}
	if w.out.Size()-w.begun >= groupBytes {
		if err := w.endGroup(); err != nil {
			return err
		}
	}
	w.lines.Drop(len(lines))
	return nil
}

// moveTo moves to the row group that holds a row.
func (w *Rewriter) moveTo(row int64) error {
	groups := w.file.RowGroups()
	for w.group < 0 || row >= w.first+groups[w.group].NumRows() {
		if w.group >= 0 {
			w.first += groups[w.group].NumRows()
			if err := w.endGroup(); err != nil {
				return err
			}
		}
		if w.group++; w.group >= len(groups) {
			return fmt.Errorf("%s: row %d does not exist", w.name, row+1)
		}
		w.next = w.first
		for i, chunk := range groups[w.group].ColumnChunks() {
			w.cursors[i].open(chunk)
		}
	}
	return nil
}

// endGroup writes the row group.
func (w *Rewriter) endGroup() (err error) {
	defer catch(&err)
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("parquet: write row group: %w", err)
	}
	w.begun = w.out.Size()
	return nil
}

// copyRows copies the rows of lines, all of the current row group.
func (w *Rewriter) copyRows(lines []table.Line) error {
	if lines[0].Row < w.next {
		return fmt.Errorf("%s: rows are not in order", w.name)
	}
	leaves := w.out.ColumnWriters()
	err := parallel(min(runtime.GOMAXPROCS(0), maxWorkers), len(leaves), func(i int) error {
		if err := w.copyColumn(i, lines, leaves[i]); err != nil {
			path := w.file.Schema().Columns()[i]
			return fmt.Errorf("%s: row group %d of %d, column %v: %w", w.name, w.group+1, len(w.file.RowGroups()), path, err)
		}
		return nil
	})
	w.next = lines[len(lines)-1].Row + 1
	return err
}

// copyColumn copies the values of column i in the rows of lines.
func (w *Rewriter) copyColumn(i int, lines []table.Line, to *parquet.ColumnWriter) (err error) {
	defer catch(&err)
	c, cell := &w.cursors[i], slices.Index(w.leaves, i)
	for row := w.next; len(lines) > 0; row++ {
		values, err := c.nextRow()
		if err != nil {
			return err
		}
		if row < lines[0].Row {
			continue
		}
		if cell >= 0 && !values[0].IsNull() {
			w.cell[i] = tsv.AppendUnescaped(w.cell[i][:0], w.lines.Cell(lines[0], cell))
			old := values[0]
			values[0] = parquet.ByteArrayValue(w.cell[i]).Level(old.RepetitionLevel(), old.DefinitionLevel(), old.Column())
		}
		if _, err := to.WriteRowValues(values); err != nil {
			return err
		}
		lines = lines[1:]
	}
	return nil
}

// Close writes the rest and the index of the file. It does not close the
// underlying writer.
func (w *Rewriter) Close() (err error) {
	defer catch(&err)
	w.lines.End() // the last line may lack its line feed
	err = w.Flush()
	w.end()
	if err != nil {
		return err
	}
	if err := w.out.Close(); err != nil {
		return fmt.Errorf("parquet: write index: %w", err)
	}
	return nil
}
