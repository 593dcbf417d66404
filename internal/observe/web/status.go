package web

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/report/keydiff"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Limits of lists in a Status.
const (
	maxLanes   = 50
	MaxDamaged = 50 // maximum number of damaged files in the status
	maxFlags   = 20
)

// A Status is the content of /status.json and of the status page. Secrets in
// its names and error texts are masked.
type Status struct {
	Ready      bool                  `json:"ready"`
	State      string                `json:"state"`
	Version    string                `json:"version"`
	Uptime     float64               `json:"uptime_seconds"` // uptime of the process
	Generation uint64                `json:"config_generation"`
	ReloadErr  string                `json:"reload_error,omitempty"`
	Checks     []Check               `json:"checks"`
	Warnings   []string              `json:"warnings,omitempty"` // conditions that need attention but do not affect readiness
	Rates      *RateStatus           `json:"rates,omitempty"`    // absent in the first second
	History    *HistoryStatus        `json:"history,omitempty"`  // absent in the first seconds
	Batches    BatchStatus           `json:"batches"`
	Checkpoint *float64              `json:"checkpoint_age_seconds,omitempty"` // absent if no source uses checkpoints
	CommitErr  string                `json:"commit_error,omitempty"`
	Dedupe     *DedupeStatus         `json:"dedupe,omitempty"` // absent without dedupe
	URLs       URLStatus             `json:"urls"`
	Sources    []SourceStatus        `json:"sources"`
	Sinks      []SinkStatus          `json:"sinks"`
	LanesOpen  int                   `json:"lanes_open"`
	Damaged    DamageStatus          `json:"damaged_files"`
	Lanes      []LaneStatus          `json:"lanes"`            // the longest waiting first, at most 50
	Shadow     *keydiff.ShadowStatus `json:"shadow,omitempty"` // absent if there is no shadow
	Flags      []Count               `json:"flags"`            // URLs by flag, the most frequent first, at most 20
	Rejects    []Count               `json:"rejects"`          // records by reason, the most frequent first
}

// A DamageStatus lists the damaged files. They do not affect readiness, because
// all other records are still processed.
type DamageStatus struct {
	Count int           `json:"count"`
	Files []DamagedFile `json:"files"` // at most 50, by source and path
}

// A BatchStatus counts batches.
type BatchStatus struct {
	All      int `json:"all"`
	Free     int `json:"free"`
	InFlight int `json:"in_flight"`
}

// A DedupeStatus counts the records that dedupe has compared.
type DedupeStatus struct {
	Firsts     int64 `json:"firsts"`
	Duplicates int64 `json:"duplicates"`
	NoKey      int64 `json:"no_key"`
	Waiting    int   `json:"waiting_keys"` // keys that wait for a commit
	Room       int   `json:"room_keys"`    // maximum of waiting_keys
}

// A URLStatus counts URLs.
type URLStatus struct {
	Found   int64 `json:"found"`
	Changed int64 `json:"changed"`
	Flagged int64 `json:"flagged"`
	// URLs left unchanged because the fields of their record cannot hold the
	// normal form.
	Unwritten int64 `json:"unwritten"`
}

// A SourceStatus is the status of one source, with its ledger in records.
type SourceStatus struct {
	Name       string  `json:"name"`
	Read       int64   `json:"read"`
	Emitted    int64   `json:"emitted"`
	Dropped    int64   `json:"dropped"`
	Filtered   int64   `json:"filtered"`
	Duplicates int64   `json:"duplicates"`
	Dead       int64   `json:"dead_lettered"`
	InFlight   int64   `json:"in_flight"`
	Abandoned  int64   `json:"abandoned"`
	Bytes      int64   `json:"bytes"`
	Lanes      int     `json:"lanes_opened"`
	Blocked    float64 `json:"backpressure_seconds"`
}

