package metrics

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// balance returns what one source has read, and what became of it.
func balance(series map[string]float64, source string) (read, known float64) {
	of := func(result string) float64 {
		return series[fmt.Sprintf(`urlfold_records_total{component=%q,result=%q}`, source, result)]
	}
	return series[fmt.Sprintf("urlfold_source_records_total{component=%q}", source)], of("emitted") + of("dropped") + of("filtered") + of("duplicates") + of("dead-lettered") + of("abandoned") +
		series[fmt.Sprintf("urlfold_inflight_records{component=%q}", source)]
}

// Under load, every scrape is balanced and no counter goes back, though pipelines
// come and go and one of them is cut short.
func TestBalancedAtEveryScrape(t *testing.T) {
	var totals Totals
	h := Handler(&totals, Options{Version: "v1"})
	last := map[string]float64{}
	scrapes := 0
	look := func() {
		t.Helper()
		s := scrape(t, h)
		for _, source := range []string{"in-1", "in-2"} {
			if read, known := balance(s, source); read != known {
				t.Fatalf("scrape %d: %s has read %v records, and %v are known of", scrapes, source, read, known)
			}
		}
		for name, v := range last {
			family, _, _ := strings.Cut(name, "{")
			if strings.HasPrefix(name, prefix) && strings.HasSuffix(family, "_total") && s[name] < v {
				t.Fatalf("scrape %d: %s went from %v to %v", scrapes, name, v, s[name])
			}
		}
		last = s
		scrapes++
	}
	for round := range 3 {
		ctx, cancel := context.WithCancel(context.Background())
		p, extra := newLoad(t), &fakeExtra{}
		totals.Swap(p.Snapshot, extra)
		ran := make(chan error, 1)
		go func() { ran <- p.Run(ctx) }()
		before := last[`urlfold_sink_records_total{component="out"}`]
		for n := 0; n < 40 || last[`urlfold_sink_records_total{component="out"}`] < before+500; n++ {
			look()
			extra.gaps++
		}
		if round == 1 {
			p.HardStop()
		} else {
			cancel()
		}
		if err := <-ran; (err != nil) != (round == 1) {
			t.Errorf("round %d: Run: %v", round, err)
		}
		cancel()
		look()
	}
	for _, name := range []string{
		`urlfold_records_total{component="in-1",result="abandoned"}`,
		`urlfold_records_total{component="in-1",result="dead-lettered"}`,
		`urlfold_records_total{component="in-1",result="duplicates"}`,
		`urlfold_urls_unwritten_total`,
		`urlfold_records_total{component="in-2",result="dropped"}`,
		`urlfold_rejected_records_total{component="in-2",reason="unparsed"}`,
		`urlfold_rejected_records_total{component="in-2",reason="refused"}`,
		`urlfold_sink_retries_total{class="retryable",component="out"}`,
		`urlfold_sink_refusals_total{component="out"}`,
		`urlfold_sink_latency_seconds_count{component="dead_letter"}`,
		`urlfold_source_bytes_total{component="in-1"}`,
		`urlfold_sink_bytes_total{component="out"}`,
		`urlfold_source_offset_gap_records_total{component="k"}`,
		`urlfold_urls_by_flag_total{flag="` + codec.Flag(0).String() + `"}`,
		`urlfold_rules_applied_total{rule="` + codec.Rule(1).String() + `"}`,
		`urlfold_build_info{go_version="` + goVersion(last) + `",version="v1"}`,
		"go_goroutines", "process_resident_memory_bytes",
	} {
		if last[name] <= 0 {
			t.Errorf("%s is %v after all of it", name, last[name])
		}
	}
}

func goVersion(series map[string]float64) string {
	for name := range series {
		if _, v, ok := strings.Cut(name, `urlfold_build_info{go_version="`); ok {
			return v[:strings.IndexByte(v, '"')]
		}
	}
	return ""
}

type fakeExtra struct{ gaps float64 }

func (e *fakeExtra) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	emit("source_offset_gap_records_total", "Lost.", "counter", e.gaps, "component", "k")
	emit("source_lag_records", "Behind.", "gauge", 5, "topic", "t")
}

