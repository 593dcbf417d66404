package file

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDerives: rotation appends, increases and compresses. Another number or
// date inside a name is another file.
func TestDerives(t *testing.T) {
	for _, c := range []struct {
		was, now string
		want     bool
	}{
		{"/v/a.log", "/v/a.log", true},
		{"/v/a.log", "/v/a.log.1", true},
		{"/v/a.log", "/v/a.log.12.gz", true},
		{"/v/a.log", "/v/a.log.gz", true},
		{"/v/a.log.gz", "/v/a.log.zst", true},
		{"/v/a.log.1", "/v/a.log.2", true},
		{"/v/a.log.1", "/v/a.log.2.gz", true},
		{"/v/a.log.1", "/v/a.log.3.gz", true}, // rotated twice
		{"/v/a.log", "/v/a.log-20261128", true},
		{"/v/a.log", "/v/a.log-2026112810.gz", true},
		{"/v/a.log", "/v/a.log-2026-11-28", true},
		{"/v/a.log", "/v/a.log-1764324000", true}, // dateformat -%s
		{"/v/a.log-20261128", "/v/a.log-20261128.gz", true},
		{"/v/a.log", "/v/old/a.log.1", true},  // olddir
		{"/v/a.log.1", "/v/a.log.3", false},   // keeps its inode
		{"/v/a.log.2", "/v/a.log.1", false},   // two dumps
		{"/v/day1.log", "/v/day2.log", false}, // a number inside
		{"/v/a-1.log", "/v/a-2.log", false},   // the same
		{"/v/a.log", "/v/a-2.log", false},     // a second file
		{"/v/a.log", "/v/a.log.old", false},   // no rotation that we know
		{"/v/a.log", "/w/a.log", false},       // another folder
		{"/v/x/a.log", "/v/y/a.log.1", false}, // another host
		{"/v/x/a.log", "/v/x/y/a.log", false}, // another host below
		{"/v/dump", "/v/dump2", false},        // another name
		{"/v/access", "/v/access.error", false},
		{"/v/dump-2026-01-01.log", "/v/dump-2026-01-02.log", false},
		{"/v/dump-2026-01-01.log.gz", "/v/dump-2026-01-02.log.gz", false},
		{"/v/2026-01-01/dump.log", "/v/2026-01-02/dump.log", false},
	} {
		was, now := filepath.FromSlash(c.was), filepath.FromSlash(c.now)
		if got := derives(now, was); got != c.want {
			t.Errorf("derives(%q, %q) = %v", now, was, got)
		}
	}
}

// TestBetweenRuns: between two runs in mode batch, a file disappears and
// another one appears. The second file is the first one only if rotation can
// have made its name, whether or not it got the inode of the first.
func TestBetweenRuns(t *testing.T) {
	t.Parallel()
	small, large := numbered("s", 0, 2), numbered("l", 0, 2000)
	more := func(text []string) []string { return slices.Concat(text, numbered("more", 0, 2)) }
	for name, c := range map[string]struct {
		was, now  string
		old, text []string
		again     int // lines of the second file that are emitted
	}{
		"equal dumps":                       {"dump-2026-01-01.log", "dump-2026-01-02.log", small, small, 2},
		"large equal dumps":                 {"dump-2026-01-01.log", "dump-2026-01-02.log", large, large, 2000},
		"equal compressed dumps":            {"dump-1.log.gz", "dump-2.log.gz", large, large, 2000},
		"a day that begins like another":    {"day1.log", "day2.log", small[:1], more(small[:1]), 3},
		"a table after a header":            {"a.csv", "b.csv", small[:1], small, 2},
		"a host like another":               {"h1/a.log", "h2/a.log", small, small, 2},
		"a second file, compressed":         {"a.log", "b.log.gz", large, large, 2000},
		"rotated":                           {"a.log", "a.log.1", small, small, 0},
		"rotated, with more":                {"a.log", "a.log.1", small, more(small), 2},
		"rotated by date":                   {"a.log", "a.log-20261128", small, small, 0},
		"rotated twice":                     {"a.log.1", "a.log.2", large, large, 0},
		"rotated and compressed":            {"a.log.1", "a.log.2.gz", large, more(large), 2},
		"compressed":                        {"a.log", "a.log.gz", small, small, 0},
		"the same name, with another inode": {"a.log", "a.log", small, more(small), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, data := t.TempDir(), t.TempDir()
			write := func(name string, text []string) {
				content := strings.Join(text, "")
				if strings.HasSuffix(name, ".gz") {
					content = gz(t, content)
				}
				if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
					t.Fatal(err)
				}
				put(t, filepath.Join(dir, name), content)
			}
			write(c.was, c.old)
			sink := &shelf{}
			start(t, data, batch(dir), sink, nil).wait()
			if err := os.Remove(filepath.Join(dir, c.was)); err != nil {
				t.Fatal(err)
			}
			write(c.now, c.text)
			start(t, data, batch(dir), sink, nil).wait()
			sink.checkCount(t, slices.Concat(c.old, c.text[len(c.text)-c.again:]))

			d := start(t, data, batch(dir), sink, nil) // nothing has changed since
			d.wait()
			sink.checkCount(t, slices.Concat(c.old, c.text[len(c.text)-c.again:]))
			rels := map[string]bool{}
			for _, e := range d.store.Entries("file") {
				rels[e.Rel] = true
			}
			if want := c.again == len(c.text); rels[filepath.FromSlash(c.now)] != want && c.was != c.now {
				t.Errorf("the second file has its own name: %v, want %v", slices.Collect(maps.Keys(rels)), want)
			}
		})
	}
}
