package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/urlfold/urlfold/bench"
)

// job is a run of urlfold over one file.
type job struct {
	name         string
	args         []string
	file         string
	lines, bytes int
	seconds      []float64 // of CPU time, one value for each run
	beside       []float64 // of the run of the baseline directly before or after
}

// measureBeside runs the job and the baseline, one directly after the other. They
// take turns to be first. The ratio of two neighbors suffers less from what else
// the machine does than the ratio of two medians.
func (j *job) measureBeside(base *job, binary string, round int) error {
	pair := []*job{base, j}
	if round%2 == 1 {
		pair = []*job{j, base}
	}
	for _, j := range pair {
		if err := j.measure(binary); err != nil {
			return err
		}
	}
	j.beside = append(j.beside, base.seconds[len(base.seconds)-1])
	return nil
}

// speed returns the speed relative to the baseline in each round, in bytes.
func (j *job) speed(base *job) []float64 {
	ratios := bench.Ratios(j.beside, j.seconds)
	for i := range ratios {
		ratios[i] *= float64(j.bytes) / float64(base.bytes)
	}
	return ratios
}

// measure runs the job once. It checks that urlfold has found a URL in each
// line, because a format that finds none is fast.
func (j *job) measure(binary string) error {
	args := append([]string{"-j", "1", "--quiet", "--summary", "-", "-o", os.DevNull}, j.args...)
	c := exec.Command(binary, append(args, j.file)...)
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	c.Stderr = os.Stderr
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
	// Use the sum. It is exact, but the kernel splits it into user and system time by
	// sampling, every few milliseconds.
	p := c.ProcessState
	j.seconds = append(j.seconds, (p.UserTime() + p.SystemTime()).Seconds())
	return nil
}
