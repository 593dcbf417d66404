package pipeline

import "github.com/urlfold/urlfold/codec/record"

// A Filter decides which records of a batch reach the sinks. Without one the workers
// render, compress and submit a batch in one go. With one that takes two steps:
//
//	worker   read · render ──▶ filter outlet of the lane
//	                                 │ in order: Filter sets the keep set
//	worker   cut the dropped records out · compress ──▶ outlets of the sinks
//
// Filter is called for one batch at a time, and for the batches of a lane in their
// order; under OrderInput also for the lanes in theirs. Calls for other lanes may
// come in between. It may read b.Out, of which record i is kept if keep has it, and
// changes nothing but keep. It must not block: it holds up all lanes.
//
// A record that travels in pieces (see [Piece]) is decided about at its first piece
// with output; the pieces after that follow. Dead letters are not filtered.
type Filter interface {
	Filter(b *Batch, keep Keep)
}

// A Keep is a set of records of a [Stream], by index. A Filter gets the set of all.
type Keep []uint64

// Drop takes record i out of the set.
func (k Keep) Drop(i int) { k[i/64] &^= 1 << (i % 64) }

// Has reports whether record i is in the set.
func (k Keep) has(i int) bool { return k[i/64]>>(i%64)&1 != 0 }

// all makes k the set of n records.
func (k Keep) all(n int) Keep {
	k = k[:0]
	for range (n + 63) / 64 {
		k = append(k, ^uint64(0))
	}
	return k
}

// A pieceVerdict is what was decided about the pieces of an oversize record.
type pieceVerdict uint8

const (
	pieceOpen pieceVerdict = iota // no piece had output so far
	pieceKept
	pieceDropped
)

// A filterOutlet keeps the batches of one lane in order on their way into the
// filter. It is guarded by the mutex of the lane, except pieces, which belongs to
// who has set busy.
type filterOutlet struct {
	outlet
	pieces pieceVerdict // of the record at hand
}

// filterBatch leaves b, if any, in the filter outlet of l, and filters what is ready there:
// batches of the lane in front, in order. After a hard stop it gives up all.
func (p *Pipeline) filterBatch(l *Lane, b *Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.filter
	if o == nil {
		return // there is no filter, or the lane is swept
	}
	if b != nil {
		o.put(b)
	}
	if o.busy {
		return
	}
	o.busy = true
	for {
		stopped := p.stopped()
		if stopped {
			b = o.any()
		} else if b = nil; l.front {
			b = o.pop()
		}
		if b == nil {
			break
		}
		l.mu.Unlock()
		p.decide(b, o, stopped)
		l.mu.Lock()
	}
	o.busy = false
}

// any removes some batch, if there is one.
func (o *outlet) any() *Batch {
	for i, b := range o.ring {
		if b != nil {
			o.ring[i] = nil
			return b
		}
	}
	return nil
}

// decide has the filter look at b, unless it is lost, and sends it to a worker again.
func (p *Pipeline) decide(b *Batch, o *filterOutlet, stopped bool) {
	if stopped {
		b.lost.Store(true)
	}
	b.filtered, b.keep = true, b.keep.all(len(b.Out.Recs))
	if !b.lost.Load() && !b.Lane.halted(b) {
		if err := p.callFilter(b, o); err != nil {
			b.lost.Store(true)
			p.fail(err)
		}
	}
	p.work <- b // never blocks: its capacity is the number of batches there are
}

// callFilter sets b.keep.
func (p *Pipeline) callFilter(b *Batch, o *filterOutlet) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = bugf("panic in the filter, lane %s, block from line %d: %s", b.Lane.Name(), b.Line, panicText(v))
		}
	}()
	if b.Piece == Whole || b.Piece == First {
		o.pieces = pieceOpen
	}
	if len(b.Out.Recs) > 0 && o.pieces == pieceOpen {
		p.filtering.Lock()
		defer p.filtering.Unlock()
		p.o.Filter.Filter(b, b.keep)
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
	return nil
}

// cutFiltered cuts the records out of b that its filter has dropped, and moves them in
// the ledger: they were counted as emitted. A record in pieces is counted with its
// last one.
func (p *Pipeline) cutFiltered(b *Batch) {
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
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range []*record.Stats{&b.Stats, &p.feedOf(b.Lane).handled} {
		s.Emitted -= n
		s.Filtered += n
	}
}

// retain keeps the records in keep and returns how many others there were.
func (s *Stream) retain(keep Keep) (dropped int) {
	n, end := 0, uint32(0)
	for i, r := range s.Recs {
		if !keep.has(i) {
			continue
		}
		if n != i {
			copy(s.Bytes[end:], s.Bytes[r.Off:r.Off+r.Len])
			if len(s.Facts) > 0 {
				s.Facts[n] = s.Facts[i]
			}
		}
		r.Off = end
		s.Recs[n] = r
		end += r.Len
		n++
	}
	dropped = len(s.Recs) - n
	if dropped > 0 {
		s.Recs, s.Bytes = s.Recs[:n], s.Bytes[:end]
		if len(s.Facts) > 0 {
			s.Facts = s.Facts[:n]
		}
	}
	return dropped
}
