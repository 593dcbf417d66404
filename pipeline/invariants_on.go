//go:build invariants

package pipeline

import (
	"fmt"
	"math"
)

// This file holds the checks of a build with the tag invariants. Each panics where a
// contract is broken, so that the stack shows who has broken it. A release build
// finds some of them later, as an error of the run that begins with "BUG:", and the
// others not at all.

const invariants = true

// broken panics.
func broken(format string, args ...any) {
	panic("BUG: " + fmt.Sprintf(format, args...))
}

// poisonByte fills the arenas of batches that are free. It occurs in no valid UTF-8.
const poisonByte = 0xFD

// poisonRec is what the records of a free batch are: they lie in no arena.
var poisonRec = OutRec{Span: Span{Off: math.MaxUint32, Len: math.MaxUint32}, Src: math.MaxUint32, Msg: math.MaxUint32}

// arenas returns the byte arenas of b.
func (b *Batch) arenas() map[string][]byte {
	return map[string][]byte{
		"In": b.In, "Side": b.Side,
		"Out.Bytes": b.Out.Bytes, "Out.Packed": b.Out.Packed, "Dead.Bytes": b.Dead.Bytes, "Dead.Packed": b.Dead.Packed,
	}
}

// poison overwrites all that b held, which has been reset: who kept a slice of it
// reads garbage.
func (b *Batch) poison() {
	for _, a := range b.arenas() {
		fill(a, poisonByte)
	}
	fill(b.Msgs, Message{Pos: math.MinInt64})
	fill(b.Out.Recs, poisonRec)
	fill(b.Dead.Recs, poisonRec)
}

// fill fills s up to its capacity.
func fill[T any](s []T, v T) {
	s = s[:cap(s)]
	for i := range s {
		s[i] = v
	}
}

// mustBePoisoned panics if somebody has written to b while it was free.
func (b *Batch) mustBePoisoned() {
	for name, a := range b.arenas() {
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

// mustBeLive panics unless the sink holds t: a ticket is used once, and only for the
// submission that it was made for.
func (t Ticket) mustBeLive(call string) {
	switch {
	case t.done != nil:
	case t.b == nil:
		if t.stream == nil {
			broken("Ticket.%s of the zero Ticket", call)
		}
	default:
		if live := t.b.legs[t.slot].live.Load(); live != t.id {
			broken("Ticket.%s: ticket %d of %s, which holds ticket %d of this batch (0: none): it has been answered",
				call, t.id, t.b.p.sinkName(int(t.slot)), live)
		}
	}
}

// mustHold panics unless the numbers of l are as the comment of Lane says. The caller
// holds mu.
func (l *Lane) mustHold() {
	if l.low > l.next || l.base > l.next || l.next-l.low > uint64(len(l.ring)) || l.out < 0 {
		broken("lane %s: low %d, base %d, next %d, %d in the ring, %d out", l.name, l.low, l.base, l.next, len(l.ring), l.out)
	}
}

// mustBeNext panics unless b, which o has given out, is the batch of l whose turn it
// is.
func (o *outlet) mustBeNext(l *Lane, b *Batch) {
	if b.Lane != l || b.Seq != o.redo-1 || o.redo > o.next {
		broken("lane %s: batch %d is submitted, where it is the turn of %d", l.name, b.Seq, o.redo-1)
	}
}

// mustBeVacant panics if another batch waits where b belongs.
func (o *outlet) mustBeVacant(b *Batch) {
	if was := o.ring[b.Seq&uint64(len(o.ring)-1)]; was != nil {
		broken("lane %s: batch %d takes the place of batch %d", b.Lane.name, b.Seq, was.Seq)
	}
}
