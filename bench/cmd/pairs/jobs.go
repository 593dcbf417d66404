package main

import (
	"bytes"
	"fmt"
	"os/exec"
)

// A job is a command line of urlfold. SETS is replaced by the folder of the
// sets, OUT by an empty folder.
type job struct {
	name string
	args []string
}

// jobs are the jobs of docs/performance.md. What is written goes to /dev/null
// unless compressing it is part of the job.
var jobs = []job{
	{"rewrite .gz", rewrite("-o", "/dev/null", "SETS/day.log.gz")},
	{"rewrite plain", rewrite("-o", "/dev/null", "SETS/day.log")},
	{"rewrite plain, one worker", rewrite("-j", "1", "-o", "/dev/null", "SETS/day.log")},
	{"rewrite .zst", rewrite("-o", "/dev/null", "SETS/day.log.zst")},
	{"rewrite to .zst", rewrite("-o", "OUT/day.zst", "SETS/day.log.gz")},
	{"rewrite to .gz", rewrite("-o", "OUT/day.gz", "SETS/day.log.gz")},
	{"rewrite origin form", rewrite("-o", "/dev/null", "SETS/origin.log")},
	{"rewrite clean", rewrite("-o", "/dev/null", "SETS/clean.log")},
	{"rewrite dirty", rewrite("-o", "/dev/null", "SETS/dirty.log")},
	{"jsonl norm and key", rewrite("-r", "jsonl", "--fields", "norm,key", "-o", "/dev/null", "SETS/day.log.gz")},
	{"jsonl default fields", rewrite("-r", "jsonl", "-o", "/dev/null", "SETS/day.log.gz")},
	{"jsonl analytics", rewrite("-p", "analytics", "-r", "jsonl", "-o", "/dev/null", "SETS/day.log.gz")},
	{"keys", rewrite("-r", "keys", "-o", "/dev/null", "SETS/day.log.gz")},
	{"parquet", rewrite("-o", "OUT/day.parquet", "SETS/day.log.gz")},
	{"--dedupe", rewrite("--dedupe", "-o", "/dev/null", "SETS/day.log.gz")},
	{"--where status", rewrite("--where", "status == 200", "-o", "/dev/null", "SETS/day.log.gz")},
	{"--where bots", rewrite("--where", `agent matches "(?i)bot|crawl|spider"`, "-o", "/dev/null", "SETS/day.log.gz")},
	{"top", []string{"top", "-f", "combined", "SETS/day.log.gz"}},
	{"count", []string{"count", "-f", "combined", "SETS/day.log.gz"}},
	{"report", []string{"report", "-f", "combined", "-o", "OUT/report.html", "SETS/day.log.gz"}},
	{"crawl, equiv", list("SETS/crawl.txt")},
	{"crawl, crawler and fetch", list("-p", "crawler", "-k", "fetch", "-r", "keys", "SETS/crawl.txt")},
	{"crawl, analytics and page", list("-p", "analytics", "-k", "page", "-r", "keys", "SETS/crawl.txt")},
}

// oldNames are the names of options and levels in programs older than 0.1.0,
// such as the default baseline.
var oldNames = map[string]string{"--dedupe": "--unique", "fetch": "k2", "page": "k3"}

// namesOf returns what a program calls the options of jobs, if it has other
// names for them.
func namesOf(program string) (map[string]string, error) {
	help, err := exec.Command(program, "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --help: %w", program, err)
	}
	if bytes.Contains(help, []byte("--dedupe")) {
		return nil, nil
	}
	return oldNames, nil
}

func rewrite(args ...string) []string {
	return append([]string{"-f", "combined", "--quiet", "--force"}, args...)
}

func list(args ...string) []string {
	return append([]string{"-f", "lines", "--quiet", "--force", "-o", "/dev/null"}, args...)
}
