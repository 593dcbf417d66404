package parquet

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// This file turns the columns with URLs into text, as package table describes.

// textBlock is the length, in bytes, of the text that Read collects before it
// returns.
const textBlock = 32 << 10

// A Text reads the URLs of a Parquet file as text. It holds one page of each
// column in memory. It is not safe for concurrent use.
type Text struct {
	file    *file
	leaves  []int
	columns []column
	chunks  []chunk // chunks of the row group

	group int   // index of the row group
	begun bool  // the pages of the group can be read
	row   int64 // rows of the group that are in buf or delivered
	done  int64 // rows of the previous groups
	text  int64 // bytes of text in buf or delivered
	buf   []byte
	at    int // buf[at:] is not delivered
	err   error
}

// A column reads the values of a leaf in a row group.
type column struct {
	pages   *pages
	page    *page
	left    int // number of values left in page
	scratch scratch
}

// next returns the next value, valid until the next call; nil if it is null.
func (c *column) next() (v []byte, err error) {
	for c.left == 0 {
		p, err := c.pages.next()
		if errors.Is(err, io.EOF) {
			return nil, errShort
		} else if err != nil {
			return nil, err
		}
		if p.typ != pageDictionary {
			c.page, c.left = p, p.n
		}
	}
	c.left--
	_, _, v, err = c.pages.level(c.page)
	return v, err
}

// OpenText returns the text of the columns with the given names, at most
// table.MaxColumns, or of the only column that is called url or similar. The error is
// a *table.ColumnError if there are no such columns. Any other error means that the
// file cannot be read or is damaged.
func OpenText(r io.ReaderAt, size int64, names []string, limits Limits) (*Text, error) {
	f, err := openFile(r, size, limits)
	if err != nil {
		return nil, err
	}
	leaves, err := chooseColumns(f, names)
	if err != nil {
		return nil, err
	}
	return &Text{file: f, leaves: leaves, columns: make([]column, len(leaves))}, nil
}

// Read implements io.Reader. An error other than io.EOF describes the damage
// and its position.
func (t *Text) Read(p []byte) (int, error) {
	if t.at == len(t.buf) {
		t.buf, t.at = t.buf[:0], 0
		if t.err == nil {
			t.err = t.fill()
			t.text += int64(len(t.buf))
		}
		if len(t.buf) == 0 {
			return 0, t.err
		}
	}
	n := copy(p, t.buf[t.at:])
	t.at += n
	return n, nil
}

// Consumed returns the approximate number of bytes of the file that were read.
func (t *Text) Consumed() int64 {
	if t.file.total <= 0 {
		return t.file.size
	}
	return int64(float64(t.file.size) * float64(t.done+t.row) / float64(t.file.total))
}

// Close releases the pages of t.
func (t *Text) Close() {
	t.columns = nil
	if t.err == nil {
		t.err = errors.New("parquet: read after Close")
	}
}

// fill appends rows to buf. It returns io.EOF at the end of the file.
func (t *Text) fill() error {
	f := t.file
	for len(t.buf) < textBlock {
		switch most := f.limits.MaxExpansion; {
		case t.group == len(f.groups):
			return io.EOF
		case !t.begun:
			if err := t.begin(); err != nil {
				return err
			}
		case t.row == f.rows[t.group]:
			if err := t.end(); err != nil {
				return err
			}
			t.done += t.row
			t.group, t.row, t.begun = t.group+1, 0, false
			continue
		case most > 0 && t.text > limitGrace && t.text/most > f.size && f.limits.Expands:
			err := &compress.LimitError{Detail: fmt.Sprintf("the values of its dictionaries are more than %d times as long as the file (%d times --max-ratio)", most, expansionFactor)}
			return t.place(t.leaves[0], err)
		}
		start := len(t.buf)
		for i := range t.columns {
			v, err := t.columns[i].next()
			if err != nil {
				t.buf = t.buf[:start]
				return t.place(t.leaves[i], err)
			}
			if i > 0 {
				t.buf = append(t.buf, '\t')
			}
			t.buf = tsv.AppendEscaped(t.buf, v)
		}
		t.buf = append(t.buf, '\n')
		t.row++
	}
	return nil
}

// begin begins a row group.
func (t *Text) begin() (err error) {
	if _, t.chunks, err = t.file.group(t.group); err != nil {
		return t.place(t.leaves[0], err)
	}
	if t.file.limits.Whole {
		if err := t.checkRest(); err != nil {
			return err
		}
	}
	for i := range t.columns {
		c, at := &t.columns[i], t.leaves[i]
		c.pages = t.file.readChunk(&t.chunks[at], &t.file.leaves[at], &c.scratch, t.file.limits.urlPage(len(t.leaves)))
		c.pages.resolve, c.left = true, 0
	}
	t.begun = true
	return nil
}

// checkRest reads what the lines do not contain: the other columns of the row
// group, and all indexes.
func (t *Text) checkRest() error {
	elements, buf := map[string]int{}, scratch{}
	for i := range t.chunks {
		c := &t.chunks[i]
		err := t.file.checkIndexes(c)
		if err == nil && !slices.Contains(t.leaves, i) {
			err = t.file.readChunk(c, &t.file.leaves[i], &buf, t.file.limits.MaxPage).checkAll(t.file.rows[t.group], elements)
		}
		if err != nil {
			return t.place(i, err)
		}
	}
	return nil
}

// end checks that no value follows the rows of the row group.
func (t *Text) end() error {
	for i := range t.columns {
		c := &t.columns[i]
		for t.row > 0 {
			p, err := c.pages.next()
			if errors.Is(err, io.EOF) && c.left == 0 {
				break
			}
			if err == nil && c.left+p.n > 0 || errors.Is(err, io.EOF) {
				err = errMore
			}
			if err != nil {
				return t.place(t.leaves[i], err)
			}
		}
	}
	return nil
}

// place adds to an error its position in a leaf, and what is lost.
func (t *Text) place(leaf int, err error) error {
	return fmt.Errorf("row group %d of %d, column %s, row %d: %w; this row and the rows after it, up to row %d, are not read",
		t.group+1, len(t.file.groups), t.file.leaves[leaf].path, t.done+t.row+1, err, t.file.total)
}
