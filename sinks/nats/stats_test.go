package nats

import (
	"strings"
	"testing"
)

type emitter interface {
	Metrics(emit func(name, help, kind string, value float64, labels ...string))
}

// metricsOf returns the metrics of x by name and labels: "name|label|value". It
// fails the test if they are malformed.
func metricsOf(t *testing.T, x emitter) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	x.Metrics(func(name, help, kind string, value float64, labels ...string) {
		key := strings.Join(append([]string{name}, labels...), "|")
		_, twice := got[key]
		if gauge := strings.HasPrefix(name, "sink_pending_") || name == "sink_failing_messages"; twice || help == "" || len(labels)%2 != 0 || gauge != (kind == "gauge") {
			t.Errorf("%s: %q, a %s, twice: %v", key, help, kind, twice)
		}
		got[key] = value
	})
	return got
}

// TestMetrics: duplicates in a stream are counted, and so are messages
// published with core NATS.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := w.open(nil)
	for range 2 {
		b := batch(laneOf("lane"), 1, "a", "b")
		if r := submit(t, s, b, &b.Out); r.Err != nil {
			t.Fatal(r)
		}
	}
	if m := metricsOf(t, s); m["sink_duplicates_total"] != 2 || m["sink_messages_total"] != 4 || m["sink_retries_total|class|timeout"] != 0 {
		t.Errorf("%v", m)
	}
	cfg := DefaultCore()
	cfg.Servers, cfg.Subject = []string{w.srv.URL()}, "x"
	core, err := NewCore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if m := metricsOf(t, core.(emitter)); m["sink_messages_total"] != 0 || len(m) != 3 {
		t.Errorf("before it is opened: %v", m)
	}
	if err := core.Open(bg(t)); err != nil {
		t.Fatal(err)
	}
	defer core.Close(bg(t))
	b := batch(laneOf("lane"), 1, "a", "b", "c")
	if r := submit(t, core, b, &b.Out); r.Err != nil {
		t.Fatal(r)
	}
	if m := metricsOf(t, core.(emitter)); m["sink_messages_total"] != 3 || m["sink_reconnects_total"] != 0 {
		t.Errorf("%v", m)
	}
}
