package record

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestMinute: a time in the same minute as the previous time gets the form
// that it gets alone.
func TestMinute(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	var m minute
	hits := 0
	for range 20_000 {
		text := fmt.Appendf(nil, "%02d/Oct/2000:13:5%d:%02d %s", 10+rng.IntN(2), rng.IntN(2), rng.IntN(64), []string{"-0700", "+0000", "+0530"}[rng.IntN(3)])
		if rng.IntN(9) == 0 {
			text[rng.IntN(len(text))] = byte(rng.IntN(256))
		}
		want, wantOK := appendTime([]byte("x"), text, nil, nil, 0)
		got, ok := m.appendTime([]byte("x"), text)
		if ok {
			hits++
			if !wantOK || string(got) != string(want) {
				t.Fatalf("%q: got %q, want %q, %v", text, got, want, wantOK)
			}
			continue
		}
		if wantOK {
			m.remember(text, want[1:])
		}
	}
	if hits < 500 {
		t.Errorf("%d hits", hits)
	}
}
