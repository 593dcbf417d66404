package web

import (
	"fmt"
	"sync"
	"time"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// The history has a point for each interval of pointEvery, and spans at most
// maxPoints intervals.
const (
	pointEvery = 5 * time.Second
	maxPoints  = 60
	leastSpan  = time.Second // minimum time over which rates are computed
)

// A point holds the values of the counters at one time.
type point struct {
	at       time.Time
	records  int64 // read
	urls     int64
	in, out  int64 // bytes
	inFlight int   // batches
	blocked  time.Duration
}

// pointOf returns the counters of a snapshot.
func pointOf(s *engine.Snapshot, at time.Time) point {
	p := point{at: at, records: s.Ledger.Read, urls: s.Stats.URLs, in: s.Bytes, inFlight: s.InFlight}
	for i := range s.Sinks {
		p.out += s.Sinks[i].Bytes
	}
	for i := range s.Sources {
		p.blocked += s.Sources[i].Blocked
	}
	return p
}

// A history holds the last points. The zero history is empty. It is safe for
// concurrent use.
type history struct {
	mu     sync.Mutex
	points []point
}

// add appends a point and forgets points that are too old.
func (h *history) add(p point) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.points = append(h.points, p)
	if n := len(h.points) - maxPoints - 1; n > 0 {
		h.points = append(h.points[:0], h.points[n:]...)
	}
}

// before returns the last point that is at least leastSpan older than at.
func (h *history) before(at time.Time) (p point, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.points) - 1; i >= 0; i-- {
		if at.Sub(h.points[i].at) >= leastSpan {
			return h.points[i], true
		}
	}
	return point{}, false
}

// A RateStatus says how fast records get through, and what limits that.
type RateStatus struct {
	Interval float64 `json:"interval_seconds"` // seconds over which the rates were measured
	Records  float64 `json:"records_per_second"`
	URLs     float64 `json:"urls_per_second"`
	In       float64 `json:"bytes_in_per_second"`  // after decompression
	Out      float64 `json:"bytes_out_per_second"` // before compression
	// Stage is the stage that limits the throughput: "source", "codec", "sink" or
	// "none". Part is the name of the sink, and Why the reason.
	Stage string `json:"limiting_stage"`
	Part  string `json:"limiting_component,omitempty"`
	Why   string `json:"limiting_reason"`
}

// HistoryStatus holds rates of the last minutes, the oldest first.
type HistoryStatus struct {
	Interval float64   `json:"interval_seconds"`
	Records  []float64 `json:"records_per_second"`
	In       []float64 `json:"bytes_in_per_second"`
	InFlight []float64 `json:"batches_in_flight"`
}

// rate returns n per second.
func rate(n int64, d time.Duration) float64 { return max(0, float64(n)/d.Seconds()) }

// rates compares a snapshot with an earlier point.
func rates(from point, s *engine.Snapshot, now time.Time) *RateStatus {
	to := pointOf(s, now)
	d := now.Sub(from.at)
	r := &RateStatus{
		Interval: d.Seconds(), Records: rate(to.records-from.records, d), URLs: rate(to.urls-from.urls, d),
		In: rate(to.in-from.in, d), Out: rate(to.out-from.out, d),
	}
	blocked := float64(to.blocked-from.blocked) / float64(d) / float64(max(1, len(s.Sources)))
	r.Stage, r.Part, r.Why = limitOf(s, r.Records > 0, blocked)
	return r
}

// The source is the limit unless it has waited for a free batch for more than
// this share of the time. A sink is the limit if it holds more than half of the
// batches in flight.
const blockedShare = 0.1

// limitOf returns the stage that limits the throughput, the component if it is a
// sink, and why. blocked is the share of the time for which the sources have
// waited for a free batch.
func limitOf(s *engine.Snapshot, reads bool, blocked float64) (stage, part, why string) {
	if s.State != engine.Running {
		return "none", "", "the pipeline is " + stateOf(s)
	}
	most := -1
	for i := range s.Sinks {
		if one := &s.Sinks[i]; one.Stuck > 0 || one.Waiting > 0 {
			return "sink", one.Name, "batches wait for another attempt"
		}
		if most < 0 || s.Sinks[i].Holds > s.Sinks[most].Holds {
			most = i
		}
	}
	switch {
	case !reads && s.InFlight == 0:
		return "none", "", "there is no new input"
	case blocked < blockedShare:
		return "source", "", "workers and sinks wait for input"
	case most >= 0 && 2*s.Sinks[most].Holds > s.InFlight:
		return "sink", s.Sinks[most].Name, fmt.Sprintf("it holds %d of %d batches in flight, and sources wait for a free batch", s.Sinks[most].Holds, s.InFlight)
	}
	return "codec", "", "sources wait for a free batch, and the sinks hold few: the workers are busy"
}

// status returns the rates between the points, or nil if there are none.
func (h *history) status() *HistoryStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.points) < 2 {
		return nil
	}
	st := &HistoryStatus{Interval: pointEvery.Seconds()}
	for i := range h.points[1:] {
		a, b := &h.points[i], &h.points[i+1]
		d := max(b.at.Sub(a.at), time.Millisecond)
		st.Records = append(st.Records, rate(b.records-a.records, d))
		st.In = append(st.In, rate(b.in-a.in, d))
		st.InFlight = append(st.InFlight, float64(b.inFlight))
	}
	return st
}

// watch adds a point to the history in each interval, until the server closes.
func (s *Server) watch() {
	t := time.NewTicker(pointEvery)
	defer t.Stop()
	for {
		v := s.o.View()
		s.history.add(pointOf(&v.Snapshot, s.now()))
		select {
		case <-t.C:
		case <-s.closing:
			return
		}
	}
}
