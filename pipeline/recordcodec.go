package pipeline

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/record"
)

// markEvery is the number of records after which the counts are saved. A panic
// costs the reading of at most as many records again; the price without one is a
// copy of the counts divided by it.
const markEvery = 64

// A recordCodec is the Codec that reads records with package record.
//
// Its worker appends to the arenas of a batch and returns them longer. If it
// panics the arenas are as long as before, but the counts are half done: they
// are set back to the last mark, and the records between that and the one in
// hand are counted again.
type recordCodec struct {
	job  *record.Job
	w    *record.Worker
	line int64        // number of the first line of the record in hand
	mark int          // offset in the batch where the counts were saved
	save record.Stats // the counts up to there

	out, dead []byte       // scratch for what is written only to be counted
	none      record.Stats // scratch for what is counted already
}

// NewRecordCodec returns a function that makes a [Codec] for job: what
// Options.NewCodec takes. If a dead letter is configured, the job should divert.
func NewRecordCodec(job *record.Job) func() Codec {
	return func() Codec { return &recordCodec{job: job, w: job.NewWorker()} }
}

// Process implements [Codec].
func (c *recordCodec) Process(b *Batch) {
	if b.Next == 0 {
		c.line = b.Line
	}
	if b.Piece != Whole {
		c.piece(b)
		return
	}
	at := record.Place{Name: b.Lane.Name(), Head: b.Lane.Head()}
	for n := 0; b.Next < len(b.In); n++ {
		if n%markEvery == 0 {
			c.mark, c.save = b.Next, b.Stats
		}
		rec := c.rec(b.In, b.Next)
		at.Line, at.Off = c.line, b.Off+int64(b.Next)
		out, dead := c.w.Append(b.Out.Bytes, b.Dead.Bytes, rec, at, &b.Stats)
		c.written(b, rec, out, dead)
	}
}

// piece handles a batch that is a piece of an oversize record.
func (c *recordCodec) piece(b *Batch) {
	c.mark, c.save = 0, b.Stats
	at := record.Place{Name: b.Lane.Name(), Head: b.Lane.Head(), Line: b.Line, Off: b.Off}
	out, dead := c.w.Piece(b.Out.Bytes, b.Dead.Bytes, b.In, record.Piece(b.Piece), at, &b.Stats)
	c.written(b, b.In, out, dead)
}

// Reject implements [Codec]. What was written for the record was never made part
// of the arenas.
func (c *recordCodec) Reject(b *Batch) {
	c.w = c.job.NewWorker() // the panic may have left the other one in any state
	b.Stats = c.save
	at := record.Place{Name: b.Lane.Name(), Head: b.Lane.Head()}
	for next := c.mark; next < b.Next; {
		rec := c.rec(b.In, next)
		at.Off = b.Off + int64(next)
		c.out, c.dead = c.w.Append(c.out[:0], c.dead[:0], rec, at, &b.Stats)
		next += len(rec)
	}
	rec := c.inHand(b)
	at.Line, at.Off = c.line, b.Off+int64(b.Next)
	out, dead := c.w.Reject(b.Out.Bytes, b.Dead.Bytes, rec, record.Panic, at, &b.Stats)
	c.written(b, rec, out, dead)
	c.mark, c.save = b.Next, b.Stats
}

// Refuse implements [Codec]. If the job does not divert, the record itself is
// its letter: it must be somewhere.
func (c *recordCodec) Refuse(b *Batch) {
	rec := c.inHand(b)
	at := record.Place{
		Name: b.Lane.Name(), Head: b.Lane.Head(), Off: b.Off + int64(b.Next),
		Line: b.Line + int64(bytes.Count(b.In[:b.Next], newline)),
	}
	start := len(b.Dead.Bytes)
	c.out, b.Dead.Bytes = c.w.Reject(c.out[:0], b.Dead.Bytes, rec, record.Refused, at, &c.none)
	if len(b.Dead.Bytes) == start {
		b.Dead.Bytes = append(b.Dead.Bytes, rec...)
	}
	b.Dead.record(start, b.Next)
}

// inHand returns the record at b.Next: of a piece, all of it.
func (c *recordCodec) inHand(b *Batch) []byte {
	if b.Piece != Whole {
		return b.In
	}
	return c.rec(b.In, b.Next)
}

// rec returns the record of in that begins at off. Its capacity ends with it.
func (c *recordCodec) rec(in []byte, off int) []byte {
	end := off + c.w.Next(in[off:])
	return in[off:end:end]
}

var newline = []byte{'\n'}

// written makes what was written for rec part of b, and goes on to the next
// record.
func (c *recordCodec) written(b *Batch, rec, out, dead []byte) {
	o, d := len(b.Out.Bytes), len(b.Dead.Bytes)
	b.Out.Bytes, b.Dead.Bytes = out, dead
	b.Out.record(o, b.Next)
	b.Dead.record(d, b.Next)
	c.line += c.w.Lines(rec)
	b.Next += len(rec)
}

// record notes what lies behind start, if anything, as the output for the
// record at src.
func (s *Stream) record(start, src int) {
	if n := len(s.Bytes) - start; n > 0 {
		s.Recs = append(s.Recs, OutRec{Span{uint32(start), uint32(n)}, uint32(src)})
	}
}
