package web

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/report/keydiff"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A View is the state from which the pages are rendered: the state of the
// current pipeline.
type View struct {
	Snapshot engine.Snapshot // before the first pipeline: only State, which is Idle
	Sources  []engine.Source // by the index of Snapshot.Sources
	Sinks    []engine.Sink   // by the index of Snapshot.Sinks; the dead letter comes last
	Began    time.Time       // start of the pipeline

	CommitInterval time.Duration         // commit interval of the pipeline
	MaxUnresolved  time.Duration         // admin.ready_within; 0: no limit
	Damaged        []DamagedFile         // at most MaxDamaged
	DamagedFiles   int                   // number of damaged files
	Shadow         *keydiff.ShadowStatus // nil if there is no shadow
	DedupeErr      error                 // why keys cannot be claimed; nil if they can
	ReloadErr      string                // why the last reload failed; empty if it succeeded
}

// A DamagedFile is an input file that this run or an earlier one has found
// damaged. It leaves the list when an intact file replaces it.
type DamagedFile struct {
	Path    string `json:"path"`
	Source  string `json:"source"`
	Verdict string `json:"verdict"`          // kind of the verdict, such as "truncated"
	Offset  *int64 `json:"offset,omitempty"` // offset in the compressed file; absent if unknown
	Detail  string `json:"detail,omitempty"` // rest of the verdict
}

// A Check is a readiness condition.
type Check struct {
	Name   string        `json:"name"`
	OK     bool          `json:"ok"`
	Reason string        `json:"reason,omitempty"` // why the check fails
	Lanes  []WaitingLane `json:"lanes,omitempty"`  // for the check "lanes": the longest waiting first, at most 10

	Refusals []Refusal `json:"refusals,omitempty"` // for the check of a sink: the longest waiting first, at most 10
}

// A Refusal is a lane that is blocked because a sink refuses its records
// permanently.
type Refusal struct {
	Sink     string  `json:"sink"`
	Lane     string  `json:"lane"`
	Code     string  `json:"code,omitempty"` // code of the broker; absent if there are several
	Reason   string  `json:"reason"`
	Position int64   `json:"position"` // position of the first refused record: the position of its message, or its offset in the lane
	Records  int     `json:"records"`  // number of records refused in the last answer
	Seconds  float64 `json:"seconds"`  // seconds since the first refusal
}

// A WaitingLane is a lane whose oldest records have not become durable in time.
type WaitingLane struct {
	Lane    string  `json:"lane"`
	Source  string  `json:"source"`
	Seconds float64 `json:"seconds"`
}

// maxWaiting is the maximum number of lanes in a check.
const maxWaiting = 10

// lateIntervals is the number of commit intervals after which a checkpoint is
// late.
const lateIntervals = 10

// The committer counts as stuck after deadIntervals commit intervals, but at
// least deadAfter, without a success or an error. It may legitimately work for
// minutes, because it also moves finished files, possibly to another disk; a
// restart would only repeat that.
const (
	deadIntervals = 60
	deadAfter     = 15 * time.Minute
)

// checks returns all readiness conditions in a fixed order.
func (v *View) checks(now time.Time) []Check {
	list := []Check{verdict("state", v.stateErr())}
	for i, s := range v.Sources {
		list = append(list, verdict("source "+v.sourceName(i), health(s)))
	}
	for i := range v.Snapshot.Sinks {
		// The sinks after len(v.Sinks) belong to previous pipelines.
		if err := v.sinkErr(i); err != nil || i < len(v.Sinks) {
			c := verdict("sink "+v.Snapshot.Sinks[i].Name, err)
			c.Refusals = refusals(&v.Snapshot.Sinks[i], now)
			list = append(list, c)
		}
	}
	list = append(list, v.lanesCheck(now), verdict("checkpoint", v.checkpointErr(now)))
	if v.Snapshot.Dedupe != nil || v.DedupeErr != nil {
		list = append(list, verdict("dedupe", v.dedupeErr(now)))
	}
	return list
}

// ready reports whether all checks pass.
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
	if v.Snapshot.State != engine.Running {
		return errors.New("the pipeline is " + stateOf(&v.Snapshot))
	}
	return nil
}

// stateOf returns the state of the pipeline, with the sink or source for which
// it waits while it opens.
func stateOf(s *engine.Snapshot) string {
	if s.Opening != "" {
		return s.State.String() + " " + s.Opening
	}
	return s.State.String()
}

// health returns the health of c, a source or a sink, or nil if c does not
// report it.
func health(c any) error {
	if h, ok := engine.As[engine.Healther](c); ok {
		return h.Health()
	}
	return nil
}

