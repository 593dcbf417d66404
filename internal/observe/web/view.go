package web

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/pipeline"
)

// A View is what the pages are made of: the pipeline that runs at the moment.
type View struct {
	Snapshot pipeline.Snapshot // a State of Idle, and nothing else, before there is a pipeline
	Sources  []pipeline.Source // by the index of Snapshot.Sources
	Sinks    []pipeline.Sink   // by the index of Snapshot.Sinks, so the dead letter is the last
	Began    time.Time         // when the pipeline was started

	CommitInterval time.Duration // of the pipeline
	MaxUnresolved  time.Duration // ready.max_unresolved; 0: no limit
	Damaged        []DamagedFile // the first MaxDamaged of them
	DamagedFiles   int           // how many there are
	ReloadErr      string        // why the last change of the configuration was not taken; empty if it was
}

// A DamagedFile is a file of a source that is damaged, as this run or one before it
// has found. It is gone from the list when a sound file takes its place.
type DamagedFile struct {
	Path    string `json:"path"`
	Source  string `json:"source"`
	Verdict string `json:"verdict"`          // its kind, such as "truncated"
	Offset  *int64 `json:"offset,omitempty"` // in the file as it is stored; absent if it is not known
	Detail  string `json:"detail,omitempty"` // what else the verdict says
}

// A Check is one condition of being ready.
type Check struct {
	Name   string        `json:"name"`
	OK     bool          `json:"ok"`
	Reason string        `json:"reason,omitempty"` // why not
	Lanes  []WaitingLane `json:"lanes,omitempty"`  // of the check "lanes": the longest waiting first, at most 10

	Refusals []Refusal `json:"refusals,omitempty"` // of the check of a sink: the longest waiting first, at most 10
}

// A Refusal is a lane that is blocked because a sink refuses records of it for good.
type Refusal struct {
	Sink     string  `json:"sink"`
	Lane     string  `json:"lane"`
	Code     string  `json:"code,omitempty"` // of the broker; absent if there are several
	Reason   string  `json:"reason"`
	Position int64   `json:"position"` // of the first refused record: of its message, or its offset in the lane
	Records  int     `json:"records"`  // that the last answer refused
	Seconds  float64 `json:"seconds"`  // since the first refusal
}

// A WaitingLane is a lane whose oldest records are not durable for too long.
type WaitingLane struct {
	Lane    string  `json:"lane"`
	Source  string  `json:"source"`
	Seconds float64 `json:"seconds"`
}

// maxWaiting is how many lanes a check names.
const maxWaiting = 10

// A checkpoint is late after so many commit intervals.
const lateIntervals = 10

// The committer is taken for dead after so many commit intervals, and at least so
// long, without success and without an error. It may be at work for minutes: it also
// moves files that are finished, perhaps to another disk, and a new start would only
// begin that again.
const (
	deadIntervals = 60
	deadAfter     = 15 * time.Minute
)

// checks returns all conditions of being ready, in a fixed order.
func (v *View) checks(now time.Time) []Check {
	list := []Check{verdict("state", v.stateErr())}
	for i, s := range v.Sources {
		list = append(list, verdict("source "+v.sourceName(i), health(s)))
	}
	for i := range v.Snapshot.Sinks {
		// Those behind were part of a pipeline before this one.
		if err := v.sinkErr(i); err != nil || i < len(v.Sinks) {
			c := verdict("sink "+v.Snapshot.Sinks[i].Name, err)
			c.Refusals = refusals(&v.Snapshot.Sinks[i], now)
			list = append(list, c)
		}
	}
	return append(list, v.lanesCheck(now), verdict("checkpoint", v.checkpointErr(now)))
}

// ready reports whether all checks are green.
func ready(checks []Check) bool {
	return !slices.ContainsFunc(checks, func(c Check) bool { return !c.OK })
}

func verdict(name string, err error) Check {
	if err != nil {
		return Check{Name: name, Reason: err.Error()}
	}
	return Check{Name: name, OK: true}
}

func (v *View) stateErr() error {
	if s := v.Snapshot.State; s != pipeline.Running {
		return errors.New("the pipeline is " + s.String())
	}
	return nil
}

// health asks c, a source or a sink, if it can tell.
func health(c any) error {
	if h, ok := c.(pipeline.Healther); ok {
		return h.Health()
	}
	return nil
}

