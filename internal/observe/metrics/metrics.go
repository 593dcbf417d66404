// Package metrics exports the metrics of the process to Prometheus.
//
// The package counts nothing itself. At each scrape the collector takes one
// snapshot of the pipeline, whose workers count per batch. All record counts
// come from that snapshot, so at every scrape the ledger of each source is
// balanced:
//
//	urlfold_source_records_total = emitted + dropped + filtered + duplicates + dead-lettered + abandoned + urlfold_inflight_records
//
// Label values are names of components, flags and reasons, and values that
// components provide through [Extra]; never files or lanes.
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
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/ground/metric"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Options configures the handler.
type Options struct {
	Version string       // for urlfold_build_info
	Extras  []Extra      // components that live as long as the process; pass the components of a pipeline to Totals.Swap
	Logger  *slog.Logger // receives errors of scrapes; default: discard
}

// liveHeap selects the size of the heap after a garbage collection. Without
// leaks it is constant, regardless of the allocation rate.
var liveHeap = collectors.GoRuntimeMetricsRule{Matcher: regexp.MustCompile("^/gc/heap/live:bytes$")}

// Handler returns the handler for /metrics, which exports t and the metrics of
// the Go runtime and of the process.
func Handler(t *Totals, o Options) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	r := prometheus.NewRegistry() // not the global one, so that several can exist in a process
	r.MustRegister(
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(liveHeap)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		&collector{totals: t, version: o.Version, extras: o.Extras, now: time.Now},
	)
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorLog:            errorLog{o.Logger},
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: 4,
		Timeout:             10 * time.Second,
	})
}

// An errorLog implements promhttp.Logger.
type errorLog struct{ log *slog.Logger }

// Println logs an error of a scrape.
func (l errorLog) Println(v ...any) {
	l.log.Warn("metrics scrape incomplete", "error", fmt.Sprint(v...))
}

// A collector converts snapshots to metrics.
type collector struct {
	totals  *Totals
	version string
	extras  []Extra
	now     func() time.Time
}

// Describe implements prometheus.Collector. It describes nothing, because the
// metrics of components are not known in advance.
func (*collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	t := newTable()
	t.add("build_info", "Version and Go version of the process, as labels; the value is always 1.", metric.Gauge, 1, "version", c.version, "go_version", runtime.Version())
	for _, x := range c.extras {
		x.Metrics(t.extra)
	}
	if e := c.totals.now.Load(); e != nil {
		s := e.total()
		c.process(t, &s)
		c.progress(t, &s, e.began)
		for i := range s.Sources {
			source(t, ch, &s.Sources[i], e.began)
		}
		sinks(t, ch, s.Sinks)
		t.merge(e.collect())
	}
	// A series that Prometheus does not accept becomes an error of the
	// scrape, which continues without it.
	for _, f := range t.families {
		kind := prometheus.UntypedValue
		switch f.kind {
		case metric.Counter:
			kind = prometheus.CounterValue
		case metric.Gauge:
			kind = prometheus.GaugeValue
		}
		for _, s := range f.series {
			var names, values []string
			for i := 0; i < len(s.labels); i += 2 {
				names = append(names, s.labels[i])
				values = append(values, strings.ToValidUTF8(s.labels[i+1], "\uFFFD"))
			}
			desc := prometheus.NewDesc(prefix+f.name, f.help, names, nil)
			m, err := prometheus.NewConstMetric(desc, kind, s.value, values...)
			if err != nil {
				m = prometheus.NewInvalidMetric(desc, err)
			}
			ch <- m
		}
	}
}

