package metrics

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// prefix is what the names of all metrics begin with.
const prefix = "urlfold_"

// maxSeries is how many series one metric may have. What comes beyond is added up
// under the label value "other": a topic with ten thousand partitions must not
// cost more than the records in it.
const maxSeries = 1000

// The kinds of figures.
const (
	counter = "counter" // only grows
	gauge   = "gauge"   // goes up and down
)

// An Extra is a component with figures of its own, such as the lag of a topic.
//
// Metrics calls emit for each of them, from one goroutine, and keeps nothing of
// it. name is without the prefix "urlfold_" and follows the conventions of Prometheus
// ("source_offset_gap_records_total"); help is a sentence; kind is "counter" or
// "gauge"; labels are pairs of a name and a value. Labels take few values: never
// paths, never URLs. Equal series of several components are added up. Metrics does
// not block, and works after the component was closed too.
//
// The types are plain, so that components need not import this package.
type Extra interface {
	Metrics(emit func(name, help, kind string, value float64, labels ...string))
}

// A table holds figures by name and labels.
type table struct {
	families []*family
	byName   map[string]*family
}

// A family is the series of one metric.
type family struct {
	name, help, kind string
	series           []*series
	byLabels         map[string]*series
}

type series struct {
	labels []string // names and values in turn
	value  float64
}

func newTable() *table { return &table{byName: make(map[string]*family)} }

// extra adds a figure of a component.
func (t *table) extra(name, help, kind string, value float64, labels ...string) {
	if len(labels)%2 != 0 {
		labels = append(slices.Clone(labels), "")
	}
	t.add(strings.TrimPrefix(name, prefix), help, kind, value, labels...)
}

// add adds value to a series. The first help and kind of a name are those that
// count.
func (t *table) add(name, help, kind string, value float64, labels ...string) {
	t.at(name, help, kind, labels).value += value
}

// raise makes the value of a series at least value.
func (t *table) raise(name, help string, value float64, labels ...string) {
	s := t.at(name, help, gauge, labels)
	s.value = max(s.value, value)
}

// at returns the series of that name with those labels.
func (t *table) at(name, help, kind string, labels []string) *series {
	f := t.byName[name]
	if f == nil {
		f = &family{name: name, help: help, kind: kind, byLabels: make(map[string]*series)}
		t.byName[name] = f
		t.families = append(t.families, f)
	}
	key := strings.Join(labels, "\x00")
	s := f.byLabels[key]
	if s == nil && len(f.series) >= maxSeries-1 {
		labels = other(labels)
		key = strings.Join(labels, "\x00")
		s = f.byLabels[key]
	}
	if s == nil {
		s = &series{labels: slices.Clone(labels)}
		f.byLabels[key] = s
		f.series = append(f.series, s)
	}
	return s
}

// other returns labels with "other" for every value.
func other(labels []string) []string {
	labels = slices.Clone(labels)
	for i := 1; i < len(labels); i += 2 {
		labels[i] = "other"
	}
	return labels
}

// merge adds all figures of o.
func (t *table) merge(o *table) {
	for _, f := range o.families {
		for _, s := range f.series {
			t.add(f.name, f.help, f.kind, s.value, s.labels...)
		}
	}
}

// keepCounters forgets all but the counters.
func (t *table) keepCounters() {
	t.families = slices.DeleteFunc(t.families, func(f *family) bool { return f.kind != counter })
	clear(t.byName)
	for _, f := range t.families {
		t.byName[f.name] = f
	}
}

// send sends all figures to ch. One that Prometheus does not allow becomes an error
// of the scrape, which goes on without it.
func (t *table) send(ch chan<- prometheus.Metric) {
	for _, f := range t.families {
		kind := prometheus.UntypedValue
		switch f.kind {
		case counter:
			kind = prometheus.CounterValue
		case gauge:
			kind = prometheus.GaugeValue
		}
		for _, s := range f.series {
			names, values := split(s.labels)
			desc := prometheus.NewDesc(prefix+f.name, f.help, names, nil)
			m, err := prometheus.NewConstMetric(desc, kind, s.value, values...)
			if err != nil {
				m = prometheus.NewInvalidMetric(desc, err)
			}
			ch <- m
		}
	}
}

// split takes names and values of labels apart.
func split(labels []string) (names, values []string) {
	for i := 0; i < len(labels); i += 2 {
		names = append(names, labels[i])
		values = append(values, strings.ToValidUTF8(labels[i+1], "\uFFFD"))
	}
	return names, values
}
