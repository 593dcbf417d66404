package metrics

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/internal/ground/metric"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Totals holds the counters of the process over all its successive pipelines. A
// reload of sources or sinks replaces the pipeline, and counters must not
// decrease. The zero Totals is empty and ready to use. It is safe for
// concurrent use.
type Totals struct {
	mu  sync.Mutex // one Swap at a time
	now atomic.Pointer[era]
}

// An era is the current pipeline and the sum of the previous pipelines. It is
// immutable, so a reader gets consistent sums even during a Swap.
type era struct {
	snapshot func() engine.Snapshot
	extras   []Extra
	began    time.Time
	past     engine.Snapshot // counters of the previous pipelines
	counters *table          // counters of the components of the previous pipelines
}

// Swap replaces the current pipeline, whose Run must have returned, by a new
// one. It preserves the final counters of the old pipeline and its components.
// extras are the components of the new pipeline that have their own metrics.
func (t *Totals) Swap(snapshot func() engine.Snapshot, extras ...Extra) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &era{snapshot: snapshot, extras: extras, began: time.Now(), counters: newTable()}
	if last := t.now.Load(); last != nil {
		next.past = add(ended(last.snapshot()), last.past)
		next.counters = last.collect()
		next.counters.families = slices.DeleteFunc(next.counters.families, func(f *family) bool { return f.kind != metric.Counter })
		clear(next.counters.byName)
		for _, f := range next.counters.families {
			next.counters.byName[f.name] = f
		}
	}
	t.now.Store(next)
}

// Snapshot returns a snapshot of the current pipeline, with the counters of the
// previous pipelines added. The current sources and sinks come first, in order,
// followed by the sources and sinks that no longer exist. The ledger is
// balanced.
func (t *Totals) Snapshot() engine.Snapshot {
	e := t.now.Load()
	if e == nil {
		return engine.Snapshot{}
	}
	return e.total()
}

// Began returns the time of the last Swap, or the zero time before the first.
func (t *Totals) Began() time.Time {
	e := t.now.Load()
	if e == nil {
		return time.Time{}
	}
	return e.began
}

func (e *era) total() engine.Snapshot { return add(e.snapshot(), e.past) }

// collect returns the metrics of the current components, with the counters of
// previous pipelines added.
func (e *era) collect() *table {
	sum := newTable()
	for _, x := range e.extras {
		x.Metrics(sum.extra)
	}
	sum.merge(e.counters)
	return sum
}

// ended converts s, the last snapshot of a pipeline, to counters only. Records
// that were still in flight, because a sink hung, count as abandoned.
func ended(s engine.Snapshot) engine.Snapshot {
	giveUp := func(l *engine.Ledger) {
		l.Abandoned += l.InFlight
		l.InFlight = 0
	}
	giveUp(&s.Ledger)
	s.Sources = slices.Clone(s.Sources)
	for i := range s.Sources {
		giveUp(&s.Sources[i].Ledger)
	}
	s.Sinks = slices.Clone(s.Sinks)
	for i := range s.Sinks {
		s.Sinks[i].Holds, s.Sinks[i].Waiting, s.Sinks[i].LastErr = 0, 0, ""
		s.Sinks[i].Stuck, s.Sinks[i].Blocked = 0, nil
	}
	s.Lanes = nil
	return s
}

// add returns s with the counters of past added.
func add(s, past engine.Snapshot) engine.Snapshot {
	s.Generation += past.Generation
	s.Ledger.Add(past.Ledger)
	s.Stats.Add(&past.Stats)
	s.Bytes += past.Bytes
	s.Retries += past.Retries
	s.Opened += past.Opened
	s.Busy += past.Busy
	for i := range past.Sources {
		s.Sources = addSource(s.Sources, &past.Sources[i])
	}
	for i := range past.Sinks {
		s.Sinks = addSink(s.Sinks, &past.Sinks[i])
	}
	return s
}

// addSource adds p to the source with the same name, or appends it.
func addSource(list []engine.SourceSnapshot, p *engine.SourceSnapshot) []engine.SourceSnapshot {
	i := slices.IndexFunc(list, func(s engine.SourceSnapshot) bool { return s.Name == p.Name })
	if i < 0 {
		return append(list, *p)
	}
	s := &list[i]
	s.Ledger.Add(p.Ledger)
	s.Stats.Add(&p.Stats)
	s.Bytes += p.Bytes
	s.Opened += p.Opened
	s.Blocked += p.Blocked
	s.Delivery.Add(&p.Delivery)
	s.MessageDelivery.Add(&p.MessageDelivery)
	if p.Last.After(s.Last) {
		s.Last = p.Last
	}
	return list
}

// addSink adds p to the sink with the same name and role, or appends it.
func addSink(list []engine.SinkSnapshot, p *engine.SinkSnapshot) []engine.SinkSnapshot {
	i := slices.IndexFunc(list, func(s engine.SinkSnapshot) bool { return s.Name == p.Name && s.Dead == p.Dead })
	if i < 0 {
		return append(list, *p)
	}
	s := &list[i]
	s.Batches += p.Batches
	s.Records += p.Records
	s.Bytes += p.Bytes
	s.Holds += p.Holds
	s.Waiting += p.Waiting
	s.Retries += p.Retries
	s.Refused += p.Refused
	s.DeadLetters += p.DeadLetters
	s.Dropped += p.Dropped
	s.Stuck += p.Stuck
	s.Blocked = append(s.Blocked[:len(s.Blocked):len(s.Blocked)], p.Blocked...)
	s.Latency.Add(&p.Latency)
	return list
}
