package engine

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// LatencyBounds are the upper bounds of the buckets of a [Latency].
var LatencyBounds = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
}

// A Latency is a histogram of durations. The last count is for durations above
// all bounds.
type Latency struct {
	Counts [len(LatencyBounds) + 1]int64
	Sum    time.Duration
}

// observe adds a duration.
func (l *Latency) observe(d time.Duration) {
	i := 0
	for i < len(LatencyBounds) && d > LatencyBounds[i] {
		i++
	}
	l.Counts[i]++
	l.Sum += d
}

// Add adds the durations of o.
func (l *Latency) Add(o *Latency) {
	l.Sum += o.Sum
	for i, n := range o.Counts {
		l.Counts[i] += n
	}
}

// A SinkSnapshot is the progress of one sink.
type SinkSnapshot struct {
	Name        string
	Dead        bool       // the sink is the dead letter
	Batches     int64      // batches answered as durable
	Records     int64      // records that are durable, after rendering, even if other records of their batch were refused
	Bytes       int64      // bytes in these batches, before compression
	Holds       int        // batches that are submitted and not yet answered
	Waiting     int        // submissions that wait for a retry
	Retries     int64      // submissions that were retried
	Refused     int64      // answers that permanently refused records
	DeadLetters int64      // refused records that became dead letters
	Dropped     int64      // refused records that were dropped
	Blocked     []Blockage // lanes that wait because the sink refuses records, longest wait first, at most 10
	Stuck       int        // batches that wait because the sink refuses records
	Latency     Latency    // from Submit to the answer
	LastErr     string     // error of the last failed answer while the batch waits; empty after a success
}

// A Blockage is a lane that waits because a sink refuses some of its records.
type Blockage struct {
	Lane     string
	Code     string // code from the sink; empty if the records have different codes
	Reason   string // error of the sink
	Position int64  // position of the first refused record: the position of its message, or the offset of the record in the lane
	Records  int    // records that the last answer refused
	Since    time.Time
}

// maxBlockages is the maximum number of blocked lanes in a SinkSnapshot.
const maxBlockages = 10

// A meter measures one sink.
type meter struct {
	mu    sync.Mutex
	s     SinkSnapshot
	stuck map[*Batch]Blockage

	// The ledger of the sink. When no batch is in flight:
	//
	//	offered = accepted + s.DeadLetters + s.Dropped + abandoned
	offered   int64 // records that were to be submitted
	accepted  int64 // records that the sink has made durable
	abandoned int64 // records that were given up
}

// offer counts records that are to be submitted.
func (m *meter) offer(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.offered += int64(n)
}

// abandon counts records that were given up.
func (m *meter) abandon(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.abandoned += int64(n)
}

// check returns an error if the ledger of the sink does not balance. No batch is
// in flight.
func (m *meter) check(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.offered == m.accepted+m.s.DeadLetters+m.s.Dropped+m.abandoned {
		return nil
	}
	return bugf("the ledger of %s does not balance: %d records offered, %d accepted, %d dead letters, %d dropped, %d abandoned",
		name, m.offered, m.accepted, m.s.DeadLetters, m.s.Dropped, m.abandoned)
}

// taken returns how many of the n records of a stream the sink has made durable.
func (r *Result) taken(n int) int64 {
	switch {
	case r.Class == OK && r.Err == nil:
	case r.Class == Permanent && r.Failed == nil:
		return 0
	case r.Class == Permanent, r.Class == Retryable && len(r.Untried) > 0:
		n -= len(r.Failed) + len(r.Untried)
	default:
		return 0
	}
	return int64(n)
}

// refused counts n records that the sink refused.
func (m *meter) refused(n int, dropped bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if dropped {
		m.s.Dropped += int64(n)
	} else {
		m.s.DeadLetters += int64(n)
	}
}

// block registers that b waits because the sink refuses some of its records.
func (m *meter) block(b *Batch, at Blockage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Waiting++
	if m.stuck == nil {
		m.stuck = make(map[*Batch]Blockage)
	}
	if last, ok := m.stuck[b]; ok {
		at.Since = last.Since
	}
	m.stuck[b] = at
}

// unblock registers that b no longer waits. It reports whether no batch waits.
func (m *meter) unblock(b *Batch) (all bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.stuck, b)
	return len(m.stuck) == 0
}

// answered counts an answer for a stream that was submitted at start.
func (m *meter) answered(s *Stream, start time.Time, r *Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Holds--
	m.accepted += r.taken(len(s.Recs))
	m.s.Latency.observe(time.Since(start))
	switch {
	case r.Class == OK && r.Err == nil:
		m.s.Batches++
		m.s.Bytes += int64(len(s.Bytes))
		m.s.LastErr = ""
	case r.Class == Retryable && len(r.Untried) > 0:
		m.s.Waiting++
	case r.Class == Retryable:
		m.s.Waiting++
		m.s.Retries++
		m.s.LastErr = r.cause().Error()
	case r.Class == Permanent:
		m.s.Refused++
	}
}

// adjust adds to the batches that the sink holds, and to the submissions that
// wait for a retry.
func (m *meter) adjust(holds, waiting int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Holds += holds
	m.s.Waiting += waiting
}

func (m *meter) snapshot() SinkSnapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.s
	s.Records = m.accepted
	list := slices.SortedFunc(maps.Values(m.stuck), func(a, b Blockage) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Position, b.Position))
	})
	s.Blocked, s.Stuck = list[:min(len(list), maxBlockages)], len(m.stuck)
	return s
}
