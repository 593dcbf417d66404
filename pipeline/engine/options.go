package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"time"

	"github.com/urlfold/urlfold/codec"
)

// Options configures a [Pipeline]. Sources, Sinks and NewCodec are required. A
// zero value of any other field selects its default.
type Options struct {
	Sources    []Source
	Sinks      []Sink
	DeadLetter Sink          // receives rejected records
	Filter     Filter        // decides which records reach the sinks; nil: all of them
	Dedupe     *Dedupe       // drops duplicates, also after a crash; nil: off; excludes Filter
	OnRefused  RefusedPolicy // what to do with records that a sink permanently refuses
	NewCodec   func() Codec  // called once per worker; see Pipeline.SetCodec

	// Names of sources and sinks, by index, for errors, logs and snapshots. The
	// defaults are "source 1", "sink 1" and so on; the dead letter is named
	// DeadLetterName.
	SourceNames, SinkNames []string

	// ExactlyOnce stores the positions of the source and the extents of the
	// sinks in one step. It requires exactly one source, which is a
	// CutCommitter; sinks, including the dead letter, that are ExtentReporters;
	// and an ordering. In every CommitInterval, submissions pause while all
	// sinks sync their outputs.
	ExactlyOnce bool

	Workers         int           // default GOMAXPROCS
	Ordering        Ordering      // default OrderNone
	BatchBytes      int           // capacity of an input arena, in bytes; default 128 KiB
	Batches         int           // number of batches, at least 4; default 4 per worker and 2 per sink, at least 16
	CommitInterval  time.Duration // time between commits; default 1 s
	ShutdownTimeout time.Duration // time from the soft stop to the deadline, with the hard stop at 75 %; default 30 s
	Logger          *slog.Logger  // default: discard all messages
}

const (
	minBatches = 4 // one in the source, one in a worker, one in a sink, one free
	maxSinks   = 64
	maxBatch   = math.MaxUint32 / 8 // offsets in an output arena are 32 bits wide
)

// setDefaults replaces zero values with defaults.
func (o *Options) setDefaults() {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.BatchBytes == 0 {
		o.BatchBytes = 128 << 10
	}
	if o.Batches == 0 {
		o.Batches = max(16, 4*o.Workers+2*len(o.Sinks))
	}
	if o.CommitInterval == 0 {
		o.CommitInterval = time.Second
	}
	if o.ShutdownTimeout == 0 {
		o.ShutdownTimeout = 30 * time.Second
	}
	if o.OnRefused == RefusedDefault {
		o.OnRefused = RefusedBlock
		if o.DeadLetter != nil {
			o.OnRefused = RefusedDeadLetter
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// validate returns all problems of o, joined.
func (o *Options) validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("pipeline: "+format, args...))
		}
	}
	check(len(o.Sources) > 0, "missing source")
	for i, s := range o.Sources {
		_, commits := As[Committer](s)
		_, acks := As[Acker](s)
		check(s != nil, "source %d is nil", i+1)
		check(!commits || !acks, "source %d is both a Committer and an Acker: it must be at most one of them", i+1)
	}
	check(len(o.Sinks) > 0, "missing sink")
	check(len(o.Sinks) < maxSinks, "too many sinks: %d, must be fewer than %d", len(o.Sinks), maxSinks)
	check(o.NewCodec != nil, "missing codec")
	check(o.Workers > 0, "workers: %d must be positive", o.Workers)
	check(o.Ordering <= OrderInput, "ordering: invalid value %d", o.Ordering)
	check(o.OnRefused <= RefusedDrop, "on refused: invalid policy %d", o.OnRefused)
	check(o.OnRefused != RefusedDeadLetter || o.DeadLetter != nil, "on refused: dead-letter requires a dead letter")
	check(o.BatchBytes > 0 && o.BatchBytes <= maxBatch, "batch bytes: %d must be between 1 and %d", o.BatchBytes, maxBatch)
	check(o.Batches >= minBatches, "batches: %d must be at least %d", o.Batches, minBatches)
	check(o.CommitInterval > 0, "commit interval: %v must be positive", o.CommitInterval)
	check(o.ShutdownTimeout > 0, "shutdown timeout: %v must be positive", o.ShutdownTimeout)
	for i, s := range o.Sinks {
		check(s != nil, "sink %d is nil", i+1)
		if s == nil {
			continue
		}
		check(o.Ordering == OrderNone || s.Caps().Ordered, "ordering: sink %d does not support ordering", i+1)
	}
	if o.Dedupe != nil {
		check(o.canDedupe(), "dedupe: requires a set and one source that commits keys, or claims and one source that acknowledges messages, no filter, refused records that are not dropped, and with windows a set that forgets")
	}
	if o.ExactlyOnce {
		check(o.canCut(), "exactly once: requires one source that commits cuts, sinks that report extents, and an ordering")
	}
	return errors.Join(errs...)
}

