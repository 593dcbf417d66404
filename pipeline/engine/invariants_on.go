//go:build invariants

package engine

import (
	"fmt"
	"math"
)

// This file holds the checks of builds with the tag invariants. Each of them
// panics where a contract is broken, so that the stack trace shows the culprit.
// A release build detects some violations later, as a run error that starts
// with "BUG:", and misses the others.

const invariants = true

// broken panics with a formatted message.
func broken(format string, args ...any) {
	panic("BUG: " + fmt.Sprintf(format, args...))
}

// poisonByte fills the arenas of free batches. It does not occur in valid
// UTF-8.
const poisonByte = 0xFD

// poisonRec fills the records of free batches. It is outside any arena.
var poisonRec = OutRec{Span: Span{Off: math.MaxUint32, Len: math.MaxUint32}, Src: math.MaxUint32, Msg: math.MaxUint32}

// arenas calls yield for each byte arena of b.
func (b *Batch) arenas(yield func(name string, arena []byte) bool) {
	ok := yield("In", b.In) && yield("Side", b.Side) && yield("Out.Bytes", b.Out.Bytes) &&
		yield("Dead.Bytes", b.Dead.Bytes)
	for i := range b.legs {
		out := &b.legs[i].out
		ok = ok && yield("bytes of a sink", out.Bytes)
	}
}

// poison overwrites the arenas of b after a reset, so that code which has kept
// a slice of an arena reads garbage.
func (b *Batch) poison() {
	for _, a := range b.arenas {
		fill(a, poisonByte)
	}
	fill(b.Msgs, Message{Pos: math.MinInt64})
	fill(b.Out.Recs, poisonRec)
	fill(b.Dead.Recs, poisonRec)
}

// fill sets all elements of s up to its capacity to v.
func fill[T any](s []T, v T) {
	s = s[:cap(s)]
	for i := range s {
		s[i] = v
	}
}

// mustBePoisoned panics if b was modified while it was free.
func (b *Batch) mustBePoisoned() {
	for name, a := range b.arenas {
		for i, c := range a[:cap(a)] {
			if c != poisonByte {
				broken("a batch was written to after it was released: %s, byte %d", name, i)
			}
		}
	}
}

// mustBeHeld panics if b is free.
func (b *Batch) mustBeHeld() {
	if !b.held.Load() {
		broken("a batch is released twice")
	}
}

// mustBeLive panics unless the sink holds t. A ticket may be used only once,
// for the submission that it was created for.
func (t Ticket) mustBeLive(call string) {
	switch {
	case t.relay != nil:
	case t.b == nil:
		if t.stream == nil {
			broken("Ticket.%s of the zero Ticket", call)
		}
	default:
		if live := t.b.legs[t.slot].live.Load(); live != t.id {
			broken("Ticket.%s: ticket %d of %s, which now holds ticket %d of this batch (0: none): already answered",
				call, t.id, t.b.delivery.sinks[t.slot].name, live)
		}
	}
}

// mustHold panics if the invariants in the comment of Lane do not hold. The
// caller holds mu.
func (l *Lane) mustHold() {
	if l.low > l.next || l.base > l.next || l.next-l.low > uint64(len(l.ring)) || l.out < 0 {
		broken("lane %s: low %d, base %d, next %d, %d in the ring, %d out", l.name, l.low, l.base, l.next, len(l.ring), l.out)
	}
}

// mustBeNext panics unless b, which o has returned, is the next batch of l in
// order.
func (o *outlet) mustBeNext(l *Lane, b *Batch) {
	if b.Lane != l || b.Seq != o.redo-1 || o.redo > o.next {
		broken("lane %s: batch %d submitted out of order, want %d", l.name, b.Seq, o.redo-1)
	}
}

// mustBeVacant panics if the slot of b is occupied by another batch.
func (o *outlet) mustBeVacant(b *Batch) {
	if was := o.ring[b.Seq&uint64(len(o.ring)-1)]; was != nil {
		broken("lane %s: batch %d would overwrite batch %d", b.Lane.name, b.Seq, was.Seq)
	}
}
