// Package discard is the sink that writes nothing: for counting, for measuring all
// the rest, and for trying out what a slow sink does.
package discard

import (
	"context"
	"time"

	"github.com/urlfold/urlfold/pipeline"
)

// A Config says how the sink takes its time.
type Config struct {
	// How long each batch takes; one is taken after the other.
	Delay time.Duration `yaml:"delay" min:"0s"`
}

// A sink takes every batch and does nothing with it.
type sink struct {
	delay time.Duration
	turn  chan struct{} // holds one element while a batch is being taken
}

// New returns a sink.
func New(c Config) pipeline.Sink { return &sink{delay: c.Delay, turn: make(chan struct{}, 1)} }

// Open implements [pipeline.Sink].
func (*sink) Open(context.Context) error { return nil }

// Submit implements [pipeline.Sink]. It answers before it returns.
func (s *sink) Submit(ctx context.Context, _ *pipeline.Batch, t pipeline.Ticket) error {
	if s.delay > 0 {
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	t.Done(pipeline.Result{})
	return nil
}

// wait waits for the batches before this one, and for the time that it takes.
func (s *sink) wait(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.turn }()
	t := time.NewTimer(s.delay)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Barrier implements [pipeline.Sink].
func (*sink) Barrier(context.Context) error { return nil }

// Close implements [pipeline.Sink].
func (*sink) Close(context.Context) error { return nil }

// Caps implements [pipeline.Sink]. Nothing is what survives a crash best.
func (*sink) Caps() pipeline.SinkCaps { return pipeline.SinkCaps{Durable: true, Ordered: true} }

// Extents implements [pipeline.ExtentReporter]: there is no output, so it has no length.
func (*sink) Extents(dst []pipeline.Extent) []pipeline.Extent { return dst }

// Interface guards.
var (
	_ pipeline.Sink           = (*sink)(nil)
	_ pipeline.ExtentReporter = (*sink)(nil)
)
