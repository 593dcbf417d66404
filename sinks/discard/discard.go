// Package discard is the sink that writes nothing: for counting, and for
// measuring all the rest.
package discard

import (
	"context"

	"github.com/urlfold/urlfold/pipeline"
)

// A Sink takes every batch and does nothing with it. The zero Sink is ready.
type Sink struct{}

// Open implements [pipeline.Sink].
func (Sink) Open(context.Context) error { return nil }

// Submit implements [pipeline.Sink]. It answers before it returns.
func (Sink) Submit(_ context.Context, _ *pipeline.Batch, t pipeline.Ticket) error {
	t.Done(pipeline.Result{})
	return nil
}

// Barrier implements [pipeline.Sink].
func (Sink) Barrier(context.Context) error { return nil }

// Close implements [pipeline.Sink].
func (Sink) Close(context.Context) error { return nil }

// Caps implements [pipeline.Sink]. Nothing is what survives a crash best.
func (Sink) Caps() pipeline.SinkCaps { return pipeline.SinkCaps{Durable: true, Ordered: true} }

// Interface guard.
var _ pipeline.Sink = Sink{}
