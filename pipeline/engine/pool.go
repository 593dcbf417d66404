package engine

import "github.com/urlfold/urlfold/internal/record"

// A pool is the free list. Its fixed number of batches bounds memory, and makes
// a source wait when all are in use. It is not a sync.Pool, which is unbounded
// and is emptied by the garbage collector.
type pool struct {
	free  chan *Batch
	bytes int // capacity of a new input arena, in bytes
}

// arenaGrowth is the factor by which an arena may outgrow its initial size
// before put replaces it, so that one huge record does not occupy memory
// forever.
const arenaGrowth = 4

// newPool returns n free batches with input arenas of size bytes.
func newPool(d *delivery, n, size int) pool {
	l := pool{free: make(chan *Batch, n), bytes: size}
	for range n {
		b := &Batch{handover: handover{delivery: d, legs: make([]leg, len(d.sinks))}}
		b.In = make([]byte, 0, size)
		b.poison()
		l.free <- b
	}
	return l
}

// put empties b and returns it to the free list. It reports false if b is
// already there.
func (l *pool) put(b *Batch) bool {
	b.mustBeHeld()
	if !b.held.CompareAndSwap(true, false) {
		return false
	}
	b.reset(l.bytes)
	b.poison()
	l.free <- b // never blocks: the capacity of the channel is the number of batches
	return true
}

// reset empties b and drops arenas that have grown too far beyond size.
func (b *Batch) reset(size int) {
	b.Lane, b.Seq, b.End, b.Off, b.Line, b.start = nil, 0, Position{}, 0, 0, 0
	b.Piece, b.Next, b.NextMsg, b.Stats = Whole, 0, 0, record.Stats{}
	b.Verified, b.Segment, b.Head = false, 0, nil
	b.Msgs, b.Heads, b.Side = b.Msgs[:0], b.Heads[:0], b.Side[:0]
	if cap(b.Side) > arenaGrowth*size {
		b.Side = nil
	}
	b.round, b.refused, b.lostDeadLetters = firstRound, b.refused[:0], 0
	b.decision.reset()
	if b.In = b.In[:0]; cap(b.In) > arenaGrowth*size || cap(b.In) < size {
		b.In = make([]byte, 0, size)
	}
	b.Out.reset(size)
	b.Dead.reset(size)
	for i := range b.legs {
		b.legs[i].reset(size)
	}
}

// recSize is the size of an OutRec, in bytes.
const recSize = 16

// reset empties s and drops arenas that have grown too far beyond size.
func (s *Stream) reset(size int) {
	s.Bytes, s.Recs, s.To = s.Bytes[:0], s.Recs[:0], s.To[:0]
	s.Facts, s.IDs, s.Times = s.Facts[:0], s.IDs[:0], s.Times[:0]
	s.Apart, s.Binary, s.Truncated = false, false, false
	if cap(s.Bytes) > arenaGrowth*size {
		s.Bytes = nil
	}
	if cap(s.Recs) > arenaGrowth*size/recSize {
		s.Recs, s.Facts, s.IDs, s.Times, s.To = nil, nil, nil, nil, nil
	}
	if s.whole, s.index = nil, s.index[:0]; cap(s.index) > arenaGrowth*size/recSize {
		s.index = nil
	}
}