// process adds the metrics that belong to no component.
func (c *collector) process(t *table, s *engine.Snapshot) {
	count, gauge := metric.Of(t.add)
	for state := engine.Idle; state <= engine.Closed; state++ {
		value := 0.0
		if state == s.State {
			value = 1
		}
		t.add("state", "1 for the state of the pipeline, 0 for the other states.", metric.Gauge, value, "state", state.String())
	}
	t.add("data_info", "Versions of the data in the program, as labels: the Public Suffix List and the list of parameters; the value is always 1.", metric.Gauge, 1, "psl", codec.SiteListVersion(), "params", params.DefaultVersion)
	t.add("worker_busy_seconds_total", "Time that all workers have spent on batches, in seconds.", metric.Counter, s.Busy.Seconds())
	gauge("batches", "Number of allocated batches.", int64(s.Batches))
	gauge("batches_free", "Number of batches on the free list; 0 means backpressure.", int64(s.Free))
	gauge("inflight_batches", "Number of batches that a source has emitted and that are not resolved.", int64(s.InFlight))
	count("urls_total", "Number of URLs found.", s.Stats.URLs)
	count("urls_changed_total", "Number of URLs whose normal form differs from the input.", s.Stats.Changed)
	count("urls_flagged_total", "Number of URLs with at least one flag.", s.Stats.Flagged)
	count("urls_unwritten_total", "Number of URLs left unchanged because the fields of their record cannot hold the normal form.", s.Stats.Unwritten)
	count("urls_skipped_total", "Number of links of HTML documents that are not URLs to follow: empty, to a fragment, javascript:, data: and similar.", s.Stats.Skipped)
	count("panics_total", "Number of records on which the codec panicked; each is rejected.", s.Stats.Panics)
	for i, name := range record.AttributeNames() {
		count("records_without_field_total", "Number of records without a field that a condition of where or a route reads, by field. Tests with has do not count.", s.Stats.Lacking[i], "field", name)
	}
	for f := range codec.AllFlags().All() {
		count("urls_by_flag_total", "Number of URLs, by flag.", s.Stats.Flags[f], "flag", f.String())
	}
	for r := range codec.AllRules().All() {
		count("rules_applied_total", "Number of URLs changed, by applied rule.", s.Stats.Rules[r], "rule", r.String())
	}
}

// progress adds the delays. The delay of a source is the delay of its slowest
// lane.
func (c *collector) progress(t *table, s *engine.Snapshot, began time.Time) {
	const (
		oldest = "Age of the oldest batch that is not durable in every sink, in seconds, over all lanes of the source; 0 if every batch is durable."
		age    = "Time since the last commit of a checkpoint, or since the start, in seconds."
	)
	now := c.now()
	since := func(at time.Time) float64 { return max(0, now.Sub(at).Seconds()) }
	if s.Commits {
		last := s.Committed
		if last.IsZero() {
			last = began
		}
		t.add("checkpoint_age_seconds", age, metric.Gauge, since(last))
	}
	for i := range s.Sources {
		name := s.Sources[i].Name
		t.add("lanes", "Number of lanes that are open or have batches in flight.", metric.Gauge, 0, "component", name)
		t.raise("lane_oldest_unresolved_seconds", oldest, 0, "component", name)
	}
	for i := range s.Lanes {
		l := &s.Lanes[i]
		if l.Source >= len(s.Sources) {
			continue
		}
		name := s.Sources[l.Source].Name
		t.add("lanes", "", metric.Gauge, 1, "component", name)
		if !l.Oldest.IsZero() {
			t.raise("lane_oldest_unresolved_seconds", oldest, since(l.Oldest), "component", name)
		}
	}
}

