package engine

import "context"

// answered releases b, which all sinks have answered. If b has dead letters, it
// writes them first.
func (p *Pipeline) answered(b *Batch) {
	if len(b.refused)+len(b.orphans) > 0 && p.o.DeadLetter != nil && p.o.OnRefused != RefusedDrop && b.round != lateRound && !b.lost.Load() {
		// A worker writes the dead letters in the batch's second round.
		b.round = lateRound
		p.active.Add(1)
		p.work.put(b)
		return
	}
	p.release(b)
}

// release releases b after its last leg is resolved.
func (p *Pipeline) release(b *Batch) {
	durable := !b.lost.Load() && !p.stopped()
	l := b.Lane
	if durable && (len(b.refused)+len(b.orphans) > 0 || b.lostDeadLetters > 0) {
		p.writeOff(b)
	}
	if acker := p.feedOf(l).acker; acker != nil {
		switch {
		case !durable:
			acker.Abandoned(b, context.Cause(p.hard))
		case !l.owns(b):
			acker.Abandoned(b, ErrRevoked)
		default:
			acker.Resolved(b)
		}
	}
	p.count(b, durable)
	over := l.resolve(b, durable)
	if d := p.filtering.decisions; d != nil {
		p.filtering.letLeave(d.settle(b, durable))
	}
	if !p.pool.put(b) {
		p.fail(bugf("a batch was released twice"))
		return
	}
	if p.outstanding.Add(-1) == 0 {
		p.hush()
	}
	if over && !p.commits() {
		p.sweep()
	}
}
