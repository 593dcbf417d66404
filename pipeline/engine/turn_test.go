package engine

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// emitLine emits a batch of one line.
func emitLine(ctx context.Context, rt Runtime, l *Lane, line string) error {
	b, err := rt.Get(ctx, l)
	if err != nil {
		return err
	}
	b.In = append(b.In, line+"\n"...)
	return rt.Emit(ctx, b, Position{})
}

// TestTurn: while the source has the turn of the only worker that lends it, the
// other worker handles the batches.
func TestTurn(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		sink := &fakeSink{}
		src := &funcSource{run: func(ctx context.Context, rt Runtime) error {
			l := rt.NewLane("l", LaneLimits{})
			defer rt.End(l)
			for range 3 {
				done, ok := rt.Turn(nil)
				if !ok {
					t.Error("no turn, although the workers have nothing to do")
				}
				err := emitLine(ctx, rt, l, "a")
				synctest.Wait()
				if len(sink.lines["l"]) == 0 {
					t.Error("the other worker has not handled the batch")
				}
				stop := make(chan struct{})
				close(stop)
				if _, ok := rt.Turn(stop); ok {
					t.Error("a turn of the last worker")
				}
				done()
				if err != nil {
					return err
				}
			}
			return nil
		}}
		finished(t.Context(), t, newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, Workers: 2}))
	})
}

// TestTurnEnds: whoever waits for a turn that never comes stops waiting
// after a hard stop.
func TestTurnEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var p *Pipeline
		src := &funcSource{run: func(_ context.Context, rt Runtime) error {
			go func() { synctest.Wait(); p.HardStop() }()
			if _, ok := rt.Turn(nil); ok {
				t.Error("a turn of a single worker")
			}
			return nil
		}}
		p = newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{&fakeSink{}}, Workers: 1})
		if err := p.Run(t.Context()); err != nil && !errors.Is(err, ErrDeadline) {
			t.Error(err)
		}
	})
}

// TestSpare: while a lane waits for the lane before it, Get calls its function
// until that has nothing more to do. The order stays the same.
func TestSpare(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		calls, sink := 0, &fakeSink{}
		src := &funcSource{run: func(ctx context.Context, rt Runtime) error {
			first, second := rt.NewLane("first", LaneLimits{}), rt.NewLane("second", LaneLimits{})
			second.SetSpare(func() bool { calls++; return calls < 3 })
			var wg sync.WaitGroup
			wg.Go(func() {
				defer rt.End(second)
				for range defaultAhead + 2 {
					if err := emitLine(ctx, rt, second, "b"); err != nil {
						t.Error(err)
					}
				}
			})
			synctest.Wait()
			// Which Get waits first depends on the scheduler; each asks until there is no more.
			if calls < 3 || calls > 3+defaultAhead+1 {
				t.Errorf("%d calls before the lane is in front, want 3, and at most one for each Get after that", calls)
			}
			err := emitLine(ctx, rt, first, "a")
			rt.End(first)
			wg.Wait()
			return err
		}}
		finished(t.Context(), t, newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, Ordering: OrderInput, Workers: 2}))
		want := []string{"first:a"}
		for range defaultAhead + 2 {
			want = append(want, "second:b")
		}
		sameLines(t, "sink", sink.all, want, true)
	})
}
