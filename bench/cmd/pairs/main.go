// Command pairs runs the jobs of the measured sets with two programs in turn, a
// baseline and a new one, and prints what each job takes and how the two compare:
//
//	pairs -base OLD/urlfold -new NEW/urlfold -sets FOLDER [-pairs 15] [JOB …]
//
// The ratios are of CPU time (user and system), new by base within one pair. The
// interval covers the true median with a probability of at least 95 %: its ends
// are the order statistics that the binomial distribution gives, so it assumes
// nothing about the times.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	base := flag.String("base", "", "the program of the baseline")
	program := flag.String("new", "", "the program to measure")
	sets := flag.String("sets", "", "folder of the sets, as run.sh makes it")
	pairs := flag.Int("pairs", 15, "pairs of runs for each job")
	flag.Parse()
	if *base == "" || *program == "" || *sets == "" || *pairs < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := measure(os.Stdout, *base, *program, *sets, *pairs, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "pairs: %v\n", err)
		os.Exit(1)
	}
}

func measure(w io.Writer, base, program, sets string, pairs int, only []string) error {
	names, err := namesOf(base)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "| job | wall s | CPU s | RSS MB | CPU / base | interval |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	for _, j := range jobs {
		if len(only) > 0 && !slices.Contains(only, j.name) {
			continue
		}
		var old, now []figures
		for range pairs + 1 { // the first pair warms up
			for _, side := range []struct {
				program string
				names   map[string]string
				runs    *[]figures
			}{{base, names, &old}, {program, nil, &now}} {
				f, err := j.run(side.program, side.names, sets)
				if err != nil {
					return err
				}
				*side.runs = append(*side.runs, f)
			}
		}
		fmt.Fprintln(w, row(j.name, old[1:], now[1:]))
	}
	return nil
}

// figures are what one run takes.
type figures struct {
	wall, cpu time.Duration
	rss       int64 // bytes
}

// run runs the job once, with the names that the program has for some options. A job
// that fails is an error: its time means nothing.
func (j job) run(program string, names map[string]string, sets string) (figures, error) {
	out, err := os.MkdirTemp(sets, "out-")
	if err != nil {
		return figures{}, err
	}
	defer os.RemoveAll(out)
	var args []string
	for _, arg := range j.args {
		args = append(args, cmp.Or(names[arg], strings.NewReplacer("SETS", sets, "OUT", out).Replace(arg)))
	}
	c := exec.Command(program, args...)
	var messages strings.Builder
	c.Stderr = &messages
	start := time.Now()
	if err := c.Run(); err != nil {
		return figures{}, fmt.Errorf("%s: %s %s: %w\n%s", j.name, filepath.Base(program), strings.Join(args, " "), err, messages.String())
	}
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	return figures{
		wall: time.Since(start),
		cpu:  c.ProcessState.UserTime() + c.ProcessState.SystemTime(),
		rss:  usage.Maxrss * 1024, // kilobytes on Linux
	}, nil
}

func row(name string, old, now []figures) string {
	ratios := make([]float64, len(now))
	for i := range now {
		ratios[i] = now[i].cpu.Seconds() / old[i].cpu.Seconds()
	}
	low, high := interval(ratios)
	return fmt.Sprintf("| %s | %.2f | %.2f | %d | %.3f | %.3f to %.3f |", name,
		median(now, func(f figures) float64 { return f.wall.Seconds() }),
		median(now, func(f figures) float64 { return f.cpu.Seconds() }),
		int64(median(now, func(f figures) float64 { return float64(f.rss) / (1 << 20) })),
		median(ratios, func(r float64) float64 { return r }), low, high)
}

// median returns the median of a figure; of an even number, the larger one.
func median[T any](runs []T, of func(T) float64) float64 {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// interval returns the narrowest pair of order statistics of x, of the same rank
// from both ends, that covers the median with a probability of at least 95 %.
// With fewer than six values there is no such pair, and it returns the extremes.
func interval[T cmp.Ordered](x []T) (low, high T) {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	tail, term := 0.0, 1.0 // term is the number of ways to have k of n values below the median
	for range n {
		term /= 2 // … times 2^-n
	}
	rank := 0
	for k := 0; k < n/2; k++ {
		if tail += term; tail > 0.025 {
			break
		}
		rank = k
		term *= float64(n-k) / float64(k+1)
	}
	return x[rank], x[n-1-rank]
}
