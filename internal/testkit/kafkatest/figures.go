package kafkatest

import (
	"bufio"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/observe/metrics"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Figures returns the series on /metrics for a component, next to a pipeline
// with one sink, by name and labels:
// `urlfold_source_lag_records{group="g",partition="0",topic="in"}`.
func Figures(t testing.TB, x metrics.Extra) map[string]float64 {
	t.Helper()
	var totals metrics.Totals
	totals.Swap(func() engine.Snapshot {
		return engine.Snapshot{Sinks: []engine.SinkSnapshot{{Name: "out"}}}
	}, x)
	w := httptest.NewRecorder()
	metrics.Handler(&totals, metrics.Options{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("/metrics returned status %d", w.Code)
	}
	all := map[string]float64{}
	for s := bufio.NewScanner(w.Body); s.Scan(); {
		at := strings.LastIndexByte(s.Text(), ' ')
		if at < 0 || strings.HasPrefix(s.Text(), "#") {
			continue
		}
		v, err := strconv.ParseFloat(s.Text()[at+1:], 64)
		if err != nil {
			t.Fatal(err)
		}
		all[s.Text()[:at]] = v
	}
	return all
}

// WantFigures compares the series of a component with want.
func WantFigures(t testing.TB, x metrics.Extra, want map[string]float64) {
	t.Helper()
	got := Figures(t, x)
	for name, v := range want {
		if g, ok := got[name]; !ok || g != v {
			t.Errorf("%s is %v, want %v", name, g, v)
		}
	}
}
