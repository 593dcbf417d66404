// Naive is the program that one would write first: it reads an access log with
// bufio.Scanner, parses each request target with net/url, and writes the
// normalized URL and a hash of it with encoding/json. peers compares urlfold
// with it.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/url"
	"os"
	"strings"
)

type record struct {
	URL  string `json:"url"`
	Norm string `json:"norm"`
	Key  uint64 `json:"key"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: naive FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "naive:", err)
		os.Exit(1)
	}
}

func run(name string, out io.Writer) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	w := bufio.NewWriter(out)
	encoder := json.NewEncoder(w)
	base := &url.URL{Scheme: "http", Host: "h"}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		target := target(lines.Text())
		u, err := url.Parse(target)
		if err != nil {
			continue
		}
		norm := base.ResolveReference(u).String()
		h := fnv.New64a()
		h.Write([]byte(norm))
		if err := encoder.Encode(record{target, norm, h.Sum64()}); err != nil {
			return err
		}
	}
	return w.Flush()
}

// target returns the request target of a line, or the line itself if no request
// is quoted.
func target(line string) string {
	if _, request, ok := strings.Cut(line, `"`); ok {
		if words := strings.Fields(request); len(words) > 1 {
			return words[1]
		}
	}
	return line
}
