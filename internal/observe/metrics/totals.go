package metrics

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/pipeline"
)

// Totals are the figures of the process, over all the pipelines that it runs one
// after the other: a reload of sources or sinks ends one and starts the next, and
// counters must not go back with it. The zero Totals has counted nothing. It may be
// used from many goroutines.
type Totals struct {
	mu  sync.Mutex // one Swap at a time
	now atomic.Pointer[era]
}

// An era is the life of one pipeline, and the sum of those before it. It does not
// change: who has taken one adds up what belongs together, whatever is swapped
// meanwhile.
type era struct {
	snapshot func() pipeline.Snapshot
	extras   []Extra
	began    time.Time
	past     pipeline.Snapshot // counters of pipelines that have ended
	counters *table            // of components of pipelines that have ended
}

// Swap puts a new pipeline in the place of the last one, whose Run has returned:
// the last figures of that and of its components are kept. extras are the components
// of the new one that have figures of their own.
func (t *Totals) Swap(snapshot func() pipeline.Snapshot, extras ...Extra) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &era{snapshot: snapshot, extras: extras, began: time.Now(), counters: newTable()}
	if last := t.now.Load(); last != nil {
		next.past = add(ended(last.snapshot()), last.past)
		next.counters = last.collect()
		next.counters.keepCounters()
	}
	t.now.Store(next)
}

// Snapshot returns the snapshot of the pipeline, with what those before it have
// counted added to its counters. Its sources and sinks come first, in their order;
// those that there are no more follow. It is balanced, as each pipeline is.
func (t *Totals) Snapshot() pipeline.Snapshot {
	e := t.now.Load()
	if e == nil {
		return pipeline.Snapshot{}
	}
	return e.total()
}

// Began returns when the pipeline was put in its place; the zero time if there was
// none yet.
func (t *Totals) Began() time.Time {
	e := t.now.Load()
	if e == nil {
		return time.Time{}
	}
	return e.began
}

func (e *era) total() pipeline.Snapshot { return add(e.snapshot(), e.past) }

// collect returns the figures of components: of those that there are, and the
// counters of those before them.
func (e *era) collect() *table {
	sum := newTable()
	for _, x := range e.extras {
		x.Metrics(sum.extra)
	}
	sum.merge(e.counters)
	return sum
}

// ended returns what is left to count of s, the last snapshot of a pipeline. What
// was in flight then, if a sink hung, was given up.
func ended(s pipeline.Snapshot) pipeline.Snapshot {
	giveUp := func(l *pipeline.Ledger) {
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
func add(s, past pipeline.Snapshot) pipeline.Snapshot {
	s.Generation += past.Generation
	s.Ledger.Add(past.Ledger)
	s.Stats.Add(&past.Stats)
	s.Bytes += past.Bytes
	s.Retries += past.Retries
	s.Opened += past.Opened
	for i := range past.Sources {
		s.Sources = addSource(s.Sources, &past.Sources[i])
	}
	for i := range past.Sinks {
		s.Sinks = addSink(s.Sinks, &past.Sinks[i])
	}
	return s
}

// addSource adds p to the source of that name, or as one more.
func addSource(list []pipeline.SourceSnapshot, p *pipeline.SourceSnapshot) []pipeline.SourceSnapshot {
	i := slices.IndexFunc(list, func(s pipeline.SourceSnapshot) bool { return s.Name == p.Name })
	if i < 0 {
		return append(list, *p)
	}
	s := &list[i]
	s.Ledger.Add(p.Ledger)
	s.Stats.Add(&p.Stats)
	s.Bytes += p.Bytes
	s.Opened += p.Opened
	s.Blocked += p.Blocked
	return list
}

// addSink adds p to the sink of that name, or as one more.
func addSink(list []pipeline.SinkSnapshot, p *pipeline.SinkSnapshot) []pipeline.SinkSnapshot {
	i := slices.IndexFunc(list, func(s pipeline.SinkSnapshot) bool { return s.Name == p.Name && s.Dead == p.Dead })
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
	s.Latency.Sum += p.Latency.Sum
	for b, n := range p.Latency.Counts {
		s.Latency.Counts[b] += n
	}
	return list
}
