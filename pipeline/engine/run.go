package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/urlfold/urlfold/internal/ground/redact"
)

// This file has three parts:
//
//   - Pipeline: its fields, in the order in which a batch meets them.
//   - Run: the states of a run, from open to closed.
//   - The steps of Run.
//
// Early ends of a run are in shutdown.go, the release of a batch is in release.go.

// A Pipeline moves records from sources through workers into sinks. Use [New]
// to create one. It can run only once.
type Pipeline struct {
	run
	roster
	o       Options
	codec   atomic.Pointer[generation]
	opening atomic.Pointer[string] // name of the sink or source that was opened last

	pool     pool
	work     queue         // from Emit, and from the filter, to the workers
	turns    chan turn     // requests of sources; see turn.go
	notify   chan struct{} // a lane has ended, so a worker calls nextLane
	over     chan struct{} // closed when there is no more work
	workers  sync.WaitGroup
	panicLog throttle
	busy     atomic.Int64 // nanoseconds, see Snapshot.Busy

	filtering filtering
	delivery  delivery
	committer committer
}

// Run moves records until the sources end or ctx is done. The end of ctx is a
// soft stop: the sources stop, and Run drains everything that they have
// emitted. Run returns nil if all of it is durable. It returns an error for
// which errors.Is(err, [ErrDeadline]) is true if the shutdown deadline or
// [Pipeline.HardStop] ended the run early; the positions up to that point are
// stored. Any other error is fatal. A [ContractError] reports a broken
// contract.
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
		if err = p.committer.begin(ctx); err == nil {
			p.start()
		}
	}
	if err != nil || stopped {
		closing := p.hard
		if stopped { // a stop is not an error
			p.log.Info("stopped before everything was open", "error", err)
			closing, err = p.base, nil
		} else {
			p.cut(err)
		}
		close(p.over)
		p.await(p.workers.Wait)
		err = errors.Join(err, p.closeAll(closing, opened))
		p.state.Store(uint32(Closed))
		return err
	}
	p.state.CompareAndSwap(uint32(Opening), uint32(Running))
	quit, committed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(committed)
		p.committer.loop(quit)
	}()
	srcErr := p.read(source)
	p.state.Store(uint32(Draining))
	p.drainSinks()
	p.state.Store(uint32(Committing))
	close(quit)
	commitErr := errLateCommit
	if p.await(func() { <-committed }) { // after a timeout, a commit is still running, and a second commit must not start
		commitErr = p.committer.lastCommit()
	}
	close(p.committer.ended)
	closing := p.base // everything is resolved, so a later hard stop does not cancel Close
	cut := p.stopped()
	if cut {
		closing = p.hard
	}
	closeErr := p.closeAll(closing, opened)
	p.end()
	p.state.Store(uint32(Closed))
	return p.verdict(cut, srcErr, commitErr, closeErr)
}

// open opens the sinks and the sources. It returns the number of Open calls; these
// sinks and sources must be closed. The end of ctx, a soft stop, cancels the context of
// the calls: nothing was read yet, so the run need not wait for a server. In this case,
// stopped is true, and err joins the results of the calls.
func (p *Pipeline) open(ctx context.Context) (opened int, stopped bool, err error) {
	opening, cancel := context.WithCancel(p.hard)
	keep := context.AfterFunc(ctx, cancel) // after a soft stop during the run, sinks and sources may use the context until a hard stop
	opened, err = p.openAll(opening)
	stopped = !keep() && !p.stopped()
	return opened, stopped, err
}

func (p *Pipeline) openAll(ctx context.Context) (opened int, err error) {
	sinks := p.delivery.sinks
	for i, s := range sinks {
		p.opening.Store(&s.name)
		if err := s.Open(ctx); err != nil {
			return i + 1, &OpenError{fmt.Errorf("%s: %w", s.name, err)}
		}
	}
	for i, f := range p.feeds {
		p.opening.Store(&f.name)
		if err := f.Open(ctx, intake{p, i}); err != nil {
			return len(sinks) + i + 1, &OpenError{fmt.Errorf("%s: %w", f.name, err)}
		}
	}
	return len(sinks) + len(p.feeds), nil
}

// start starts the workers.
func (p *Pipeline) start() {
	for n := range p.o.Workers {
		w := &worker{p: p}
		if n > 0 { // the first worker does no work for sources, so that batches always have a worker
			w.turns = p.turns
		}
		w.renew()
		if d := p.o.Dedupe; d != nil && d.NewMark != nil {
			w.mark = d.NewMark()
		}
		p.workers.Go(w.run)
	}
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
	for _, l := range p.openLanes() {
		intake{p, l.src}.End(l)
	}
	return errors.Join(errs...)
}

// safely calls Run and returns a panic as an error with its stack.
func (f *feed) safely(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %s\n%s", redact.Panic(v), debug.Stack())
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
		before := p.delivery.submissions.Load()
		if err := p.delivery.bringDown(); err != nil && !p.stopped() {
			p.fail(err)
		}
		if p.stopped() { // possibly during the last Barrier; Close answers the open tickets
			// Give up the batches that wait for their turn. A worker gives up its
			// own batch as soon as it submits it.
			for _, l := range p.openLanes() {
				p.delivery.drainAll(l)
			}
			p.filtering.flush()
			return
		}
		if p.outstanding.Load() == 0 {
			return
		}
		// Batches submitted in the meantime may have missed the Barrier of
		// their sink.
		if p.active.Load() == 0 && p.delivery.submissions.Load() == before && p.outstanding.Load() != 0 {
			p.fail(bugf("%d batches were never answered by a sink, although its Barrier has returned", p.outstanding.Load()))
		}
	}
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

// closeAll closes the first n of the sinks followed by the sources.
func (p *Pipeline) closeAll(ctx context.Context, n int) error {
	var errs []error
	ok := p.await(func() {
		sinks := p.delivery.sinks
		for _, s := range sinks[:min(n, len(sinks))] {
			if err := s.Close(ctx); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", s.name, err))
			}
		}
		for _, f := range p.feeds[:max(0, n-len(sinks))] {
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
