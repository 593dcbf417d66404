package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// job is a run of urlfold over one file.
type job struct {
	name         string
	args         []string
	file         string
	lines, bytes int
	seconds      []float64 // of user CPU time, one value for each round
}

// measure runs the job once. It checks that urlfold has found a URL in each
// line, because a format that finds none is fast.
func (j *job) measure(binary string) error {
	args := append([]string{"-j", "1", "--quiet", "--report", "-", "-o", os.DevNull}, j.args...)
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
	j.seconds = append(j.seconds, c.ProcessState.UserTime().Seconds())
	return nil
}
