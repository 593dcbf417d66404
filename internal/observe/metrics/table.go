package metrics

import (
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/metric"
)

// prefix is the prefix of all metric names.
const prefix = "urlfold_"

// maxSeries is the maximum number of series of a metric. Further series are
// summed under the label value "other", so that the metrics of a topic with ten
// thousand partitions do not cost more than its records.
const maxSeries = 1000

// An Extra is a component with its own metrics, such as the lag of a topic.
//
// Metrics calls emit once for each series, from one goroutine, and does not
// retain emit. name omits the prefix "urlfold_" and follows the conventions of
// Prometheus ("source_offset_gap_records_total"); help is a sentence; kind is
// "counter" or "gauge"; labels are pairs of a name and a value. Label values
// come from a small set: never paths, never URLs. Equal series of several
// components are summed. Metrics must not block, and must work after the
// component has been closed.
//
// The signature uses only basic types, so that components need not import this
// package.
type Extra interface {
	Metrics(emit metric.Emit)
}

// A table holds series by name and labels.
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
	labels []string // alternating names and values
	value  float64
}

func newTable() *table { return &table{byName: make(map[string]*family)} }

// extra adds a series of a component. It has the signature of emit in [Extra].
func (t *table) extra(name, help, kind string, value float64, labels ...string) {
	if len(labels)%2 != 0 {
		labels = append(slices.Clone(labels), "")
	}
	t.add(strings.TrimPrefix(name, prefix), help, kind, value, labels...)
}

// add adds value to a series. The first call for a name determines help and
// kind.
func (t *table) add(name, help, kind string, value float64, labels ...string) {
	t.at(name, help, kind, labels).value += value
}

// of returns a function that adds series of a component.
func (t *table) of(component string) metric.Emit {
	return func(name, help, kind string, value float64, labels ...string) {
		t.add(name, help, kind, value, append([]string{"component", component}, labels...)...)
	}
}

// raise raises a series to value if it is lower.
func (t *table) raise(name, help string, value float64, labels ...string) {
	s := t.at(name, help, metric.Gauge, labels)
	s.value = max(s.value, value)
}

// at returns the series with the given name and labels, and creates it if
// necessary.
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
		labels = slices.Clone(labels)
		for i := 1; i < len(labels); i += 2 {
			labels[i] = "other"
		}
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

// merge adds all series of o.
func (t *table) merge(o *table) {
	for _, f := range o.families {
		for _, s := range f.series {
			t.add(f.name, f.help, f.kind, s.value, s.labels...)
		}
	}
}
