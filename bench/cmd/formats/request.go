package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// request holds what the formats say about a request, by the name of its
// placeholder.
type request map[string]string

// host is the host of all requests, because a combined log names none.
const host = "www.example.com"

// combinedLine matches a line whose request has a target in origin form. Lines
// with escaped quotes are left out: each format escapes them in its own way.
var combinedLine = regexp.MustCompile(`^(\S+) \S+ \S+ \[([^]]+)\] "([A-Z]+) (/[^ "\\]*) (HTTP/1\.[01])" (\d{3}) (\d+|-) "([^"\\]*)" "([^"\\]*)"$`)

// maxRequests bounds the memory: a request takes about 3 KB.
const maxRequests = 200_000

// readRequests returns the first requests of a combined log.
func readRequests(file string) ([]request, error) {
	log, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var requests []request
	for line := range bytes.Lines(log) {
		m := combinedLine.FindSubmatch(bytes.TrimRight(line, "\r\n"))
		if len(requests) == maxRequests {
			break
		}
		if m == nil {
			continue
		}
		at, err := time.Parse("02/Jan/2006:15:04:05 -0700", string(m[2]))
		if err != nil {
			continue
		}
		requests = append(requests, newRequest(m, at.UTC().Add(time.Duration(len(requests)%1000)*time.Millisecond), len(requests)))
	}
	if len(requests) == 0 {
		return nil, fmt.Errorf("%s: no line is one of a combined log", file)
	}
	return requests, nil
}

// newRequest returns the n-th request from the groups of combinedLine.
func newRequest(m [][]byte, at time.Time, n int) request {
	target, size := string(m[4]), string(m[7])
	path, query, found := strings.Cut(target, "?")
	if size == "-" {
		size = "0"
	}
	r := request{
		"client": string(m[1]), "method": string(m[3]), "target": target, "path": path, "query": query,
		"status": string(m[6]), "bytes": size, "referer": string(m[8]), "agent": string(m[9]),
		"clf": string(m[2]), "ms": at.Format("02/Jan/2006:15:04:05.000"), "iso": at.Format("2006-01-02T15:04:05.000000Z"),
		"date": at.Format("2006-01-02"), "clock": at.Format("15:04:05"), "digits": at.Format("20060102150405"),
		"epoch": fmt.Sprintf("%.3f", float64(at.UnixMilli())/1000), "port": strconv.Itoa(20000 + n%40000), "n": strconv.Itoa(n),
	}
	r["dash-query"] = query
	if !found || query == "" {
		r["dash-query"] = "-"
	}
	r["plus-agent"] = strings.ReplaceAll(r["agent"], " ", "+")
	r["word-referer"] = strings.ReplaceAll(r["referer"], " ", "%20")
	r["percent-agent"] = strings.ReplaceAll(r["agent"], " ", "%2520")
	for name, value := range r {
		r[name+"\""] = quote(value)
	}
	return r
}

// quote returns text as a JSON string. Most servers do not escape '&' in it.
func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can be encoded, and a Builder returns no error
	return strings.TrimSuffix(b.String(), "\n")
}
