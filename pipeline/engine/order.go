package engine

import (
	"sync"
	"sync/atomic"
)

// Ordering is the order in which batches are submitted to the sinks.
type Ordering uint8

// The orderings. The zero Ordering is the fastest.
const (
	OrderNone    Ordering = iota // in the order in which workers finish
	OrderPerLane                 // in order within each lane; lanes are mixed
	OrderInput                   // in order within each lane, and lanes in the order in which they were opened
)

// String returns the name of the ordering as it is spelled in a configuration.
func (o Ordering) String() string { return named(o, "none", "lane", "input") }

// An outlet orders the batches of one lane for one sink. The worker that fills
// the gap at its head submits all batches that have become contiguous; other
// workers leave their batches in the outlet and continue. The outlet is guarded
// by the mutex of the lane.
type outlet struct {
	ring    []*Batch // by Seq; same length as the lane's ring
	next    uint64   // first batch that was never submitted
	redo    uint64   // first batch to resubmit; equal to next if there is nothing to resubmit
	busy    bool     // a goroutine is submitting
	stalled bool     // the sink has requested a retry, and its backoff has not elapsed
	flying  int      // batches that are submitted and not yet answered
	due     bool     // drain the outlet when flying reaches 0

	// The number, plus 1, of the batch with a refused record; 0: no such batch.
	// Batches that were submitted later come back untried: see Ticket.Held. Not
	// guarded by the mutex.
	held atomic.Uint64
}

// grow makes the ring longer.
func (o *outlet) grow(size int) {
	before := o.ring
	o.ring = make([]*Batch, size)
	for _, b := range before {
		if b != nil {
			o.put(b)
		}
	}
}

// put stores b in the outlet.
func (o *outlet) put(b *Batch) { o.ring[b.Seq&uint64(len(o.ring)-1)] = b }

// take removes and returns batch seq, or returns nil if it is not there.
func (o *outlet) take(seq uint64) *Batch {
	if len(o.ring) == 0 {
		return nil
	}
	p := &o.ring[seq&uint64(len(o.ring)-1)]
	b := *p
	*p = nil
	return b
}

// pop removes and returns the next batch in order, or returns nil if it is not
// there.
func (o *outlet) pop() *Batch {
	for o.redo < o.next {
		o.redo++
		if b := o.take(o.redo - 1); b != nil {
			return b
		}
	}
	b := o.take(o.next)
	if b != nil {
		o.next++
		o.redo = o.next
	}
	return b
}

// drain stores b, if not nil, in an outlet of l and submits the batches that
// are ready.
func (d *delivery) drain(l *Lane, slot int, b *Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outlets == nil {
		return // removed by sweep
	}
	o := &l.outlets[slot]
	if b != nil {
		o.mustBeVacant(b)
		o.put(b)
	}
	if o.busy {
		return
	}
	o.busy = true
	for d.stopped() || l.front && !o.stalled && !o.waits() {
		b := o.pop()
		if b == nil {
			break
		}
		o.mustBeNext(l, b)
		o.flying++
		l.mu.Unlock()
		d.submit(b, slot)
		l.mu.Lock()
	}
	o.busy = false
}

// waits reports whether the sink must answer everything it holds before it gets
// more, because a record was refused and no later record may overtake it.
func (o *outlet) waits() bool {
	if o.held.Load() == 0 {
		return false
	}
	if o.flying > 0 {
		o.due = true
		return true
	}
	o.held.Store(0)
	return false
}

// land decrements the number of batches of l that the sink holds, and drains
// the outlet if that is due. The caller holds Lane.mu.
func (d *delivery) land(l *Lane, slot int) {
	o := &l.outlets[slot]
	o.flying--
	if o.flying > 0 || !o.due {
		return
	}
	o.due = false
	d.step(func() { d.resume(l, slot) })
}

// resume submits the batches that are ready in an outlet of l.
func (d *delivery) resume(l *Lane, slot int) {
	d.gate.enter()
	defer d.gate.leave()
	d.drain(l, slot, nil)
	d.moveOn()
}

// drainAll submits the batches that are ready in all outlets of l.
func (d *delivery) drainAll(l *Lane) {
	d.filtering.filterBatch(l, nil)
	if d.ordering == OrderNone {
		return
	}
	for slot := range d.sinks {
		d.drain(l, slot, nil)
	}
}

// delivered reports whether l has ended and all of it has been submitted.
func (l *Lane) delivered() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		return false
	}
	for i := range l.outlets {
		if o := &l.outlets[i]; o.busy || o.stalled || o.redo < o.next || o.next < l.next {
			return false
		}
	}
	return true
}

// A line is the queue of lanes under OrderInput. Only the batches of the lane
// in front go to the sinks. The other lanes together may hold at most half of
// all batches, so that they cannot starve the lane in front.
type line struct {
	mu     sync.Mutex
	lanes  []*Lane
	credit chan struct{} // one element per batch held by lanes that are not in front
}

// step moves the next lane to the front if the first lane is delivered. It
// returns the new lane in front, or nil after the last lane.
func (q *line) step() *Lane {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lanes) == 0 || !q.lanes[0].delivered() {
		return nil
	}
	q.lanes[0] = nil
	q.lanes = q.lanes[1:]
	if len(q.lanes) == 0 {
		return nil
	}
	l := q.lanes[0]
	for range l.advance() {
		<-q.credit
	}
	return l
}

// moveOn steps through the line past all delivered lanes. Only workers and
// retries call it, because a source must not spend its time on the batches of
// other lanes.
func (d *delivery) moveOn() {
	if d.ordering != OrderInput {
		return
	}
	for l := d.line.step(); l != nil; l = d.line.step() {
		d.drainAll(l)
	}
}