// canCut reports whether positions and extents can be stored in one step.
func (o *Options) canCut() bool {
	sinks := o.Sinks
	if o.DeadLetter != nil {
		sinks = append(sinks[:len(sinks):len(sinks)], o.DeadLetter)
	}
	for _, s := range sinks {
		if _, ok := As[ExtentReporter](s); !ok {
			return false
		}
	}
	if len(o.Sources) != 1 || o.Ordering == OrderNone {
		return false
	}
	_, ok := As[CutCommitter](o.Sources[0])
	return ok
}

// canDedupe reports whether duplicates can be dropped without losing a record.
func (o *Options) canDedupe() bool {
	if len(o.Sources) != 1 {
		return false
	}
	d := o.Dedupe
	_, ok := As[KeyCommitter](o.Sources[0])
	if w := d.Window; w != nil {
		_, forgets := d.Set.(WindowKeySet)
		forgets = forgets && w.Idle > 0 && !w.ByMessage || d.Set == nil
		if !forgets || w.Size < time.Second || w.Lateness < 0 {
			return false
		}
	}
	ok = ok && d.Set != nil && d.Lanes == nil && d.Claims == nil && d.Scope <= ScopeLane
	if d.Claims != nil && d.Set == nil && d.Lanes == nil {
		_, ok = As[Acker](o.Sources[0])
		ok = ok && d.Scope <= ScopeLane
	}
	if d.Lanes != nil && d.Set == nil && d.Claims == nil {
		_, ok = As[Committer](o.Sources[0])
		ok = ok && d.Scope == ScopeLane && !o.ExactlyOnce
	}
	return ok && o.Filter == nil && o.OnRefused != RefusedDrop
}

// New returns a pipeline with the given options. The error joins all problems
// found in o.
func New(o Options) (*Pipeline, error) {
	o.setDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	p := &Pipeline{
		o:      o,
		work:   newQueue(o.Batches, o.Workers),
		turns:  make(chan turn),
		notify: make(chan struct{}, 1),
		over:   make(chan struct{}),
	}
	p.SetCodec(o.NewCodec)
	p.log, p.quiet = o.Logger, make(chan struct{}, 1)
	p.base, p.expire = context.WithCancel(context.Background())
	p.hard, p.cut = context.WithCancelCause(p.base)
	for i, s := range o.Sources {
		f := &feed{Source: s, name: nameOf(o.SourceNames, i, "source")}
		f.committer, _ = As[Committer](s)
		f.acker, _ = As[Acker](s)
		f.finisher, _ = As[Finisher](s)
		p.feeds = append(p.feeds, f)
		p.finishes = p.finishes || f.finisher != nil
	}
	d := &p.delivery
	d.run, d.filtering, d.ordering, d.dead, d.barrier = &p.run, &p.filtering, o.Ordering, -1, make(chan struct{}, 1)
	d.line.credit = make(chan struct{}, o.Batches/2)
	for i, s := range o.Sinks {
		d.sinks = append(d.sinks, &target{Sink: s, name: nameOf(o.SinkNames, i, "sink"), policy: o.OnRefused})
	}
	if o.DeadLetter != nil {
		letters := &target{Sink: o.DeadLetter, name: DeadLetterName, policy: RefusedBlock}
		if o.OnRefused == RefusedDrop {
			letters.policy = RefusedDrop
		}
		d.dead = len(d.sinks)
		d.sinks = append(d.sinks, letters)
	}
	for _, s := range d.sinks {
		_, ok := As[Finisher](s.Sink)
		p.finishes = p.finishes || ok
	}
	p.pool = newPool(d, o.Batches, o.BatchBytes)
	f, c := &p.filtering, &p.committer
	f.run, f.roster, f.work, f.filter, f.leave = &p.run, &p.roster, &p.work, o.Filter, p.answered
	c.run, c.roster, c.delivery, c.filtering = &p.run, &p.roster, d, f
	c.interval, c.timeout, c.exact = o.CommitInterval, o.ShutdownTimeout, o.ExactlyOnce
	c.hurry, c.ended = make(chan struct{}, 1), make(chan struct{})
	switch {
	case o.Dedupe == nil:
	case o.Dedupe.Claims != nil:
		f.claims = &claims{run: &p.run, work: &p.work, leave: f.letLeave, outside: o.Dedupe.Claims, marks: o.Dedupe.NewMark != nil, window: o.Dedupe.Window, held: map[codec.Key]*Claim{}}
	default:
		var err error
		if f.decisions, err = newDecisions(o.Dedupe); err != nil {
			return nil, err
		}
		f.decisions.run, f.decisions.commits, f.decisions.leave = &p.run, c, f.letLeave
	}
	return p, nil
}

// nameOf returns the i-th name or, if names is shorter, the word in what
// followed by i+1.
func nameOf(names []string, i int, what string) string {
	if i < len(names) && names[i] != "" {
		return names[i]
	}
	return fmt.Sprintf("%s %d", what, i+1)
}
