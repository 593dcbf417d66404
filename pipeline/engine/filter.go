package engine

import (
	"iter"
	"math/bits"
	"slices"
	"sync"

	"github.com/urlfold/urlfold/internal/ground/redact"
)

// A Filter decides which records of a batch are duplicates and do not reach the
// sinks. Without a filter, workers render and submit a batch in one step. With
// a filter, they take two steps:
//
//	worker   read · render ──▶ filter outlet of the lane
//	                                 │ in order: Filter sets the keep set
//	worker   remove the dropped records ──▶ outlets of the sinks
//
// The pipeline calls Filter for one batch at a time, and for the batches of a
// lane in order. Under OrderInput, it also follows the order of the lanes.
// Otherwise calls for different lanes may be interleaved. Filter reads b.Out,
// whose record i is kept if keep contains i, and must not modify anything but
// keep. All lanes wait for the call. An error ends the run: no later batch is
// decided.
//
// For a record that travels in pieces (see [Piece]), the decision about the
// first piece with output applies to all later ones. Dead letters are not
// filtered.
type Filter interface {
	Filter(b *Batch, keep Keep) error
}

// A Keep is a set of records of a [Stream], by index. A Filter receives the set
// of all records.
type Keep []uint64

// Drop removes record i from the set.
func (k Keep) Drop(i int) { k[i/64] &^= 1 << (i % 64) }

// has reports whether record i is in the set.
func (k Keep) has(i int) bool { return k[i/64]>>(i%64)&1 != 0 }

