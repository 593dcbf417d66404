package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/kinds"
	recordengine "github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Options configures a [Pipeline]. Sources, Sinks and the Format of Job are required; a zero
// value of any other field selects its default.
type Options struct {
	Sources []Source
	Sinks   []Sink
	// DeadLetter gets rejected and refused records, as JSON. If it is nil, a refusal ends the
	// run, and a rejected record is copied (rewrite), written as an object with an error
	// (jsonl), or dropped and counted (all others).
	DeadLetter Sink

	// Names of the sources and sinks, by index, for errors, logs and ids of messages. The
	// defaults are "source 1", "sink 1" and so on.
	SourceNames, SinkNames []string

	// Job says how the records of all sources are read. Its Format is required, because
	// a pipeline does not detect formats, and Name is not used. Fields applies to the
	// output formats jsonl, tsv and csv; nil: the default fields of the output format.
	Job record.Job
	// Output is the form of the output records.
	Output OutputFormat

	Workers         int           // goroutines that read records; default GOMAXPROCS
	Ordered         bool          // keep the order of each lane; all sinks must have Caps.Ordered. Copied headers imply Ordered
	CommitInterval  time.Duration // between calls of Commit; default 1 s
	ShutdownTimeout time.Duration // after ctx of Run is done; default 30 s
	Logger          *slog.Logger  // default: no log
}

// A Pipeline moves records from sources to sinks. [New] makes one, for one run.
type Pipeline struct{ p *engine.Pipeline }

// New returns a pipeline. It opens nothing. The error joins all mistakes in o.
func New(o Options) (*Pipeline, error) {
	if o.Job.Format == "" {
		return nil, errors.New("pipeline: missing Job.Format: a pipeline does not detect the format of its records")
	}
	cfg, err := recordengine.JobConfig(&o.Job)
	if err != nil {
		return nil, fmt.Errorf("pipeline: %w", err)
	}
	if o.DeadLetter != nil {
		cfg.OnRejected = recordengine.DispositionDead
	}
	if int(o.Output) >= len(outputs) {
		return nil, fmt.Errorf("pipeline: invalid Output %d", o.Output)
	}
	cfg.Render = outputs[o.Output]
	e := engine.Options{
		SourceNames: o.SourceNames, SinkNames: o.SinkNames, Workers: o.Workers,
		CommitInterval: o.CommitInterval, ShutdownTimeout: o.ShutdownTimeout, Logger: o.Logger,
	}
	for i, s := range o.Sinks {
		if s == nil {
			return nil, fmt.Errorf("pipeline: sink %d is nil", i+1)
		}
		a := sinkOf(s)
		a.strict = o.DeadLetter == nil
		e.Sinks = append(e.Sinks, a)
	}
	if o.DeadLetter != nil {
		e.DeadLetter = sinkOf(o.DeadLetter)
	}
	if o.Ordered {
		e.Ordering = engine.OrderPerLane
	}
	for _, s := range append(e.Sinks[:len(e.Sinks):len(e.Sinks)], e.DeadLetter) {
		facts, ok := engine.As[kinds.FactReader](s)
		cfg.Facts = cfg.Facts || ok && facts.NeedsFacts()
	}
	job, err := recordengine.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("pipeline: %w", err)
	}
	e.NewCodec = engine.NewRecordCodec(job)
	if job.Ordered() && !slices.ContainsFunc(e.Sinks, func(s engine.Sink) bool { return !s.Caps().Ordered }) {
		e.Ordering = engine.OrderPerLane
	}
	for i, s := range o.Sources {
		name := fmt.Sprintf("source %d", i+1)
		if i < len(o.SourceNames) {
			name = o.SourceNames[i]
		}
		if s == nil {
			return nil, fmt.Errorf("pipeline: %s is nil", name)
		}
		e.Sources = append(e.Sources, sourceOf(s, kinds.SourceEnv{Name: name, Framing: job.Framing(), MaxRecord: cfg.MaxRecord}))
	}
	p, err := engine.New(e)
	if err != nil {
		return nil, err
	}
	return &Pipeline{p}, nil
}

// Run moves records until the sources end or ctx is done, which stops the
// sources; then it drains what they have emitted. Run returns nil if all of
// these records are durable. The error is [ErrDeadline] if draining took longer
// than ShutdownTimeout or [Pipeline.HardStop] was called, and a [ContractError]
// if a source or a sink broke its contract. Any other error comes from a source
// or a sink.
func (p *Pipeline) Run(ctx context.Context) error { return p.p.Run(ctx) }

// ErrDeadline is the error of a run that ended before everything was durable.
var ErrDeadline = engine.ErrDeadline

// HardStop ends the run without waiting for the sinks. Records that are not durable are
// read again by the next process, if the source stores positions.
func (p *Pipeline) HardStop() { p.p.HardStop() }

// Counts are the records and URLs of a run. Each record that was read is counted as one of
// Written, DeadLetters, Dropped, InFlight and Abandoned.
type Counts struct {
	Records     int64 // read, including blank lines and headers
	Written     int64 // durable in all sinks
	DeadLetters int64 // durable as dead letters
	Dropped     int64 // the output format writes nothing for them
	InFlight    int64 // not yet answered
	Abandoned   int64 // given up when the run was ended early
	Rejected    int64 // records that cannot be read, or have a URL that cannot be parsed; each is also counted above
	URLs        int64 // found
	Changed     int64 // URLs that differ from their normal form
	Bytes       int64 // read
}

// Counts returns the counts of the run until now. It may be called at any time.
func (p *Pipeline) Counts() Counts {
	s := p.p.Snapshot()
	return Counts{
		Records: s.Ledger.Read, Written: s.Ledger.Emitted, DeadLetters: s.Ledger.Dead,
		Dropped: s.Ledger.Dropped, InFlight: s.Ledger.InFlight, Abandoned: s.Ledger.Abandoned,
		Rejected: s.Stats.Rejected, URLs: s.Stats.URLs, Changed: s.Stats.Changed, Bytes: s.Bytes,
	}
}
