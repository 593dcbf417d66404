package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A partition reads one partition in one generation. Its fetcher runs ahead of
// the reader, which turns answers into batches.
type partition struct {
	m        *member
	s        *source
	topic    string
	id       int
	assigned kafka.Assignment // what was committed when the generation began

	// Guarded by member.mu, except for the reader, which changes them.
	lane      *engine.Lane
	log       kafka.Log
	committed int64

	epoch atomic.Int32 // at least the leader epoch of the last record read; -1: unknown

	next atomic.Int64 // offset of the next record to emit; -1: unknown
	end  atomic.Int64 // end of the log; -1: unknown

	// Used by the reader only.
	batch   *engine.Batch
	emitted int64 // offset after the last emitted record
	decoder kafka.Decoder
	record  kafka.Record
	names   map[string]string // header names, interned
}

// newLane returns a new lane for p.
func (p *partition) newLane() *engine.Lane {
	l := p.s.rt.NewLane(fmt.Sprintf("%s[%d]", p.topic, p.id), engine.LaneLimits{})
	l.SetID(fmt.Sprintf("kafka/%s/%d", p.topic, p.id))
	return l
}

// stats returns the figures of p.
func (p *partition) stats() partitionStats {
	st := partitionStats{Topic: p.topic, Partition: p.id, Next: p.next.Load(), Lag: -1}
	if end := p.end.Load(); end >= 0 && st.Next >= 0 {
		st.Lag = max(0, end-st.Next)
	}
	return st
}

// fault records an error that keeps p from reading. The argument what is one of
// the constants below.
func (p *partition) fault(what string, err error) {
	p.s.faults.set(p.s.log, p.lane.Name()+what, fmt.Errorf("%s: %w", p.lane.Name(), err))
}

// The operations that may fail.
const (
	fetching = ""
	reading  = " records"
	loading  = " keys"
)

func (p *partition) good(what string) { p.s.faults.clear(p.lane.Name() + what) }

// run reads until ctx is done. If it returns nil, it has emitted everything
// that it read. An error comes from the pipeline.
func (p *partition) run(ctx context.Context) error {
	offset, note, ok := p.start(ctx)
	if !ok || !p.load(ctx, offset, note) {
		return nil
	}
	for try := 0; ; try++ {
		from := offset
		var fault, err error
		offset, fault, err = p.session(ctx, offset)
		if err == nil && p.batch != nil {
			err = p.flush(ctx, offset)
		}
		var c *change
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			return nil
		case err != nil:
			return err
		case fault == nil:
			return nil
		case errors.As(fault, &c):
			if !p.reload(ctx, c) {
				return nil
			}
			offset = c.to
			continue
		}
		if offset > from {
			try = 0
		}
		p.fault(reading, fmt.Errorf("offset %d: %w", offset, fault))
		if !kafka.Pause(ctx, try) {
			return nil
		}
	}
}

// retry calls f until it succeeds. It returns false if ctx is done.
func (p *partition) retry(ctx context.Context, what string, f func() error) bool {
	for try := 0; ; try++ {
		err := f()
		if err == nil {
			p.good(what)
			return true
		}
		if ctx.Err() == nil {
			p.fault(what, err)
			p.s.client.Refresh()
		}
		if !kafka.Pause(ctx, try) {
			return false
		}
	}
}

// load loads the keys before offset, where p is about to read; note is the note
// that the pipeline has stored with offset. It returns false if ctx is done.
func (p *partition) load(ctx context.Context, offset int64, note string) bool {
	loaded := p.retry(ctx, loading, func() error {
		return p.lane.LoadKeys(ctx, engine.Position{A: offset, B: -1}, note)
	})
	if loaded {
		p.emitted = offset
		p.next.Store(offset)
	}
	return loaded
}

// takeRest takes the answers that f has left.
func (p *partition) takeRest(ctx context.Context, f *fetcher, offset int64) (next int64, fault, err error) {
	for fault == nil && err == nil {
		select {
		case s := <-f.out:
			offset, fault, err = p.take(ctx, s)
			f.free <- s
		default:
			return offset, nil, nil
		}
	}
	return offset, fault, err
}

