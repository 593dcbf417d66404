package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// This file is structured in the following way:
//
//   - Pipeline: what it holds, in the order of the journey of a batch.
//   - Run: the states of a run, from open to closed.
//   - The steps of Run.
//
// What cuts a run short, and the way back of a batch, are in shutdown.go.

// A Pipeline moves records from a source through workers into sinks. [New] makes
// one; it runs once.
type Pipeline struct {
	o        Options
	log      *slog.Logger
	feeds    []*feed    // the sources
	sinks    []Sink     // the dead letter is the last one
	meters   []meter    // of the sinks
	refusals []refusals // of the sinks
	dead     int        // index of the dead letter, or -1
	finishes bool       // a source or a sink is a Finisher
	codec    atomic.Pointer[generation]

	pool   pool
	line   line          // of lanes, under OrderInput
	work   chan *Batch   // from Emit to the workers
	notify chan struct{} // a lane has ended: a worker looks whether the next one is in front
	over   chan struct{} // closed when there is no more work

	base   context.Context // done at the deadline, when nothing is waited for any more
	expire context.CancelFunc
	soft   context.CancelFunc // a soft stop
	hard   context.Context    // done at a hard stop, a failure, or the deadline
	cut    context.CancelCauseFunc

	state       atomic.Uint32
	outstanding atomic.Int64  // batches that were emitted and have not come back
	active      atomic.Int64  // steps that a batch takes here, and not in the hands of a sink
	waiting     atomic.Int64  // retries that wait for their time
	retries     atomic.Int64  // retries so far
	submissions atomic.Int64  // calls of Submit so far
	quiet       chan struct{} // holds one signal: active or outstanding came down to 0
	workers     sync.WaitGroup
	helpers     sync.WaitGroup // retries

	filtering sync.Mutex // one call of the filter at a time

	gate    gate          // closed while a cut is taken; see cut.go
	barrier chan struct{} // holds one element while a Barrier is under way
	extents []Extent      // scratch of the committer

	mu        sync.Mutex // guards what follows, the accounts of the feeds, and Batch.refused
	lanes     []*Lane    // not over, or not committed
	err       error      // the first failure
	committed time.Time  // when positions were stored last
	commitErr string     // why it could not be stored since

	retryLog, refuseLog, blockLog, panicLog, commitLog throttle
}

// Run moves records until the source ends or ctx is done, which is a soft stop:
// the source stops, and what it has emitted is drained. It returns nil if all of
// it is durable. The error is [ErrDeadline] (test with errors.Is) if the run was
// cut by the deadline or by [Pipeline.HardStop]; the positions up to there are
// stored. Any other error is fatal. One that starts with "BUG:" says that a
// contract was broken.
func (p *Pipeline) Run(ctx context.Context) error {
	if !p.state.CompareAndSwap(uint32(Idle), uint32(Opening)) {
		return errors.New("pipeline: Run was called twice")
	}
	defer p.expire()
	ctx, p.soft = context.WithCancel(ctx)
	defer p.soft()
	source, stop := context.WithCancel(p.hard)
	defer stop()
	finished := make(chan struct{})
	defer close(finished)
	go p.watch(ctx, stop, finished)

	opened, err := p.open()
	if err == nil {
		err = p.start()
	}
	if err != nil {
		p.cut(err)
		close(p.over)
		p.await(p.workers.Wait)
		p.state.Store(uint32(Closed))
		return errors.Join(err, p.closeAll(p.hard, opened))
	}
	p.state.CompareAndSwap(uint32(Opening), uint32(Running))
	quit, committed := p.startCommits()
	srcErr := p.read(source)
	p.state.Store(uint32(Draining))
	p.drainSinks()
	p.state.Store(uint32(Committing))
	close(quit)
	commitErr := errLateCommit
	if p.await(func() { <-committed }) { // else a commit still runs, and there is one at a time
		commitErr = p.lastCommit()
	}
	closing := p.base // from here on a hard stop finds nothing to cut
	cut := p.stopped()
	if cut {
		closing = p.hard
	}
	closeErr := p.closeAll(closing, opened)
	p.end()
	p.state.Store(uint32(Closed))
	return p.verdict(cut, srcErr, commitErr, closeErr)
}

