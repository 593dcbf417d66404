// Package metrics shows the figures of the process to Prometheus.
//
// Nothing is counted here, and nothing is counted for each record: at a scrape the
// collector takes one snapshot of the pipeline, whose workers count by batches. All
// figures of records come from that one snapshot, so that the ledger is balanced at
// every scrape, for each source:
//
//	read = emitted + dropped + filtered + dead_lettered + abandoned + urlfold_inflight_records
//
// The labels are names of components, flags, reasons, and what components bring as
// an [Extra]; never a file or a lane.
package metrics

import (
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/pipeline"
)

// Options say what is shown besides the totals.
type Options struct {
	Version string       // for urlfold_build_info
	Extras  []Extra      // what lives as long as the process; components of pipelines go to Totals.Swap
	Logger  *slog.Logger // scrapes that fail in part; default: discard
}

// liveHeap is what a collection has left of the heap. That is level where nothing
// leaks, whatever the rate of garbage.
var liveHeap = collectors.GoRuntimeMetricsRule{Matcher: regexp.MustCompile("^/gc/heap/live:bytes$")}

// Handler returns the handler of /metrics, with the figures of t, of the Go runtime
// and of the process.
func Handler(t *Totals, o Options) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return promhttp.HandlerFor(registry(t, o), promhttp.HandlerOpts{
		ErrorLog:            errorLog{o.Logger},
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: 4,
		Timeout:             10 * time.Second,
	})
}

// registry returns a registry of its own: nothing is registered for the whole
// process, so that two of them can live side by side.
func registry(t *Totals, o Options) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(liveHeap)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{totals: t, version: o.Version, extras: o.Extras, now: time.Now},
	)
	return r
}

// An errorLog is a logger as promhttp wants it.
type errorLog struct{ log *slog.Logger }

// Println logs what went wrong with a scrape.
func (l errorLog) Println(v ...any) { l.log.Warn("a scrape failed in part", "error", fmt.Sprint(v...)) }

// A collector makes metrics of one snapshot.
type collector struct {
	totals  *Totals
	version string
	extras  []Extra
	now     func() time.Time
}

// Describe implements prometheus.Collector. It describes nothing: what components
// bring is not known before.
func (*collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	t := newTable()
	t.add("build_info", "What the process was built from; always 1.", gauge, 1, "version", c.version, "go_version", runtime.Version())
	for _, x := range c.extras {
		x.Metrics(t.extra)
	}
	if e := c.totals.now.Load(); e != nil {
		s := e.total()
		c.process(t, &s)
		c.progress(t, &s, e.began)
		for i := range s.Sources {
			source(t, &s.Sources[i])
		}
		sinks(t, ch, s.Sinks)
		t.merge(e.collect())
	}
	t.send(ch)
}

// stateHelp says which number stands for which state.
var stateHelp = func() string {
	var states []string
	for s := pipeline.Idle; s <= pipeline.Closed; s++ {
		states = append(states, fmt.Sprintf("%d %v", s, s))
	}
	return "State of the pipeline: " + strings.Join(states, ", ") + "."
}()

// process adds the figures that are of no component.
func (c *collector) process(t *table, s *pipeline.Snapshot) {
	t.add("config_generation", "How many configurations of the codec have been in force so far.", gauge, float64(s.Generation))
	t.add("state", stateHelp, gauge, float64(s.State))
	t.add("batches", "Batches that there are.", gauge, float64(s.Batches))
	t.add("batches_free", "Batches on the free list; none free is backpressure.", gauge, float64(s.Free))
	t.add("inflight_batches", "Batches that were emitted and are not resolved.", gauge, float64(s.InFlight))
	t.add("urls_total", "URLs found.", counter, float64(s.Stats.URLs))
	t.add("urls_changed_total", "URLs whose normal form differs from what stood there.", counter, float64(s.Stats.Changed))
	t.add("urls_flagged_total", "URLs with at least one flag.", counter, float64(s.Stats.Flagged))
	t.add("urls_unwritten_total", "URLs left as they were because the fields of their record cannot hold the normal form.", counter, float64(s.Stats.Unwritten))
	t.add("panics_total", "Records on which the codec failed; each is rejected.", counter, float64(s.Stats.Panics))
	for f := range codec.AllFlags().All() {
		t.add("flags_total", "URLs by flag.", counter, float64(s.Stats.Flags[f]), "flag", f.String())
	}
	for r := range codec.AllRules().All() {
		t.add("rule_hits_total", "URLs that each rule has changed, by rule.", counter, float64(s.Stats.Rules[r]), "rule", r.String())
	}
}