// session reads from offset until ctx is done, until the end of the log if the
// run ends there, or until a record batch cannot be read or the log has changed;
// fault is then the reason, which may be a *change. It returns the next offset. err
// comes from the pipeline or from ctx.
func (p *partition) session(ctx context.Context, offset int64) (next int64, fault, err error) {
	ctx, stop := context.WithCancel(ctx)
	f := &fetcher{
		p: p, offset: offset, log: p.log, epoch: p.epoch.Load(),
		out: make(chan *answer, ahead), free: make(chan *answer, ahead), changed: make(chan *change, 1),
	}
	for range ahead {
		f.free <- new(answer)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer p.s.guard()
		f.run(ctx)
	})
	defer wg.Wait()
	defer stop()
	linger := time.NewTimer(time.Hour)
	defer linger.Stop()
	// The ticker checks the end of the log. It never fires unless the run
	// ends with its input.
	eof := time.NewTicker(p.s.cfg.Linger + time.Millisecond)
	if !p.s.cfg.UntilEOF {
		eof.Stop()
	}
	defer eof.Stop()
	waits := false
	for {
		if waits = waits && offset != p.emitted; !waits && offset != p.emitted {
			waits = true
			linger.Reset(p.s.cfg.Linger)
		}
		select {
		case s := <-f.out:
			offset, fault, err = p.take(ctx, s)
			f.free <- s
		case <-linger.C:
			waits = false
			err = p.flush(ctx, offset)
		case c := <-f.changed:
			offset, fault, err = p.takeRest(ctx, f, offset)
			if fault == nil && err == nil {
				err = p.flush(ctx, offset)
				fault = c
			}
		case <-eof.C:
			if p.atEnd(offset) {
				return offset, nil, nil
			}
		case <-ctx.Done():
			return offset, nil, nil
		}
		if fault != nil || err != nil {
			return offset, fault, err
		}
	}
}

// take adds the records of s to batches and emits the full ones.
func (p *partition) take(ctx context.Context, s *answer) (next int64, fault, err error) {
	d, r := &p.decoder, &p.record
	p.epoch.Store(max(s.f.Epoch, p.epoch.Load()))
	d.Reset(&s.f, s.from)
	next = s.from
	for d.Next(r) {
		if b := p.batch; b != nil && (len(b.Msgs) >= p.s.cfg.BatchRecords || len(b.In)+len(b.Side)+len(r.Key)+len(r.Value) > p.s.cfg.BatchBytes) {
			if err := p.flush(ctx, r.Offset); err != nil {
				return next, nil, err
			}
		}
		if err := p.add(ctx, r); err != nil {
			return next, nil, err
		}
		next = d.Offset()
	}
	if d.Err() == nil {
		p.good(reading)
	}
	return d.Offset(), d.Err(), nil
}

// add adds r to the batch.
func (p *partition) add(ctx context.Context, r *kafka.Record) error {
	if p.batch == nil {
		b, err := p.s.rt.Get(ctx, p.lane)
		if err != nil {
			return err
		}
		p.batch = b
	}
	nanos := int64(0)
	if r.Millis > 0 {
		nanos = r.Millis * int64(time.Millisecond)
	}
	p.batch.AddMessage(r.Offset, nanos, r.Key, r.Value)
	for _, h := range r.Headers {
		p.batch.AddHeader(p.name(h.Name), h.Value)
	}
	return nil
}

// maxNames limits how many header names are interned.
const maxNames = 1000

// name returns b as a string, interned to avoid an allocation for each record.
func (p *partition) name(b []byte) string {
	if name, ok := p.names[string(b)]; ok {
		return name
	}
	name := string(b)
	if len(p.names) < maxNames {
		p.names[name] = name
	}
	return name
}

// flush emits the batch; end is the offset after the batch. If there is no
// batch but the position has moved, past control batches or compacted records,
// it emits an empty batch.
func (p *partition) flush(ctx context.Context, end int64) error {
	if p.batch == nil {
		if end == p.emitted {
			return nil
		}
		b, err := p.s.rt.Get(ctx, p.lane)
		if err != nil {
			return err
		}
		p.batch = b
	}
	b := p.batch
	p.batch = nil
	if err := p.s.rt.Emit(ctx, b, engine.Position{A: end, B: -1}); err != nil {
		return err
	}
	p.emitted = end
	p.next.Store(end)
	return nil
}