// open opens the sinks and the source. It returns how many of them were asked to
// open: these must be closed.
func (p *Pipeline) open() (opened int, err error) {
	for i, s := range p.sinks {
		if err := s.Open(p.hard); err != nil {
			return i + 1, &OpenError{fmt.Errorf("%s: %w", p.sinkName(i), err)}
		}
	}
	for i, f := range p.feeds {
		if err := f.Open(p.hard, intake{p, i}); err != nil {
			return len(p.sinks) + i + 1, &OpenError{fmt.Errorf("%s: %w", f.name, err)}
		}
	}
	return len(p.sinks) + len(p.feeds), nil
}

// start starts the workers.
func (p *Pipeline) start() error {
	for range p.o.Workers {
		w := &worker{p: p}
		w.renew()
		for i, s := range p.sinks {
			f, err := newPack(s)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", p.sinkName(i), err)
			case f == nil:
				continue
			case i == p.dead:
				w.packDead = f
			default:
				w.pack = f
				if s, ok := s.(PiecePacker); ok && p.o.Ordering != OrderNone {
					if w.piece, err = s.NewPiecePack(); err != nil {
						return fmt.Errorf("%s: %w", p.sinkName(i), err)
					}
				}
			}
		}
		p.workers.Go(w.run)
	}
	return nil
}

// startCommits starts the committer, if there is something to commit. It ends when quit is
// closed, and closes committed then.
func (p *Pipeline) startCommits() (quit, committed chan struct{}) {
	quit, committed = make(chan struct{}), make(chan struct{})
	if !p.commits() {
		close(committed)
		return quit, committed
	}
	go func() {
		defer close(committed)
		p.commitLoop(quit)
	}()
	return quit, committed
}

// read runs the sources to their end, and ends the lanes that they have left
// open. If one of them fails, the others are stopped.
func (p *Pipeline) read(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	errs := make([]error, len(p.feeds))
	ok := p.await(func() {
		var wg sync.WaitGroup
		for i, f := range p.feeds {
			wg.Go(func() {
				if errs[i] = f.runError(ctx, f.Run(ctx)); errs[i] != nil {
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

// runError is what an error of a source means, if it is one: not if it was told to
// stop.
func (f *feed) runError(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, ErrStopped)) {
		return nil
	}
	return fmt.Errorf("%s: %w", f.name, err)
}

// drainSinks waits until everything is resolved, or for a hard stop. What the
// sinks hold is brought down by Barrier; what they want again after it, or
// refuse, goes round once more.
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
		if p.stopped() { // perhaps in the Barrier of the last one: Close answers
			p.flush()
			return
		}
		if p.outstanding.Load() == 0 {
			return
		}
		// What was submitted meanwhile may have come behind the Barrier of its sink.
		if p.active.Load() == 0 && p.submissions.Load() == before && p.outstanding.Load() != 0 {
			p.fail(bugf("%d batches were never answered by a sink, though its Barrier has returned", p.outstanding.Load()))
		}
	}
}

// bringDown makes durable what a sink holds.
func (p *Pipeline) bringDown(slot int) error {
	p.barrier <- struct{}{}
	defer func() { <-p.barrier }()
	if err := p.sinks[slot].Barrier(p.hard); err != nil {
		return fmt.Errorf("%s: %w", p.sinkName(slot), err)
	}
	return nil
}

// untilQuiet waits until all that is under way is in the hands of sinks, or for
// a hard stop.
func (p *Pipeline) untilQuiet() {
	for p.active.Load() != 0 {
		select {
		case <-p.quiet:
		case <-p.hard.Done():
			return
		}
	}
}

// flush gives up, after a hard stop, what waits for its turn. What a worker has
// in hand follows as soon as it submits.
func (p *Pipeline) flush() {
	p.mu.Lock()
	lanes := append([]*Lane(nil), p.lanes...)
	p.mu.Unlock()
	for _, l := range lanes {
		p.drainAll(l)
	}
}

// closeAll closes the first n of the sinks and, behind them, the sources.
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
