package engine

import (
	"math/rand/v2"
	"time"
)

// The backoff before a retry doubles from the first value to the last.
const (
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 30 * time.Second
)

// backoff returns the wait before the given retry: the doubled value plus up to
// half of it at random, so that the waiting batches do not all arrive together
// when a sink recovers.
func backoff(try int) time.Duration {
	d := lastBackoff
	if try < 10 {
		d = min(firstBackoff<<max(try-1, 0), lastBackoff)
	}
	return min(d+rand.N(d/2), lastBackoff)
}

// A wait is the reason why a batch is submitted again.
type wait uint8

const (
	failing wait = iota // the sink cannot accept the batch now
	blocked             // the sink has refused some records of the batch
	untried             // an earlier record was refused
)

// again schedules another submission of the remaining records of b.
func (d *delivery) again(b *Batch, slot int, why wait) {
	d.active.Add(1) // balanced by submit
	if why != untried {
		d.retries.Add(1)
	}
	g := &b.legs[slot]
	g.try++
	try := g.try
	if b.outlet(slot) == nil {
		d.helpers.Go(func() {
			d.bide(slot, why, try)
			d.submit(b, slot)
		})
		return
	}
	l := b.Lane
	l.mu.Lock()
	defer l.mu.Unlock()
	o := &l.outlets[slot]
	o.put(b)
	o.redo = min(o.redo, b.Seq)
	stalls := why != untried && !o.stalled
	o.stalled = o.stalled || stalls
	o.due = o.due || why == untried
	d.land(l, slot)
	if stalls {
		d.helpers.Go(func() {
			d.bide(slot, why, try)
			l.mu.Lock()
			if l.outlets != nil { // a hard stop may have removed the outlets in the meantime
				l.outlets[slot].stalled = false
			}
			l.mu.Unlock()
			d.resume(l, slot)
		})
	}
}

// bide waits until the batch may be submitted again, or for a hard stop.
func (d *delivery) bide(slot int, why wait, try int) {
	if why == blocked && d.sinks[slot].policy != RefusedBlock {
		d.waiting.Add(1)
		defer d.waiting.Add(-1)
		d.sinks[slot].await(d.hard.Done())
		return
	}
	d.sleep(backoff(try))
}
