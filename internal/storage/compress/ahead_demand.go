package compress

import "time"

// A demand measures whether a reader is the bottleneck: whether its caller
// spends most of the time in Read. Otherwise the records take longer than
// inflating, and goroutines that inflate would only take time from the others.
type demand struct {
	total    int64 // bytes in this period
	in, out  time.Duration
	at       time.Time // of the last call of enter or leave
	measured bool
	isHigh   bool
}

// enter is called when Read begins.
func (d *demand) enter() {
	now := time.Now()
	if !d.at.IsZero() {
		d.out += now.Sub(d.at)
	}
	d.at = now
}

// leave is called when Read returns n bytes.
func (d *demand) leave(n int) {
	now := time.Now()
	d.in += now.Sub(d.at)
	d.at = now
	d.total += int64(n)
}

// high reports whether the reader was the bottleneck when that was last
// measured, and false during a measurement.
func (d *demand) high(sizes aheadSizes) bool {
	switch {
	case sizes.probe == 0:
		return true
	case d.measured && d.total >= sizes.period:
		*d = demand{at: d.at}
	case !d.measured && d.total >= sizes.probe:
		d.measured = true
		d.isHigh = d.in >= 3*d.out // three quarters of the time
	}
	return d.measured && d.isHigh
}
