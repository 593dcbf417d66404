package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The ranks are those of a table of the sign test: with 15 values, the fourth
// from each end.
func TestInterval(t *testing.T) {
	for _, c := range []struct{ n, low, high int }{
		{1, 1, 1}, {5, 1, 5}, {6, 1, 6}, {9, 2, 8}, {15, 4, 12}, {25, 8, 18},
	} {
		var x []int
		for i := range c.n {
			x = append(x, c.n-i)
		}
		if low, high := interval(x); low != c.low || high != c.high {
			t.Errorf("%d values: %d to %d, want %d to %d", c.n, low, high, c.low, c.high)
		}
	}
}

func TestRow(t *testing.T) {
	old := []figures{{cpu: 2 * time.Second}, {cpu: 4 * time.Second}, {cpu: time.Second}}
	now := []figures{{cpu: time.Second, wall: time.Second, rss: 5 << 20}, {cpu: 4 * time.Second, wall: 3 * time.Second, rss: 3 << 20}, {cpu: 2 * time.Second, wall: 2 * time.Second, rss: 4 << 20}}
	const want = "| x | 2.00 | 2.00 | 4 | 1.000 | 0.500 to 2.000 |"
	if got := row("x", old, now); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestJobsAreNamedOnce(t *testing.T) {
	var names []string
	for _, j := range jobs {
		names = append(names, j.name)
		if !slices.ContainsFunc(j.args, func(a string) bool { return strings.HasPrefix(a, "SETS/") }) {
			t.Errorf("%s: no set is read", j.name)
		}
	}
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("duplicate names: %q", names)
	}
}

// A job that fails must not become a figure.
func TestFailedRun(t *testing.T) {
	if _, err := (job{"false", nil}).run("/bin/false", nil, t.TempDir()); err == nil || !strings.Contains(err.Error(), "false") {
		t.Errorf("error %v", err)
	}
}
