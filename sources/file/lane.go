package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A cutter cuts one stream into the batches of a lane.
//
//	off        offset in the stream of the next byte to emit, tail[0]
//	line       line number of that byte, from 1
//	tail       read but not emitted: less than a record, or the data after the
//	           end of an oversize record
//	oversize   tail[0] continues an oversize record of which at least one piece
//	           was emitted. Then tail is not empty, so that the last piece is
//	           not empty either.
//	left       remaining bytes of that record from off on, if records state
//	           their length; 0: it is damaged and extends to the next record
//	verified   the part up to the last record that checksums verify
type cutter struct {
	rt        engine.Runtime
	framing   Framing
	maxRecord int
	lane      *engine.Lane
	off       int64
	line      int64
	tail      []byte
	oversize  bool
	left      int64
	begun     int64                  // offset of the last oversize record; -1: in an earlier process
	cutShort  *int64                 // offset of the record within which the stream ends, -1 if unknown; nil: it ends after a record
	open      *checkpoint.OpenQuotes // the open quotes before off; nil: none
	head      []byte                 // directive in force at off; nil: the head of the lane
	grid      int64                  // if not 0, batches end at fixed positions: see onGrid
	// note, if not nil, is called before a batch is emitted, with off, line and
	// oversize already advanced past the batch. It returns B of the position
	// there.
	note func(b *engine.Batch) int64
	// sums, if not nil, returns the offset up to which checksums verify the stream.
	// Batches end there, or at the last record end before it: a record that spans the
	// offset belongs to the later part.
	sums     func() int64
	verified Extent
	// atVerified is the directive in force at the end of the verified part.
	atVerified []byte
	late       func() // if not nil, called when a batch that was emitted proves to be verified
}

// begin moves the data that was read but not emitted into b.
func (c *cutter) begin(b *engine.Batch) {
	b.In = append(b.In[:0], c.tail...)
	c.tail = c.tail[:0]
}

// room makes room for more data in b. If it cannot, it returns how many bytes of b to
// emit first.
func (c *cutter) room(b *engine.Batch) int {
	if len(b.In) < cap(b.In) && c.grid == 0 {
		return 0
	}
	if n := c.cut(b); n > 0 {
		return n
	}
	if len(b.In) == cap(b.In) {
		// The copy has at most one byte more than the record limit plus the
		// grid.
		size := max(min(2*cap(b.In), c.maxRecord+int(c.grid)+1), cap(b.In)+1)
		b.In = append(make([]byte, 0, size), b.In...)
	}
	return 0
}

// cut returns how many bytes of b to emit while the stream continues: whole
// records, a piece of a record that is too long, or 0.
func (c *cutter) cut(b *engine.Batch) int {
	if c.grid > 0 {
		return c.onGrid(b)
	}
	b.Piece = engine.Whole
	full := len(b.In) == cap(b.In)
	switch {
	case c.oversize:
		n, ends := c.within(b.In)
		b.Piece = engine.Middle
		if ends {
			b.Piece = engine.Last
		}
		return n
	case full && len(b.In) > c.maxRecord:
		if n := c.framing.Cut(b.In); n > 0 {
			return c.toVerified(b, n)
		}
		b.Piece = engine.First
		return c.firstPiece(b.In)
	}
	return c.toVerified(b, c.framing.Cut(b.In))
}

// toVerified returns n or, if the verified part of the stream ends within the
// first n bytes of b, the length of the whole records before that end. It
// returns n as well if no whole record comes before that end, or with a grid.
func (c *cutter) toVerified(b *engine.Batch, n int) int {
	if c.sums == nil {
		return n
	}
	k := c.sums() - c.off
	if k >= 0 && c.off > c.verified.Bytes {
		// Mark all emitted records as verified: when the last batch was
		// emitted, this was not yet known.
		c.verified, c.atVerified = Extent{Bytes: c.off, Lines: c.line - 1}, c.head
		c.lane.MarkVerified()
		if c.late != nil {
			c.late()
		}
	}
	if k <= 0 || k >= int64(n) || c.grid > 0 {
		return n
	}
	if m := c.framing.Cut(b.In[:k]); m > 0 {
		return m
	}
	return n
}

