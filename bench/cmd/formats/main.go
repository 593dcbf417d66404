// Formats compares the speed of the text formats. It reads a combined log,
// writes its requests in each format to a file of the same size, and rewrites
// each file with one worker on one processor. In each round it runs combined
// directly beside each other format, and the format with an older program, if there is one.
// The table has medians of the CPU time, the median, the least and the greatest of the
// speeds relative to combined, and the CPU time relative to the older program.
//
//	go run ./cmd/formats [-mb 200] [-rounds 7] [-only caddy,squid] [-base PROGRAM] -log access.log
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urlfold/urlfold/bench"
)

// combined is the format that the others are compared with.
const combined = "combined"

func main() {
	log := flag.String("log", "", "combined log with the requests to use, in origin form")
	mb := flag.Int("mb", 200, "size of each file in MB")
	rounds := flag.Int("rounds", 7, "number of rounds; their median is printed")
	only := flag.String("only", "", "names of formats, separated by commas; default: all")
	dir := flag.String("dir", "", "existing folder to write the files to, which are kept; default: a temporary one")
	program := flag.String("urlfold", "urlfold", "program to measure")
	older := flag.String("base", "", "older program to compare it with")
	where := flag.String("where", `status < 600 && method != "" && bytes >= 0`, "expression for the row with --where")
	flag.Parse()
	if err := run(*log, *dir, *mb, *rounds, *only, *program, *older, *where); err != nil {
		fmt.Fprintln(os.Stderr, "formats:", err)
		os.Exit(1)
	}
}

func run(log, dir string, mb, rounds int, only, program, older, where string) error {
	requests, err := readRequests(log)
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "urlfold-formats"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	jobs, err := prepare(dir, requests, mb*1e6, only, where)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if err := j.check(program); err != nil {
			return err
		}
	}
	base, others := jobs[0], jobs[1:]
	for n := range rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", n+1, rounds)
		for i := range others {
			if err := others[(i+n)%len(others)].measureBeside(base, program, older, n); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%s; one of them is used; %d MB of each format with the URLs of %s; medians of %d rounds\n\n",
		bench.Machine(), mb, filepath.Base(log), rounds)
	return printTable(base, others)
}

// prepare writes the file of each format and returns what to measure, combined first.
func prepare(dir string, requests []request, size int, only, where string) (jobs []*job, err error) {
	for i := range forms {
		f := &forms[i]
		if only != "" && f.name != combined && !slices.Contains(strings.Split(only, ","), f.name) {
			continue
		}
		j := &job{name: f.name, args: f.args, file: filepath.Join(dir, f.name)}
		if j.lines, j.bytes, err = f.write(j.file, requests, size); err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
		if f.name == combined {
			kept := *j
			kept.name, kept.args = combined+" --where", append([]string{"--where", where}, j.args...)
			jobs = append(jobs, &kept)
		}
	}
	return jobs, nil
}

// printTable prints a row for each job.
func printTable(base *job, others []*job) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "format\tbytes/line\tns/line\tMB/s\tspeed by byte\tleast\tgreatest\tspeed by line\tCPU / older\t\n")
	row := func(j *job, times []float64) {
		seconds := bench.Median(times)
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.0f\t", j.name, j.bytes/j.lines, seconds/float64(j.lines)*1e9, float64(j.bytes)/seconds/1e6)
	}
	row(base, others[0].beside)
	fmt.Fprintf(w, "1.00 x\t\t\t1.00 x\t\t\n")
	for _, j := range others {
		row(j, j.seconds)
		speed := j.speed(base)
		byByte := bench.Median(speed)
		lines := float64(j.lines) / float64(base.lines) * float64(base.bytes) / float64(j.bytes)
		fmt.Fprintf(w, "%.2f x\t%.2f\t%.2f\t%.2f x\t%s\t\n", byByte, slices.Min(speed), slices.Max(speed), byByte*lines, j.change())
	}
	return w.Flush()
}
