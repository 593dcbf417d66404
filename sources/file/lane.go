package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/urlfold/urlfold/internal/compress"
	"github.com/urlfold/urlfold/pipeline"
)

// A cutter reads one stream and emits it as the batches of a lane.
//
//	off        offset in the stream of the next byte to be emitted, tail[0]
//	line       its line, from 1
//	tail       was read and not emitted: less than a record, or what follows the
//	           end of an oversize one
//	oversize   the byte before tail[0] is inside an oversize record, of which one
//	           piece at least was emitted. Then tail is not empty, so that the
//	           last piece is not empty either.
type cutter struct {
	s        *Source
	st       *stream
	lane     *pipeline.Lane
	report   *Report
	off      int64
	line     int64
	tail     []byte
	oversize bool
}

// run emits batches up to the end of the stream. Its error says that the run is
// over: that of a hard stop, or errStopped.
func (c *cutter) run(ctx context.Context) error {
	for {
		b, err := c.s.rt.Get(ctx, c.lane)
		if err != nil {
			if ctx.Err() != nil && !errors.Is(err, pipeline.ErrStopped) {
				err = errStopped
			}
			return err
		}
		n, end := c.fill(ctx, b)
		if err := c.emit(ctx, b, n); err != nil || end != nil {
			if err == nil && end != io.EOF {
				err = end
			}
			return err
		}
	}
}

// fill reads into b, and returns how many bytes of it to emit and why there is
// no more, if there is not: io.EOF or errStopped. b.Piece is set.
func (c *cutter) fill(ctx context.Context, b *pipeline.Batch) (n int, end error) {
	b.In = append(b.In[:0], c.tail...)
	c.tail = c.tail[:0]
	var due <-chan time.Time
	for {
		if len(b.In) == cap(b.In) {
			if n := c.cut(b); n > 0 {
				return n, nil
			}
			b.In = c.grow(b.In)
		}
		k, err := c.st.read(ctx, b.In[len(b.In):cap(b.In)], due)
		b.In = b.In[:len(b.In)+k]
		switch err {
		case nil:
			if due == nil && c.st.pump != nil {
				due = time.After(c.s.cfg.Linger)
			}
		case errLinger:
			if n := c.cut(b); n > 0 {
				return n, nil
			}
			due = nil
		default:
			return c.last(b, err)
		}
	}
}

// cut returns how many bytes of b to emit while there is more to come: whole
// records, or a piece of one that is too long, or nothing yet.
func (c *cutter) cut(b *pipeline.Batch) int {
	b.Piece = pipeline.Whole
	full := len(b.In) == cap(b.In)
	switch {
	case c.oversize:
		if n := bytes.IndexByte(b.In, '\n') + 1; n > 0 {
			b.Piece = pipeline.Last
			return n
		}
		b.Piece = pipeline.Middle
		return len(b.In) - 1
	case full && len(b.In) > c.s.cfg.MaxRecord:
		if n := c.s.cfg.Framing.Cut(b.In); n > 0 {
			return n
		}
		b.Piece = pipeline.First
		return len(b.In) - 1
	}
	return c.s.cfg.Framing.Cut(b.In)
}

// grow returns block with more room, up to one byte more than a record may have.
func (c *cutter) grow(block []byte) []byte {
	size := min(2*cap(block), c.s.cfg.MaxRecord+1)
	return append(make([]byte, 0, size), block...)
}

// last is cut for the end of the stream, or of the run. What is cut off there is
// no record, and counted.
func (c *cutter) last(b *pipeline.Batch, why error) (n int, end error) {
	if c.oversize {
		n = c.cut(b)
		if b.Piece == pipeline.Last && n < len(b.In) {
			return n, nil // records follow the oversize one: come back for them
		}
		b.Piece = pipeline.Last
		return len(b.In), why
	}
	b.Piece = pipeline.Whole
	if why == io.EOF && !c.st.zr.Verdict().Cut {
		return len(b.In), why
	}
	n = c.s.cfg.Framing.Cut(b.In)
	if why == io.EOF {
		c.report.Lost = int64(len(b.In) - n)
	}
	return n, why
}

// emit emits the first n bytes of b and keeps the others, or gives b back if n
// is 0.
func (c *cutter) emit(ctx context.Context, b *pipeline.Batch, n int) error {
	c.tail = append(c.tail, b.In[n:]...)
	b.In = b.In[:n]
	if n == 0 {
		c.s.rt.Put(b)
		return nil
	}
	if c.off == 0 && b.Piece == pipeline.Whole {
		if h := c.s.cfg.Framing.Head(b.In); h > 0 {
			c.lane.SetHead(b.In[:h])
		}
	}
	c.oversize = b.Piece == pipeline.First || b.Piece == pipeline.Middle
	b.Off, b.Line = c.off, c.line
	c.off += int64(n)
	c.line += int64(bytes.Count(b.In, newline))
	c.report.Lines = c.line - 1
	return c.s.rt.Emit(ctx, b, pipeline.Position{A: c.off})
}

var newline = []byte{'\n'}

// finish writes down what became of the stream.
func (c *cutter) finish(stopped bool) {
	r := c.report
	r.Bytes, r.CompressedBytes = c.off+r.Lost, c.st.zr.CompressedBytes()
	r.Stopped = stopped
	if !c.st.close() {
		r.Verdict = compress.Verdict{}
		return
	}
	r.Verdict, r.Format = c.st.zr.Verdict(), c.st.zr.Format()
}
