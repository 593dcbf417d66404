package engine

import (
	"bytes"
	"slices"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// markEvery is the number of records after which the counts are saved. After a
// panic, up to this many records are read again. Without one, the cost per
// record is a copy of the counts divided by markEvery.
const markEvery = 64

// A recordCodec is the Codec that reads records with package record.
//
// Its worker appends to the arenas of a batch and returns the longer slices.
// After a panic the arenas therefore still have their old lengths, but the
// counts are incomplete. rewind therefore resets the counts to the last mark,
// and counts the records between the mark and the current record again.
type recordCodec struct {
	pick    func(*Lane) *record.Job
	workers map[*record.Job]*record.Worker

	job      *record.Job // job of the current batch
	w        *record.Worker
	director record.Director // the framing of the job, or nil if it is not a Director
	nested   bool            // Nested of the job: the records of a line form one output record
	n        int             // records handled, for markEvery
	line     int64           // number of the first line of the current record
	mark     int             // offset in the batch where the counts were saved
	saved    record.Stats    // counts up to mark

	extents []record.Extent // extents of the last run
	single  int             // number of records to read one by one after a panic

	out, dead []byte       // scratch for output that is written only to be counted
	none      record.Stats // scratch for counts that are already included elsewhere
}

// NewRecordCodec returns a function that makes a [Codec] for job, for use as
// Options.NewCodec. If a dead letter is configured, the job should write
// rejected records as dead letters.
func NewRecordCodec(job *record.Job) func() Codec {
	return newRecordCodecs(func(*Lane) *record.Job { return job })
}

// NewSourceCodecs is like NewRecordCodec for sources whose records differ in format.
// jobs are indexed by Lane.Source.
func NewSourceCodecs(jobs []*record.Job) func() Codec {
	return newRecordCodecs(func(l *Lane) *record.Job { return jobs[l.Source()] })
}

// NewRecordCodecs is like NewRecordCodec for lanes whose records differ in
// format. pick returns the job for the lane with the given name, and always the
// same job for one lane. It is called for each batch, from many goroutines.
func NewRecordCodecs(pick func(lane string) *record.Job) func() Codec {
	return newRecordCodecs(func(l *Lane) *record.Job { return pick(l.Name()) })
}

func newRecordCodecs(pick func(*Lane) *record.Job) func() Codec {
	return func() Codec { return &recordCodec{pick: pick, workers: map[*record.Job]*record.Worker{}} }
}

// begin selects the job of b's lane.
func (c *recordCodec) begin(b *Batch) {
	job := c.pick(b.Lane)
	b.Out.Apart, b.Out.Binary = job.Apart(), job.Binary()
	if job == c.job {
		return
	}
	w := c.workers[job]
	if w == nil {
		w = job.NewWorker()
		c.workers[job] = w
	}
	c.job, c.w, c.nested = job, w, job.Nested()
	c.director, _ = job.Framing().(record.Director)
}

// Process implements [Codec].
func (c *recordCodec) Process(b *Batch) {
	c.begin(b)
	c.w.Begin(b.In)
	switch {
	case len(b.Msgs) > 0:
		for ; b.NextMsg < len(b.Msgs); b.NextMsg++ {
			m := &b.Msgs[b.NextMsg]
			if m.Value.Len == 0 {
				c.bare(b, m)
				continue
			}
			if b.Next == int(m.Value.Off) {
				c.line = 1
			}
			if c.records(b, m.end()); c.w.Err() != nil {
				return
			}
		}
		return
	case b.Piece == Unread:
		c.unread(b)
		return
	case b.Piece != Whole:
		c.piece(b)
		return
	}
	if b.Next == 0 {
		c.line = b.Line
		// Most outputs are about as long as their input. Growing step by step would
		// leave garbage.
		b.Out.Bytes = slices.Grow(b.Out.Bytes, len(b.In))
	}
	c.records(b, len(b.In))
}

// records handles the records before offset end of the batch.
func (c *recordCodec) records(b *Batch, end int) {
	at := record.Position{Name: b.Lane.Name(), Head: c.head(b, b.Next), Message: len(b.Msgs) > 0}
	for b.Next < end {
		if c.n%markEvery == 0 || b.Next == 0 {
			c.save(b)
		}
		// Set these fields long before calling Append: Append copies the
		// variable at, and the copy would wait for these stores.
		at.Line, at.Off = c.line, b.at()
		if c.w.Runs() && c.run(b, end, &at) {
			continue
		}
		if at.Message {
			at.Key = b.key()
		}
		rec := c.rec(b, end, b.Next)
		out, dead := c.w.Append(b.Out.Bytes, b.Dead.Bytes, rec, at, &b.Stats)
		if c.w.Err() != nil {
			return
		}
		c.written(b, rec, out, dead)
		at.Head = c.directed(at.Head, rec)
		c.n++
	}
}

// run handles the records before offset end that need less work than Append,
// and advances to the record after them. It returns false if Append must handle
// that record.
func (c *recordCodec) run(b *Batch, end int, at *record.Position) bool {
	most := markEvery - c.n%markEvery
	if c.single > 0 {
		most = 1
	}
	start := len(b.Out.Bytes)
	b.Out.Bytes = c.appendRun(b, end, at, most)
	b.noteAll(c.extents, start)
	if c.job.Identifies() {
		for i := range c.extents {
			if e := &c.extents[i]; e.Out > 0 {
				b.Out.IDs = append(b.Out.IDs, e.Identity)
			}
		}
	}
	n := len(c.extents)
	c.n += n
	c.line += int64(n)
	c.single = max(0, c.single-n)
	return n == most || b.Next == end
}

// noteAll registers the output, from start on, of the next records of b, and advances
// b.Next.
func (b *Batch) noteAll(extents []record.Extent, start int) {
	recs, at, msg := b.Out.Recs, uint32(b.Next), uint32(b.NextMsg)
	out := uint32(start)
	for i := range extents {
		e := &extents[i]
		if e.Out > 0 {
			recs = append(recs, OutRec{Span{out, e.Out}, at, msg})
			out += e.Out
		}
		at += e.In
	}
	b.Out.Recs, b.Next = recs, int(at)
}

// appendRun appends the output of at most the given number of records, and sets
// c.extents. After a panic it finds no records, and the next records are read one by
// one, so that b.Next is the start of the faulty record when the codec panics again.
func (c *recordCodec) appendRun(b *Batch, end int, at *record.Position, most int) (out []byte) {
	if most > 1 {
		defer func() {
			if recover() != nil {
				out, c.extents, c.single = b.Out.Bytes, c.extents[:0], most
				c.rewind(b)
				at.Line, at.Off = c.line, b.at()
			}
		}()
	}
	out, c.extents = c.w.AppendRun(b.Out.Bytes, c.extents[:0], b.Next, end, at, most, &b.Stats)
	return out
}

// tell adds the facts that the job asks for to s. They are about the current record,
// whose output is the last record of s.
func (c *recordCodec) tell(s *Stream) {
	if c.job.Identifies() {
		s.IDs = c.w.AppendIdentity(s.IDs)
	}
	if c.job.Facts() {
		s.Facts = c.w.AppendFact(s.Facts)
	}
	if c.job.Times() {
		s.Times = append(s.Times, c.w.Time())
	}
}

// head returns the directive in force at offset off of the batch.
func (c *recordCodec) head(b *Batch, off int) []byte {
	start, head := 0, b.Lane.Head()
	switch {
	case len(b.Msgs) > 0:
		start = int(b.Msgs[b.NextMsg].Value.Off)
	case b.Head != nil:
		head = b.Head
	}
	if off > start {
		head = c.directed(head, b.In[start:off])
	}
	return head
}

// directed returns the directive in force after recs, if head was in force
// before.
func (c *recordCodec) directed(head, recs []byte) []byte {
	if c.director != nil {
		if d := c.director.Directive(head, recs); d != nil {
			return d
		}
	}
	return head
}

// save saves the counts of b before the current record.
func (c *recordCodec) save(b *Batch) { c.mark, c.saved = b.Next, b.Stats }

// piece handles a batch that is a piece of an oversize record.
func (c *recordCodec) piece(b *Batch) {
	c.save(b)
	at := record.Position{Name: b.Lane.Name(), Head: b.Lane.Head(), Line: b.Line, Off: b.Off, Start: b.start}
	out, dead := c.w.Piece(b.Out.Bytes, b.Dead.Bytes, b.In, record.Piece(b.Piece), at, &b.Stats)
	if c.w.Err() != nil {
		return
	}
	c.written(b, b.In, out, dead)
}

// unread writes the dead letter of an input that cannot be read.
func (c *recordCodec) unread(b *Batch) {
	c.save(b)
	out, dead := c.w.Reject(b.Out.Bytes, b.Dead.Bytes, b.In, record.Unreadable, record.Position{Name: b.Lane.Name()}, &b.Stats)
	c.written(b, b.In, out, dead)
}

// Reject implements [Codec]. No output has to be removed, because Process
// appends output to the arenas only after the whole record was handled.
func (c *recordCodec) Reject(b *Batch) {
	c.begin(b)
	at := record.Position{Name: b.Lane.Name(), Message: len(b.Msgs) > 0}
	at.Head = c.rewind(b)
	rec := c.inHand(b)
	at.Line, at.Off, at.Key = c.line, b.at(), b.key()
	out, dead := c.w.Reject(b.Out.Bytes, b.Dead.Bytes, rec, record.Panic, at, &b.Stats)
	c.written(b, rec, out, dead)
	c.save(b)
}

// rewind restores the counts before the current record after a panic, which may have
// left the worker in any state. It returns the directive in force.
func (c *recordCodec) rewind(b *Batch) (head []byte) {
	c.w = c.job.NewWorker()
	c.w.Begin(b.In)
	c.workers[c.job] = c.w
	b.Stats = c.saved
	at := record.Position{Name: b.Lane.Name(), Head: c.head(b, c.mark), Message: len(b.Msgs) > 0}
	for next := c.mark; next < b.Next; {
		rec := c.rec(b, b.limit(next), next)
		at.Off = b.Off + int64(next)
		c.out, c.dead = c.w.Append(c.out[:0], c.dead[:0], rec, at, &b.Stats)
		next += len(rec)
		at.Head = c.directed(at.Head, rec)
	}
	return at.Head
}

// Refuse implements [Codec]. If the job writes no dead letters, the record
// itself becomes the dead letter, so that it is not lost.
func (c *recordCodec) Refuse(b *Batch) {
	c.begin(b)
	rec := c.inHand(b)
	at := record.Position{Name: b.Lane.Name(), Head: b.Lane.Head(), Off: b.at(), Key: b.key()}
	if len(b.Msgs) == 0 {
		at.Line = b.Line + int64(bytes.Count(b.In[:b.Next], newline))
	}
	start := len(b.Dead.Bytes)
	why := record.Refused
	if b.orphan {
		why = record.FirstRefused
	}
	c.out, b.Dead.Bytes = c.w.Reject(c.out[:0], b.Dead.Bytes, rec, why, at, &c.none)
	if len(b.Dead.Bytes) == start {
		b.Dead.Bytes = append(b.Dead.Bytes, rec...)
	}
	b.Dead.record(start, b)
}

// inHand returns the record at b.Next, or all of b.In if it is a piece.
func (c *recordCodec) inHand(b *Batch) []byte {
	if b.Piece != Whole {
		return b.In
	}
	end := len(b.In)
	if len(b.Msgs) > 0 {
		end = b.Msgs[b.NextMsg].end()
	}
	return c.rec(b, end, b.Next)
}

// rec returns the record of b that starts at off, with its capacity limited to
// its length. The record ends at end at the latest, which is the end of its
// message if it has one.
func (c *recordCodec) rec(b *Batch, end, off int) []byte {
	if !c.job.WholeMessages() || len(b.Msgs) == 0 {
		end = off + c.w.Next(b.In[off:end])
	}
	return b.In[off:end:end]
}

var newline = []byte{'\n'}

// written adds the output of rec to b and advances to the next record.
func (c *recordCodec) written(b *Batch, rec, out, dead []byte) {
	o, d := len(b.Out.Bytes), len(b.Dead.Bytes)
	ends := !c.nested || b.Next+len(rec) == b.limit(b.Next)
	if len(b.Msgs) > 0 && len(out) > o && out[len(out)-1] != '\n' && ends && !b.Out.Binary {
		out = append(out, '\n') // for file sinks; message sinks remove it
	}
	b.Out.Bytes, b.Dead.Bytes = out, dead
	if c.nested && b.Out.extend(o, b) {
		// The output is a part of the previous record.
	} else if b.Out.record(o, b) {
		c.tell(&b.Out)
		if c.job.Routes() {
			b.Out.To = append(b.Out.To, c.w.To())
		}
	}
	b.Dead.record(d, b)
	c.line += c.w.Lines(rec)
	b.Next += len(rec)
}

// record registers the bytes after start, if any, as the output of the current
// record. It reports whether there were any.
func (s *Stream) record(start int, b *Batch) bool {
	n := len(s.Bytes) - start
	if n > 0 {
		s.note(start, n, b)
	}
	return n > 0
}

// extend adds the bytes after start to the output record before them if the
// current record is in the same line as the previous record. It reports whether
// it did.
func (s *Stream) extend(start int, b *Batch) bool {
	last := len(s.Recs) - 1
	if last < 0 || start == 0 || s.Bytes[start-1] == '\n' || s.Recs[last].Msg != uint32(b.NextMsg) || b.In[b.Next-1] == '\n' {
		return false
	}
	s.Recs[last].Len += uint32(len(s.Bytes) - start)
	return true
}

// note registers n bytes at start as the output of the current record.
func (s *Stream) note(start, n int, b *Batch) {
	s.Recs = append(s.Recs, OutRec{Span{uint32(start), uint32(n)}, uint32(b.Next), uint32(b.NextMsg)})
}

// Err implements [Stopper]. It reports on the current batch.
func (c *recordCodec) Err() error {
	if c.w == nil {
		return nil // no batch has been processed yet
	}
	return c.w.Err()
}

// bare passes on a message without a record to read: a tombstone or an empty
// value. Topics that are compacted by key need both.
func (c *recordCodec) bare(b *Batch, m *Message) {
	b.Stats.Records++
	b.Stats.Emitted++
	if m.Null {
		b.Stats.NoURL++
	} else {
		b.Stats.Blank++
	}
	b.Out.note(len(b.Out.Bytes), 0, b)
	if c.job.Identifies() {
		b.Out.IDs = append(b.Out.IDs, codec.Key{})
	}
	if c.job.Facts() {
		b.Out.Facts = append(b.Out.Facts, record.Fact{})
	}
	if c.job.Times() {
		b.Out.Times = append(b.Out.Times, record.Time{})
	}
	if c.job.Routes() {
		b.Out.To = append(b.Out.To, allSinks)
	}
	c.save(b)
}
