package daemon

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/observe/metrics"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// figures are two figures of a component, of which one names another component.
type figures struct{ lag float64 }

func (f figures) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	emit("source_lag_records", "Records behind.", "gauge", f.lag, "topic", "t")
	emit("moves_total", "Moves.", "counter", 1, "component", "own")
}

type measuredSource struct {
	engine.Source
	figures
}

type measuredSink struct {
	engine.Sink
	figures
}

// silent has no figures.
type silent struct{ engine.Sink }

// Every source and sink with separate figures, and the dead letter, is on
// the page of metrics, under its name.
func TestExtras(t *testing.T) {
	plan := &plan{sourceNames: []string{"in", "in-2"}, sinkNames: []string{"out", "quiet"}}
	p := &parts{
		sources: []engine.Source{measuredSource{figures: figures{1}}, measuredSource{figures: figures{2}}},
		sinks:   []engine.Sink{measuredSink{figures: figures{3}}, silent{}},
		dead:    measuredSink{figures: figures{4}},
	}
	page := func(p *parts) string { return scrape(engine.Snapshot{}, p.extras(plan)) }
	text := page(p)
	for _, want := range []string{
		`urlfold_source_lag_records{component="in",topic="t"} 1`,
		`urlfold_source_lag_records{component="in-2",topic="t"} 2`,
		`urlfold_source_lag_records{component="out",topic="t"} 3`,
		`urlfold_source_lag_records{component="dead_letter",topic="t"} 4`,
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

// scrape returns the page of metrics of a pipeline with these components.
func scrape(s engine.Snapshot, extras []metrics.Extra) string {
	var totals metrics.Totals
	totals.Swap(func() engine.Snapshot { return s }, extras...)
	w := httptest.NewRecorder()
	metrics.Handler(&totals, metrics.Options{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// everything names each type of component.
const everything = `version: 1
sources:
  - file: {from: lines, include: [a]}
  - kafka: {from: lines, brokers: ["b:9092"], topics: [t], group: g}
  - jetstream: {from: lines, servers: [n], stream: S, durable: d}
  - nats: {from: lines, servers: [n], subjects: [s]}
sinks:
  - discard: {}
  - file: {path: out}
  - kafka: {brokers: ["b:9092"], topic: t}
  - jetstream: {servers: [n], subject: s}
  - nats: {servers: [n], subject: s}
dead_letter: {kafka: {brokers: ["b:9092"], topic: d}}
`

// A metric has the same labels for every component: a label that queries sum by
// is there in all of its series.
func TestOneSetOfLabels(t *testing.T) {
	name := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(name, []byte(everything), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := testCatalog(t).Load(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := testCatalog(t).newPlan(f)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := p.make(&env{log: discardLog})
	if err != nil {
		t.Fatal(err)
	}
	var s engine.Snapshot
	for _, name := range p.sourceNames {
		s.Sources = append(s.Sources, engine.SourceSnapshot{Name: name})
	}
	for _, name := range p.sinkNames {
		s.Sinks = append(s.Sinks, engine.SinkSnapshot{Name: name})
	}
	labels := map[string]string{}
	line := regexp.MustCompile(`(?m)^(urlfold_\w+)(?:\{(.*)\})? `)
	for _, m := range line.FindAllStringSubmatch(scrape(s, parts.extras(p)), -1) {
		var names []string
		for _, pair := range regexp.MustCompile(`(\w+)="[^"]*"`).FindAllStringSubmatch(m[2], -1) {
			names = append(names, pair[1])
		}
		slices.Sort(names)
		got := strings.Join(names, " ")
		if want, ok := labels[m[1]]; ok && got != want {
			t.Errorf("%s has the labels %s, and %s elsewhere", m[1], got, want)
		}
		labels[m[1]] = got
	}
	if want := "class component"; labels["urlfold_sink_retries_total"] != want {
		t.Errorf("urlfold_sink_retries_total has the labels %q, want %q", labels["urlfold_sink_retries_total"], want)
	}
}
