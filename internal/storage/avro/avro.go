// Package avro reads and rewrites Avro object container files
// (https://avro.apache.org/docs/1.12.0/specification/#object-container-files).
// It is the only importer of the Avro library.
package avro

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/storage/table"
)

// A Text presents the URLs of an Avro file as the lines of package table. It
// holds one block of the file in memory, of 64 MiB at most. It is not safe for
// concurrent use.
type Text struct {
	c        *container
	consumed atomic.Int64
	buf      []byte
	at       int // buf[at:] is not delivered
	err      error
}

// OpenText returns the text of the fields with the given names, which are paths
// such as request.url, or of the only field that is called url or similar: see
// table.Choose. The error is a *table.ColumnError if there are no such fields.
// Any other error means that the header is damaged or cannot be read.
func OpenText(r io.ReaderAt, size int64, names []string) (*Text, error) {
	c, err := openContainer(r, size, names)
	if err != nil {
		return nil, err
	}
	return &Text{c: c}, nil
}

// openContainer opens a file and lays out the fields listed in names. It returns
// the same errors as OpenText.
func openContainer(r io.ReaderAt, size int64, names []string) (c *container, err error) {
	defer table.Catch(&err)
	c = &container{in: r, size: size}
	if err = c.open(); err == nil {
		c.layout, err = newLayout(string(c.meta["avro.schema"]), names)
	}
	var columns *table.ColumnError
	switch {
	case err == nil:
		return c, nil
	case !errors.As(err, &columns):
		err = fmt.Errorf("the header of the file is damaged: %w", err)
	}
	c.close()
	return nil, err
}

// Read implements io.Reader. An error other than io.EOF describes the damage
// and its position.
func (t *Text) Read(p []byte) (int, error) {
	if t.at == len(t.buf) {
		t.buf, t.at = t.buf[:0], 0
		if t.err == nil {
			t.err = t.next() // a block may be empty
		}
		if len(t.buf) == 0 {
			return 0, t.err
		}
	}
	n := copy(p, t.buf[t.at:])
	t.at += n
	return n, nil
}

// next appends the records of a block, or of a part of one, to buf.
func (t *Text) next() (err error) {
	defer table.Catch(&err)
	b, err := t.c.next()
	t.consumed.Store(t.c.pos)
	if err == io.EOF && t.c.damage() != nil {
		return t.c.damage()
	}
	if err != nil {
		return err
	}
	for i := range b.ends {
		for n, cell := range b.cellsOf(i) {
			if n > 0 {
				t.buf = append(t.buf, '\t')
			}
			t.buf = tsv.AppendEscaped(t.buf, b.data[cell.text:cell.end])
		}
		t.buf = append(t.buf, '\n')
	}
	return nil
}

// Consumed returns how many bytes of the file are read.
func (t *Text) Consumed() int64 { return t.consumed.Load() }

// Close releases what t holds. It does not close the file.
func (t *Text) Close() {
	if t.c != nil {
		t.c.close()
	}
	if t.c = nil; t.err == nil {
		t.err = errors.New("avro: read after Close")
	}
}
