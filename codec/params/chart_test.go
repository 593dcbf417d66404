package params

import (
	"strings"
	"testing"
)

// TestCharts compares the charts of texts with up to three charts with the
// bytes of the texts.
func TestCharts(t *testing.T) {
	pattern := strings.Repeat("a&b=c%;d", 7) + "+=x&=" // 61 bytes, so that each part occurs at the ends of charts
	text := []byte(strings.Repeat(pattern, 4))
	var s Scratch
	for n := range 200 {
		s.draw(text[:n])
		checkChart(t, &s, text[:n])
	}
}

func checkChart(t *testing.T, s *Scratch, text []byte) {
	t.Helper()
	is := func(set string) func(i int) bool {
		return func(i int) bool { return i == len(text) || strings.IndexByte(set, text[i]) >= 0 }
	}
	const ends, odds = "&", "%;+"
	first := func(i int, is func(int) bool) int {
		for !is(i) {
			i++
		}
		return i
	}
	for i := range len(text) + 1 {
		if got, want := next(s.charts, i, withoutEq), first(i, is(ends)); got != want {
			t.Fatalf("%q: next end from %d is %d, want %d", text, i, got, want)
		}
		if got, want := next(s.charts, i, withEq), first(i, is(ends+"=")); got != want {
			t.Fatalf("%q: next end or '=' from %d is %d, want %d", text, i, got, want)
		}
		for _, j := range []int{i, first(i, is(ends)), len(text)} {
			if got, want := anyOdd(s.charts, i, j), first(i, is(odds)) < j; got != want {
				t.Fatalf("%q: anyOdd from %d to %d is %v", text, i, j, got)
			}
		}
	}
}