// fixed returns a snapshot with n lanes, and the collector that shows it at a fixed
// time.
func fixed(n int) *collector {
	now := time.Unix(1000, 0)
	s := engine.Snapshot{
		State: engine.Running, Generation: 2, Batches: 16, Free: 9, InFlight: 7,
		Sources: []engine.SourceSnapshot{{Name: "a"}, {Name: "b", Blocked: 1500 * time.Millisecond}},
		Sinks:   []engine.SinkSnapshot{{Name: "out", Holds: 3, Waiting: 1}, {Name: "dead_letter", Dead: true}},
		Commits: true, Committed: now.Add(-3 * time.Second),
	}
	s.Sinks[0].Latency.Counts = [15]int64{0: 1, 1: 2, 14: 4}
	s.Sinks[0].Latency.Sum = 100 * time.Second
	for i := range n {
		l := engine.LaneSnapshot{Name: fmt.Sprintf("/var/log/%d", i)}
		if i%100 == 7 {
			l.Oldest = now.Add(-time.Duration(i) * time.Millisecond)
		}
		s.Lanes = append(s.Lanes, l)
	}
	c := &collector{totals: new(Totals), version: "v1", now: func() time.Time { return now }}
	c.totals.Swap(func() engine.Snapshot { return s })
	return c
}

