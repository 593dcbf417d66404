// Package pipeline moves records from sources to sinks. Its types are for sources and sinks
// that are defined outside this module; [engine] does the work.
package pipeline

import "github.com/urlfold/urlfold/pipeline/engine"

// The contract of sources and sinks.
type (
	// Batch is a contiguous piece of one lane.
	Batch = engine.Batch
	// LaneLimits bounds a lane.
	LaneLimits = engine.LaneLimits
	// Position is a place in a lane.
	Position = engine.Position
	// Result is the answer to a Ticket.
	Result = engine.Result
	// Runtime is what a source gets from the pipeline.
	Runtime = engine.Runtime
	// SinkCaps tells what a sink can do.
	SinkCaps = engine.SinkCaps
	// Ticket is a batch that a sink must answer.
	Ticket = engine.Ticket
)
