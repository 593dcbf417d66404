package pipeline

import "github.com/urlfold/urlfold/codec/record"

// A Splitter is a [Committer] or an [Acker] whose batches can end earlier than where
// it has ended them: so that what lies before the record at which a [Stopper] ends the
// run goes the way of all records, though it is in one batch with that.
type Splitter interface {
	// Split divides b, which the source has emitted: between records, before the byte
	// at off of b.In, or, of a batch of messages, before the message msg of b.Msgs, whose
	// value begins at off. What lies behind counts as never emitted. Split returns the
	// position after what lies before, or false if it cannot; b is as it was then. It
	// leaves it to the pipeline to shorten b.In and b.Msgs. A worker calls it.
	Split(b *Batch, off, msg int) (end Position, ok bool)
}

// split returns where b ends if it is divided there. A source that keeps no positions
// needs not be asked.
func (f *feed) split(b *Batch, off, msg int) (end Position, ok bool) {
	if s, is := f.Source.(Splitter); is {
		return s.Split(b, off, msg)
	}
	return b.End, f.committer == nil && f.acker == nil
}

// shorten makes b end before the record in hand, or before the message that it is in,
// and has the codec begin again with that. It reports false if that is not possible:
// then b is not for the sinks.
func (w *worker) shorten(b *Batch) bool {
	off, msg := b.Next, b.NextMsg
	if len(b.Msgs) > 0 {
		off = int(b.Msgs[msg].Value.Off)
	}
	if off == 0 && msg == 0 {
		return false
	}
	end, ok := w.p.feedOf(b.Lane).split(b, off, msg)
	if !ok {
		return false
	}
	b.In, b.Msgs = b.In[:off], b.Msgs[:msg]
	b.Lane.shorten(b, end)
	b.undo(w.p.pool.bytes)
	return w.process(b) == nil
}

// undo forgets what was made of b.
func (b *Batch) undo(size int) {
	b.Next, b.NextMsg, b.Stats = 0, 0, record.Stats{}
	b.Out.reset(size)
	b.Dead.reset(size)
}

// shorten makes end the position after b, which is not resolved.
func (l *Lane) shorten(b *Batch, end Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.End, b.Verified = end, false
	l.at(b.Seq).end, l.at(b.Seq).verified = end, false
}
