package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// This file has three parts:
//
//   - Pipeline: its fields, in the order in which a batch meets them.
//   - Run: the states of a run, from open to closed.
//   - The steps of Run.
//
// Early ends of a run, and the release of a batch, are in shutdown.go.

// A Pipeline moves records from sources through workers into sinks. Use [New]
// to create one. It can run only once.
type Pipeline struct {
	o        Options
	log      *slog.Logger
	feeds    []*feed    // the sources
	sinks    []Sink     // the dead letter, if any, is the last one
	meters   []meter    // one per sink
	refusals []refusals // one per sink
	dead     int        // index of the dead letter, or -1
	packers  int        // number of sinks that compress in the workers, without the dead letter
	finishes bool       // any source or sink is a Finisher
	codec    atomic.Pointer[generation]

	pool   pool
	line   line          // order of lanes, under OrderInput
	work   queue         // from Emit to the workers
	turns  chan turn     // requests of sources; see turn.go
	notify chan struct{} // a lane has ended: a worker checks whether the next one moves to the front
	over   chan struct{} // closed when there is no more work

	base   context.Context // done at the deadline, after which nothing waits
	expire context.CancelFunc
	soft   context.CancelFunc // starts a soft stop
	hard   context.Context    // done at a hard stop, a failure, or the deadline
	cut    context.CancelCauseFunc

	state       atomic.Uint32
	opening     atomic.Pointer[string] // name of the sink or source that was opened last
	outstanding atomic.Int64           // batches that were emitted and not yet released
	active      atomic.Int64           // steps of batches in the pipeline itself, not in the hands of a sink
	waiting     atomic.Int64           // retries that wait for their backoff
	retries     atomic.Int64           // number of retries
	submissions atomic.Int64           // number of Submit calls
	quiet       chan struct{}          // holds one signal: active or outstanding has reached 0
	workers     sync.WaitGroup
	helpers     sync.WaitGroup // retries

	filtering sync.Mutex    // held during a call of the filter
	decisions *decisions    // nil without deduplication by a set
	claims    *claims       // nil without deduplication by claims
	hurry     chan struct{} // holds one signal: a commit is due before the next interval
	noCommits chan struct{} // closed after the last commit

	gate    gate          // closed while a cut is taken; see cut.go
	barrier chan struct{} // holds one element while a Barrier is in progress
	extents []Extent      // scratch space of the committer

	mu        sync.Mutex // guards the fields below, the accounts of the feeds, and Batch.refused
	lanes     []*Lane    // lanes that are not over or not committed
	err       error      // the first failure
	committed time.Time  // time of the last successful commit
	commitErr string     // error of the last commit; empty if it succeeded

	retryLog, refuseLog, cutLog, blockLog, panicLog, commitLog throttle
}

// Run moves records until the sources end or ctx is done. The end of ctx is a
// soft stop: the sources stop, and Run drains everything that they have
// emitted. Run returns nil if all of it is durable. It returns an error for
// which errors.Is(err, [ErrDeadline]) is true if the shutdown deadline or
// [Pipeline.HardStop] ended the run early; the positions up to that point are
// stored. Any other error is fatal. An error that starts with "BUG:" reports a
// broken contract.
func (p *Pipeline) Run(ctx context.Context) error {
	if !p.state.CompareAndSwap(uint32(Idle), uint32(Opening)) {
		return errors.New("pipeline: Run called twice")
	}
	defer p.expire()
	ctx, p.soft = context.WithCancel(ctx)
	defer p.soft()
	source, stop := context.WithCancel(p.hard)
	defer stop()
	finished := make(chan struct{})
	defer close(finished)
	go p.watch(ctx, stop, finished)

	opened, stopped, err := p.open(ctx)
	if err == nil && !stopped {
		err = p.start()
	}
	if err != nil || stopped {
		return p.unopen(opened, stopped, err)
	}
	p.state.CompareAndSwap(uint32(Opening), uint32(Running))
	quit, committed := p.startCommits()
	srcErr := p.read(source)
	p.state.Store(uint32(Draining))
	p.drainSinks()
	p.state.Store(uint32(Committing))
	close(quit)
	commitErr := errLateCommit
	if p.await(func() { <-committed }) { // otherwise a commit is still running, and a second one must not start
		commitErr = p.lastCommit()
	}
	close(p.noCommits)
	closing := p.base // from here on, a hard stop has nothing to give up
	cut := p.stopped()
	if cut {
		closing = p.hard
	}
	closeErr := p.closeAll(closing, opened)
	p.end()
	p.state.Store(uint32(Closed))
	return p.verdict(cut, srcErr, commitErr, closeErr)
}