// rest is the counterpart of cut at the end of the stream: it returns all of
// b, or only the whole records if the stream is not complete. again reports
// whether rest must be called once more.
func (c *cutter) rest(b *engine.Batch, complete bool) (n int, again bool) {
	if c.grid > 0 {
		return c.restOnGrid(b, complete)
	}
	if c.oversize {
		n = c.cut(b)
		if b.Piece == engine.Last && n < len(b.In) {
			return n, true // more records follow the oversize record
		}
		c.endWithin(b, complete)
		b.Piece = engine.Last
		return len(b.In), false
	}
	b.Piece = engine.Whole
	all := len(b.In)
	if f, ok := c.framing.(lengthFraming); ok {
		n := c.toVerified(b, c.restByLength(f, b.In, complete))
		return n, 0 < n && (n < all || !complete)
	}
	if !complete {
		all = c.framing.Cut(b.In)
	}
	n = c.toVerified(b, all)
	return n, n < all
}

// emit emits the first n bytes of b and stores the rest in tail. If n is 0, it
// returns b to the free list.
func (c *cutter) emit(ctx context.Context, b *engine.Batch, n int) error {
	c.tail = append(c.tail, b.In[n:]...)
	b.In = b.In[:n]
	if n == 0 {
		c.rt.Put(b)
		return nil
	}
	c.follow(b)
	if c.off == 0 && b.Piece == engine.Whole {
		if h := c.framing.Head(b.In); h > 0 {
			c.lane.SetHead(b.In[:h])
		}
	}
	b.Head = c.head
	if d, ok := c.framing.(director); ok && b.Piece == engine.Whole {
		if head := d.Directive(c.head, b.In); head != nil && !bytes.Equal(head, c.head) {
			c.head = bytes.Clone(head)
		}
	}
	c.oversize = b.Piece == engine.First || b.Piece == engine.Middle
	b.Off, b.Line = c.off, c.line
	c.open = openQuotes(c.framing, c.open, b, b.In)
	c.off += int64(n)
	c.line += int64(bytes.Count(b.In, newline))
	if whole := b.Piece == engine.Whole || b.Piece == engine.Last; whole && c.sums != nil && c.off <= c.sums() {
		b.Verified = true
		c.verified, c.atVerified = Extent{Bytes: c.off, Lines: linesOf(c.line-1, b.In)}, c.head
	}
	end := engine.Position{A: c.off}
	if c.note != nil {
		end.B = c.note(b)
	}
	return c.rt.Emit(ctx, b, end)
}

// verifiedHead returns the header that applies to the records after the
// verified part, or nil.
func (c *cutter) verifiedHead() []byte {
	if c.atVerified != nil {
		return c.atVerified
	}
	return c.lane.Head()
}

