package pipeline

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoff(t *testing.T) {
	f := func(try int, lo, hi time.Duration) {
		t.Helper()
		seen := make(map[time.Duration]bool)
		for range 200 {
			d := backoff(try)
			if d < lo || d > hi {
				t.Fatalf("try %d: %v, want %v to %v", try, d, lo, hi)
			}
			seen[d] = true
		}
		if lo != hi && len(seen) < 2 {
			t.Errorf("try %d: no jitter", try)
		}
	}
	f(0, 100*time.Millisecond, 150*time.Millisecond)
	f(1, 100*time.Millisecond, 150*time.Millisecond)
	f(2, 200*time.Millisecond, 300*time.Millisecond)
	f(8, 12800*time.Millisecond, 19200*time.Millisecond)
	f(9, 25600*time.Millisecond, 30*time.Second)
	f(10, 30*time.Second, 30*time.Second)
	f(1<<30, 30*time.Second, 30*time.Second)
}

func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var th throttle
		f := func(wantSkipped int64, want bool) {
			t.Helper()
			if skipped, ok := th.ok(); skipped != wantSkipped || ok != want {
				t.Errorf("ok() = %d, %v, want %d, %v", skipped, ok, wantSkipped, want)
			}
		}
		f(0, true)
		f(0, false)
		f(0, false)
		time.Sleep(logInterval)
		f(2, true)
		f(0, false)
	})
}