// A SinkStatus is the status of one sink. Latencies are in seconds. P99 is the
// upper bound of the histogram bucket that contains it, or -1 if that bucket is
// unbounded.
type SinkStatus struct {
	Name       string  `json:"name"`
	DeadLetter bool    `json:"dead_letter,omitempty"`
	Records    int64   `json:"records"`
	Bytes      int64   `json:"bytes"`
	Holds      int     `json:"holds"`
	Waiting    int     `json:"waiting"`
	Retries    int64   `json:"retries"`
	Refused    int64   `json:"refused"`
	Mean       float64 `json:"latency_mean_seconds"`
	P99        float64 `json:"latency_p99_seconds"`
	LastErr    string  `json:"last_error,omitempty"`
}

// A LaneStatus is the status of one lane.
type LaneStatus struct {
	Name      string  `json:"name"`
	Source    string  `json:"source"`
	Watermark *int64  `json:"watermark,omitempty"` // absent before the first
	InFlight  int     `json:"in_flight_batches"`
	Waiting   float64 `json:"oldest_unresolved_seconds"`
	Records   int64   `json:"records"`
	Bytes     int64   `json:"bytes"`
	Ended     bool    `json:"ended,omitempty"`
}

// A Count is a number with a name.
type Count struct {
	Name string `json:"name"`
	N    int64  `json:"n"`
}

// status returns the Status of v. mask masks secrets.
func (v *View) status(now time.Time, mask func(string) string) *Status {
	s := &v.Snapshot
	st := &Status{
		State: s.State.String(), Generation: s.Generation, ReloadErr: mask(v.ReloadErr), CommitErr: mask(s.CommitErr),
		Checks:  maskChecks(v.checks(now), mask),
		Batches: BatchStatus{s.Batches, s.Free, s.InFlight},
		URLs:    URLStatus{s.Stats.URLs, s.Stats.Changed, s.Stats.Flagged, s.Stats.Unwritten},
		Sources: make([]SourceStatus, len(s.Sources)),
		Sinks:   make([]SinkStatus, len(s.Sinks)),
		Shadow:  v.Shadow, LanesOpen: len(s.Lanes), Lanes: v.lanes(now, mask),
		Flags:   top(maxFlags, s.Stats.Flags[:], func(i int) string { return codec.Flag(i).String() }),
		Rejects: top(len(s.Stats.Rejects), s.Stats.Rejects[:], func(i int) string { return record.Reason(i).String() }),
	}
	st.Ready = ready(st.Checks)
	st.Warnings = v.warnings()
	if st.ReloadErr != "" {
		st.Warnings = append(st.Warnings, "the last reload failed, and the previous configuration remains active: "+st.ReloadErr)
	}
	st.Damaged = DamageStatus{Count: v.DamagedFiles, Files: []DamagedFile{}}
	for _, f := range v.Damaged[:min(len(v.Damaged), MaxDamaged)] {
		f.Path, f.Detail = mask(f.Path), mask(f.Detail)
		st.Damaged.Files = append(st.Damaged.Files, f)
	}
	if d := s.Dedupe; d != nil {
		st.Dedupe = &DedupeStatus{d.Firsts, d.Duplicates, d.NoKey, d.Waiting, d.Room}
	}
	if age, due := v.checkpointAge(now); due {
		st.Checkpoint = new(age.Seconds())
	}
	for i := range s.Sources {
		s := &s.Sources[i]
		st.Sources[i] = SourceStatus{
			Name: s.Name, Read: s.Ledger.Read, Emitted: s.Ledger.Emitted, Dropped: s.Ledger.Dropped, Filtered: s.Ledger.Filtered, Duplicates: s.Ledger.Duplicates, Dead: s.Ledger.Dead,
			InFlight: s.Ledger.InFlight, Abandoned: s.Ledger.Abandoned, Bytes: s.Bytes, Lanes: s.Opened, Blocked: s.Blocked.Seconds(),
		}
	}
	for i := range s.Sinks {
		s := &s.Sinks[i]
		mean, p99 := latency(&s.Latency)
		st.Sinks[i] = SinkStatus{
			Name: s.Name, DeadLetter: s.Dead, Records: s.Records, Bytes: s.Bytes, Holds: s.Holds, Waiting: s.Waiting,
			Retries: s.Retries, Refused: s.Refused, Mean: mean, P99: p99, LastErr: mask(s.LastErr),
		}
	}
	return st
}

