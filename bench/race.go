package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"
)

// This file is for programs that let loops take turns in copying messages from one
// place to another.

// A Measure is what came of one run of a loop.
type Measure struct {
	Rate  float64 // messages a second
	Bytes float64 // bytes of URLs a second
	CPU   float64 // nanoseconds of processor for each message, in this process
}

// Race prints the medians of rounds, in each of which every loop had its turn, and the
// ratio of the first loop to the fastest of the others: the median of the ratios
// within rounds. It is an error if that is below least.
func Race(w io.Writer, names []string, rounds [][]Measure, least float64) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s %12s %8s %14s\n", "loop", "messages/s", "MB/s", "ns processor")
	for k, name := range names {
		of := func(f func(Measure) float64) float64 {
			var list []float64
			for _, round := range rounds {
				list = append(list, f(round[k]))
			}
			return median(list)
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
		return fmt.Errorf("the ratio is below %.1f", least)
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
	ratio := median(ratios)
	fmt.Fprintf(b, "\nurlfold / the fastest bare loop of the round: %.2f (rounds:", ratio)
	for _, r := range ratios {
		fmt.Fprintf(b, " %.2f", r)
	}
	b.WriteString(")\n")
	return ratio
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}

// Processor returns how long the cores have worked for this process.
func Processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
