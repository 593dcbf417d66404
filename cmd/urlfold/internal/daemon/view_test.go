package daemon

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/metrics"
	"github.com/urlfold/urlfold/pipeline"
)

// figures are two figures of a component, of which one names another component.
type figures struct{ lag float64 }

func (f figures) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	emit("source_lag", "Records behind.", "gauge", f.lag, "topic", "t")
	emit("moves_total", "Moves.", "counter", 1, "component", "own")
}

type measuredSource struct {
	pipeline.Source
	figures
}

type measuredSink struct {
	pipeline.Sink
	figures
}

// silent has no figures.
type silent struct{ pipeline.Sink }

// Every source and sink with figures of its own, and the dead letter, is on the page
// of metrics, under its name.
func TestExtras(t *testing.T) {
	plan := &plan{sourceNames: []string{"in", "in-2"}, sinkNames: []string{"out", "quiet"}}
	p := &parts{
		sources: []pipeline.Source{measuredSource{figures: figures{1}}, measuredSource{figures: figures{2}}},
		sinks:   []pipeline.Sink{measuredSink{figures: figures{3}}, silent{}},
		dead:    measuredSink{figures: figures{4}},
	}
	page := func(p *parts) string {
		var totals metrics.Totals
		totals.Swap(func() pipeline.Snapshot { return pipeline.Snapshot{} }, p.extras(plan)...)
		w := httptest.NewRecorder()
		metrics.Handler(&totals, metrics.Options{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		return w.Body.String()
	}
	text := page(p)
	for _, want := range []string{
		`urlfold_source_lag{component="in",topic="t"} 1`,
		`urlfold_source_lag{component="in-2",topic="t"} 2`,
		`urlfold_source_lag{component="out",topic="t"} 3`,
		`urlfold_source_lag{component="dead_letter",topic="t"} 4`,
		`urlfold_moves_total{component="own"} 4`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	p.dead = nil
	if text := page(p); strings.Contains(text, "dead_letter") || strings.Contains(text, "quiet") {
		t.Error("there are figures of what has none")
	}
}