// sinkErr returns what is wrong with a sink: its own health, or the error of a
// batch that is blocked or waits for its next attempt.
func (v *View) sinkErr(i int) error {
	if i < len(v.Sinks) {
		if err := health(v.Sinks[i]); err != nil {
			return err
		}
	}
	s := &v.Snapshot.Sinks[i]
	if len(s.Blocked) > 0 {
		b := &s.Blocked[0]
		return fmt.Errorf("records refused permanently, lane %s blocked at position %d: %s", b.Lane, b.Position, because(b))
	}
	if s.Waiting > 0 && s.LastErr != "" {
		return fmt.Errorf("%d batches waiting for a retry: %s", s.Waiting, s.LastErr)
	}
	return nil
}

// because returns the code and the reason of a refusal.
func because(b *engine.Blockage) string {
	if b.Code == "" {
		return b.Reason
	}
	return b.Code + ": " + b.Reason
}

// refusals returns the lanes that a sink blocks.
func refusals(s *engine.SinkSnapshot, now time.Time) (list []Refusal) {
	for _, b := range s.Blocked {
		list = append(list, Refusal{
			Sink: s.Name, Lane: b.Lane, Code: b.Code, Reason: b.Reason, Position: b.Position, Records: b.Records,
			Seconds: max(0, now.Sub(b.Since).Seconds()),
		})
	}
	return list
}

// lanesCheck fails if the oldest batch of a lane has been unresolved for too
// long.
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
	reason := fmt.Sprintf("lanes with records not durable after %v (admin.ready_within): %d, first %s", v.MaxUnresolved, len(late), late[0].Lane)
	return Check{Name: "lanes", Reason: reason, Lanes: late[:min(len(late), maxWaiting)]}
}

// laneAge returns for how long the oldest batch of a lane has been unresolved,
// or 0.
func laneAge(l *engine.LaneSnapshot, now time.Time) time.Duration {
	if l.Oldest.IsZero() {
		return 0
	}
	return max(0, now.Sub(l.Oldest))
}

// checkpointErr returns an error if no checkpoint has been stored for too long.
func (v *View) checkpointErr(now time.Time) error {
	age, due := v.checkpointAge(now)
	if !due || age <= lateIntervals*v.CommitInterval || v.Snapshot.State == engine.Opening {
		return nil
	}
	reason := v.Snapshot.CommitErr
	if reason == "" {
		reason = "the last commit is still running"
	}
	return fmt.Errorf("no checkpoint stored for %v: %s", age.Round(time.Millisecond), reason)
}

// dedupeErr returns an error if the keys of new records cannot be stored: because
// there is no room for more, or because a batch does not become durable, which no
// commit can pass.
func (v *View) dedupeErr(now time.Time) error {
	d := v.Snapshot.Dedupe
	if d == nil {
		return v.DedupeErr
	}
	errs := []error{v.DedupeErr}
	if at := d.FullSince; !at.IsZero() && now.Sub(at) > lateIntervals*v.CommitInterval {
		errs = append(errs, fmt.Errorf("sources wait for a commit: %d keys are not stored yet (limit: %d)", d.Waiting, d.Room))
	}
	if at := d.Oldest.Since; !at.IsZero() && v.MaxUnresolved > 0 && now.Sub(at) > v.MaxUnresolved {
		errs = append(errs, fmt.Errorf("no commit can pass a batch of %s, which is not durable after %v (admin.ready_within)", d.Oldest.Lane, v.MaxUnresolved))
	}
	return errors.Join(errs...)
}

// checkpointAge returns the time since the last commit. It reports false if the
// pipeline does not use checkpoints or is not running.
func (v *View) checkpointAge(now time.Time) (time.Duration, bool) {
	s := &v.Snapshot
	if !s.Commits || s.State == engine.Idle || s.State == engine.Closed {
		return 0, false
	}
	at := s.Committed
	if at.Before(v.Began) { // zero, or from a previous pipeline
		at = v.Began
	}
	return max(0, now.Sub(at)), true
}

// deadErr returns an error if the committer appears to hang: no commit for a
// long time, no commit error, and no unhealthy component that it could be
// waiting for. Only then does a restart help; it does not help against a full
// disk, for example.
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
	return fmt.Errorf("committer stuck: no commit and no error for %v", age.Round(time.Second))
}

// sourceName returns the name of a source, or "" if i is out of range.
func (v *View) sourceName(i int) string {
	if i < 0 || i >= len(v.Snapshot.Sources) {
		return ""
	}
	return v.Snapshot.Sources[i].Name
}