// linesOf returns the number of lines in a stream with n line ends, whose last bytes
// are text: n, plus 1 if the last line is not terminated.
func linesOf(n int64, text []byte) int64 {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

var newline = []byte{'\n'}

// A laneReader reads one whole input of a [Source].
type laneReader struct {
	cutter
	st     *stream
	linger time.Duration
	report *Report
	seen   *examination // nil: the input is read once
	final  byte         // last byte that was emitted

	from, next compress.RestartPoint // restart points: the last at or before the verified end, and the first at or after that
}

// mind makes r track checksums and the lane count its verified records.
func (r *laneReader) mind() {
	r.lane.TrackVerified()
	r.sums = r.st.verified
	if r.st.pump != nil {
		return // a pipe cannot be read again
	}
	r.note = func(b *engine.Batch) int64 {
		if b.Verified {
			if r.next.Offset() <= r.off {
				r.from = r.next
			}
			r.next = r.st.marks().point
		}
		return 0
	}
}

// run emits batches up to the end of the stream. It returns an error only if
// the run is over: an error of a hard stop, or errStopped.
func (r *laneReader) run(ctx context.Context) error {
	for {
		b, err := r.rt.Get(ctx, r.lane)
		if err != nil {
			return stopError(ctx, err)
		}
		n, end := r.fill(ctx, b)
		if n > 0 {
			r.final = b.In[n-1]
		}
		err = r.emit(ctx, b, n)
		r.report.Lines = r.line - 1
		if errors.Is(err, errLimit) {
			r.report.Limited, r.report.Lost = true, 0
			return nil
		}
		if err != nil || end != nil {
			if err == nil && end != io.EOF {
				err = end
			}
			return err
		}
	}
}

// stopError returns errStopped if err is the error of Get after a soft stop.
func stopError(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(err, engine.ErrStopped) {
		return errStopped
	}
	return err
}

// fill reads into b and sets b.Piece. It returns how many bytes of b to emit.
// end is io.EOF or errStopped if there is no more data.
func (r *laneReader) fill(ctx context.Context, b *engine.Batch) (n int, end error) {
	r.begin(b)
	var due <-chan time.Time
	for {
		if n := r.room(b); n > 0 {
			return n, nil
		}
		k, err := r.st.read(ctx, b.In[len(b.In):cap(b.In)], due)
		b.In = b.In[:len(b.In)+k]
		switch err {
		case nil:
			if due == nil && r.st.pump != nil {
				due = time.After(r.linger)
			}
		case errLinger:
			if n := r.cut(b); n > 0 {
				return n, nil
			}
			due = nil
		default:
			return r.last(b, err)
		}
	}
}

// last is the counterpart of cut at the end of the stream or of the run. At the
// end of a stream that is read only once, it counts the bytes of an incomplete
// record as lost.
func (r *laneReader) last(b *engine.Batch, why error) (n int, end error) {
	n, again := r.rest(b, why == io.EOF && !r.isCut())
	if again {
		return n, nil
	}
	if why == io.EOF && r.seen == nil {
		r.report.Lost = int64(len(b.In) - n)
	}
	return n, why
}

// isCut reports whether the stream ends within a record. Call it only at the
// end of the stream: until then a pump may be writing the verdict.
func (r *laneReader) isCut() bool {
	if r.seen != nil {
		return r.seen.verdict.Damage() // the stream ends where the verified part ends
	}
	return r.st.zr.Verdict().Cut
}

// finish fills in the report.
func (r *laneReader) finish(stopped bool) {
	rep := r.report
	rep.Bytes, rep.CompressedBytes = r.off+rep.Lost, r.st.zr.CompressedBytes()
	rep.Stopped, rep.Verified = stopped, r.verified
	r.st.complete = !stopped && !rep.Limited && r.st.pump == nil && r.st.zr.Verdict().Kind == compress.OK
	if !r.st.close() {
		rep.Verdict = compress.Verdict{}
		return
	}
	rep.Verdict, rep.Format, rep.Encoding = r.st.zr.Verdict(), r.st.zr.Format(), r.st.zr.Encoding()
	rep.Members, rep.Good = r.st.zr.Members()
	_, summed := r.st.zr.Verified()
	rep.Unsummed = !summed && rep.Format != compress.Plain
	if e := r.seen; e != nil && !stopped {
		rep.Verdict, rep.Format, rep.Unsummed = e.verdict, e.format, e.unsummed
		rep.Bytes, rep.CompressedBytes = e.bytes, e.compressed
	}
	if rep.Limited {
		rep.Verdict = compress.Verdict{}
	} else if !rep.Verdict.Damage() && !stopped {
		rep.Verdict = r.quoteVerdict(r.cutVerdict(rep.Verdict, rep.Format, rep.CompressedBytes), rep.Format)
	}
	rep.Unverified = Extent{Bytes: r.off - rep.Verified.Bytes, Lines: r.lines() - rep.Verified.Lines}
}

// lines returns the number of emitted lines. The last one may be incomplete.
func (r *laneReader) lines() int64 {
	if r.off == 0 {
		return 0
	}
	return linesOf(r.line-1, []byte{r.final})
}
