package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// nap sleeps up to n milliseconds of the fake clock.
func nap(n int) { time.Sleep(time.Duration(rand.IntN(n*1000)) * time.Microsecond) }

// flaky asks for a retry of one batch in n.
func flaky(n int) func(*Batch, *Stream) (Result, bool) {
	return func(*Batch, *Stream) (Result, bool) {
		if rand.IntN(n) == 0 {
			return Result{Err: errors.New("not now"), Class: Retryable}, true
		}
		return Result{}, true
	}
}

// TestOrderPerLane is experiment 26: with 64 workers that sleep at random and
// two sinks, one of which asks for retries, every lane is in order in each
// sink.
func TestOrderPerLane(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		src := &fakeSource{readers: 8}
		for range 8 {
			src.lanes = append(src.lanes, numbered(400, "abX"))
		}
		slow := func(context.Context, *Batch, Ticket) error { nap(3); return nil }
		a, b, dead := &fakeSink{submit: slow, async: true}, &fakeSink{submit: slow, answer: flaky(5)}, &fakeSink{answer: flaky(5)}
		p := newPipe(t, Options{
			Sources: []Source{src}, Sinks: []Sink{a, b}, DeadLetter: dead, Ordering: OrderPerLane, Workers: 64,
			NewCodec: func() Codec { return &fakeCodec{pause: func() { nap(20) }} },
		})
		s := finished(t.Context(), t, p)
		if s.Retries == 0 {
			t.Error("no batch was retried, so the test is inconclusive")
		}
		for i, lines := range src.lanes {
			name := src.opened[i].Name()
			sameLines(t, "first sink", a.lines[name], of(lines, "ab"), true)
			sameLines(t, "second sink", b.lines[name], of(lines, "ab"), true)
			sameLines(t, "dead letter", dead.lines[name], of(lines, "X"), true)
		}
	})
}

// TestOrderInput: many lanes of random sizes, including empty ones, are read by
// more goroutines than there are batches. In each sink the lanes follow each
// other in order, and nothing deadlocks.
func TestOrderInput(t *testing.T) {
	f := func(lanes, size, readers, batches, workers int, lim LaneLimits, retry bool) {
		t.Helper()
		bubble.Test(t, func(t *testing.T) {
			src := &fakeSource{readers: readers, limits: lim}
			var want []string
			for i := range lanes {
				lines := numbered(rand.IntN(size), "abD")
				src.lanes = append(src.lanes, lines)
				for _, l := range of(lines, "ab") {
					want = append(want, fmt.Sprintf("lane%d:%s", i, l))
				}
			}
			a, b := &fakeSink{async: true}, &fakeSink{}
			if retry {
				b.answer = flaky(10)
			}
			p := newPipe(t, Options{
				Sources: []Source{src}, Sinks: []Sink{a, b}, Ordering: OrderInput, Workers: workers, Batches: batches,
				NewCodec: func() Codec { return &fakeCodec{pause: func() { nap(5) }} },
			})
			finished(t.Context(), t, p)
			sameLines(t, "first sink", a.all, want, true)
			sameLines(t, "second sink", b.all, want, true)
		})
	}
	f(1, 500, 1, 4, 1, LaneLimits{}, false)
	f(200, 30, 16, 16, 4, LaneLimits{}, false)
	f(200, 30, 16, 4, 4, LaneLimits{}, false)
	f(60, 200, 60, 8, 2, LaneLimits{Batches: 1}, false)
	f(60, 200, 7, 0, 8, LaneLimits{Batches: 100}, false)
	f(60, 200, 7, 0, 8, LaneLimits{}, true)
	f(300, 2, 3, 4, 2, LaneLimits{}, true)
}

// TestOrderInputShares: a lane that is not in front holds no more than its
// limit, and all of these together leave half of the batches to the lane in
// front.
func TestOrderInputShares(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p := newPipe(t, Options{Sources: []Source{&fakeSource{}}, Sinks: []Sink{&fakeSink{}}, Ordering: OrderInput, Batches: 16, Workers: 1})
		rt := intake{p, 0}
		held := func(l *Lane, n int) (got int) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			for range n {
				if _, err := rt.Get(ctx, l); err != nil {
					break
				}
				got++
			}
			return got
		}
		var lanes []*Lane
		for i := range 4 {
			lanes = append(lanes, rt.NewLane(fmt.Sprint(i), LaneLimits{}))
		}
		got := []int{held(lanes[1], 9), held(lanes[2], 9), held(lanes[3], 9), held(lanes[0], 99)}
		if want := []int{4, 4, 0, 8}; !slices.Equal(got, want) {
			t.Errorf("held %v, want %v", got, want)
		}
	})
}

func TestOrderingString(t *testing.T) {
	got := []string{OrderNone.String(), OrderPerLane.String(), OrderInput.String(), Ordering(9).String()}
	if want := []string{"none", "lane", "input", "invalid"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
