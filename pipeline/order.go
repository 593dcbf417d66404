package pipeline

import (
	"sync"
	"sync/atomic"
)

// Ordering says in which order batches are submitted to the sinks.
type Ordering uint8

// The orders. The zero Ordering is the fastest.
const (
	OrderNone    Ordering = iota // as they come out of the workers
	OrderPerLane                 // in order within each lane, lanes mixed
	OrderInput                   // in order, and lanes in the order in which they were opened
)

// String returns the name of the order as it stands in a configuration.
func (o Ordering) String() string {
	switch o {
	case OrderNone:
		return "none"
	case OrderPerLane:
		return "per_lane"
	case OrderInput:
		return "input"
	}
	return "invalid"
}

// An outlet keeps the batches of one lane in order on their way into one sink.
// The worker that fills the gap at its head submits the whole run; the others
// leave their batch and go. It is guarded by the mutex of the lane.
type outlet struct {
	ring    []*Batch // by Seq; as long as that of the lane
	next    uint64   // the first batch that was never submitted
	redo    uint64   // the first batch that is to be submitted again; next if none
	busy    bool     // a goroutine is submitting
	stalled bool     // the sink has asked for a batch again, and its time has not come
	flying  int      // batches that are submitted and not answered
	due     bool     // it is drained when none is

	// The batch of a refused record, its number plus 1; 0: there is none. What was
	// submitted after it comes back untried: see Ticket.Held. Not guarded.
	held atomic.Uint64
}

// hold keeps what comes after the batch with the number seq from the sink.
func (o *outlet) hold(seq uint64) {
	for {
		now := o.held.Load()
		if now != 0 && now <= seq+1 || o.held.CompareAndSwap(now, seq+1) {
			return
		}
	}
}

// holds reports whether the batch with the number seq is kept from the sink.
func (o *outlet) holds(seq uint64) bool {
	at := o.held.Load()
	return at != 0 && seq+1 > at
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

// put leaves b in the outlet.
func (o *outlet) put(b *Batch) { o.ring[b.Seq&uint64(len(o.ring)-1)] = b }

// take removes the batch with the number seq, if it is there.
func (o *outlet) take(seq uint64) *Batch {
	if len(o.ring) == 0 {
		return nil
	}
	p := &o.ring[seq&uint64(len(o.ring)-1)]
	b := *p
	*p = nil
	return b
}

// pop removes the batch whose turn it is, if it is there.
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

// drain leaves b, if any, in an outlet of l and submits what is ready there.
func (p *Pipeline) drain(l *Lane, slot int, b *Batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outlets == nil {
		return // swept
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
	for p.stopped() || l.front && !o.stalled && !o.waits() {
		b := o.pop()
		if b == nil {
			break
		}
		o.mustBeNext(l, b)
		o.flying++
		l.mu.Unlock()
		p.submit(b, slot)
		l.mu.Lock()
	}
	o.busy = false
}

// waits reports whether all that the sink has must come back before it gets more:
// a record was refused, and what comes after it may not pass it.
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

// landed notes that b is answered by a sink for the last time, or given up.
func (p *Pipeline) landed(b *Batch, slot int) {
	if b.outlet(slot) == nil {
		return
	}
	b.Lane.mu.Lock()
	defer b.Lane.mu.Unlock()
	p.land(b.Lane, slot)
}

// land notes that the sink has one batch of l less, and drains its outlet if that
// is due. The caller holds Lane.mu.
func (p *Pipeline) land(l *Lane, slot int) {
	o := &l.outlets[slot]
	o.flying--
	if o.flying > 0 || !o.due {
		return
	}
	o.due = false
	p.active.Add(1)
	p.helpers.Go(func() {
		defer p.stepDone()
		p.gate.enter()
		defer p.gate.leave()
		p.drain(l, slot, nil)
		p.moveOn()
	})
}

// drainAll submits what is ready in all outlets of l.
func (p *Pipeline) drainAll(l *Lane) {
	p.filterBatch(l, nil)
	if p.o.Ordering == OrderNone {
		return
	}
	for slot := range p.sinks {
		p.drain(l, slot, nil)
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

// A line is the order of lanes under OrderInput. The first lane is in front: its
// batches go to the sinks. The batches of the others wait, and so that they
// cannot starve the one in front they may hold, all together, half of the
// batches there are.
type line struct {
	mu     sync.Mutex
	lanes  []*Lane
	credit chan struct{} // what lanes that are not in front hold
}

// join puts l at the end of the line.
func (q *line) join(l *Lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.front = len(q.lanes) == 0
	q.lanes = append(q.lanes, l)
}

// step puts the next lane in front, if the first one is delivered, and returns
// it; else nil.
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

// moveOn steps through the line as far as lanes are delivered. Only workers and
// retries call it: a source must not be kept busy with the batches of others.
func (p *Pipeline) moveOn() {
	if p.o.Ordering != OrderInput {
		return
	}
	for l := p.line.step(); l != nil; l = p.line.step() {
		p.drainAll(l)
	}
}
