package pipeline

import (
	"sync"
	"time"
)

// LatencyBounds are the upper bounds of the buckets of a [Latency].
var LatencyBounds = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 5 * time.Second, 30 * time.Second,
}

// A Latency counts durations. The last count is of those above all bounds.
type Latency struct {
	Counts [len(LatencyBounds) + 1]int64
	Sum    time.Duration
}

func (l *Latency) observe(d time.Duration) {
	i := 0
	for i < len(LatencyBounds) && d > LatencyBounds[i] {
		i++
	}
	l.Counts[i]++
	l.Sum += d
}

// A SinkSnapshot is what one sink has done so far.
type SinkSnapshot struct {
	Name    string
	Dead    bool    // it is the dead letter
	Batches int64   // answered as durable
	Records int64   // in them, after rendering
	Bytes   int64   // in them, before compression
	Holds   int     // batches that are submitted and not answered
	Waiting int     // submissions that wait for their next try
	Retries int64   // submissions that were tried again
	Refused int64   // answers that refused records for good
	Latency Latency // from Submit to the answer
	LastErr string  // of the last answer that was not a success, while it waits; empty if all is well
}

// A meter measures one sink.
type meter struct {
	mu sync.Mutex
	s  SinkSnapshot
}

// submitted counts a batch that is about to be given to the sink.
func (m *meter) submitted() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Holds++
}

// takenBack counts a batch that the sink did not take.
func (m *meter) takenBack() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Holds--
}

// answered counts an answer for a stream that was submitted at start.
func (m *meter) answered(s *Stream, start time.Time, r *Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Holds--
	m.s.Latency.observe(time.Since(start))
	switch {
	case r.Class == OK && r.Err == nil:
		m.s.Batches++
		m.s.Records += int64(len(s.Recs))
		m.s.Bytes += int64(len(s.Bytes))
		m.s.LastErr = ""
	case r.Class == Retryable:
		m.s.Waiting++
		m.s.Retries++
		m.s.LastErr = r.cause().Error()
	case r.Class == Permanent:
		m.s.Refused++
	}
}

// resumed counts a submission whose wait is over.
func (m *meter) resumed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.s.Waiting--
}

func (m *meter) snapshot() SinkSnapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.s
}
