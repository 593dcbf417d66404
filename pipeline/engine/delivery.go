package engine

import (
	"sync"
	"sync/atomic"
)

// A delivery brings batches to the sinks: in order, and again until each sink
// has taken or refused each record. The batches that all sinks have answered go
// on to filtering.settle.
//
//	deliver ──▶ gate ──▶ drain, in order ──▶ submit ──▶ Sink ──▶ answer ──▶ endLeg ──▶ settle
//	                       ▲                                       │
//	                       └──────────── again, block ◀────────────┘
type delivery struct {
	*run
	sinks     []*target // the dead letter, if any, is the last one
	dead      int       // index of the dead letter, or -1
	ordering  Ordering
	line      line       // order of lanes, under OrderInput
	filtering *filtering // the step before delivery; it follows the order of lanes, too

	gate        gate          // closed while a cut is taken; see cut.go
	barrier     chan struct{} // holds one element while a Barrier is in progress
	retries     atomic.Int64  // number of retries
	submissions atomic.Int64  // number of Submit calls

	mu sync.Mutex // guards Batch.refused and Batch.lostDeadLetters

	retryLog, refuseLog, cutLog, blockLog throttle
}

// Names that other packages compare with.
const (
	DeadLetterName = "dead_letter" // name of the dead letter in errors, snapshots and extents
	RunFailed      = "run failed"  // message of the log event of a run that fails
)

// A target is one sink of a pipeline with its counts.
type target struct {
	Sink
	name   string
	policy RefusedPolicy // RefusedBlock for the dead letter, unless dead letters are dropped
	meter
	refusals
}

// nextLane moves on to the next lane, as soon as no cut is being taken.
func (d *delivery) nextLane() {
	d.gate.enter()
	defer d.gate.leave()
	d.moveOn()
}

// begin prepares the delivery of b to the sink of slot.
func (d *delivery) begin(b *Batch, slot int) {
	b.legs[slot].begin()
	d.sinks[slot].offer(len(b.full(slot).Recs))
}

// deliver submits b to the sinks, in the configured order.
func (d *delivery) deliver(b *Batch) {
	defer d.stepDone()
	if b.round == lateRound {
		b.pend.Store(1)
		d.begin(b, d.dead)
		d.active.Add(1)
		d.submit(b, d.dead)
		return
	}
	d.gate.enter()
	defer d.gate.leave()
	n := len(d.sinks)
	b.pend.Store(int32(n) + 1) // one for this function, so that b is not released during the loop
	d.active.Add(int64(n))
	for slot := range n {
		d.begin(b, slot)
		if d.ordering == OrderNone {
			d.submit(b, slot)
		} else {
			d.drain(b.Lane, slot, b)
		}
	}
	d.legDone(b)
	d.moveOn()
}
