package engine

import (
	"fmt"
	"sync/atomic"
	"time"
)

// A Ticket is the means by which a sink answers for a batch. It is a value;
// copy it to keep it. The zero Ticket belongs to no batch and must not be
// answered.
type Ticket struct {
	b      *Batch
	stream *Stream
	id     uint32 // identifies this submission, so that a second answer does not match
	slot   uint8
	relay  *relay // receives the answer instead of the pipeline, if not nil
}

// A relay receives the answer to a ticket that belongs to no pipeline.
type relay struct {
	done     func(Result)
	answered atomic.Bool
}

// NewTicket returns a ticket for s that passes its answer to done. It is meant
// for sinks that pass their batches on to another sink, and for tests of sinks.
func NewTicket(s *Stream, done func(Result)) Ticket {
	return Ticket{stream: s, relay: &relay{done: done}}
}

// Stream returns the records to write: the output of the batch, or its dead
// letters. The stream is read-only and valid until Done is called.
func (t Ticket) Stream() *Stream {
	t.mustBeLive("Stream")
	return t.stream
}

// Live reports whether the ticket waits for its answer. The zero Ticket does not.
func (t Ticket) Live() bool {
	if t.relay != nil {
		return !t.relay.answered.Load()
	}
	return t.b != nil && t.b.legs[t.slot].live.Load() == t.id
}

// Done answers for the batch of the ticket. The sink calls it exactly once,
// from any goroutine, possibly before Submit returns. After that the sink must
// not use the batch. Done does not retain r.Failed.
func (t Ticket) Done(r Result) {
	if t.relay != nil {
		t.relay.answered.Store(true)
		t.relay.done(r)
		return
	}
	t.mustBeLive("Done")
	t.b.delivery.answer(t, r)
}

// Hold announces that the sink will refuse a record of t permanently. An ordered sink
// calls it as soon as the record is refused, before writing any record that was
// submitted after t. See [Ticket.Held].
func (t Ticket) Hold() {
	if t.b == nil {
		return
	}
	policy, g := t.b.delivery.sinks[t.slot].policy, &t.b.legs[t.slot]
	ordered := t.b.outlet(int(t.slot))
	if policy == RefusedBlock && (ordered != nil || g.blocked) {
		g.held.Store(true)
	}
	if ordered != nil && policy != RefusedDrop {
		lower(&ordered.held, t.b.Seq) // withholds later batches from the sink
	}
}

// Held reports whether the sink must not write the remaining records of t, and
// must name them in Result.Untried instead. This is the case after an earlier
// record of the lane was refused, because the refused record will be submitted
// again before the records of t, or because the sink would refuse all of these
// records. Only sinks that can refuse records need to call Held.
func (t Ticket) Held() bool {
	if t.b == nil {
		return false
	}
	if t.b.legs[t.slot].held.Load() {
		return true
	}
	o := t.b.outlet(int(t.slot))
	if o == nil {
		return false
	}
	at := o.held.Load()
	return at != 0 && t.b.Seq+1 > at
}

// Again reports whether the sink has refused the records of t before, and gets
// them again until it accepts them. The sink should then try a single record
// first.
func (t Ticket) Again() bool {
	return t.b != nil && t.b.legs[t.slot].blocked && t.b.delivery.sinks[t.slot].policy == RefusedBlock
}

// A leg is the delivery of one batch to one sink.
type leg struct {
	live    atomic.Uint32 // id of the ticket that the sink holds; 0: none
	try     int           // number of times that the batch has been resubmitted
	at      time.Time     // time of submission
	held    atomic.Bool   // the sink must not write the records that it has not written yet
	blocked bool          // the sink has refused records, and the lane waits for them
	owns    bool          // the sink gets out and not Batch.Out
	out     Stream        // records for this sink
	rest    Stream        // records of the output, or of the dead letters, that are still to be submitted, if it is a part
}

// begin resets g before the first submission of a batch.
func (g *leg) begin() {
	g.try, g.blocked, g.rest.whole = 0, false, nil
}

// keep limits further submissions to the given records of s, in ascending
// order.
func (g *leg) keep(s *Stream, which []uint32) {
	if len(which) < len(s.Recs) {
		g.pick(s, which)
	}
}

// pick implements keep.
func (g *leg) pick(s *Stream, which []uint32) {
	r := &g.rest
	whole, index, recs, facts, ids := s, r.index[:0], r.Recs[:0], r.Facts[:0], r.IDs[:0]
	if s.whole != nil { // s is a part of a stream: the rest of an earlier submission, or the records of one branch of a route
		whole = s.whole
	}
	for _, i := range which {
		recs = append(recs, s.Recs[i])
		if s.whole == nil {
			index = append(index, i)
		} else {
			index = append(index, s.index[i])
		}
		if len(s.Facts) > 0 {
			facts = append(facts, s.Facts[i])
		}
		if len(s.IDs) > 0 {
			ids = append(ids, s.IDs[i])
		}
	}
	*r = Stream{Bytes: s.Bytes, Recs: recs, Binary: whole.Binary, Truncated: s.Truncated, Facts: facts, IDs: ids, whole: whole, index: index}
}

