package parquet

import (
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
)

// A cursor reads the values of one column of a row group, in order:
//
//	buf[at:n]   read and not delivered yet; they point into page
type cursor struct {
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buf    [256]parquet.Value
	at, n  int
	row    []parquet.Value // scratch: the values of one row of a repeated column
}

// open moves c to the beginning of a column.
func (c *cursor) open(chunk parquet.ColumnChunk) {
	c.close()
	c.pages = chunk.Pages()
}

// close releases the pages of c.
func (c *cursor) close() {
	c.release()
	if c.pages != nil {
		_ = c.pages.Close() // it was only read
	}
	c.pages, c.at, c.n = nil, 0, 0
}

// release releases the current page, and with it the values in buf.
func (c *cursor) release() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.page, c.values = nil, nil
}

// load reads more values if all are delivered. It returns io.EOF at the end of
// the column.
func (c *cursor) load() error {
	for c.at == c.n {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return err
			}
			c.page, c.values = page, page.Values()
		}
		n, err := c.values.ReadValues(c.buf[:])
		c.at, c.n = 0, n
		switch {
		case n > 0:
			return nil
		case errors.Is(err, io.EOF):
			c.release()
		case err != nil:
			return err
		}
	}
	return nil
}

// errShort reports a column with fewer rows than its row group.
var errShort = errors.New("the column has fewer rows than its row group")

// next returns the value of the next row of a column that is not repeated. It
// is valid until the next call.
func (c *cursor) next() (v parquet.Value, err error) {
	if err := c.load(); err != nil {
		if errors.Is(err, io.EOF) {
			err = errShort
		}
		return v, err
	}
	v = c.buf[c.at]
	c.at++
	return v, nil
}

// nextRow returns the values of the next row of any column. They are valid until
// the next call.
func (c *cursor) nextRow() ([]parquet.Value, error) {
	v, err := c.next()
	c.row = append(c.row[:0], v)
	for err == nil {
		if c.at == c.n {
			for i := range c.row { // the next page replaces the bytes of this one
				c.row[i] = c.row[i].Clone()
			}
			if err = c.load(); err != nil {
				break
			}
		}
		if c.buf[c.at].RepetitionLevel() == 0 {
			break
		}
		c.row = append(c.row, c.buf[c.at])
		c.at++
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return c.row, err
}