// warnings describes what needs attention although the pipeline continues.
func (v *View) warnings() (list []string) {
	if v.DamagedFiles > 0 {
		list = append(list, plural(v.DamagedFiles, "input file is", "input files are")+" damaged: the records before the damage were processed")
	}
	for i := range v.Snapshot.Sinks {
		s := &v.Snapshot.Sinks[i]
		if s.Dead && s.Records > 0 {
			list = append(list, plural(s.Records, "record became a dead letter", "records became dead letters"))
		}
		if s.Refused > 0 {
			list = append(list, s.Name+" permanently refused records in "+plural(s.Refused, "answer", "answers"))
		}
	}
	return list
}

// plural returns n followed by one if n is 1, else by many.
func plural[N int | int64](n N, one, many string) string { return terminal.Plural(int64(n), one, many) }

// Passing returns the number of checks that pass.
func (s *Status) Passing() (n int) {
	for i := range s.Checks {
		if s.Checks[i].OK {
			n++
		}
	}
	return n
}

// maskChecks masks the texts in checks, in place.
func maskChecks(checks []Check, mask func(string) string) []Check {
	for i := range checks {
		c := &checks[i]
		c.Reason = mask(c.Reason)
		for j := range c.Lanes {
			c.Lanes[j].Lane = mask(c.Lanes[j].Lane)
		}
		for j := range c.Refusals {
			r := &c.Refusals[j]
			r.Lane, r.Reason = mask(r.Lane), mask(r.Reason)
		}
	}
	return checks
}

// latency returns the mean and the upper bound of the bucket of the 99th
// percentile, in seconds. Both are 0 if l is empty; p99 is -1 if it exceeds all
// bounds.
func latency(l *engine.Latency) (mean, p99 float64) {
	all := int64(0)
	for _, n := range l.Counts {
		all += n
	}
	if all == 0 {
		return 0, 0
	}
	mean, p99 = l.Sum.Seconds()/float64(all), -1
	below := int64(0)
	for i, bound := range engine.LatencyBounds {
		if below += l.Counts[i]; below >= all-all/100 {
			return mean, bound.Seconds()
		}
	}
	return mean, p99
}

// lanes returns the status of the lanes that have waited longest.
func (v *View) lanes(now time.Time, mask func(string) string) []LaneStatus {
	order := make([]*engine.LaneSnapshot, len(v.Snapshot.Lanes))
	for i := range order {
		order[i] = &v.Snapshot.Lanes[i]
	}
	slices.SortFunc(order, func(a, b *engine.LaneSnapshot) int {
		return cmp.Or(cmp.Compare(laneAge(b, now), laneAge(a, now)), strings.Compare(a.Name, b.Name))
	})
	list := make([]LaneStatus, min(len(order), maxLanes))
	for i := range list {
		l := order[i]
		list[i] = LaneStatus{
			Name: mask(l.Name), Source: v.sourceName(l.Source), InFlight: l.InFlight, Waiting: laneAge(l, now).Seconds(),
			Records: l.Records, Bytes: l.Bytes, Ended: l.Ended,
		}
		if l.Moved {
			list[i].Watermark = new(l.Watermark.A)
		}
	}
	return list
}

// top returns the n highest nonzero counts with their names.
func top(n int, counts []int64, name func(int) string) []Count {
	list := []Count{}
	for i, c := range counts {
		if c != 0 {
			list = append(list, Count{name(i), c})
		}
	}
	slices.SortStableFunc(list, func(a, b Count) int { return cmp.Compare(b.N, a.N) })
	return list[:min(n, len(list))]
}
