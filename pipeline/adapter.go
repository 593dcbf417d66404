package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file connects the sources and sinks of other modules with the engine,
// and the sources and sinks of this module with programs that use package
// pipeline.
//
//   - sourceOf, sinkOf: the engine's view of a Source or a Sink.
//   - insideSource, insideSink: the view that programs have of the engine's.

func init() {
	kinds.Outside.Source = func(s any, env kinds.SourceEnv) engine.Source {
		return sourceOf(s.(Source), env)
	}
	kinds.Outside.Sink = func(s any) engine.Sink { return sinkOf(s.(Sink)) }
	kinds.Outside.SourceOf = func(open func(kinds.SourceEnv) (engine.Source, error)) any { return &insideSource{open: open} }
	kinds.Outside.SinkOf = func(s engine.Sink) any { return &insideSink{Sink: s} }
	kinds.Outside.Ticket = func(b *engine.Batch, t engine.Ticket) any { return Ticket{b: b, t: t} }
}

// errWrapped is the error of a component of this module inside another component that
// hides it.
func errWrapped(what string) error {
	return &ContractError{Text: fmt.Sprintf("a %s of this module is wrapped by a type without a method Unwrap, which hides what it can do", what)}
}

// chain returns s and what it wraps, from the outside to the inside.
func chain[T any](s T) (all []any) {
	for {
		all = append(all, s)
		w, ok := any(s).(interface{ Unwrap() T })
		if !ok || any(w.Unwrap()) == nil {
			return all
		}
		s = w.Unwrap()
	}
}

// part returns the first of a chain that is a T.
func part[T any](all []any) (t T, ok bool) {
	for _, c := range all {
		if t, ok = c.(T); ok {
			return t, true
		}
	}
	return t, false
}

// sourceOf returns the engine's view of s. env has the name of s in the
// pipeline, the framing of its records and their maximum length.
func sourceOf(s Source, env kinds.SourceEnv) engine.Source {
	a := &source{s: s, name: env.Name, format: env.Framing, chain: chain(s)}
	if in, ok := part[*insideSource](a.chain); ok {
		if in.Source, in.err = in.open(env); in.err == nil {
			a.chain = append(a.chain, in.Source)
		}
	}
	committer, commits := part[Committer](a.chain)
	acker, acks := part[Acker](a.chain)
	a.stored = commits || acks
	a.both = commits && acks
	switch {
	case commits:
		return &committing{a, committer}
	case acks:
		return &acking{a, acker}
	}
	return a
}

// A source is a [Source] as an engine.Source.
type source struct {
	s      Source
	name   string
	format kinds.Framing // framing of the records
	chain  []any         // ends with the engine's source, if there is one
	stored bool
	both   bool // the source is a Committer and an Acker
}

// Parts returns what the source consists of: see [engine.As].
func (a *source) Parts() []any { return a.chain }

func (a *source) Open(ctx context.Context, rt engine.Runtime) error {
	if a.both {
		return &ContractError{Part: a.name, Text: a.name + " is both a Committer and an Acker"}
	}
	return a.s.Open(ctx, &Runtime{rt: rt, name: a.name, stored: a.stored, format: a.format, open: map[string]bool{}})
}

func (a *source) Run(ctx context.Context) error   { return a.s.Run(ctx) }
func (a *source) Close(ctx context.Context) error { return a.s.Close(ctx) }

// A committing is a source that is a [Committer].
type committing struct {
	*source
	committer Committer
}

func (a *committing) Commit(ctx context.Context, ups []engine.LanePos) error {
	done := make([]LanePosition, len(ups))
	for i, u := range ups {
		done[i] = LanePosition{Lane: u.Lane.Name(), Offset: u.Pos.A, Token: u.Pos.B}
	}
	return a.committer.Commit(ctx, done)
}

// An acking is a source that is an [Acker].
type acking struct {
	*source
	acker Acker
}

func (a *acking) Resolved(b *engine.Batch)               { a.acker.Durable(b.Ext) }
func (a *acking) Abandoned(b *engine.Batch, cause error) { a.acker.Abandoned(b.Ext, cause) }

// An insideSource is a source of this module as a [Source].
type insideSource struct {
	open   func(kinds.SourceEnv) (engine.Source, error)
	Source engine.Source // nil: the pipeline cannot find it, because another source hides it
	err    error         // error of open
}

func (in *insideSource) Open(ctx context.Context, rt *Runtime) error {
	if in.err != nil {
		return in.err
	}
	if in.Source == nil {
		return errWrapped("source")
	}
	return in.Source.Open(ctx, rt.rt)
}

func (in *insideSource) Run(ctx context.Context) error { return in.Source.Run(ctx) }

func (in *insideSource) Close(ctx context.Context) error {
	if in.Source == nil {
		return nil
	}
	return in.Source.Close(ctx)
}

// sinkOf returns the engine's view of s.
func sinkOf(s Sink) *sink {
	a := &sink{s: s, chain: chain(s)}
	if in, ok := part[*insideSink](a.chain); ok {
		in.seen = true
		a.chain = append(a.chain, in.Sink)
	}
	return a
}

// A sink is a [Sink] as an engine.Sink.
type sink struct {
	s      Sink
	chain  []any // ends with the engine's sink, if there is one
	strict bool  // a refusal ends the run: no dead letter takes the records
}

// Parts returns what the sink consists of: see [engine.As].
func (a *sink) Parts() []any { return a.chain }

func (a *sink) Open(ctx context.Context) error    { return a.s.Open(ctx) }
func (a *sink) Barrier(ctx context.Context) error { return a.s.Barrier(ctx) }
func (a *sink) Close(ctx context.Context) error   { return a.s.Close(ctx) }
func (a *sink) Caps() engine.SinkCaps             { return engine.SinkCaps(a.s.Caps()) }

func (a *sink) Submit(ctx context.Context, b *engine.Batch, t engine.Ticket) error {
	return a.s.Submit(ctx, Ticket{b, t, a.strict})
}

// An insideSink is a sink of this module as a [Sink].
type insideSink struct {
	engine.Sink
	seen bool // the pipeline knows that another sink wraps it
}

func (in *insideSink) Open(ctx context.Context) error {
	if !in.seen {
		return errWrapped("sink")
	}
	return in.Sink.Open(ctx)
}

func (in *insideSink) Submit(ctx context.Context, t Ticket) error {
	if t.b == nil {
		return errors.New("the ticket belongs to no batch")
	}
	return in.Sink.Submit(ctx, t.b, t.t)
}

func (in *insideSink) Caps() SinkCaps { return SinkCaps(in.Sink.Caps()) }