// progress adds how far behind things are. A source is as late as its latest lane.
func (c *collector) progress(t *table, s *pipeline.Snapshot, began time.Time) {
	const (
		oldest = "Age of the oldest batch of any lane that is not durable in every sink; 0 if there is none."
		lag    = "How far the stored progress is behind the reading: age of the oldest batch that is not durable, or of the last commit if that is more."
		age    = "Time since progress was stored, or since the start."
	)
	now := c.now()
	since := func(at time.Time) float64 { return max(0, now.Sub(at).Seconds()) }
	stored := 0.0
	if s.Commits {
		last := s.Committed
		if last.IsZero() {
			last = began
		}
		stored = since(last)
		t.add("checkpoint_age_seconds", age, gauge, stored)
	}
	for i := range s.Sources {
		name := s.Sources[i].Name
		t.add("lanes", "Lanes that are open or have batches under way.", gauge, 0, "component", name)
		t.raise("lane_oldest_unresolved_seconds", oldest, 0, "component", name)
		t.raise("watermark_lag_seconds", lag, stored, "component", name)
	}
	for i := range s.Lanes {
		l := &s.Lanes[i]
		if l.Source >= len(s.Sources) {
			continue
		}
		name := s.Sources[l.Source].Name
		t.add("lanes", "", gauge, 1, "component", name)
		if !l.Oldest.IsZero() {
			t.raise("lane_oldest_unresolved_seconds", oldest, since(l.Oldest), "component", name)
			t.raise("watermark_lag_seconds", lag, since(l.Oldest), "component", name)
		}
	}
}

// source adds the figures of one source. What it has read is balanced by the
// results and by what is in flight; "rejected" is not a result of its own, but says
// why: such a record was dropped, dead-lettered or passed through.
func source(t *table, s *pipeline.SourceSnapshot) {
	const help = "Records by what became of them: read = emitted + dropped + filtered + dead_lettered + abandoned + urlfold_inflight_records. Result rejected counts again, by reason, those without a reading."
	records := func(result, reason string, n int64) {
		t.add("records_total", help, counter, float64(n), "component", s.Name, "result", result, "reason", reason)
	}
	records("read", "", s.Ledger.Read)
	records("emitted", "", s.Ledger.Emitted)
	records("dropped", "", s.Ledger.Dropped)
	records("filtered", "", s.Ledger.Filtered)
	records("dead_lettered", "", s.Ledger.Dead)
	records("abandoned", "", s.Ledger.Abandoned)
	for r := 1; r < len(s.Stats.Rejects); r++ { // the zero Reason means that there is a reading
		records("rejected", record.Reason(r).String(), s.Stats.Rejects[r])
	}
	t.add("inflight_records", "Records that were read and are not resolved.", gauge, float64(s.Ledger.InFlight), "component", s.Name)
	t.add("bytes_total", "Bytes read, after decompression, and bytes written, before compression.", counter, float64(s.Bytes), "component", s.Name, "direction", "in")
	t.add("lanes_opened_total", "Lanes opened: files, partitions, consumers.", counter, float64(s.Opened), "component", s.Name)
	t.add("backpressure_seconds_total", "Time that a source has waited because no batch was free.", counter, s.Blocked.Seconds(), "component", s.Name)
}

// retriesHelp is of what the sinks tell, too.
const retriesHelp = "What was written again, by the class of the error: batches that were given to a sink again (retryable), repairs of files (file), and what a sink itself has sent again: messages, or record batches."

const refusedHelp = "Records that a sink refused for good, by what became of them: dead_letter, or drop, which loses them."

// sinks adds the figures of sinks.
func sinks(t *table, ch chan<- prometheus.Metric, list []pipeline.SinkSnapshot) {
	var named []pipeline.SinkSnapshot
	for i := range list {
		s := list[i]
		s.Dead = false // two of one name are one component
		named = addSink(named, &s)
	}
	latency := prometheus.NewDesc(prefix+"sink_latency_seconds", "Time from giving a batch to a sink to its answer.", []string{"component"}, nil)
	for i := range named {
		s := &named[i]
		t.add("bytes_total", "", counter, float64(s.Bytes), "component", s.Name, "direction", "out")
		t.add("sink_records_total", "Records that are durable in a sink.", counter, float64(s.Records), "component", s.Name)
		t.add("sink_batches_total", "Batches that are durable in a sink.", counter, float64(s.Batches), "component", s.Name)
		t.add("sink_retries_total", retriesHelp, counter, float64(s.Retries), "component", s.Name, "class", "retryable")
		t.add("sink_refusals_total", "Answers by which a sink refused records for good.", counter, float64(s.Refused), "component", s.Name)
		t.add("sink_refused_records_total", refusedHelp, counter, float64(s.DeadLetters), "component", s.Name, "disposition", "dead_letter")
		t.add("sink_refused_records_total", refusedHelp, counter, float64(s.Dropped), "component", s.Name, "disposition", "drop")
		t.add("sink_blocked_batches", "Batches that wait because a sink refuses records of them for good; their lanes are blocked.", gauge, float64(s.Stuck), "component", s.Name)
		t.add("sink_inflight_batches", "Batches that a sink holds and has not answered.", gauge, float64(s.Holds), "component", s.Name)
		t.add("sink_waiting_batches", "Batches that wait for their next try.", gauge, float64(s.Waiting), "component", s.Name)
		ch <- histogram(latency, &s.Latency, strings.ToValidUTF8(s.Name, "\uFFFD"))
	}
}

// histogram returns l as Prometheus wants it: each bucket counts those below it too.
func histogram(desc *prometheus.Desc, l *pipeline.Latency, name string) prometheus.Metric {
	buckets := make(map[float64]uint64, len(pipeline.LatencyBounds))
	n := uint64(0)
	for i, bound := range pipeline.LatencyBounds {
		n += uint64(l.Counts[i])
		buckets[bound.Seconds()] = n
	}
	n += uint64(l.Counts[len(l.Counts)-1])
	m, err := prometheus.NewConstHistogram(desc, n, l.Sum.Seconds(), buckets, name)
	if err != nil {
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}