func TestFigures(t *testing.T) {
	var totals Totals
	h := Handler(&totals, Options{})
	if s := scrape(t, h); s["urlfold_build_info"] != 0 || len(s) == 0 {
		t.Errorf("before the first pipeline: %v", s)
	}
	s := gather(t, fixed(108))
	f := func(name string, want float64) {
		t.Helper()
		if got, ok := s[name]; got != want || !ok {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	f("urlfold_state{state=running}", 1)
	f("urlfold_state{state=draining}", 0)
	f("urlfold_batches", 16)
	f("urlfold_batches_free", 9)
	f("urlfold_inflight_batches", 7)
	f("urlfold_checkpoint_age_seconds", 3)
	f(`urlfold_lanes{component=a}`, 108)
	f(`urlfold_lanes{component=b}`, 0)
	f(`urlfold_lane_oldest_unresolved_seconds{component=a}`, 0.107)
	f(`urlfold_lane_oldest_unresolved_seconds{component=b}`, 0)
	f(`urlfold_source_backpressure_seconds_total{component=b}`, 1.5)
	f(`urlfold_sink_inflight_batches{component=out}`, 3)
	f(`urlfold_sink_waiting_batches{component=out}`, 1)
	f(`urlfold_sink_latency_seconds{component=out} le=0.001`, 1)
	f(`urlfold_sink_latency_seconds{component=out} le=0.005`, 3)
	f(`urlfold_sink_latency_seconds{component=out} le=30`, 3)
	f(`urlfold_sink_latency_seconds{component=out} count`, 7)
	f(`urlfold_sink_latency_seconds{component=out} sum`, 100)
	s = gather(t, fixed(8008))
}

func newRegistry(c *collector) *prometheus.Registry {
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(c)
	return r
}

// gather returns what c collects, and fails for what Prometheus would not take.
func gather(t *testing.T, c *collector) map[string]float64 {
	t.Helper()
	families, err := newRegistry(c).Gather()
	if err != nil {
		t.Fatal(err)
	}
	series := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			name := f.GetName()
			if len(labels) > 0 {
				name += "{" + strings.Join(labels, ",") + "}"
			}
			if h := m.GetHistogram(); h != nil {
				for _, b := range h.GetBucket() {
					series[fmt.Sprintf("%s le=%v", name, b.GetUpperBound())] = float64(b.GetCumulativeCount())
				}
				series[name+" count"], series[name+" sum"] = float64(h.GetSampleCount()), h.GetSampleSum()
				continue
			}
			series[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return series
}

// The number of series does not depend on the number of lanes, and no label holds a
// path.
func TestBoundedLabels(t *testing.T) {
	few, many := gather(t, fixed(1)), gather(t, fixed(10_000))
	if !slices.Equal(slices.Sorted(maps.Keys(few)), slices.Sorted(maps.Keys(many))) {
		t.Errorf("%d series with one lane, %d with 10,000", len(few), len(many))
	}
	perSource, perSink, global := 13+2*18+int(record.NumReasons), 28, 20+codec.AllFlags().Len()+codec.AllRules().Len()
	if limit := 2*perSource + 2*perSink + global; len(many) > limit {
		t.Errorf("%d series for two sources and two sinks, want at most %d", len(many), limit)
	}
	for name := range many {
		if strings.Contains(name, "/var/log") {
			t.Errorf("a path in a label: %s", name)
		}
	}
}

type manyExtra int

func (n manyExtra) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	for i := range int(n) {
		emit("source_lag_records", "Behind.", "gauge", 1, "topic", "t", "partition", fmt.Sprint(i))
	}
}

func TestBoundedExtras(t *testing.T) {
	c := fixed(0)
	c.extras = []Extra{manyExtra(5 * maxSeries)}
	s := gather(t, c)
	n, sum := 0, 0.0
	for name, v := range s {
		if strings.HasPrefix(name, "urlfold_source_lag_records{") {
			n++
			sum += v
		}
	}
	if n != maxSeries || sum != 5*maxSeries {
		t.Errorf("%d series with a sum of %v, want %d and %d", n, sum, maxSeries, 5*maxSeries)
	}
	if got := s["urlfold_source_lag_records{partition=other,topic=other}"]; got != 4*maxSeries+1 {
		t.Errorf("the others are %v", got)
	}
}

type badExtra struct{}

func (badExtra) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	emit("urlfold_prefixed_total", "With the prefix.", "counter", 1)
	emit("odd", "A label without a value.", "gauge", 2, "name")
	emit("utf8", "A value that is not UTF-8.", "gauge", 3, "topic", "\xff")
	emit("twice", "Twice.", "gauge", 4, "topic", "a")
	emit("twice", "Otherwise.", "counter", 5, "topic", "a")
	emit("label", "No label of Prometheus.", "gauge", 6, "__x__", "a", "__x__", "b")
}

// If a component reports a wrong figure, only this figure is missing, and
// the mistake is logged.
func TestBadExtra(t *testing.T) {
	var out bytes.Buffer
	c := fixed(0)
	s := scrape(t, Handler(c.totals, Options{Extras: []Extra{badExtra{}}, Logger: slog.New(slog.NewTextHandler(&out, nil))}))
	f := func(name string, want float64) {
		t.Helper()
		if got := s[name]; got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	f("urlfold_prefixed_total", 1)
	f(`urlfold_odd{name=""}`, 2)
	f(`urlfold_utf8{topic="`+"\uFFFD"+`"}`, 3)
	f(`urlfold_twice{topic="a"}`, 9)
	f("urlfold_batches", 16)
	if !strings.Contains(out.String(), "urlfold_label") {
		t.Errorf("logged %s", &out)
	}
}

// A source that is gone keeps its figures, but a gauge of a component does
// not.
func TestSwap(t *testing.T) {
	var totals Totals
	first := engine.Snapshot{
		Ledger:  engine.Ledger{Read: 5, Emitted: 3, InFlight: 2},
		Sources: []engine.SourceSnapshot{{Name: "old", Ledger: engine.Ledger{Read: 5, Emitted: 3, InFlight: 2}}},
		Sinks:   []engine.SinkSnapshot{{Name: "out", Records: 3, Holds: 1, Waiting: 1, LastErr: "x"}},
		Lanes:   []engine.LaneSnapshot{{Name: "l"}},
	}
	second := engine.Snapshot{
		Sources: []engine.SourceSnapshot{{Name: "new"}},
		Sinks:   []engine.SinkSnapshot{{Name: "more"}, {Name: "out", Records: 1}},
	}
	totals.Swap(func() engine.Snapshot { return first }, &fakeExtra{gaps: 3})
	began := totals.Began()
	totals.Swap(func() engine.Snapshot { return second }, manyExtra(1))
	s := totals.Snapshot()
	if len(s.Sources) != 2 || s.Sources[0].Name != "new" || s.Sources[1].Ledger.Abandoned != 2 || s.Sources[1].Ledger.InFlight != 0 {
		t.Errorf("sources %+v", s.Sources)
	}
	if len(s.Sinks) != 2 || s.Sinks[1].Records != 4 || s.Sinks[1].Holds != 0 || s.Sinks[1].LastErr != "" {
		t.Errorf("sinks %+v", s.Sinks)
	}
	if !s.Ledger.Balanced() || s.Ledger.Read != 5 || len(s.Lanes) != 0 {
		t.Errorf("ledger %+v, %d lanes", s.Ledger, len(s.Lanes))
	}
	if began.IsZero() || totals.Began().Before(began) || !new(Totals).Began().IsZero() {
		t.Error("Began is wrong")
	}
	extras := totals.now.Load().collect()
	if f := extras.byName["source_offset_gap_records_total"]; f == nil || f.series[0].value != 3 {
		t.Error("the counter of a component that is gone is lost")
	}
	if f := extras.byName["source_lag_records"]; f == nil || len(f.series) != 1 {
		t.Error("the gauge of a component that is gone is still there")
	}
	if first.Sources[0].Ledger.InFlight != 2 || first.Sinks[0].Holds != 1 {
		t.Error("Swap has changed a snapshot that is not its own")
	}
}

func BenchmarkCollect(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		r := newRegistry(fixed(n))
		b.Run(fmt.Sprintf("lanes=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Gather(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
