package pipeline

import (
	"fmt"
	"sync/atomic"
	"time"
)

// A Ticket is what a sink answers a batch with. It is a value: keep it by
// copying it. The zero Ticket answers nobody.
type Ticket struct {
	b      *Batch
	stream *Stream
	id     uint32 // of this submission: a second answer does not match
	slot   uint8
	done   func(Result) // instead of the pipeline
}

// NewTicket returns a ticket for s whose answer goes to done: for a sink that
// hands its batches on to another sink, and for tests of sinks.
func NewTicket(s *Stream, done func(Result)) Ticket {
	return Ticket{stream: s, done: done}
}

// Stream returns what the sink is to write: the output of the batch, or its
// dead letters. It is read-only, and valid until Done is called.
func (t Ticket) Stream() *Stream {
	t.mustBeLive("Stream")
	return t.stream
}

// Done answers for the batch of the ticket. It is called exactly once, by any
// goroutine, perhaps before Submit returns. The batch and r.Failed belong to
// their owners again from then on: Done keeps nothing of r.
func (t Ticket) Done(r Result) {
	if t.done != nil {
		t.done(r)
		return
	}
	t.mustBeLive("Done")
	t.b.p.answer(t, r)
}

// Hold is what an ordered sink calls as soon as it knows that it will refuse a
// record of t for good, before it writes any record that was submitted after it:
// see Held.
func (t Ticket) Hold() {
	if t.b == nil {
		return
	}
	p, g := t.b.p, &t.b.legs[t.slot]
	ordered := t.b.outlet(int(t.slot))
	if p.blocks(int(t.slot)) && (ordered != nil || g.blocked) {
		g.held.Store(true)
	}
	if ordered != nil && p.o.OnRefused != RefusedDrop {
		ordered.hold(t.b.Seq)
	}
}

// Held reports whether the sink is to leave the records of t alone that it has not
// written: one before them in their lane was refused, and is submitted again
// before them, or all of them would only be refused again. The sink names them in
// Result.Untried. Only a sink that can refuse records asks.
func (t Ticket) Held() bool {
	if t.b == nil {
		return false
	}
	if t.b.legs[t.slot].held.Load() {
		return true
	}
	o := t.b.outlet(int(t.slot))
	return o != nil && o.holds(t.b.Seq)
}

// Again reports whether the sink has refused what t holds before, and gets it until it
// takes it. It does well to try one record before the others.
func (t Ticket) Again() bool {
	return t.b != nil && t.b.legs[t.slot].blocked && t.b.p.blocks(int(t.slot))
}

// A leg is the way of one batch into one sink.
type leg struct {
	live    atomic.Uint32 // id of the ticket that the sink holds; 0: it holds none
	try     int           // how often the sink has asked for the batch again
	at      time.Time     // when it was submitted
	held    atomic.Bool   // what is not written yet is to be left alone
	blocked bool          // the sink has refused records, and its lane waits for them
	part    bool          // only rest is submitted
	rest    Stream        // what is left of the output, or of the dead letters
}

// begin makes g the leg of a batch that is submitted for the first time.
func (g *leg) begin() {
	g.try, g.blocked, g.part = 0, false, false
}

// keep has only these records of s, in ascending order, submitted from now on.
func (g *leg) keep(s *Stream, which []uint32) {
	if len(which) == len(s.Recs) {
		return
	}
	r := &g.rest
	whole, index, recs, facts := s, r.index[:0], r.Recs[:0], r.Facts[:0]
	if s.whole != nil { // s is r
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
	}
	*r = Stream{Bytes: whole.Bytes, Recs: recs, Facts: facts, whole: whole, index: index}
	g.part = true
}

// reset forgets what was left of a batch, and gives up memory that grew too far
// over what a batch of size bytes needs.
func (g *leg) reset(size int) {
	g.rest.Bytes, g.rest.whole = nil, nil // not its own
	g.rest.reset(size)
	if cap(g.rest.index) > arenaGrowth*size/recSize {
		g.rest.index = nil
	}
	g.begin()
}

// stream returns what is submitted to a sink.
func (b *Batch) stream(slot int) *Stream {
	switch g := &b.legs[slot]; {
	case g.part:
		return &g.rest
	case slot == b.p.dead:
		return &b.Dead
	}
	return &b.Out
}

// outlet returns the outlet that keeps b in order on its way into a sink, or nil.
func (b *Batch) outlet(slot int) *outlet {
	if b.late || b.p.o.Ordering == OrderNone {
		return nil
	}
	return &b.Lane.outlets[slot]
}

