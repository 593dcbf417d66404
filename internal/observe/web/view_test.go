package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Each condition alone turns readiness red, says so under its name, and no other
// check is red with it.
func TestReady(t *testing.T) {
	f := func(change func(*View), check, reason string) {
		t.Helper()
		v := green()
		change(&v)
		w := get(t, newServer(func() View { return v }), "/readyz")
		var got struct {
			Ready  bool
			State  string
			Checks []Check
		}
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Ready != (check == "") || (w.Code == http.StatusOK) != got.Ready || got.State != v.Snapshot.State.String() {
			t.Errorf("%d, ready %v, state %s; want %q to be red", w.Code, got.Ready, got.State, check)
		}
		for _, c := range got.Checks {
			if c.OK == (c.Name == check) || c.Reason != "" == c.OK {
				t.Errorf("want %q to be red: %+v", check, c)
			}
			if c.Name == check && !strings.Contains(c.Reason, reason) {
				t.Errorf("%s is red because %q, want %q", check, c.Reason, reason)
			}
		}
	}
	f(func(*View) {}, "", "")
	for _, s := range []engine.State{engine.Idle, engine.Stopping, engine.Draining, engine.Committing, engine.Closed} {
		f(func(v *View) { v.Snapshot.State = s }, "state", s.String())
	}
	f(func(v *View) {
		v.Snapshot.State, v.Snapshot.Opening, v.Snapshot.Committed = engine.Opening, "kafka-1", now.Add(-11*time.Second)
	}, "state", "the pipeline is opening kafka-1")
	f(func(v *View) { v.Sources[1] = part{err: errors.New("no broker")} }, "source kafka-1", "no broker")
	f(func(v *View) { v.Sinks[0] = sinkPart{err: errors.New("disk full")} }, "sink file-2", "disk full")
	f(func(v *View) { v.Sinks[1] = sinkPart{err: errors.New("disk full")} }, "sink dead letter", "disk full")
	f(func(v *View) { v.Snapshot.Sinks[0].Waiting, v.Snapshot.Sinks[0].LastErr = 3, "not now" }, "sink file-2", "3 batches waiting for a retry: not now")
	f(func(v *View) { v.Snapshot.Sinks[0].LastErr = "of the past" }, "", "")
	// A lane that has waited no longer than the limit passes.
	f(func(v *View) { v.Snapshot.Lanes[0].Oldest = now.Add(-5 * time.Minute) }, "", "")
	f(func(v *View) { v.Snapshot.Lanes[0].Oldest = now.Add(-5*time.Minute - 1) }, "lanes", "first /var/log/nginx/access.log")
	f(func(v *View) {
		v.Snapshot.Lanes[0].Oldest = now.Add(-5*time.Minute - 1)
		v.MaxUnresolved = 0
	}, "", "")
	f(func(v *View) { v.Snapshot.Committed = now.Add(-10 * time.Second) }, "", "")
	f(func(v *View) { v.Snapshot.Committed = now.Add(-11 * time.Second) }, "checkpoint", "11s: the last commit is still running")
	f(func(v *View) {
		v.Snapshot.Committed, v.Snapshot.CommitErr = now.Add(-11*time.Second), "disk full"
	}, "checkpoint", "disk full")
	f(func(v *View) { v.Snapshot.Committed, v.Snapshot.Commits = now.Add(-time.Hour), false }, "", "")
	// Keys that no commit can store.
	f(func(v *View) { v.Snapshot.Dedupe = new(engine.DedupeSnapshot) }, "", "")
	f(func(v *View) {
		v.Snapshot.Dedupe = &engine.DedupeSnapshot{FullSince: now.Add(-10 * time.Second), Oldest: engine.Decided{Lane: "a.log", Since: now.Add(-5 * time.Minute)}}
	}, "", "")
	f(func(v *View) {
		v.Snapshot.Dedupe = &engine.DedupeSnapshot{Waiting: 7, Room: 8, FullSince: now.Add(-11 * time.Second)}
	}, "dedupe", "7 keys are not stored yet (limit: 8)")
	f(func(v *View) {
		v.Snapshot.Dedupe = &engine.DedupeSnapshot{Oldest: engine.Decided{Lane: "a.log", Since: now.Add(-6 * time.Minute)}}
	}, "dedupe", "a batch of a.log")
	// Never yet: it counts from the start of the pipeline.
	f(func(v *View) { v.Snapshot.Committed, v.Began = time.Time{}, now.Add(-9*time.Second) }, "", "")
	f(func(v *View) { v.Snapshot.Committed, v.Began = time.Time{}, now.Add(-11*time.Second) }, "checkpoint", "11s")
}

