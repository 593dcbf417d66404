package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/internal/ground/pause"
)

// A run holds the state that the parts of a pipeline share: the stage of the run,
// whether and why it must end, and the number of batches in flight.
type run struct {
	log   *slog.Logger
	state atomic.Uint32

	base   context.Context // done at the deadline, after which nothing waits
	expire context.CancelFunc
	soft   context.CancelFunc // starts a soft stop
	hard   context.Context    // done at a hard stop, a failure, or the deadline
	cut    context.CancelCauseFunc

	outstanding atomic.Int64   // batches that were emitted and not yet released
	active      atomic.Int64   // steps of batches in the pipeline itself, not in the hands of a sink
	waiting     atomic.Int64   // retries that wait for their backoff
	quiet       chan struct{}  // holds one signal: active or outstanding has reached 0
	helpers     sync.WaitGroup // retries

	mu  sync.Mutex
	err error // the first failure
}

// HardStop gives up everything that is not resolved. It cancels the context of
// the sinks and freezes the watermarks. When the watermarks are stored, Run
// returns an error that matches [ErrDeadline], or nil if nothing was given up.
// The command calls HardStop on a second signal. It may be called at any time
// and does not wait.
func (p *Pipeline) HardStop() { p.cut(hardStop{}) }

// stopped reports whether a hard stop or a failure has occurred.
func (r *run) stopped() bool { return r.hard.Err() != nil }

// fail ends the run with err, unless it has already failed. Nothing is resolved
// afterwards.
func (r *run) fail(err error) {
	r.blame(err)
	r.cut(err)
}

// halt ends the run with err, unless it has already failed, after everything
// that may go to the sinks is durable.
func (r *run) halt(err error) {
	r.blame(err)
	r.soft()
}

// blame stores and logs the first failure.
func (r *run) blame(err error) {
	r.mu.Lock()
	first := r.err == nil
	if first {
		r.err = err
	}
	r.mu.Unlock()
	if first {
		r.log.Error(RunFailed, "error", err)
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
		select {
		case <-time.After(p.o.ShutdownTimeout / 4 * 3):
			p.cut(ErrDeadline)
		case <-p.hard.Done():
		case <-finished:
			return
		}
	case <-p.hard.Done():
	case <-finished:
		return
	}
	select {
	case <-time.After(p.o.ShutdownTimeout / 4):
	case <-p.base.Done():
	case <-finished:
	}
	p.expire()
}

// await calls f and waits for it until the deadline, so that a source or a sink
// that hangs cannot keep the process alive. It reports whether f has returned.
func (r *run) await(f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return true
	case <-r.base.Done():
		return false
	}
}

// sleep waits for d, or for a hard stop.
func (r *run) sleep(d time.Duration) {
	r.waiting.Add(1)
	defer r.waiting.Add(-1)
	_ = pause.For(r.hard, d) // the caller looks at r.hard
}

// stepDone ends a step that a batch took in the pipeline.
func (r *run) stepDone() {
	if r.active.Add(-1) == 0 {
		r.hush()
	}
}

// step runs f in a goroutine. f continues with batches.
func (r *run) step(f func()) {
	r.active.Add(1)
	r.helpers.Go(func() {
		defer r.stepDone()
		f()
	})
}

// hush signals Run that active or outstanding has reached 0.
func (r *run) hush() {
	select {
	case r.quiet <- struct{}{}:
	default:
	}
}

// end waits until no batch is in flight, ends the workers, and checks the
// invariants, unless the deadline is over: a sink may then still hold batches.
func (p *Pipeline) end() {
	for p.active.Load() != 0 && p.base.Err() == nil {
		select {
		case <-p.quiet:
		case <-p.base.Done():
		}
	}
	close(p.over)
	ended := p.await(func() { p.workers.Wait(); p.helpers.Wait() })
	if !ended || p.base.Err() != nil {
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
				return p.delivery.sinks[i].bug("still holds a ticket of a free batch")
			}
		}
	}
	if n := p.o.Batches - len(seen); n != 0 {
		return bugf("%d batches were taken and neither emitted nor put back", n)
	}
	for _, t := range p.delivery.sinks {
		if err := t.check(t.name); err != nil {
			return err
		}
	}
	p.roster.mu.Lock()
	defer p.roster.mu.Unlock()
	for _, f := range p.feeds {
		if l := f.ledger(); !l.Balanced() || l.InFlight != 0 {
			return bugf("the ledger of %s does not balance: %+v", f.name, l)
		}
	}
	return nil
}

// verdict returns the error of Run.
func (p *Pipeline) verdict(cut bool, others ...error) error {
	p.roster.mu.Lock()
	defer p.roster.mu.Unlock()
	var given, records int64
	for _, f := range p.feeds {
		given += f.given
		records += f.abandoned + f.flying
	}
	given += p.outstanding.Load()
	p.run.mu.Lock()
	err := p.err
	p.run.mu.Unlock()
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
func (r *run) complain(t *throttle, msg string, args ...any) {
	skipped, ok := t.ok()
	if !ok {
		return
	}
	if skipped > 0 {
		args = append(args, "skipped", skipped)
	}
	r.log.Warn(msg, args...)
}