// sinkErr returns what is wrong with a sink: what it says itself, or what it has
// answered to a batch that waits for its next try.
func (v *View) sinkErr(i int) error {
	if i < len(v.Sinks) {
		if err := health(v.Sinks[i]); err != nil {
			return err
		}
	}
	s := &v.Snapshot.Sinks[i]
	if len(s.Blocked) > 0 {
		b := &s.Blocked[0]
		return fmt.Errorf("records refused for good, lane %s blocked at position %d: %s", b.Lane, b.Position, because(b))
	}
	if s.Waiting > 0 && s.LastErr != "" {
		return fmt.Errorf("%d batches wait to be tried again: %s", s.Waiting, s.LastErr)
	}
	return nil
}

// because returns why records are refused.
func because(b *pipeline.Blockage) string {
	if b.Code == "" {
		return b.Reason
	}
	return b.Code + ": " + b.Reason
}

// refusals returns the lanes that are blocked by a sink.
func refusals(s *pipeline.SinkSnapshot, now time.Time) (list []Refusal) {
	for _, b := range s.Blocked {
		list = append(list, Refusal{
			Sink: s.Name, Lane: b.Lane, Code: b.Code, Reason: b.Reason, Position: b.Position, Records: b.Records,
			Seconds: max(0, now.Sub(b.Since).Seconds()),
		})
	}
	return list
}

// lanesCheck looks for lanes whose oldest batch is unresolved for too long.
func (v *View) lanesCheck(now time.Time) Check {
	var late []WaitingLane
	for i := range v.Snapshot.Lanes {
		l := &v.Snapshot.Lanes[i]
		if age := laneAge(l, now); v.MaxUnresolved > 0 && age > v.MaxUnresolved {
			late = append(late, WaitingLane{l.Name, v.sourceName(l.Source), age.Seconds()})
		}
	}
	if len(late) == 0 {
		return Check{Name: "lanes", OK: true}
	}
	slices.SortFunc(late, func(a, b WaitingLane) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), strings.Compare(a.Lane, b.Lane))
	})
	reason := fmt.Sprintf("lanes with records that are not durable for more than %v: %d, first %s", v.MaxUnresolved, len(late), late[0].Lane)
	return Check{Name: "lanes", Reason: reason, Lanes: late[:min(len(late), maxWaiting)]}
}

// laneAge is how long the oldest batch of a lane is unresolved; 0 if there is none.
func laneAge(l *pipeline.LaneSnapshot, now time.Time) time.Duration {
	if l.Oldest.IsZero() {
		return 0
	}
	return max(0, now.Sub(l.Oldest))
}

// checkpointErr says that progress is due and was not stored for too long.
func (v *View) checkpointErr(now time.Time) error {
	age, due := v.checkpointAge(now)
	if !due || age <= lateIntervals*v.CommitInterval {
		return nil
	}
	reason := v.Snapshot.CommitErr
	if reason == "" {
		reason = "the last try has not ended"
	}
	return fmt.Errorf("no progress was stored for %v: %s", age.Round(time.Millisecond), reason)
}

// checkpointAge returns how long ago progress was stored last. It reports false if
// there is none to store, or not any more.
func (v *View) checkpointAge(now time.Time) (time.Duration, bool) {
	s := &v.Snapshot
	if !s.Commits || s.State == pipeline.Idle || s.State == pipeline.Closed {
		return 0, false
	}
	at := s.Committed
	if at.Before(v.Began) { // zero, or of a pipeline before this one
		at = v.Began
	}
	return max(0, now.Sub(at)), true
}

// deadErr says that the committer hangs, as far as can be seen: it has not stored
// progress for long, it reports no error, and no component is in trouble, which it
// would have to wait for. A new start would help then, and only then: a full disk is
// no reason for it.
func (v *View) deadErr(now time.Time) error {
	age, due := v.checkpointAge(now)
	if !due || age <= max(deadAfter, deadIntervals*v.CommitInterval) || v.Snapshot.CommitErr != "" {
		return nil
	}
	for _, s := range v.Sources {
		if health(s) != nil {
			return nil
		}
	}
	for i := range v.Snapshot.Sinks {
		if v.sinkErr(i) != nil {
			return nil
		}
	}
	return fmt.Errorf("the committer has neither stored progress nor failed for %v", age.Round(time.Second))
}

// sourceName returns the name of a source, for a lane that may be of none.
func (v *View) sourceName(i int) string {
	if i < 0 || i >= len(v.Snapshot.Sources) {
		return ""
	}
	return v.Snapshot.Sources[i].Name
}
