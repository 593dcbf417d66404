package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"time"
)

// Options say what a [Pipeline] is made of. Source, Sinks and NewCodec must be
// set; the zero value of every other field is its default.
type Options struct {
	Source     Source
	Sinks      []Sink
	DeadLetter Sink         // where rejects go; nil: sinks that refuse records for good lose them, counted as dropped
	NewCodec   func() Codec // called once for each worker

	Workers         int           // default GOMAXPROCS
	Ordering        Ordering      // default OrderNone
	BatchBytes      int           // capacity of an input arena, in bytes; default 128 KiB
	Batches         int           // batches there are, at least 4; default 4 per worker and 2 per sink, at least 16
	CommitInterval  time.Duration // between two commits; default 1 s
	ShutdownTimeout time.Duration // from the soft stop to the end, hard stop at 75 %; default 30 s
	Logger          *slog.Logger  // default: discard
}

const (
	minBatches = 4 // one in the source, one in a worker, one in a sink, one free
	maxSinks   = 64
	maxBatch   = math.MaxUint32 / 8 // offsets in an output arena are 32 bits wide
)

// setDefaults replaces zero values by defaults.
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
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// validate returns all that is wrong with o, joined.
func (o *Options) validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("pipeline: "+format, args...))
		}
	}
	_, commits := o.Source.(Committer)
	_, acks := o.Source.(Acker)
	check(o.Source != nil, "no source")
	check(!commits || !acks, "the source is a Committer and an Acker: it can be one of them")
	check(len(o.Sinks) > 0, "no sink")
	check(len(o.Sinks) < maxSinks, "%d sinks: fewer than %d can be used", len(o.Sinks), maxSinks)
	check(o.NewCodec != nil, "no codec")
	check(o.Workers > 0, "workers: %d is not positive", o.Workers)
	check(o.Ordering <= OrderInput, "ordering: %d is not an order", o.Ordering)
	check(o.BatchBytes > 0 && o.BatchBytes <= maxBatch, "batch bytes: %d is not between 1 and %d", o.BatchBytes, maxBatch)
	check(o.Batches >= minBatches, "batches: %d is less than %d", o.Batches, minBatches)
	check(o.CommitInterval > 0, "commit interval: %v is not positive", o.CommitInterval)
	check(o.ShutdownTimeout > 0, "shutdown timeout: %v is not positive", o.ShutdownTimeout)
	packers := 0
	for i, s := range o.Sinks {
		check(s != nil, "sink %d is nil", i+1)
		if s == nil {
			continue
		}
		if _, ok := s.(Packer); ok {
			packers++
		}
		check(o.Ordering == OrderNone || s.Caps().Ordered, "ordering: sink %d does not keep the order", i+1)
	}
	check(packers < 2, "%d sinks are Packers: a batch holds the compressed form for one", packers)
	return errors.Join(errs...)
}

// New returns a pipeline. The error tells all that is wrong with o, joined.
func New(o Options) (*Pipeline, error) {
	o.setDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	p := &Pipeline{
		o:     o,
		log:   o.Logger,
		sinks: append([]Sink(nil), o.Sinks...),
		dead:  -1,
		work:  make(chan *Batch, o.Batches),
		kick:  make(chan struct{}, 1),
		over:  make(chan struct{}),
		quiet: make(chan struct{}, 1),
	}
	if o.DeadLetter != nil {
		p.dead = len(p.sinks)
		p.sinks = append(p.sinks, o.DeadLetter)
	}
	p.committer, _ = o.Source.(Committer)
	p.acker, _ = o.Source.(Acker)
	p.line.credit = make(chan struct{}, o.Batches/2)
	p.pool = newPool(p, o.Batches, o.BatchBytes, len(p.sinks))
	p.base, p.expire = context.WithCancel(context.Background())
	p.hard, p.cut = context.WithCancelCause(p.base)
	return p, nil
}
