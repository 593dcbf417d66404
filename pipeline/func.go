package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"
)

// linger is how long a [SourceFunc] keeps records that do not fill a batch.
const linger = 50 * time.Millisecond

// SourceFunc returns a Source that calls run once. run calls emit for each
// record, and returns when there are no more records or ctx is done. Until it
// returns, it may call emit from many goroutines. emit copies rec, and adds a
// line feed if rec does not end with one. It blocks while the pipeline is busy.
// If emit returns an error, the run is over, and run must return. The first
// record of a table with a header is that header.
//
// The source stores no position: the next process starts from the beginning,
// and its records have new ids, see [Runtime.Lane].
func SourceFunc(run func(ctx context.Context, emit func(rec []byte) error) error) Source {
	return &sourceFunc{run: run}
}

// A sourceFunc fills one batch at a time. A timer emits the batch if records
// come slowly.
type sourceFunc struct {
	run func(ctx context.Context, emit func(rec []byte) error) error
	rt  *Runtime

	mu    sync.Mutex
	lane  *Lane
	batch *Batch // nil: none
	timer *time.Timer
	err   error // error of Emit in the timer
}

func (s *sourceFunc) Open(_ context.Context, rt *Runtime) error {
	s.rt = rt
	return nil
}

func (*sourceFunc) Close(context.Context) error { return nil }

func (s *sourceFunc) Run(ctx context.Context) (err error) {
	if s.lane, err = s.rt.Lane("func", 0); err != nil {
		return err
	}
	s.timer = time.AfterFunc(linger, func() { _ = s.flush(ctx) }) // the next emit returns its error
	err = s.run(ctx, func(rec []byte) error { return s.emit(ctx, rec) })
	s.timer.Stop()
	if last := s.flush(ctx); err == nil {
		err = last
	}
	s.lane.End(err == nil && ctx.Err() == nil)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // run passed on what emit returned
	}
	return err
}

// emit appends rec to the batch. If the batch has no room for rec, it emits the
// batch first and gets another.
func (s *sourceFunc) emit(ctx context.Context, rec []byte) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.batch != nil && s.batch.Room() < len(rec)+1 {
		if err := s.put(ctx); err != nil {
			return err
		}
	}
	if s.batch == nil {
		if s.batch, err = s.rt.Get(ctx, s.lane); err != nil {
			return err
		}
		s.timer.Reset(linger)
	}
	s.batch.Append(rec)
	if len(rec) == 0 || rec[len(rec)-1] != '\n' {
		s.batch.Append([]byte{'\n'})
	}
	return nil
}

// flush emits the batch, if there is one.
func (s *sourceFunc) flush(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.batch == nil {
		return s.err
	}
	return s.put(ctx)
}

// put emits the batch. The caller holds mu.
func (s *sourceFunc) put(ctx context.Context) error {
	b := s.batch
	s.batch = nil
	s.err = s.rt.Emit(ctx, b, 0)
	return s.err
}

// SinkFunc returns a Sink that calls write for each ticket, one at a time. If
// write returns nil and has not answered the ticket itself, the records of the
// ticket count as durable. To try the records again later, write calls [Ticket.Retry] and
// returns nil. An error of write ends the run.
func SinkFunc(write func(ctx context.Context, t Ticket) error) Sink {
	return &sinkFunc{write: write}
}

type sinkFunc struct {
	mu    sync.Mutex
	write func(ctx context.Context, t Ticket) error
}

func (*sinkFunc) Open(context.Context) error    { return nil }
func (*sinkFunc) Barrier(context.Context) error { return nil }
func (*sinkFunc) Close(context.Context) error   { return nil }
func (*sinkFunc) Caps() SinkCaps                { return SinkCaps{Ordered: true} }

func (s *sinkFunc) Submit(ctx context.Context, t Ticket) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.write(ctx, t)
	if err == nil && t.t.Live() {
		t.Ack()
	}
	return err
}
