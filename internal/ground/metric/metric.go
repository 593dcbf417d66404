// Package metric has the types with which components report their metrics.
package metric

// An Emit takes a series: see metrics.Extra. It is an alias, so that components need not
// import this package.
type Emit = func(name, help, kind string, value float64, labels ...string)

// The kinds of metrics.
const (
	Counter = "counter" // never decreases
	Gauge   = "gauge"   // goes up and down
)

// An Int emits a metric whose values are whole numbers.
type Int func(name, help string, n int64, labels ...string)

// Of returns the functions that emit counters and gauges of whole numbers.
func Of(emit Emit) (count, gauge Int) {
	as := func(kind string) Int {
		return func(name, help string, n int64, labels ...string) { emit(name, help, kind, float64(n), labels...) }
	}
	return as(Counter), as(Gauge)
}
