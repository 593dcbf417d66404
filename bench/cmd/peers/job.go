package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A job is a program that reads the file and writes its result to /dev/null.
type job struct {
	name string
	how  string // to install it
	argv []string
	gzip bool // only for gzip files

	wall, cpu []float64 // seconds, one value per round
	rss       float64   // MB, maximum
}

const rewrite = "urlfold rewrite"

// jobs returns the jobs for a file. The programs of bench are in the folder
// bin.
func jobs(bin, file string) []*job {
	own := func(name string) string { return filepath.Join(bin, name) }
	all := []*job{
		{name: "igzip -dc", how: "apt-get install isal", argv: []string{"igzip", "-dc", file}, gzip: true},
		{name: "zcat", how: "apt-get install gzip", argv: []string{"zcat", file}, gzip: true},
		{name: "rapidgzip -P 2", how: "pip install rapidgzip", argv: []string{"rapidgzip", "-d", "-c", "-P", "2", file}, gzip: true},
		{name: "klauspost gunzip", argv: []string{own("gunzip"), file}, gzip: true},
		{name: rewrite, argv: []string{own("urlfold"), "--quiet", file}},
		{name: "urlfold jsonl norm,key", argv: []string{own("urlfold"), "--quiet", "-r", "jsonl", "--fields", "norm,key", file}},
		{name: "urlfold jsonl, all default fields", argv: []string{own("urlfold"), "--quiet", "-r", "jsonl", file}},
		{name: "urlfold keys", argv: []string{own("urlfold"), "--quiet", "-r", "keys", file}},
		{name: "urlfold rewrite, one worker", argv: []string{own("urlfold"), "--quiet", "--workers", "1", file}},
		{name: "naive Go (net/url, encoding/json)", argv: []string{own("naive"), file}},
		{name: "goaccess to JSON", how: "apt-get install goaccess", argv: []string{"goaccess", plain(file), "--log-format=COMBINED", "-o", "json", "--no-progress"}},
		{name: "benthos, parse_url and hash", argv: []string{own("benthos"), "-c", own("benthos.yaml")}},
	}
	var fit []*job
	for _, j := range all {
		if !j.gzip || strings.HasSuffix(file, ".gz") {
			fit = append(fit, j)
		}
	}
	return fit
}

// plain returns the name of the decompressed file that peers.sh writes for
// programs that cannot read gzip.
func plain(file string) string {
	if name := os.Getenv("PEERS_PLAIN"); name != "" {
		return name
	}
	return file
}

// find returns an error if the program is not installed.
func (j *job) find() error {
	_, err := exec.LookPath(j.argv[0])
	if errors.Is(err, exec.ErrNotFound) && j.how != "" {
		return fmt.Errorf("not installed; to install it: %s", j.how)
	}
	return err
}

// measure runs the job once.
func (j *job) measure() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	cmd := exec.Command(j.argv[0], j.argv[1:]...)
	var stderr strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = null, null, &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", j.name, err, stderr.String())
	}
	j.wall = append(j.wall, time.Since(start).Seconds())
	j.cpu = append(j.cpu, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		j.rss = max(j.rss, float64(usage.Maxrss)/1024)
	}
	return nil
}
