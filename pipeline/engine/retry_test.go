package engine

import (
	"context"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
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
	bubble.Test(t, func(t *testing.T) {
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

// A lateSink answers each submission after a delay, the first one with a retry.
type lateSink struct {
	fakeSink
	after []time.Duration // delay of the first submission, the second, …
	retry bool
}

func (s *lateSink) Submit(_ context.Context, _ *Batch, t Ticket) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.tickets
	s.tickets++
	r := Result{}
	if s.retry && n == 0 {
		r = Result{Err: errSink, Class: Retryable}
	}
	s.crew.Go(func() { time.Sleep(s.after[n]); t.Done(r) })
	return nil
}

// TestRetryWhileDraining: a batch that a sink wants to retry during the final
// Barriers may be submitted after the Barrier of that sink. The run waits for
// it.
func TestRetryWhileDraining(t *testing.T) {
	for _, o := range []Ordering{OrderNone, OrderPerLane, OrderInput} {
		bubble.Test(t, func(t *testing.T) {
			src := &fakeSource{lanes: [][]string{{"a"}}}
			first := &lateSink{retry: true, after: []time.Duration{10 * time.Millisecond, 10 * time.Second}}
			second := &lateSink{after: []time.Duration{time.Second}}
			p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{first, second}, Ordering: o})
			begin := time.Now()
			if err := p.Run(t.Context()); err != nil {
				t.Fatalf("%v: Run: %v", o, err)
			}
			if d := time.Since(begin); d < 10*time.Second {
				t.Errorf("%v: the run ended after %v, before the last answer", o, d)
			}
			if s := p.Snapshot(); s.Retries != 1 || !s.Ledger.Balanced() || s.Ledger.InFlight != 0 {
				t.Errorf("%v: %d retries, %+v", o, s.Retries, s.Ledger)
			}
		})
	}
}
