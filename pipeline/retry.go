package pipeline

import (
	"math/rand/v2"
	"time"
)

// The wait before a batch is submitted again doubles from the first value to the
// last.
const (
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 30 * time.Second
)

// backoff returns the wait before the try-th submission after the first: up to a
// half more than the doubled value, so that the batches of a sink that comes back do
// not all arrive at once.
func backoff(try int) time.Duration {
	d := lastBackoff
	if try < 10 {
		d = min(firstBackoff<<max(try-1, 0), lastBackoff)
	}
	return min(d+rand.N(d/2), lastBackoff)
}

// A wait says why a batch is submitted again.
type wait uint8

const (
	failing wait = iota // the sink cannot take it now
	blocked             // the sink has refused records of it
	untried             // one before it was refused
)

// again submits what is left of b to a sink once more, after a while.
func (p *Pipeline) again(b *Batch, slot int, why wait) {
	p.active.Add(1) // until it is submitted
	if why != untried {
		p.retries.Add(1)
	}
	g := &b.legs[slot]
	g.try++
	try := g.try
	if b.outlet(slot) == nil {
		p.helpers.Go(func() {
			p.bide(slot, why, try)
			p.submit(b, slot)
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
	p.land(l, slot)
	if stalls {
		p.helpers.Go(func() { p.resume(l, slot, why, try) })
	}
}

// bide waits until a batch may be submitted to a sink again, or for a hard stop.
func (p *Pipeline) bide(slot int, why wait, try int) {
	if why == blocked && !p.blocks(slot) {
		p.waiting.Add(1)
		defer p.waiting.Add(-1)
		p.refusals[slot].await(p.hard.Done())
		return
	}
	p.sleep(backoff(try))
}

// resume opens a stalled outlet after a while.
func (p *Pipeline) resume(l *Lane, slot int, why wait, try int) {
	p.bide(slot, why, try)
	l.mu.Lock()
	if l.outlets != nil { // a hard stop may have emptied them meanwhile
		l.outlets[slot].stalled = false
	}
	l.mu.Unlock()
	p.gate.enter()
	defer p.gate.leave()
	p.drain(l, slot, nil)
	p.moveOn()
}

// sleep waits for d, or for a hard stop.
func (p *Pipeline) sleep(d time.Duration) {
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.hard.Done():
	}
}
