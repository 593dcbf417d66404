package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/urlfold/urlfold/codec/record"
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
	o         Options
	log       *slog.Logger
	committer Committer // the source, or nil
	acker     Acker     // the source, or nil
	sinks     []Sink    // the dead letter is the last one
	dead      int       // its index, or -1

	pool pool
	line line          // of lanes, under OrderInput
	work chan *Batch   // from Emit to the workers
	kick chan struct{} // a lane has ended: a worker looks whether the next one is in front
	over chan struct{} // closed when there is no more work

	base   context.Context // done at the deadline, when nothing is waited for any more
	expire context.CancelFunc
	hard   context.Context // done at a hard stop, a failure, or the deadline
	cut    context.CancelCauseFunc

	state       atomic.Uint32
	outstanding atomic.Int64  // batches that were emitted and have not come back
	active      atomic.Int64  // steps that a batch takes here, and not in the hands of a sink
	waiting     atomic.Int64  // retries that wait for their time
	retries     atomic.Int64  // retries so far
	quiet       chan struct{} // holds one signal: active or outstanding came down to 0
	workers     sync.WaitGroup
	helpers     sync.WaitGroup // retries

	mu        sync.Mutex // guards what follows, and Batch.refused
	lanes     []*Lane    // not over, or not committed
	opened    int
	bytes     int64
	handled   record.Stats // of all batches that workers have handled
	settled   record.Stats // of those that are durable
	flying    int64        // records between the two
	abandoned int64        // records that were given up
	given     int64        // batches that were given up
	err       error        // the first failure
	ups       []LanePos    // scratch of the committer

	retryLog, refuseLog, panicLog, commitLog throttle
}

// Run moves records until the source ends or ctx is done, which is a soft stop:
// the source stops, and what it has emitted is drained. It returns nil if all of
// it is durable. The error is [ErrDeadline] (test with errors.Is) if the run was
// cut by the deadline or by [Pipeline.HardStop]; the progress up to there is
// stored. Any other error is fatal. One that starts with "BUG:" says that a
// contract was broken.
func (p *Pipeline) Run(ctx context.Context) error {
	if !p.state.CompareAndSwap(uint32(Idle), uint32(Running)) {
		return errors.New("pipeline: Run was called twice")
	}
	defer p.expire()
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
	quit, committed := p.startCommits()
	srcErr := p.read(source)
	p.state.Store(uint32(Draining))
	p.drainSinks()
	p.state.Store(uint32(Committing))
	close(quit)
	p.await(func() { <-committed })
	commitErr := p.lastCommit()
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
			return i + 1, fmt.Errorf("%s: %w", p.sinkName(i), err)
		}
	}
	n := len(p.sinks) + 1
	if err := p.o.Source.Open(p.hard, intake{p}); err != nil {
		return n, fmt.Errorf("source: %w", err)
	}
	return n, nil
}

// start starts the workers.
func (p *Pipeline) start() error {
	for range p.o.Workers {
		w := &worker{p: p, codec: p.o.NewCodec()}
		for i, s := range p.sinks {
			packer, ok := s.(Packer)
			if !ok {
				continue
			}
			f, err := packer.NewPack()
			if err != nil {
				return fmt.Errorf("%s: %w", p.sinkName(i), err)
			}
			if i == p.dead {
				w.packDead = f
			} else {
				w.pack = f
			}
		}
		p.workers.Go(w.run)
	}
	return nil
}

// startCommits starts the committer, if the source has one. It ends when quit is
// closed, and closes committed then.
func (p *Pipeline) startCommits() (quit, committed chan struct{}) {
	quit, committed = make(chan struct{}), make(chan struct{})
	if p.committer == nil {
		close(committed)
		return quit, committed
	}
	go func() {
		defer close(committed)
		p.commitLoop(quit)
	}()
	return quit, committed
}

// read runs the source to its end, and ends the lanes that it has left open.
func (p *Pipeline) read(ctx context.Context) error {
	var err error
	if ok := p.await(func() { err = p.o.Source.Run(ctx) }); !ok {
		return nil // err belongs to the source, which is still running
	}
	p.mu.Lock()
	lanes := append([]*Lane(nil), p.lanes...)
	p.mu.Unlock()
	for _, l := range lanes {
		intake{p}.End(l)
	}
	if err == nil || ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, ErrStopped)) {
		return nil
	}
	return fmt.Errorf("source: %w", err)
}

// drainSinks waits until everything is resolved, or for a hard stop. What the
// sinks hold is brought down by Barrier; what they want again after it, or
// refuse, goes round once more.
func (p *Pipeline) drainSinks() {
	for {
		p.untilQuiet()
		for i, s := range p.sinks {
			if p.stopped() {
				p.flush()
				return
			}
			if err := s.Barrier(p.hard); err != nil && !p.stopped() {
				p.fail(fmt.Errorf("%s: %w", p.sinkName(i), err))
			}
		}
		if p.outstanding.Load() == 0 {
			return
		}
		if p.active.Load() == 0 && p.outstanding.Load() != 0 {
			p.fail(bugf("%d batches were never answered by a sink, though its Barrier has returned", p.outstanding.Load()))
		}
	}
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
	if p.o.Ordering == OrderNone {
		return
	}
	p.mu.Lock()
	lanes := append([]*Lane(nil), p.lanes...)
	p.mu.Unlock()
	for _, l := range lanes {
		p.drainAll(l)
	}
}

// closeAll closes the first n of the sinks and, if it is one more, the source.
func (p *Pipeline) closeAll(ctx context.Context, n int) error {
	var errs []error
	ok := p.await(func() {
		for i, s := range p.sinks[:min(n, len(p.sinks))] {
			if err := s.Close(ctx); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", p.sinkName(i), err))
			}
		}
		if n > len(p.sinks) {
			if err := p.o.Source.Close(ctx); err != nil {
				errs = append(errs, fmt.Errorf("source: %w", err))
			}
		}
	})
	if !ok {
		return nil // errs belongs to the goroutine that is still closing
	}
	return errors.Join(errs...)
}
