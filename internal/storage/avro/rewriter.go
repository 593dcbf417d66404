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
// and its mark after each block. A block in which nothing changes is copied as
// it is. Damaged blocks are left out: the Text reports them. A Rewriter is not
// safe for concurrent use.
type Rewriter struct {
	open  func(name string) (table.Input, error)
	names []string // fields of the Text
	w     io.Writer
	out   *container // first input, for its header and its codec

	name  string // of the current input
	in    table.Input
	c     *container
	lines table.Lines // not written yet

	block   *block // nil: none yet
	next    int    // index of its next record
	data    []byte // its records with other values
	kept    int64  // how many these are
	changed bool   // data differs from that of the block
	cell    []byte // scratch
}

// NewRewriter returns a Rewriter to w. It opens inputs with open and closes
// them. names are those given to OpenText.
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
		err = fmt.Errorf("the schema differs from that of %s: use --output-dir, which writes one output for each input", w.name)
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
		_ = w.in.Close() // it was only read
		w.in.Closer = nil
	}
}

// Add adds a line of the Text of an input, or a piece of it, after it was
// rewritten. row is the number of its record, counted from 0. Records are added
// in order; those between them are dropped.
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
	defer catch(&err)
	lines := w.lines.Whole()
	for _, line := range lines {
		if err := w.moveTo(line.Row); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		// Copy the record of the line, with the values in it.
		b, i := w.block, int(line.Row-w.block.first)
		from := b.start(i)
		columns := b.cellsOf(i)
		for range columns {
			n := nextCell(columns, from) // the columns can be in any order
			if n < 0 {
				break
			}
			c := columns[n]
			w.cell = tsv.AppendUnescaped(w.cell[:0], w.lines.Cell(line, n))
			if !bytes.Equal(w.cell, b.data[c.text:c.end]) {
				w.changed = true
				w.data = append(w.data, b.data[from:c.start]...)
				w.data = binary.AppendVarint(w.data, int64(len(w.cell)))
				w.data = append(w.data, w.cell...)
			} else {
				w.data = append(w.data, b.data[from:c.end]...)
			}
			from = c.end
		}
		w.data = append(w.data, b.data[from:b.ends[i]]...)
		w.next = i + 1
		w.kept++
	}
	w.lines.Drop(len(lines))
	return nil
}

// moveTo moves to the block with a record.
func (w *Rewriter) moveTo(row int64) error {
	for w.block == nil || row >= w.block.first+int64(len(w.block.ends)) {
		if w.block == nil || w.block.left == 0 {
			if err := w.endBlock(); err != nil {
				return err
			}
			w.data, w.kept, w.changed = w.data[:0], 0, false
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

// nextCell returns the index of the first of the cells that begins at or after
// from, or -1.
func nextCell(cells []cell, from int) int {
	next := -1
	for i, c := range cells {
		if c.end > c.start && c.start >= from && (next < 0 || c.start < cells[next].start) {
			next = i
		}
	}
	return next
}

// endBlock writes the block.
func (w *Rewriter) endBlock() error {
	b := w.block
	if b == nil || w.kept == 0 {
		return nil
	}
	packed := b.packed
	if w.changed || w.kept < b.count || !bytes.Equal(w.c.meta["avro.codec"], w.out.meta["avro.codec"]) {
		packed = w.data
		if w.out.codec != nil {
			var err error
			if packed, err = w.out.codec.Compress(w.data); err != nil {
				return fmt.Errorf("avro: compress block: %w", err)
			}
		}
	}
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
