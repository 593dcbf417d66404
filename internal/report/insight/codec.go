package insight

import (
	"bytes"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// A rowCodec gives the rows of each batch to a counter. It counts a batch when
// all of its records are processed, so a panic of the codec counts no record
// twice.
type rowCodec struct {
	engine.Codec
	count func(row [][]byte) error
	after func() error // called at the end of a batch; may be nil
	row   [][]byte
	err   error
}

// newRowCodec returns a codec that calls count for each row of columns fields.
func newRowCodec(inner engine.Codec, columns int, count func(row [][]byte) error) *rowCodec {
	return &rowCodec{Codec: inner, count: count, row: make([][]byte, columns)}
}

// Process implements [engine.Codec].
func (c *rowCodec) Process(b *engine.Batch) {
	c.Codec.Process(b)
	if c.Err() != nil {
		return
	}
	for rest := b.Out.Bytes; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest) - 1
		}
		line := rest[:end]
		last := len(c.row) - 1
		for i := range last {
			end := bytes.IndexByte(line, '\t')
			c.row[i] = line[:end:end]
			line = line[end+1:]
		}
		c.row[last] = line
		if c.err = c.count(c.row); c.err != nil {
			return
		}
		rest = rest[end+1:]
	}
	if c.after != nil {
		c.err = c.after()
	}
}

// Err implements [engine.Stopper].
func (c *rowCodec) Err() error {
	if s, ok := c.Codec.(engine.Stopper); ok && c.err == nil {
		return s.Err()
	}
	return c.err
}
