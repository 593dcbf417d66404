package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
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

// A Loop copies messages until it is stopped. Run runs and measures it once.
type Loop struct {
	Name string
	Run  func() (Measure, error)
}

// Race runs the loops, each once in each round, and prints their medians and
// the ratio of the first loop to the fastest of the others: the median of the
// ratios within rounds. It returns an error if that ratio is below least.
// Each loop is the first in some round. If only is not empty, only the loop
// with that name runs.
func Race(w io.Writer, loops []Loop, rounds int, only string, least float64) error {
	loops = slices.DeleteFunc(loops, func(l Loop) bool { return only != "" && l.Name != only })
	all := make([][]Measure, rounds)
	for round := range all {
		all[round] = make([]Measure, len(loops))
		for i := range loops {
			k := (i + round) % len(loops)
			m, err := loops[k].Run()
			if err != nil {
				return fmt.Errorf("%s: %w", loops[k].Name, err)
			}
			all[round][k] = m
			fmt.Fprintf(os.Stderr, "round %d: %-24s %8.0f messages/s, %5.0f ns of CPU time per message\n", round+1, loops[k].Name, m.Rate, m.CPU)
		}
	}
	return printRace(w, loops, all, least)
}

// printRace prints the table of a race, and judges it.
func printRace(w io.Writer, loops []Loop, rounds [][]Measure, least float64) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s %12s %8s %14s\n", "loop", "messages/s", "MB/s", "CPU ns/message")
	for k, l := range loops {
		of := func(f func(Measure) float64) float64 {
			var list []float64
			for _, round := range rounds {
				list = append(list, f(round[k]))
			}
			return Median(list)
		}
		fmt.Fprintf(&b, "%-24s %12.0f %8.1f %14.0f\n", l.Name, of(func(m Measure) float64 { return m.Rate }),
			of(func(m Measure) float64 { return m.Bytes / 1e6 }), of(func(m Measure) float64 { return m.CPU }))
	}
	ratio := least
	if len(loops) > 1 {
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

// Profile writes a CPU profile to a file until stop is called. An empty path
// writes none.
func Profile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		if err := f.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "profile:", err)
		}
	}, nil
}

// CPUTime returns the CPU time used by this process.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