// open opens the sinks and the sources. It returns the number of Open calls;
// these sinks and sources must be closed. The end of ctx, a soft stop, cancels
// the context of the calls: nothing was read yet, so the run need not wait for
// a server. stopped reports that; err is then what the calls returned.
func (p *Pipeline) open(ctx context.Context) (opened int, stopped bool, err error) {
	opening, cancel := context.WithCancel(p.hard)
	keep := context.AfterFunc(ctx, cancel) // later, sinks and sources may use the context until a hard stop
	opened, err = p.openAll(opening)
	stopped = !keep() && !p.stopped()
	return opened, stopped, err
}

func (p *Pipeline) openAll(ctx context.Context) (opened int, err error) {
	for i, s := range p.sinks {
		name := p.sinkName(i)
		p.opening.Store(&name)
		if err := s.Open(ctx); err != nil {
			return i + 1, &OpenError{fmt.Errorf("%s: %w", name, err)}
		}
	}
	for i, f := range p.feeds {
		p.opening.Store(&f.name)
		if err := f.Open(ctx, intake{p, i}); err != nil {
			return len(p.sinks) + i + 1, &OpenError{fmt.Errorf("%s: %w", f.name, err)}
		}
	}
	return len(p.sinks) + len(p.feeds), nil
}

// unopen ends a run that has not begun, because of err or a soft stop, and
// returns its error. It closes the first n of the sinks followed by the
// sources. A soft stop is not an error.
func (p *Pipeline) unopen(n int, stopped bool, err error) error {
	closing := p.hard
	if stopped {
		p.log.Info("stopped before everything was open", "error", err)
		closing, err = p.base, nil
	} else {
		p.cut(err)
	}
	close(p.over)
	p.await(p.workers.Wait)
	err = errors.Join(err, p.closeAll(closing, n))
	p.state.Store(uint32(Closed))
	return err
}

// start starts the workers.
func (p *Pipeline) start() error {
	for n := range p.o.Workers {
		w := &worker{p: p, packs: make([]packFunc, len(p.sinks)), piece: make([]pieceFunc, len(p.sinks))}
		if n > 0 { // the source has a turn, too
			w.turns = p.turns
		}
		w.renew()
		if d := p.o.Dedupe; d != nil && d.NewMark != nil {
			w.mark = d.NewMark()
		}
		for i, s := range p.sinks {
			if err := w.setPack(i, s); err != nil {
				return fmt.Errorf("%s: %w", p.sinkName(i), err)
			}
		}
		p.workers.Go(w.run)
	}
	return nil
}

// startCommits starts the committer if it is needed. The committer ends when
// quit is closed, and then closes committed.
func (p *Pipeline) startCommits() (quit, committed chan struct{}) {
	quit, committed = make(chan struct{}), make(chan struct{})
	if !p.commits() {
		close(committed)
		return quit, committed
	}
	go func() {
		defer close(committed)
		t := time.NewTicker(p.o.CommitInterval)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				if err := p.commit(p.base); err != nil {
					p.complain(&p.commitLog, "commit failed, retrying", "error", err)
				}
				// An attempt to take a cut closes the gate, and may last a whole
				// interval. If the next attempt followed at once, no batch could
				// pass the gate and nothing would ever be resolved.
				t.Reset(p.o.CommitInterval)
			case <-p.hurry:
				if err := p.commit(p.base); err != nil {
					p.complain(&p.commitLog, "commit failed, retrying", "error", err)
				}
			case <-quit:
				return
			}
		}
	}()
	return quit, committed
}

