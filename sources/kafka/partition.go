package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/pipeline"
)

// A partition reads one partition in one generation: a fetcher runs ahead by one
// answer of the broker, and the reader turns answers into batches.
type partition struct {
	m        *member
	s        *source
	topic    string
	id       int
	assigned int64 // committed when the generation began; -1 for nothing
	lane     *pipeline.Lane

	committed int64 // guarded by member.mu

	next atomic.Int64 // offset of the next record to be emitted; -1: not known
	end  atomic.Int64 // of the log; -1: not known

	// Of the reader.
	batch   *pipeline.Batch
	emitted int64 // the end of what was emitted
	decoder kafka.Decoder
	record  kafka.Record
	names   map[string]string // of headers
}

// newPartition opens the lane of an assignment.
func newPartition(m *member, a kafka.Assignment) *partition {
	p := &partition{
		m: m, s: m.s, topic: a.Topic, id: a.Partition, assigned: a.Offset, committed: a.Offset,
		decoder: kafka.Decoder{
			MaxBytes:  int(m.s.cfg.MaxBatchBytes),
			Committed: m.s.cfg.Isolation == "read_committed",
		},
		names: map[string]string{},
	}
	p.lane = m.s.rt.NewLane(fmt.Sprintf("%s[%d]", a.Topic, a.Partition), pipeline.LaneLimits{})
	p.lane.SetID(fmt.Sprintf("kafka/%s/%d", a.Topic, a.Partition))
	p.next.Store(a.Offset)
	p.end.Store(-1)
	return p
}

// stats returns the figures of p.
func (p *partition) stats() partitionStats {
	st := partitionStats{Topic: p.topic, Partition: p.id, Next: p.next.Load(), Lag: -1}
	if end := p.end.Load(); end >= 0 && st.Next >= 0 {
		st.Lag = max(0, end-st.Next)
	}
	return st
}

// fault says that p cannot go on now, because of what of it.
func (p *partition) fault(what string, err error) {
	p.s.faults.set(p.s.log, p.lane.Name()+what, fmt.Errorf("%s: %w", p.lane.Name(), err))
}

// The names of what may be at fault.
const (
	fetching = ""
	reading  = " records"
)

func (p *partition) good(what string) { p.s.faults.clear(p.lane.Name() + what) }

// run reads until ctx is done: then it has emitted all that it has taken, and
// returns nil. An error is one of the pipeline.
func (p *partition) run(ctx context.Context) error {
	offset, ok := p.start(ctx)
	if !ok {
		return nil
	}
	p.emitted = offset
	p.next.Store(offset)
	for try := 0; ; try++ {
		from := offset
		var fault, err error
		offset, fault, err = p.session(ctx, offset)
		if err == nil && p.batch != nil {
			err = p.flush(ctx, offset)
		}
		switch {
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			return nil
		case err != nil:
			return err
		case fault == nil:
			return nil
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

// start returns the offset to begin at. If that is one of now it is committed, so
// that a restart begins there too. It reports false if ctx is done.
func (p *partition) start(ctx context.Context) (int64, bool) {
	if p.assigned >= 0 {
		return p.assigned, true
	}
	at := p.s.cfg.Start.At
	for try := 0; ; try++ {
		offset, err := p.s.client.Offset(ctx, p.topic, p.id, at)
		if err == nil && at != kafka.Earliest {
			err = p.m.commit([]commitment{{p, offset}})
		}
		if err == nil {
			p.good(fetching)
			return offset, true
		}
		if ctx.Err() == nil {
			p.fault(fetching, err)
			p.s.client.Refresh()
		}
		if !kafka.Pause(ctx, try) {
			return 0, false
		}
	}
}

// session reads from offset until ctx is done, the end of the log is reached and
// the run is to end there, or a record batch cannot be read: then fault says why. It
// returns the offset that it has come to. err is that of the pipeline, or of ctx.
func (p *partition) session(ctx context.Context, offset int64) (next int64, fault, err error) {
	ctx, stop := context.WithCancel(ctx)
	f := newFetcher(p, offset)
	var wg sync.WaitGroup
	wg.Go(func() { f.run(ctx) })
	defer wg.Wait()
	defer stop()
	linger := time.NewTimer(time.Hour)
	defer linger.Stop()
	eof := p.eofTicks()
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

// take puts the records of s into batches, and emits those that are full.
func (p *partition) take(ctx context.Context, s *answer) (next int64, fault, err error) {
	d, r := &p.decoder, &p.record
	d.Reset(&s.f, s.from)
	next = s.from
	for d.Next(r) {
		if p.full(len(r.Key) + len(r.Value)) {
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

// full reports whether n more bytes belong into another batch.
func (p *partition) full(n int) bool {
	b := p.batch
	return b != nil && (len(b.Msgs) >= p.s.cfg.BatchRecords || len(b.In)+len(b.Side)+n > p.s.cfg.BatchBytes)
}

// add puts r into the batch.
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

// maxNames bounds the memory for names of headers.
const maxNames = 1000

// name returns the name of a header without an allocation, if it was there before.
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

// flush emits the batch; end is the offset after it. Without a batch it emits an
// empty one, if that moves the position: behind control batches and what was
// compacted away.
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
	if err := p.s.rt.Emit(ctx, b, pipeline.Position{A: end, B: -1}); err != nil {
		return err
	}
	p.emitted = end
	p.next.Store(end)
	return nil
}
