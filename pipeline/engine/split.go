package engine

import "github.com/urlfold/urlfold/internal/record"

// A Splitter is a [Committer] or an [Acker] that can move the end of an emitted
// batch to an earlier position. When a [Stopper] ends the run at a record, the
// earlier records of the same batch can then be delivered as usual.
type Splitter interface {
	// Split divides b, which the source has emitted: before the byte at off of
	// b.In, where a record starts, or, for a batch of messages, before message
	// msg of b.Msgs, whose value starts at off. The records after that point
	// count as never emitted. Split returns the position after the first part,
	// or false if it cannot divide b; b is then unchanged. The pipeline itself
	// shortens b.In and b.Msgs. A worker calls Split.
	Split(b *Batch, off, msg int) (end Position, ok bool)
}

// split returns the end position of the first part of b if it can be divided at
// off and msg. A source that stores no positions does not need to implement
// Splitter.
func (f *feed) split(b *Batch, off, msg int) (end Position, ok bool) {
	if s, is := As[Splitter](f.Source); is {
		return s.Split(b, off, msg)
	}
	return b.End, f.committer == nil && f.acker == nil
}

// shorten ends b before the current record, or before the message that contains
// it, and restarts the codec on the shorter batch. It reports false if that is
// not possible; b must then not reach the sinks.
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
	// Discard the output and the counts.
	b.Next, b.NextMsg, b.Stats = 0, 0, record.Stats{}
	b.Out.reset(w.p.pool.bytes)
	b.Dead.reset(w.p.pool.bytes)
	return w.process(b) == nil
}

// shorten sets the end position of b, which is unresolved, to end.
func (l *Lane) shorten(b *Batch, end Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.End, b.Verified = end, false
	l.at(b.Seq).end, l.at(b.Seq).verified = end, false
}
