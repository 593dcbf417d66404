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

// again submits b to a sink once more, after a while.
func (p *Pipeline) again(b *Batch, slot int, err error) {
	p.active.Add(1) // until it is submitted
	p.retries.Add(1)
	try := b.legs[slot].try + 1
	b.legs[slot].try = try
	p.complain(&p.retryLog, p.sinkName(slot)+" does not take a batch: it is submitted again", "try", try, "error", err)
	if p.o.Ordering == OrderNone || b.late {
		p.helpers.Go(func() {
			p.sleep(backoff(try))
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
	if o.stalled {
		return
	}
	o.stalled = true
	p.helpers.Go(func() { p.resume(l, slot, backoff(try)) })
}

// resume opens a stalled outlet after a while.
func (p *Pipeline) resume(l *Lane, slot int, wait time.Duration) {
	p.sleep(wait)
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
