// Package discard implements a sink that writes nothing. Use it to count
// records, to measure the rest of a pipeline, or to simulate a slow sink.
//
// Not covered by the stability page.
package discard

import (
	"context"
	"time"

	"github.com/urlfold/urlfold/internal/ground/pause"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Config configures the discard sink, which drops all records.
type Config struct {
	// Time that the sink takes for each batch. It handles one batch at a time.
	Delay time.Duration `yaml:"delay" min:"0s"`
}

// A sink accepts every batch and drops it.
type sink struct {
	delay time.Duration
	turn  chan struct{} // holds one element while a batch is being handled
}

// New returns a sink with the given configuration.
func New(c Config) engine.Sink { return &sink{delay: c.Delay, turn: make(chan struct{}, 1)} }

// Open implements [engine.Sink].
func (*sink) Open(context.Context) error { return nil }

// Submit implements [engine.Sink]. It answers the ticket, then returns.
func (s *sink) Submit(ctx context.Context, _ *engine.Batch, t engine.Ticket) error {
	if s.delay > 0 {
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	t.Done(engine.Result{})
	return nil
}

// wait waits for the preceding batches and then for the delay.
func (s *sink) wait(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	return pause.For(ctx, s.delay)
}

// Barrier implements [engine.Sink].
func (*sink) Barrier(context.Context) error { return nil }

// Close implements [engine.Sink].
func (*sink) Close(context.Context) error { return nil }

// Caps implements [engine.Sink]. Discarded records count as durable.
func (*sink) Caps() engine.SinkCaps { return engine.SinkCaps{Ordered: true} }

// Extents implements [engine.ExtentReporter]. There are no outputs to report.
func (*sink) Extents(dst []engine.Extent) []engine.Extent { return dst }

// Interface guard.
var _ engine.ExtentReporter = (*sink)(nil)