// members yields the records in the set, in ascending order.
func (k Keep) members() iter.Seq[int] {
	return func(yield func(int) bool) {
		for at, word := range k {
			for ; word != 0; word &= word - 1 {
				if !yield(at*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// len returns the number of records in the set.
func (k Keep) len() (n int) {
	for _, word := range k {
		n += bits.OnesCount64(word)
	}
	return n
}

// all returns k as the set of n records.
func (k Keep) all(n int) Keep {
	k = k[:0]
	for ; n >= 64; n -= 64 {
		k = append(k, ^uint64(0))
	}
	if n > 0 {
		k = append(k, 1<<n-1)
	}
	return k
}

// A pieceVerdict is the decision about the pieces of an oversize record.
type pieceVerdict uint8

const (
	pieceOpen pieceVerdict = iota // no piece has had output yet
	pieceKept
	pieceDropped
)

// A filterOutlet orders the batches of one lane for the filter. It is guarded
// by the mutex of the lane, except pieces, which is owned by the goroutine that
// has set busy.
type filterOutlet struct {
	outlet
	pieces pieceVerdict // decision about the current record
	kicked bool         // filterBatch was called while the outlet was busy
}

// A filtering decides which records the sinks get.
type filtering struct {
	*run
	roster    *roster
	work      *queue
	filter    Filter         // nil: no filter
	mu        sync.Mutex     // held during a call of filter
	decisions *decisions     // nil without deduplication by a set
	claims    *claims        // nil without deduplication by claims
	leave     func(b *Batch) // continues with a batch that all sinks have answered
}

// on reports whether records are dropped before the sinks get them.
func (f *filtering) on() bool { return f.filter != nil || f.decisions != nil || f.claims != nil }

// filterBatch stores b, if not nil, in the filter outlet of l, and filters the
// batches that are ready there, in order, if l is in front. After a hard stop
// it gives up all batches.
func (f *filtering) filterBatch(l *Lane, b *Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.filter
	if o == nil {
		return // there is no filter, or sweep has removed the lane
	}
	if b != nil {
		o.put(b)
	}
	o.kicked = true
	if o.busy {
		return
	}
	o.busy = true
	for o.kicked = false; ; {
		stopped := f.stopped()
		if stopped {
			b = o.any()
		} else if b = nil; l.front {
			b = o.pop()
		}
		if b == nil {
			break
		}
		l.mu.Unlock()
		decided := f.decide(b, o, stopped)
		l.mu.Lock()
		if decided {
			continue
		}
		o.next--
		o.redo = o.next
		o.put(b)
		if !o.kicked {
			break
		}
		o.kicked = false
	}
	o.busy = false
}

// any removes and returns an arbitrary batch, or nil.
func (o *outlet) any() *Batch {
	for i, b := range o.ring {
		if b != nil {
			o.ring[i] = nil
			return b
		}
	}
	return nil
}

// decide calls the filter for b, unless b is lost, and sends b to a worker
// again. It returns false if b must wait until something else is committed.
func (f *filtering) decide(b *Batch, o *filterOutlet, stopped bool) bool {
	if stopped {
		b.lost.Store(true)
	}
	b.round, b.keep = decidedRound, b.keep.all(len(b.Out.Recs))
	if !b.lost.Load() && !b.Lane.halted(b.Seq) {
		if decided, err := f.callFilter(b, o); err != nil {
			b.lost.Store(true)
			f.fail(err)
		} else if !decided {
			b.round = firstRound
			return false
		}
	}
	f.work.put(b)
	return true
}

// resume permits decisions again, and decides the batches that have waited.
func (f *filtering) resume() {
	if !f.decisions.resume() {
		return
	}
	for _, l := range f.roster.openLanes() {
		f.filterBatch(l, nil)
	}
}

// callFilter calls the filter for b and sets b.keep.
func (f *filtering) callFilter(b *Batch, o *filterOutlet) (decided bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = bugf("panic in the filter, lane %s, batch from line %d: %s", b.Lane.Name(), b.Line, redact.Panic(v))
		}
	}()
	if f.decisions != nil {
		return f.decisions.decide(b)
	}
	if b.Piece == Whole || b.Piece == First {
		o.pieces = pieceOpen
	}
	if len(b.Out.Recs) > 0 && o.pieces == pieceOpen {
		f.mu.Lock()
		defer f.mu.Unlock()
		if err := f.filter.Filter(b, b.keep); err != nil {
			return true, err
		}
		if b.Piece != Whole {
			o.pieces = pieceDropped
			if b.keep.has(0) {
				o.pieces = pieceKept
			}
		}
	}
	if b.pieceDropped = o.pieces == pieceDropped; b.pieceDropped {
		clear(b.keep)
	}
	return true, nil
}

// cutFiltered removes the records of b that the filter has dropped, and moves
// them from Emitted to Duplicates in the ledger. A record in pieces is counted
// with its last piece.
func (f *filtering) cutFiltered(b *Batch) {
	n := int64(b.Out.retain(b.keep))
	if b.Piece != Whole {
		n = 0
		if b.Piece == Last && b.pieceDropped {
			n = b.Stats.Emitted
		}
	}
	if n == 0 {
		return
	}
	f.roster.move(b, n)
}

// retain removes all records that are not in keep, and returns their number.
func (s *Stream) retain(keep Keep) (dropped int) {
	if dropped = len(s.Recs) - keep.len(); dropped == 0 {
		return 0
	}
	n, end := 0, uint32(0)
	for i := range keep.members() {
		r := s.Recs[i]
		if n != i {
			copy(s.Bytes[end:], s.Bytes[r.Off:r.Off+r.Len])
			move(s.Facts, n, i)
			move(s.IDs, n, i)
			move(s.Times, n, i)
			move(s.To, n, i)
		}
		r.Off = end
		s.Recs[n] = r
		end += r.Len
		n++
	}
	s.Recs, s.Bytes = s.Recs[:n], s.Bytes[:end]
	s.Facts, s.IDs, s.Times, s.To = front(s.Facts, n), front(s.IDs, n), front(s.Times, n), front(s.To, n)
	return dropped
}

// move copies element from of list to element to, if list has an element for
// each record.
func move[T any](list []T, to, from int) {
	if len(list) > 0 {
		list[to] = list[from]
	}
}

// front returns the first n elements of list, if it has an element for each
// record.
func front[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// settle continues with b, which all sinks have answered, when the batches with
// the first records of its duplicates are settled.
func (f *filtering) settle(b *Batch) {
	switch {
	case b.round == lateRound:
		f.leave(b)
	case f.claims != nil:
		f.claims.settle(b)
	case f.decisions == nil || f.decisions.mayLeave(b):
		f.leave(b)
	}
}

// letLeave continues with batches that have waited for the batches with the
// first records of their duplicates.
func (f *filtering) letLeave(batches []*Batch) {
	for _, b := range batches {
		f.leave(b)
	}
}

// unpark removes the batches that may leave from parked, and returns them.
func unpark(parked *[]*Batch, may func(*Batch) bool) (leave []*Batch) {
	*parked = slices.DeleteFunc(*parked, func(b *Batch) bool {
		ok := may(b)
		if ok {
			leave = append(leave, b)
		}
		return ok
	})
	return leave
}

// flush gives up, after a hard stop, the batches that wait for others.
func (f *filtering) flush() {
	if f.decisions != nil {
		f.letLeave(f.decisions.flush())
	}
	if f.claims != nil {
		f.letLeave(f.claims.flush())
	}
}