// The check names the lanes, the longest waiting first, and no more than ten.
func TestWaitingLanes(t *testing.T) {
	v := green()
	for i := range 15 {
		v.Snapshot.Lanes = append(v.Snapshot.Lanes, engine.LaneSnapshot{
			Name: fmt.Sprint("lane", i), Source: 1, Oldest: now.Add(-time.Hour - time.Duration(i)*time.Second)})
	}
	c := v.lanesCheck(now)
	if c.OK || len(c.Lanes) != 10 || c.Lanes[0] != (WaitingLane{"lane14", "kafka-1", 3614}) || c.Lanes[9].Lane != "lane5" {
		t.Errorf("%+v", c)
	}
	if !strings.Contains(c.Reason, "15, first lane14") {
		t.Errorf("reason %q", c.Reason)
	}
}

// A sink of a pipeline that is gone is not asked for, but a lane whose source is
// not known does no harm.
func TestViewOfOldParts(t *testing.T) {
	v := green()
	v.Snapshot.Sinks = append(v.Snapshot.Sinks, engine.SinkSnapshot{Name: "gone"})
	v.Snapshot.Lanes[0].Source, v.Snapshot.Lanes[0].Oldest = 99, now.Add(-time.Hour)
	for _, c := range v.checks(now) {
		if c.Name == "sink gone" || c.OK == (c.Name == "lanes") {
			t.Errorf("%+v", c)
		}
	}
}

// The process is taken for dead only if a new start could help.
func TestAlive(t *testing.T) {
	f := func(change func(*View), want string) {
		t.Helper()
		v := green()
		v.Snapshot.Committed = now.Add(-16 * time.Minute)
		change(&v)
		s := newServer(func() View { return v })
		err := s.Alive()
		w := get(t, s, "/healthz")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Alive: %v, want %q", err, want)
		}
		if (w.Code == http.StatusOK) != (want == "") {
			t.Errorf("/healthz: %d, want %q", w.Code, want)
		}
	}
	f(func(*View) {}, "committer stuck: no commit and no error for 16m0s")
	f(func(v *View) { v.Snapshot.State = engine.Draining }, "committer stuck")
	f(func(v *View) { v.Snapshot.State = engine.Closed }, "")
	f(func(v *View) { v.Snapshot.Commits = false }, "")
	f(func(v *View) { v.Snapshot.Committed = now.Add(-14 * time.Minute) }, "")
	f(func(v *View) { v.CommitInterval = time.Minute }, "")
	f(func(v *View) { v.Snapshot.CommitErr = "disk full" }, "")
	f(func(v *View) { v.Sources[0] = part{err: errors.New("no broker")} }, "")
	f(func(v *View) { v.Sinks[0] = sinkPart{err: errors.New("disk full")} }, "")
	f(func(v *View) { v.Snapshot.Sinks[1].Waiting, v.Snapshot.Sinks[1].LastErr = 1, "not now" }, "")
	f(func(v *View) { *v = View{} }, "")
}

// A pipeline that does not answer is dead; the caller gets this answer in
// time, and at most one goroutine is left behind.
func TestAliveHangs(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var asked atomic.Int32
		s := newServer(func() View { asked.Add(1); <-release; return green() })
		for range 3 {
			start := time.Now()
			if err := s.Alive(); err == nil || time.Since(start) != aliveTimeout {
				t.Errorf("Alive: %v after %v", err, time.Since(start))
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("asked %d times at once", n)
		}
		close(release)
		synctest.Wait()
		if err := s.Alive(); err != nil {
			t.Errorf("Alive after it answers again: %v", err)
		}
	})
}

func TestReadyMetric(t *testing.T) {
	f := func(v View, want float64) {
		t.Helper()
		emitted := 0
		newServer(func() View { return v }).Metrics(func(name, _, kind string, value float64, labels ...string) {
			emitted++
			if name != "ready" || kind != "gauge" || value != want || len(labels) != 0 {
				t.Errorf("%s %s %v %v, want %v", name, kind, value, labels, want)
			}
		})
		if emitted != 1 {
			t.Errorf("emitted %d figures", emitted)
		}
	}
	f(green(), 1)
	f(red(), 0)
}