// ticket makes a new ticket for b.
func (b *Batch) ticket(slot int, s *Stream) Ticket {
	id := b.ids.Add(1)
	if id == 0 {
		id = b.ids.Add(1)
	}
	b.legs[slot].live.Store(id)
	return Ticket{b: b, stream: s, id: id, slot: uint8(slot)}
}

// take ends the life of a ticket. It reports false if it had ended before.
func (t Ticket) take() bool { return t.b.legs[t.slot].live.CompareAndSwap(t.id, 0) }

// submit gives b to a sink. The leg is resolved, waits for its answer or waits
// to be submitted again when it returns, and b may be gone.
func (p *Pipeline) submit(b *Batch, slot int) {
	defer p.stepDone()
	s, g := b.stream(slot), &b.legs[slot]
	if g.try > 0 {
		p.meters[slot].resumed()
	}
	if p.stopped() || b.Lane.halted(b) || g.blocked && !b.Lane.owns(b) {
		p.endLeg(b, slot, true)
		return
	}
	if len(s.Bytes) == 0 && len(s.Recs) == 0 {
		p.endLeg(b, slot, false)
		return
	}
	g.held.Store(false)
	g.at = time.Now()
	p.meters[slot].submitted()
	p.submissions.Add(1)
	t := b.ticket(slot, s)
	err := p.sinks[slot].Submit(p.hard, b, t)
	if err == nil {
		return
	}
	if !t.take() {
		p.fail(bugf("%s answered a batch and refused it too", p.sinkName(slot)))
		return
	}
	p.meters[slot].takenBack()
	if !p.stopped() {
		p.fail(fmt.Errorf("%s: %w", p.sinkName(slot), err))
	}
	p.endLeg(b, slot, true)
}

// answer is what a ticket does with its result.
func (p *Pipeline) answer(t Ticket, r Result) {
	if !t.take() {
		t.mustBeLive("Done")
		p.fail(bugf("%s answered a batch twice", p.sinkName(int(t.slot))))
		return
	}
	b, slot := t.b, int(t.slot)
	p.meters[slot].answered(t.stream, b.legs[slot].at, &r)
	switch {
	case r.Class == OK && r.Err == nil:
		p.refusals[slot].taken()
		p.endLeg(b, slot, false)
	case r.Class == Retryable && len(r.Untried) > 0:
		p.leave(b, t.stream, slot, &r)
	case r.Class == Retryable:
		p.complain(&p.retryLog, p.sinkName(slot)+" does not take a batch: it is submitted again", "try", b.legs[slot].try+1, "error", r.Err)
		p.again(b, slot, failing)
	case r.Class == Permanent:
		p.refuse(b, t.stream, slot, &r)
	default:
		// Fatal, or an error without a class: there is no place left to put the
		// records, and silence would lose them.
		p.fail(fmt.Errorf("%s: %w", p.sinkName(slot), r.cause()))
		p.endLeg(b, slot, true)
	}
}

// cause returns the error of r, which a sink may have forgotten to set.
func (r Result) cause() error {
	if r.Err == nil {
		return fmt.Errorf("failed without an error (class %d)", r.Class)
	}
	return r.Err
}

// leave submits again what a sink has not tried.
func (p *Pipeline) leave(b *Batch, s *Stream, slot int, r *Result) {
	if _, ok := r.failed(len(s.Recs)); !ok {
		p.fail(bugf("%s did not try a record that does not exist", p.sinkName(slot)))
		p.endLeg(b, slot, true)
		return
	}
	if len(r.Untried) < len(s.Recs) {
		p.refusals[slot].taken()
	}
	b.legs[slot].keep(s, r.Untried)
	p.again(b, slot, untried)
}

// legDone ends one leg of b. After the last one b is gone.
func (p *Pipeline) legDone(b *Batch) {
	if b.pend.Add(-1) != 0 {
		return
	}
	if len(b.refused) > 0 && p.dead >= 0 && p.o.OnRefused != RefusedDrop && !b.late && !b.lost.Load() {
		p.writeDeadLetters(b)
		return
	}
	p.release(b)
}

// DeadLetterName is the name of the dead letter in errors, snapshots and extents.
const DeadLetterName = "dead_letter"

// sinkName names a sink in errors and in the log.
func (p *Pipeline) sinkName(slot int) string {
	if slot == p.dead {
		return DeadLetterName
	}
	return nameOf(p.o.SinkNames, slot, "sink")
}
