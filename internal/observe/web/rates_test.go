package web

import (
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// TestLimit checks which stage a snapshot says is the limit.
func TestLimit(t *testing.T) {
	f := func(stage, part string, reads bool, blocked float64, s engine.Snapshot) {
		t.Helper()
		if gotStage, gotPart, why := limitOf(&s, reads, blocked); gotStage != stage || gotPart != part || why == "" {
			t.Errorf("%s %s (%s), want %s %s", gotStage, gotPart, why, stage, part)
		}
	}
	sinks := func(a, b int) []engine.SinkSnapshot {
		return []engine.SinkSnapshot{{Name: "a", Holds: a}, {Name: "b", Holds: b}}
	}
	run := engine.Running
	f("none", "", false, 0, engine.Snapshot{State: engine.Draining, InFlight: 3})
	f("none", "", false, 0, engine.Snapshot{State: run, Sinks: sinks(0, 0)})
	f("source", "", true, 0.01, engine.Snapshot{State: run, InFlight: 4, Sinks: sinks(1, 3)})
	f("sink", "b", true, 0.9, engine.Snapshot{State: run, InFlight: 64, Sinks: sinks(2, 40)})
	f("codec", "", true, 0.9, engine.Snapshot{State: run, InFlight: 64, Sinks: sinks(2, 3)})
	f("sink", "a", false, 0.9, engine.Snapshot{State: run, InFlight: 64, Sinks: []engine.SinkSnapshot{{Name: "a", Waiting: 1}}})
}

// TestRates checks the rates and the history with a simulated clock.
func TestRates(t *testing.T) {
	v := green()
	s := newServer(func() View { return v })
	at := now
	s.now = func() time.Time { return at }
	if st := s.status(); st.Rates != nil || st.History != nil {
		t.Errorf("rates of nothing: %+v %+v", st.Rates, st.History)
	}
	for i := range 100 {
		s.history.add(pointOf(&v.Snapshot, at))
		if i == 99 {
			break
		}
		at = at.Add(pointEvery)
		v.Snapshot.Ledger.Read += 500
		v.Snapshot.Bytes += 5000
		v.Snapshot.Sources = append([]engine.SourceSnapshot(nil), v.Snapshot.Sources...)
		v.Snapshot.Sources[0].Blocked += pointEvery
	}
	at = at.Add(500 * time.Millisecond)
	st := s.status()
	if st.Rates == nil || st.Rates.Interval != 5.5 || st.Rates.In < 900 || st.Rates.In > 910 || st.Rates.Stage != "codec" {
		t.Errorf("rates %+v", st.Rates)
	}
	if h := st.History; len(h.Records) != maxPoints || h.Records[0] != 100 || h.In[maxPoints-1] != 1000 || h.InFlight[3] != 5 {
		t.Errorf("history %+v", h)
	}
	page := get(t, s, "/").Body.String()
	if strings.Count(page, `<svg class="spark"`) != 3 || strings.Contains(page, `http-equiv="refresh"`) {
		t.Errorf("%d sparklines", strings.Count(page, "<svg"))
	}
	if live := get(t, s, "/live").Body.String(); !strings.Contains(live, `http-equiv="refresh"`) {
		t.Error("/live does not reload itself")
	}
}

func TestSpark(t *testing.T) {
	if spark("a", []float64{1}) != "" {
		t.Error("a line through one value")
	}
	got := string(spark(`<"`, []float64{0, 5, 10}))
	if !strings.Contains(got, `points="0.0,23.0 60.0,12.0 120.0,1.0"`) || strings.Contains(got, `<"`) || !strings.Contains(got, "now 10, at most 10") {
		t.Error(got)
	}
	if got := string(spark("none", []float64{0, 0})); !strings.Contains(got, `points="0.0,23.0 120.0,23.0"`) {
		t.Error(got)
	}
}