// reset clears the remaining records of a batch, and releases buffers that have
// grown far beyond the needs of a batch of size bytes.
func (g *leg) reset(size int) {
	g.rest.Bytes = nil // owned by another stream
	g.rest.reset(size)
	g.owns = false
	g.out.reset(size)
	g.begin()
}

// stream returns the records to submit to the sink of slot.
func (b *Batch) stream(slot int) *Stream {
	if g := &b.legs[slot]; g.rest.whole != nil {
		return &g.rest
	}
	return b.full(slot)
}

// outlet returns the outlet that keeps b in order for the sink of slot, or nil.
func (b *Batch) outlet(slot int) *outlet {
	if b.round == lateRound || b.delivery.ordering == OrderNone {
		return nil
	}
	return &b.Lane.outlets[slot]
}

// ticket returns a new ticket for b.
func (b *Batch) ticket(slot int, s *Stream) Ticket {
	id := b.ids.Add(1)
	if id == 0 {
		id = b.ids.Add(1)
	}
	b.legs[slot].live.Store(id)
	return Ticket{b: b, stream: s, id: id, slot: uint8(slot)}
}

// take invalidates t. It reports whether t was still valid.
func (t Ticket) take() bool { return t.b.legs[t.slot].live.CompareAndSwap(t.id, 0) }

// submit submits b to the sink of slot. When it returns, the leg is resolved,
// waits for its answer, or waits to be resubmitted, and b may have been
// released.
func (d *delivery) submit(b *Batch, slot int) {
	defer d.stepDone()
	s, g := b.stream(slot), &b.legs[slot]
	if g.try > 0 {
		d.sinks[slot].adjust(0, -1) // the submission no longer waits
	}
	if d.stopped() || b.void || b.Lane.halted(b.Seq) || g.blocked && !b.Lane.owns(b) {
		d.endLeg(b, slot, true)
		return
	}
	if len(s.Bytes) == 0 && len(s.Recs) == 0 {
		d.endLeg(b, slot, false)
		return
	}
	g.held.Store(false)
	g.at = time.Now()
	d.sinks[slot].adjust(1, 0)
	d.submissions.Add(1)
	t := b.ticket(slot, s)
	err := d.sinks[slot].Submit(d.hard, b, t)
	if err == nil {
		return
	}
	if !t.take() {
		d.fail(d.sinks[slot].bug("both answered a batch and returned an error for it"))
		return
	}
	d.sinks[slot].adjust(-1, 0) // the sink has not accepted the batch
	if !d.stopped() {
		d.fail(fmt.Errorf("%s: %w", d.sinks[slot].name, err))
	}
	d.endLeg(b, slot, true)
}

// answer handles the result of a ticket.
func (d *delivery) answer(t Ticket, r Result) {
	if !t.take() {
		t.mustBeLive("Done")
		d.fail(d.sinks[t.slot].bug("answered a batch twice"))
		return
	}
	b, slot := t.b, int(t.slot)
	d.sinks[slot].answered(t.stream, b.legs[slot].at, &r)
	switch {
	case r.Class == OK && r.Err == nil:
		d.sinks[slot].taken()
		d.endLeg(b, slot, false)
	case r.Class == Retryable && len(r.Untried) > 0:
		d.leave(b, t.stream, slot, &r)
	case r.Class == Retryable:
		d.complain(&d.retryLog, "batch not accepted, retrying", "component", d.sinks[slot].name, "attempt", b.legs[slot].try+1, "error", r.Err)
		d.again(b, slot, failing)
	case r.Class == Permanent:
		d.refuse(b, t.stream, slot, &r)
	default:
		// Fatal, or an error without a class. The records cannot go anywhere
		// else, and continuing would lose them silently.
		d.fail(fmt.Errorf("%s: %w", d.sinks[slot].name, r.cause()))
		d.endLeg(b, slot, true)
	}
}

// cause returns the error of r, or a generic error if the sink did not set it.
func (r Result) cause() error {
	if r.Err == nil {
		return fmt.Errorf("failed without an error (class %d)", r.Class)
	}
	return r.Err
}

// leave resubmits the records that a sink has not tried.
func (d *delivery) leave(b *Batch, s *Stream, slot int, r *Result) {
	if _, ok := r.failed(len(s.Recs)); !ok {
		d.fail(d.sinks[slot].bug("listed a nonexistent record as untried"))
		d.endLeg(b, slot, true)
		return
	}
	if len(r.Untried) < len(s.Recs) {
		d.sinks[slot].taken()
	}
	b.legs[slot].keep(s, r.Untried)
	d.again(b, slot, untried)
}

// legDone ends one leg of b. After the last leg, b has been released.
func (d *delivery) legDone(b *Batch) {
	if b.pend.Add(-1) == 0 {
		d.filtering.settle(b)
	}
}
