// Command gen writes the sets on which the speed of urlfold is measured. A set
// depends only on its name, its seed and its size:
//
//	go run ./gen -set day -mb 500 | gzip -6 >day.log.gz
//	go run ./gen -set crawl -lines 20000000 >crawl.txt
//
// The sets:
//
//	day    one day of a combined log: see the shares in url.go
//	clean  the same, with every target in normal form
//	dirty  the same, with one to five defects in every target
//	crawl  a list of absolute URLs, as a crawler's frontier meets them
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	set := flag.String("set", "day", "name of the set: "+strings.Join(setNames, ", "))
	seed := flag.Uint64("seed", 1, "seed of the random numbers")
	megabytes := flag.Int64("mb", 500, "size in millions of bytes; the last line is whole")
	lines := flag.Int64("lines", 0, "number of lines (default: as many as -mb allows)")
	origin := flag.Bool("origin", false, "write the targets of logs in origin form, without scheme and host")
	flag.Parse()
	limit := size{lines: *lines, bytes: *megabytes * 1_000_000}
	if *lines > 0 {
		limit.bytes = 0
	}
	if err := write(os.Stdout, *set, *seed, *origin, limit); err != nil {
		fmt.Fprintf(os.Stderr, "gen: %v\n", err)
		os.Exit(1)
	}
}

// A size limits a set by lines or by bytes; zero means no limit.
type size struct{ lines, bytes int64 }

// reached reports whether a set of s has the size limit.
func (s size) reached(limit size) bool {
	return limit.lines > 0 && s.lines >= limit.lines || limit.bytes > 0 && s.bytes >= limit.bytes
}

var setNames = []string{"day", "clean", "dirty", "crawl"}

// write writes whole lines of the set name to w until they reach limit.
func write(w io.Writer, name string, seed uint64, origin bool, limit size) error {
	next, err := newSet(name, seed, origin, limit)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<20)
	var written size
	var line []byte
	for !written.reached(limit) {
		line = append(next(line[:0], written), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
		written.lines++
		written.bytes += int64(len(line))
	}
	return out.Flush()
}

// A nextLine appends the next line of a set to dst, without its line feed.
// before is the size of all previous lines together.
type nextLine func(dst []byte, before size) []byte

func newSet(name string, seed uint64, origin bool, limit size) (nextLine, error) {
	if limit == (size{}) {
		return nil, fmt.Errorf("a set needs a size")
	}
	web := newWeb(seed)
	switch name {
	case "day":
		return newLog(web, limit, origin, web.visit).line, nil
	case "clean":
		return newLog(web, limit, origin, web.visitClean).line, nil
	case "dirty":
		return newLog(web, limit, origin, web.visitDirty).line, nil
	case "crawl":
		return func(dst []byte, _ size) []byte { return web.found().appendTo(dst) }, nil
	}
	return nil, fmt.Errorf("unknown set %q (must be one of: %s)", name, strings.Join(setNames, ", "))
}