// read runs the sources to their end, and ends the lanes that they leave open.
// If one source fails, read stops the others.
func (p *Pipeline) read(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(p.feeds))
	ok := p.await(func() {
		var wg sync.WaitGroup
		for i, f := range p.feeds {
			wg.Go(func() {
				if errs[i] = f.runError(ctx, f.safely(ctx)); errs[i] != nil {
					stop()
				}
			})
		}
		wg.Wait()
	})
	if !ok {
		return nil // errs belongs to the sources, which are still running
	}
	p.mu.Lock()
	lanes := slices.Clone(p.lanes)
	p.mu.Unlock()
	for _, l := range lanes {
		intake{p, l.src}.End(l)
	}
	return errors.Join(errs...)
}

// safely calls Run and returns a panic as an error with its stack.
func (f *feed) safely(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %s\n%s", panicText(v), debug.Stack())
		}
	}()
	return f.Run(ctx)
}

// runError returns the error of the run for the result of a source's Run.
// Errors caused by a stop request count as nil.
func (f *feed) runError(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, ErrStopped)) {
		return nil
	}
	return fmt.Errorf("%s: %w", f.name, err)
}

// drainSinks waits until everything is resolved, or for a hard stop. It repeats
// Barrier, because batches that a sink asks to retry or refuses are submitted
// again.
func (p *Pipeline) drainSinks() {
	for {
		p.untilQuiet()
		before := p.submissions.Load()
		for i := range p.sinks {
			if p.stopped() {
				break
			}
			if err := p.bringDown(i); err != nil && !p.stopped() {
				p.fail(err)
			}
		}
		if p.stopped() { // possibly during the last Barrier; Close answers the open tickets
			p.flush()
			return
		}
		if p.outstanding.Load() == 0 {
			return
		}
		// Batches submitted in the meantime may have missed the Barrier of
		// their sink.
		if p.active.Load() == 0 && p.submissions.Load() == before && p.outstanding.Load() != 0 {
			p.fail(bugf("%d batches were never answered by a sink, although its Barrier has returned", p.outstanding.Load()))
		}
	}
}

// bringDown calls Barrier on the sink of slot, to make everything it holds
// durable.
func (p *Pipeline) bringDown(slot int) error {
	p.barrier <- struct{}{}
	defer func() { <-p.barrier }()
	if err := p.sinks[slot].Barrier(p.hard); err != nil {
		return fmt.Errorf("%s: %w", p.sinkName(slot), err)
	}
	return nil
}

// untilQuiet waits until all batches in flight are in the hands of sinks, or
// for a hard stop.
func (p *Pipeline) untilQuiet() {
	for p.active.Load() != 0 {
		select {
		case <-p.quiet:
		case <-p.hard.Done():
			return
		}
	}
}

// flush gives up, after a hard stop, the batches that wait for their turn. A
// worker gives up its own batch as soon as it submits it.
func (p *Pipeline) flush() {
	p.mu.Lock()
	lanes := append([]*Lane(nil), p.lanes...)
	p.mu.Unlock()
	for _, l := range lanes {
		p.drainAll(l)
	}
	if p.decisions != nil {
		p.letLeave(p.decisions.flush())
	}
	if p.claims != nil {
		p.letLeave(p.claims.flush())
	}
}

// closeAll closes the first n of the sinks followed by the sources.
func (p *Pipeline) closeAll(ctx context.Context, n int) error {
	var errs []error
	ok := p.await(func() {
		for i, s := range p.sinks[:min(n, len(p.sinks))] {
			if err := s.Close(ctx); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", p.sinkName(i), err))
			}
		}
		for _, f := range p.feeds[:max(0, n-len(p.sinks))] {
			if err := f.Close(ctx); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", f.name, err))
			}
		}
	})
	if !ok {
		return nil // errs belongs to the goroutine that is still closing
	}
	return errors.Join(errs...)
}
