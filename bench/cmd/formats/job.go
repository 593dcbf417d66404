package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/urlfold/urlfold/bench"
)

// job is a run of urlfold over one file.
type job struct {
	name         string
	args         []string
	file         string
	lines, bytes int
	seconds      []float64 // of CPU time, one value for each run
	beside       []float64 // of the run of combined directly before or after
	older        []float64 // of the run of the older program directly before or after
}

// measureBeside runs the job and combined, one directly after the other, and the job
// with an older program, if there is one. They take turns to be first. The ratio of two
// neighbors suffers less from what else the machine does than the ratio of two medians.
func (j *job) measureBeside(combined *job, program, older string, round int) error {
	type side struct {
		job     *job
		program string
		times   *[]float64
	}
	sides := []side{{combined, program, &j.beside}, {j, program, &j.seconds}}
	if older != "" {
		sides = append(sides, side{j, older, &j.older})
	}
	if round%2 == 1 {
		slices.Reverse(sides)
	}
	for _, s := range sides {
		seconds, err := s.job.measure(s.program)
		if err != nil {
			return err
		}
		*s.times = append(*s.times, seconds)
	}
	return nil
}

// speed returns the speed relative to combined in each round, in bytes.
func (j *job) speed(combined *job) []float64 {
	ratios := bench.Ratios(j.beside, j.seconds)
	for i := range ratios {
		ratios[i] *= float64(j.bytes) / float64(combined.bytes)
	}
	return ratios
}

// change returns the CPU time relative to the older program, if there is one.
func (j *job) change() string {
	if len(j.older) == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", bench.Median(bench.Ratios(j.seconds, j.older)))
}

// measure runs the job once, and returns its CPU time in seconds.
func (j *job) measure(program string) (float64, error) {
	c := j.command(program, "-o", os.DevNull)
	if err := c.Run(); err != nil {
		return 0, fmt.Errorf("%s: %s: %w", j.name, program, err)
	}
	// Use the sum. It is exact, but the kernel splits it into user and system time by
	// sampling, every few milliseconds.
	p := c.ProcessState
	return (p.UserTime() + p.SystemTime()).Seconds(), nil
}

// check checks that urlfold finds a URL in each line, because a format that finds none is
// fast.
func (j *job) check(program string) error {
	c := j.command(program, "--summary", "-", "-o", os.DevNull)
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", j.name, err)
	}
	var report struct{ Totals struct{ URLs int } }
	if err := json.Unmarshal(out, &report); err != nil {
		return fmt.Errorf("%s: report: %w", j.name, err)
	}
	if report.Totals.URLs != j.lines {
		return fmt.Errorf("%s: %d URLs in %d lines", j.name, report.Totals.URLs, j.lines)
	}
	return nil
}

// command returns the run of the job by one worker on one processor.
func (j *job) command(program string, args ...string) *exec.Cmd {
	args = append(args, "-j", "1", "--quiet")
	c := exec.Command(program, append(append(args, j.args...), j.file)...)
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	c.Stderr = os.Stderr
	return c
}
