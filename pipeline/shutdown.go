package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// HardStop gives up what is not resolved: the context of the sinks is canceled,
// no watermark moves any more, and Run returns ErrDeadline after it has stored the
// watermarks; nil if there was nothing to give up. It is what a second signal does.
// It may be called at any time, and does not wait.
func (p *Pipeline) HardStop() { p.cut(ErrDeadline) }

// stopped reports whether there was a hard stop or a failure.
func (p *Pipeline) stopped() bool { return p.hard.Err() != nil }

// fail ends the run with err, if it is the first failure. Nothing is resolved
// after it.
func (p *Pipeline) fail(err error) {
	p.blame(err)
	p.cut(err)
}

// halt ends the run with err, if it is the first failure, after all that may go to
// the sinks is durable.
func (p *Pipeline) halt(err error) {
	p.blame(err)
	p.soft()
}

// blame keeps the first failure.
func (p *Pipeline) blame(err error) {
	p.mu.Lock()
	first := p.err == nil
	if first {
		p.err = err
	}
	p.mu.Unlock()
	if first {
		p.log.Error("the run fails", "error", err)
	}
}

// watch turns the end of ctx into a soft stop, and is the clock of the shutdown.
func (p *Pipeline) watch(ctx context.Context, stop func(), finished <-chan struct{}) {
	select {
	case <-ctx.Done():
		if !p.state.CompareAndSwap(uint32(Running), uint32(Stopping)) {
			p.state.CompareAndSwap(uint32(Opening), uint32(Stopping))
		}
		stop()
		p.pause(p.o.ShutdownTimeout/4*3, p.hard.Done(), finished)
		select {
		case <-finished:
			return
		default:
			p.cut(ErrDeadline)
		}
	case <-p.hard.Done():
	case <-finished:
		return
	}
	p.pause(p.o.ShutdownTimeout/4, p.base.Done(), finished)
	p.expire()
}

// pause waits for d or until one of the channels is closed.
func (p *Pipeline) pause(d time.Duration, a, b <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-a:
	case <-b:
	}
}

// await calls f and waits for it, but not beyond the deadline: a source or a
// sink that hangs must not keep the process. It reports whether f has returned.
func (p *Pipeline) await(f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return true
	case <-p.base.Done():
		return false
	}
}

// stepDone ends a step of a batch that was under way here.
func (p *Pipeline) stepDone() {
	if p.active.Add(-1) == 0 {
		p.hush()
	}
}

// hush tells Run that one of the two counts came down to 0.
func (p *Pipeline) hush() {
	select {
	case p.quiet <- struct{}{}:
	default:
	}
}

// release takes b back when its last leg is resolved.
func (p *Pipeline) release(b *Batch) {
	durable := !b.lost.Load() && !p.stopped()
	l := b.Lane
	if durable && (len(b.refused) > 0 || b.lostDeadLetters > 0) {
		p.writeOff(b)
	}
	if p.feedOf(l).acker != nil {
		p.tell(b, durable)
	}
	p.count(b, durable)
	over := l.resolve(b, durable)
	if !p.pool.put(b) {
		p.fail(bugf("a batch came back twice"))
		return
	}
	if p.outstanding.Add(-1) == 0 {
		p.hush()
	}
	if over && !p.commits() {
		p.sweep()
	}
}

// tell acknowledges the messages of b, or says that they will not be.
func (p *Pipeline) tell(b *Batch, durable bool) {
	acker := p.feedOf(b.Lane).acker
	switch {
	case !durable:
		acker.Abandoned(b, context.Cause(p.hard))
	case !b.Lane.owns(b):
		acker.Abandoned(b, ErrRevoked)
	default:
		acker.Resolved(b)
	}
}

// end waits until no batch is under way, ends the workers, and looks whether
// everything is back in its place.
func (p *Pipeline) end() {
	for p.active.Load() != 0 && p.base.Err() == nil {
		select {
		case <-p.quiet:
		case <-p.base.Done():
		}
	}
	close(p.over)
	if !p.await(func() { p.workers.Wait(); p.helpers.Wait() }) {
		return
	}
	if err := p.check(); err != nil {
		p.fail(err)
	}
}

// check asserts what must hold when nothing is under way.
func (p *Pipeline) check() error {
	if n := p.outstanding.Load(); n != 0 {
		return bugf("%d batches were never answered by a sink", n)
	}
	seen := make(map[*Batch]bool)
	for range len(p.pool.free) {
		b := <-p.pool.free
		seen[b] = true
		for i := range b.legs {
			if b.legs[i].live.Load() != 0 {
				return bugf("%s still holds a ticket of a batch that is free", p.sinkName(i))
			}
		}
	}
	if n := p.o.Batches - len(seen); n != 0 {
		return bugf("%d batches were taken and neither emitted nor given back", n)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.feeds {
		if l := f.ledger(); !l.Balanced() || l.InFlight != 0 {
			return bugf("the ledger of %s does not balance: %+v", f.name, l)
		}
	}
	return nil
}

// verdict is the error of Run.
func (p *Pipeline) verdict(cut bool, others ...error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var given, records int64
	for _, f := range p.feeds {
		given += f.given
		records += f.abandoned + f.flying
	}
	given += p.outstanding.Load()
	err := p.err
	other := errors.Join(others...)
	// A hard stop that found nothing to cut is none: who drains and stores all, and
	// is told twice to stop, has drained and stored all.
	if cut = cut && (given > 0 || other != nil); err == nil && (cut || p.base.Err() != nil) {
		err = fmt.Errorf("%w: %d batches with %d records that were read are not", ErrDeadline, given, records)
	}
	return errors.Join(err, other)
}

// complain logs a warning, unless the same was logged a moment ago.
func (p *Pipeline) complain(t *throttle, msg string, args ...any) {
	skipped, ok := t.ok()
	if !ok {
		return
	}
	if skipped > 0 {
		args = append(args, "skipped", skipped)
	}
	p.log.Warn(msg, args...)
}
