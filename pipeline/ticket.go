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
func (t Ticket) Stream() *Stream { return t.stream }

// Done answers for the batch of the ticket. It is called exactly once, by any
// goroutine, perhaps before Submit returns. The batch and r.Failed belong to
// their owners again from then on: Done keeps nothing of r.
func (t Ticket) Done(r Result) {
	if t.done != nil {
		t.done(r)
		return
	}
	t.b.p.answer(t, r)
}

// A leg is the way of one batch into one sink.
type leg struct {
	live atomic.Uint32 // id of the ticket that the sink holds; 0: it holds none
	try  int           // how often the sink has asked for the batch again
	at   time.Time     // when it was submitted
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

// submit gives b to a sink. The leg is settled, waits for its answer or waits
// to be submitted again when it returns, and b may be gone.
func (p *Pipeline) submit(b *Batch, slot int) {
	defer p.calm()
	s := &b.Out
	if slot == p.dead {
		s = &b.Dead
	}
	if b.legs[slot].try > 0 {
		p.meters[slot].resumed()
	}
	if p.stopped() || b.Lane.halted(b) {
		p.giveUp(b)
		return
	}
	if len(s.Bytes) == 0 && len(s.Recs) == 0 {
		p.settle(b)
		return
	}
	b.legs[slot].at = time.Now()
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
	p.giveUp(b)
}

// answer is what a ticket does with its result.
func (p *Pipeline) answer(t Ticket, r Result) {
	if !t.take() {
		p.fail(bugf("%s answered a batch twice", p.sinkName(int(t.slot))))
		return
	}
	b, slot := t.b, int(t.slot)
	p.meters[slot].answered(t.stream, b.legs[slot].at, &r)
	switch {
	case r.Class == OK && r.Err == nil:
		p.settle(b)
	case r.Class == Retryable:
		p.again(b, slot, r.Err)
	case r.Class == Permanent && slot != p.dead:
		p.refuse(b, t.stream, slot, r)
	default:
		// Fatal, an error without a class, or a dead letter that is refused: there
		// is no place left to put the records, and silence would lose them.
		p.fail(fmt.Errorf("%s: %w", p.sinkName(slot), r.cause()))
		p.giveUp(b)
	}
}

// cause returns the error of r, which a sink may have forgotten to set.
func (r Result) cause() error {
	if r.Err == nil {
		return fmt.Errorf("failed without an error (class %d)", r.Class)
	}
	return r.Err
}

// giveUp settles a leg whose records did not get into the sink.
func (p *Pipeline) giveUp(b *Batch) {
	b.lost.Store(true)
	p.settle(b)
}

// settle ends one leg of b. After the last one b is gone.
func (p *Pipeline) settle(b *Batch) {
	if b.pend.Add(-1) != 0 {
		return
	}
	if len(b.refused) > 0 && p.dead >= 0 && !b.late && !b.lost.Load() {
		p.writeLetters(b)
		return
	}
	p.release(b)
}

// DeadLetterName is the name of the dead letter in errors, snapshots and marks.
const DeadLetterName = "dead_letter"

// sinkName names a sink in errors and in the log.
func (p *Pipeline) sinkName(slot int) string {
	if slot == p.dead {
		return DeadLetterName
	}
	return nameOf(p.o.SinkNames, slot, "sink")
}
