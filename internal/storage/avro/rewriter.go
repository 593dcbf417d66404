package avro

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/storage/table"
)

// A Rewriter copies Avro files with other values in the fields of a Text. The
// output has the header of the first input, and so its schema, its compression
// and its sync marker after each block. A block in which nothing changes is
// copied as it is. Damaged blocks are left out: the Text reports them. A
// Rewriter is not safe for concurrent use.
type Rewriter struct {
	open  func(name string) (table.Input, error)
	names []string // fields of the Text
	w     io.Writer
	out   *container // the first input: the output has its header and its codec

	name  string // name of the current input
	in    table.Input
	c     *container
	lines table.Lines // lines that are not yet written

	block   *block // nil: none yet
	next    int    // index of the next record in block
	kept    int64  // number of records in block that are not yet written
	upTo    int    // end of these records in the data of block, if they have not changed
	changed bool   // data holds the changed records of the block
	data    []byte
	cell    []byte // scratch
}

// NewRewriter returns a Rewriter to w, with the header of the input called
// first. It opens inputs with open and closes them. names are the names that
// OpenText got.
func NewRewriter(w io.Writer, open func(name string) (table.Input, error), first string, names []string) (*Rewriter, error) {
	rw := &Rewriter{open: open, names: names, w: w}
	if err := rw.begin(first); err != nil {
		return nil, err
	}
	rw.out = rw.c
	_, err := w.Write(rw.out.head)
	return rw, err
}

// begin opens an input.
func (w *Rewriter) begin(name string) error {
	in, err := w.open(name)
	if err != nil {
		return err
	}
	c, err := openContainer(in, in.Size, w.names)
	if err == nil && w.out != nil && !bytes.Equal(c.meta["avro.schema"], w.out.meta["avro.schema"]) {
		err = fmt.Errorf("the schema differs from the schema of %s: use --output-dir, which writes one output for each input", w.name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", name, err), in.Close())
	}
	w.end()
	w.name, w.in, w.c, w.block = name, in, c, nil
	return nil
}

// end closes the input.
func (w *Rewriter) end() {
	if w.c != nil && w.c != w.out {
		w.c.close()
	}
	if w.in.Closer != nil {
		_ = w.in.Close() // opened for reading only
		w.in.Closer = nil
	}
}

// Add adds a rewritten line of the Text of an input, or a piece of a line. row
// is the number of the line's record, counted from 0. Call Add in the order of
// the records; records for which it is not called are dropped.
func (w *Rewriter) Add(name string, row int64, text []byte) error {
	if name != w.name {
		w.lines.End()
		if err := w.Flush(); err != nil {
			return err
		}
		if err := w.endBlock(); err != nil {
			return err
		}
		if err := w.begin(name); err != nil {
			return err
		}
	}
	w.lines.Add(row, text)
	return nil
}

// Flush copies the records that were added.
func (w *Rewriter) Flush() (err error) {
	defer table.Catch(&err)
	lines := w.lines.Whole()
	for _, line := range lines {
		if err := w.moveTo(line.Row); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		if err := w.record(line); err != nil {
			return err
		}
	}
	w.lines.Drop(len(lines))
	return nil
}

// maxPiece is the length of data, in bytes, at which the changed records of a
// block are written as a separate block, so that memory need not hold them and
// the whole block.
const maxPiece = 4 << 20

// record copies the record of a line, with the values in it.
func (w *Rewriter) record(line table.Line) error {
	b, i := w.block, int(line.Row-w.block.first)
	from, columns := b.start(i), b.cellsOf(i)
	if !w.changed && (from != w.upTo || !w.same(line, columns)) {
		w.changed = true
		if w.upTo > maxPiece {
			if err := w.writeBlock(b.data[:w.upTo]); err != nil {
				return err
			}
		} else {
			w.data = append(w.data, b.data[:w.upTo]...)
		}
	}
	w.next, w.upTo = i+1, b.ends[i]
	w.kept++
	if !w.changed {
		return nil
	}
	for range columns {
		n := nextCell(columns, from) // the columns can be in any order
		if n < 0 {
			break
		}
		c := columns[n]
		w.cell = tsv.AppendUnescaped(w.cell[:0], w.lines.Cell(line, n))
		w.data = append(w.data, b.data[from:c.start]...)
		w.data = binary.AppendVarint(w.data, int64(len(w.cell)))
		w.data = append(w.data, w.cell...)
		from = c.end
	}
	w.data = append(w.data, b.data[from:w.upTo]...)
	if len(w.data) < maxPiece {
		return nil
	}
	err := w.writeBlock(w.data)
	w.data = w.data[:0]
	return err
}

// same reports whether a line has the values of its record.
func (w *Rewriter) same(line table.Line, columns []cell) bool {
	for n, c := range columns {
		w.cell = tsv.AppendUnescaped(w.cell[:0], w.lines.Cell(line, n))
		if c.end > c.start && !bytes.Equal(w.cell, w.block.data[c.text:c.end]) {
			return false
		}
	}
	return true
}

// moveTo moves to the block with a record.
func (w *Rewriter) moveTo(row int64) error {
	for w.block == nil || row >= w.block.first+int64(len(w.block.ends)) {
		if w.block == nil || w.block.left == 0 {
			if err := w.endBlock(); err != nil {
				return err
			}
			w.data, w.upTo, w.changed = w.data[:0], 0, false
		}
		b, err := w.c.next()
		if err != nil {
			return fmt.Errorf("record %d does not exist: %w", row+1, err)
		}
		w.block, w.next = b, 0
	}
	if row < w.block.first+int64(w.next) {
		return errors.New("records are not in order")
	}
	return nil
}

// nextCell returns the index of the first cell that begins at or after from, or -1.
func nextCell(cells []cell, from int) int {
	next := -1
	for i, c := range cells {
		if c.end > c.start && c.start >= from && (next < 0 || c.start < cells[next].start) {
			next = i
		}
	}
	return next
}

// endBlock writes the rest of the block.
func (w *Rewriter) endBlock() error {
	b := w.block
	switch {
	case b == nil || w.kept == 0:
		return nil
	case w.changed:
		return w.writeBlock(w.data)
	case w.kept < b.count || !bytes.Equal(w.c.meta["avro.codec"], w.out.meta["avro.codec"]):
		return w.writeBlock(b.data[:w.upTo])
	}
	return w.writePacked(b.packed)
}

// writeBlock writes data, the records that are not written yet, as a block.
func (w *Rewriter) writeBlock(data []byte) error {
	if w.out.codec != nil {
		var err error
		if data, err = w.out.codec.Compress(data); err != nil {
			return fmt.Errorf("avro: compress block: %w", err)
		}
	}
	return w.writePacked(data)
}

// writePacked is writeBlock for compressed data.
func (w *Rewriter) writePacked(packed []byte) error {
	head := binary.AppendVarint(binary.AppendVarint(nil, w.kept), int64(len(packed)))
	for _, part := range [][]byte{head, packed, w.out.sync()} {
		if _, err := w.w.Write(part); err != nil {
			return fmt.Errorf("avro: write block: %w", err)
		}
	}
	w.kept = 0
	return nil
}

// Close writes the rest. It does not close the underlying writer.
func (w *Rewriter) Close() error {
	w.lines.End() // the last line may lack its line feed
	err := w.Flush()
	if err == nil {
		err = w.endBlock()
	}
	w.end()
	w.out.close()
	return err
}
