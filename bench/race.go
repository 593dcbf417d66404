package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"
)

// This file is used by programs that compare loops that copy messages, running
// them in alternation.

// A Measure is the result of one run of a loop.
type Measure struct {
	Rate  float64 // messages per second
	Bytes float64 // bytes of URLs per second
	CPU   float64 // CPU time per message in this process, in nanoseconds
}

// Race prints the medians over the rounds; each round ran every loop once;
// and the ratio of the first loop to the fastest of the others: the median of
// the ratios within rounds. It returns an error if that ratio is below least.
func Race(w io.Writer, names []string, rounds [][]Measure, least float64) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s %12s %8s %14s\n", "loop", "messages/s", "MB/s", "CPU ns/message")
	for k, name := range names {
		of := func(f func(Measure) float64) float64 {
			var list []float64
			for _, round := range rounds {
				list = append(list, f(round[k]))
			}
			return Median(list)
		}
		fmt.Fprintf(&b, "%-24s %12.0f %8.1f %14.0f\n", name, of(func(m Measure) float64 { return m.Rate }),
			of(func(m Measure) float64 { return m.Bytes / 1e6 }), of(func(m Measure) float64 { return m.CPU }))
	}
	ratio := least
	if len(names) > 1 {
		ratio = ratioOf(&b, rounds)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if ratio < least {
		return fmt.Errorf("ratio %.2f is below %.1f", ratio, least)
	}
	return nil
}

// ratioOf prints and returns the ratio.
func ratioOf(b *strings.Builder, rounds [][]Measure) float64 {
	var ratios []float64
	for _, round := range rounds {
		bare := 0.0
		for _, m := range round[1:] {
			bare = max(bare, m.Rate)
		}
		ratios = append(ratios, round[0].Rate/bare)
	}
	slices.Sort(ratios)
	ratio := Median(ratios)
	fmt.Fprintf(b, "\nurlfold / fastest bare loop of the round: %.2f (rounds:", ratio)
	for _, r := range ratios {
		fmt.Fprintf(b, " %.2f", r)
	}
	b.WriteString(")\n")
	return ratio
}

// CPUTime returns the CPU time used by this process.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
