package parquet

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/urlfold/urlfold/internal/tsv"
)

// This file turns the columns with URLs into text, as package table describes.

// textBlock is the length of text from which Read returns it.
const textBlock = 32 << 10

// A Text reads the URLs of a Parquet file as text. Its memory is that of one
// page of each column. It is not safe for concurrent use.
type Text struct {
	file    *parquet.File
	size    int64
	leaves  []int
	names   []string // of leaves
	cursors []cursor

	group int   // index of the row group
	row   int64 // rows of the group that are in buf or delivered
	done  int64 // rows of the groups before it
	buf   []byte
	at    int // buf[at:] is not delivered
	err   error
}

// OpenText returns the text of the columns with the given names, at most
// table.MaxColumns, or of the only column that is called url or similar. The error is
// a *table.ColumnError if there are no such columns; otherwise the file is damaged.
func OpenText(r io.ReaderAt, size int64, names []string) (*Text, error) {
	f, err := openFile(r, size)
	if err != nil {
		return nil, err
	}
	leaves, err := chooseColumns(f, names)
	if err != nil {
		return nil, err
	}
	t := &Text{file: f, size: size, leaves: leaves, cursors: make([]cursor, len(leaves))}
	for _, leaf := range leaves {
		t.names = append(t.names, strings.Join(f.Schema().Columns()[leaf], "."))
	}
	return t, nil
}

// Read implements io.Reader. Its error other than io.EOF describes damage and
// where it is.
func (t *Text) Read(p []byte) (int, error) {
	if t.at == len(t.buf) {
		t.buf, t.at = t.buf[:0], 0
		if t.err == nil {
			t.err = t.fill()
		}
		if len(t.buf) == 0 {
			return 0, t.err
		}
	}
	n := copy(p, t.buf[t.at:])
	t.at += n
	return n, nil
}

// Consumed returns about how many bytes of the file are read.
func (t *Text) Consumed() int64 {
	rows := t.file.NumRows()
	if rows <= 0 {
		return t.size
	}
	return int64(float64(t.size) * float64(t.done+t.row) / float64(rows))
}

// Close releases the pages of t.
func (t *Text) Close() {
	for i := range t.cursors {
		t.cursors[i].close()
	}
	if t.err == nil {
		t.err = errors.New("parquet: read after Close")
	}
}

// fill appends rows to buf. It returns io.EOF at the end of the file.
func (t *Text) fill() (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = t.place(0, fmt.Errorf("cannot be decoded: %v", e))
		}
	}()
	groups := t.file.RowGroups()
	for len(t.buf) < textBlock {
		if t.group == len(groups) {
			return io.EOF
		}
		if t.row == groups[t.group].NumRows() {
			t.done += t.row
			t.group, t.row = t.group+1, 0
			continue
		}
		if err := t.nextRow(groups[t.group]); err != nil {
			return err
		}
	}
	return nil
}

// nextRow appends a row of a row group to buf.
func (t *Text) nextRow(g parquet.RowGroup) error {
	start := len(t.buf)
	for i := range t.cursors {
		c := &t.cursors[i]
		if t.row == 0 {
			c.open(g.ColumnChunks()[t.leaves[i]])
		}
		v, err := c.next()
		if err != nil {
			t.buf = t.buf[:start]
			return t.place(i, err)
		}
		if i > 0 {
			t.buf = append(t.buf, '\t')
		}
		if !v.IsNull() {
			t.buf = tsv.AppendEscaped(t.buf, v.ByteArray())
		}
	}
	t.buf = append(t.buf, '\n')
	t.row++
	return nil
}

// place adds the place of an error in column i to it, and what is lost.
func (t *Text) place(i int, err error) error {
	last := t.file.NumRows()
	return fmt.Errorf("row group %d of %d, column %s, row %d: %w; the rows up to %d are not read",
		t.group+1, len(t.file.RowGroups()), t.names[i], t.done+t.row+1, err, last)
}