// source adds the metrics of one source. The records read equal the sum of the
// results and of the records in flight. The result "rejected" is not part of
// the sum: rejected records are also counted as dropped, dead-lettered or
// emitted.
func source(t *table, ch chan<- prometheus.Metric, s *engine.SourceSnapshot, began time.Time) {
	add := t.of(s.Name)
	count, gauge := metric.Of(add)
	const help = "Number of records that were read and are resolved, by result. urlfold_source_records_total = emitted + dropped + filtered + duplicates + dead-lettered + abandoned + urlfold_inflight_records."
	records := func(result string, n int64) {
		count("records_total", help, n, "result", result)
	}
	count("source_records_total", "Number of records read.", s.Ledger.Read)
	records("emitted", s.Ledger.Emitted)
	records("dropped", s.Ledger.Dropped)
	records("filtered", s.Ledger.Filtered)
	records("duplicates", s.Ledger.Duplicates)
	records("dead-lettered", s.Ledger.Dead)
	records("abandoned", s.Ledger.Abandoned)
	for r := record.Reason(1); r < record.NumReasons; r++ { // the zero Reason means not rejected
		if name := r.String(); name != "unknown" {
			count("rejected_records_total", "Number of rejected records, by reason, whatever becomes of them.", s.Stats.Rejects[r], "reason", name)
		}
	}
	count("discarded_records_total", "Number of rejected records that are in no output, because on_error drops them or their output format writes nothing for them.", s.Stats.Discarded())
	count("records_without_url_total", "Number of records that match the format and have no URL, such as log lines with the request -, without blank lines and headers.", s.Stats.NoURL)
	gauge("inflight_records", "Number of records that have been read and are not resolved.", s.Ledger.InFlight)
	count("source_bytes_total", "Number of bytes read, after decompression.", s.Bytes)
	last := s.Last
	if last.IsZero() {
		last = began
	}
	add("source_last_record_timestamp_seconds", "Time when the last record was read, or when the pipeline began if it has read none, in seconds since the Unix epoch.", metric.Gauge, float64(last.UnixMilli())/1000)
	ch <- histogram(deliveryDesc, &s.Delivery, strings.ToValidUTF8(s.Name, "\uFFFD"))
	ch <- histogram(messageDesc, &s.MessageDelivery, strings.ToValidUTF8(s.Name, "\uFFFD"))
	count("lanes_opened_total", "Number of lanes opened: files, partitions, consumers.", int64(s.Opened))
	add("source_backpressure_seconds_total", "Time that a source has waited because earlier batches were not delivered yet, in seconds.", metric.Counter, s.Blocked.Seconds())
}

// retriesHelp also covers the retries that sinks report as an Extra.
const retriesHelp = "Number of retries, by class of the error: batches submitted to a sink again (retryable), repairs of files (file), and messages or record batches that a sink has sent again by itself."

const refusedHelp = "Number of records that a sink refused permanently, by action: dead-letter, or drop (lost)."

// sinks adds the metrics of the sinks.
func sinks(t *table, ch chan<- prometheus.Metric, list []engine.SinkSnapshot) {
	var named []engine.SinkSnapshot
	for i := range list {
		s := list[i]
		s.Dead = false // entries with the same name are one component
		named = addSink(named, &s)
	}
	for i := range named {
		s := &named[i]
		count, gauge := metric.Of(t.of(s.Name))
		count("sink_bytes_total", "Number of bytes that are durable in a sink, before compression.", s.Bytes)
		count("sink_records_total", "Number of records that are durable in a sink.", s.Records)
		count("sink_batches_total", "Number of batches that are durable in a sink.", s.Batches)
		count("sink_retries_total", retriesHelp, s.Retries, "class", "retryable")
		count("sink_refusals_total", "Number of answers in which a sink refused records permanently.", s.Refused)
		count("sink_refused_records_total", refusedHelp, s.DeadLetters, "action", "dead-letter")
		count("sink_refused_records_total", refusedHelp, s.Dropped, "action", "drop")
		gauge("sink_blocked_batches", "Number of batches that wait because a sink refuses their records permanently; their lanes are blocked.", int64(s.Stuck))
		gauge("sink_inflight_batches", "Number of batches submitted to a sink and not answered.", int64(s.Holds))
		gauge("sink_waiting_batches", "Number of batches that wait for their next attempt.", int64(s.Waiting))
		ch <- histogram(latencyDesc, &s.Latency, strings.ToValidUTF8(s.Name, "\uFFFD"))
	}
}

// The histograms; their label is the component.
var (
	latencyDesc  = prometheus.NewDesc(prefix+"sink_latency_seconds", "Time from submitting a batch to a sink until its answer, in seconds.", []string{"component"}, nil)
	deliveryDesc = prometheus.NewDesc(prefix+"source_delivery_seconds", "Time from reading a batch until its records are durable in every sink, in seconds.", []string{"component"}, nil)
	messageDesc  = prometheus.NewDesc(prefix+"source_message_delivery_seconds", "Time from the timestamp of the first message of a batch until its records are durable in every sink, in seconds; for brokers.", []string{"component"}, nil)
)

// histogram converts l to a Prometheus histogram, whose buckets are cumulative.
func histogram(desc *prometheus.Desc, l *engine.Latency, name string) prometheus.Metric {
	buckets := make(map[float64]uint64, len(engine.LatencyBounds))
	n := uint64(0)
	for i, bound := range engine.LatencyBounds {
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
