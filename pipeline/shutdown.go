package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// HardStop gives up everything that is not resolved. It cancels the context of
// the sinks and freezes the watermarks, and after it has stored them, Run
// returns an error that matches [ErrDeadline], or nil if nothing was given up.
// The command calls HardStop on a second signal. It may be called at any time
// and does not wait.
func (p *Pipeline) HardStop() { p.cut(hardStop{}) }

// stopped reports whether a hard stop or a failure has occurred.
func (p *Pipeline) stopped() bool { return p.hard.Err() != nil }

// fail ends the run with err, unless it has already failed. Nothing is resolved
// afterwards.
func (p *Pipeline) fail(err error) {
	p.blame(err)
	p.cut(err)
}

// halt ends the run with err, unless it has already failed, after everything
// that may go to the sinks is durable.
func (p *Pipeline) halt(err error) {
	p.blame(err)
	p.soft()
}

// blame stores and logs the first failure.
func (p *Pipeline) blame(err error) {
	p.mu.Lock()
	first := p.err == nil
	if first {
		p.err = err
	}
	p.mu.Unlock()
	if first {
		p.log.Error("run failed", "error", err)
	}
}

// watch starts a soft stop when ctx is done, and enforces the shutdown
// deadlines.
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

// await calls f and waits for it until the deadline, so that a source or a sink
// that hangs cannot keep the process alive. It reports whether f has returned.
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

// stepDone ends a step that a batch took in the pipeline.
func (p *Pipeline) stepDone() {
	if p.active.Add(-1) == 0 {
		p.hush()
	}
}

// hush signals Run that active or outstanding has reached 0.
func (p *Pipeline) hush() {
	select {
	case p.quiet <- struct{}{}:
	default:
	}
}

// release releases b after its last leg is resolved.
func (p *Pipeline) release(b *Batch) {
	durable := !b.lost.Load() && !p.stopped()
	l := b.Lane
	if durable && (len(b.refused)+len(b.orphans) > 0 || b.lostDeadLetters > 0) {
		p.writeOff(b)
	}
	if p.feedOf(l).acker != nil {
		p.tell(b, durable)
	}
	p.count(b, durable)
	over := l.resolve(b, durable)
	if p.decisions != nil {
		p.letLeave(p.decisions.settle(b, durable))
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

// tell reports to the source whether b is resolved or abandoned.
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

// end waits until no batch is in flight, ends the workers, and checks the
// invariants.
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

// check asserts the invariants that hold when no batch is in flight.
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
				return bugf("%s still holds a ticket of a free batch", p.sinkName(i))
			}
		}
	}
	if n := p.o.Batches - len(seen); n != 0 {
		return bugf("%d batches were taken and neither emitted nor put back", n)
	}
	for i := range p.meters {
		if err := p.meters[i].check(p.sinkName(i)); err != nil {
			return err
		}
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

// verdict returns the error of Run.
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
	// A hard stop with nothing to give up does not count: the run has drained
	// and stored everything, even if it received a second stop signal.
	if cut = cut && (given > 0 || other != nil); err == nil && (cut || p.base.Err() != nil) {
		reason := ErrDeadline
		if stop := context.Cause(p.hard); errors.Is(stop, ErrDeadline) {
			reason = stop // the hard stop, if it came first
		}
		err = fmt.Errorf("%w: %d batches (%d records) not yet durable; they will be re-read on restart", reason, given, records)
	}
	return errors.Join(err, other)
}

// complain logs a warning, unless t suppresses it.
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
