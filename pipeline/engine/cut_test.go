package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// An extentSink is an output with a known length.
type extentSink struct {
	fakeSink
	finished []string
	never    string // lane for which Finish always fails
}

func (s *extentSink) Extents(dst []Extent) []Extent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(dst, Extent{Path: "out", Length: int64(len(s.all))})
}

func (s *extentSink) Finish(_ context.Context, lanes []*Lane) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := make([]error, len(lanes))
	for i, l := range lanes {
		if l.Name() == s.never {
			errs[i] = errors.New("never")
			continue
		}
		s.finished = append(s.finished, l.Name())
	}
	return errs
}

// A cutSource is a fakeSource that stores the cuts.
type cutSource struct {
	committing
	mu       sync.Mutex
	at       map[string]int64 // all watermarks by lane
	cuts     []cutState
	finished []string
	refuse   int // number of Finish calls that fail first
	calls    int // successful calls of Finish
}

type cutState struct {
	at      map[string]int64
	extents []Extent
}

func (s *cutSource) CommitCut(_ context.Context, ups []LanePos, extents []Extent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at = make(map[string]int64)
	}
	for _, up := range ups {
		s.at[up.Lane.Name()] = up.Pos.A
	}
	s.cuts = append(s.cuts, cutState{maps.Clone(s.at), slices.Clone(extents)})
	return nil
}

func (s *cutSource) Finish(_ context.Context, lanes []*Lane) []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse > 0 {
		s.refuse--
		return slices.Repeat([]error{errors.New("not now")}, len(lanes))
	}
	s.calls++
	for _, l := range lanes {
		s.finished = append(s.finished, l.Name())
	}
	return nil
}

// TestCut: at every cut, each output, including the dead letter, holds exactly
// the records before the watermarks of all lanes, regardless of retries,
// refusals and delays.
func TestCut(t *testing.T) {
	cuts := 0 // of all runs; with retries that take minutes, there may be only two
	f := func(name string, o Ordering, answer func(*Batch, *Stream) (Result, bool)) {
		t.Helper()
		bubble.Test(t, func(t *testing.T) {
			src := &cutSource{}
			src.readers = 3
			for range 4 {
				src.lanes = append(src.lanes, numbered(600, "aDXaPRa"))
			}
			slow := func(context.Context, *Batch, Ticket) error { nap(200); return nil }
			a := &extentSink{fakeSink: fakeSink{submit: slow, answer: answer}}
			b := &extentSink{fakeSink: fakeSink{async: true, submit: slow}}
			dead := &extentSink{fakeSink: fakeSink{hold: 3}}
			p := newPipe(t, Options{
				Sources: []Source{src}, Sinks: []Sink{a, b}, DeadLetter: dead, ExactlyOnce: true, Ordering: o, Workers: 8, CommitInterval: 50 * time.Millisecond,
				SinkNames: []string{"a", "b"},
			})
			finished(t.Context(), t, p)
			cuts += len(src.cuts)
			for i, c := range src.cuts {
				checkCut(t, fmt.Sprintf("%s, %v, cut %d", name, o, i), c, map[string]*extentSink{"a": a, "b": b, DeadLetterName: dead}, src.lanes)
			}
		})
	}
	for _, o := range []Ordering{OrderPerLane, OrderInput} {
		f("all well", o, nil)
		f("retries and refusals", o, func(b *Batch, s *Stream) (Result, bool) {
			if b.Seq == 7 && b.legs[0].try == 0 {
				return Result{Err: errSink, Class: Retryable}, true
			}
			return picky(b, s)
		})
	}
	if cuts < 20 {
		t.Errorf("only %d cuts, so the test is inconclusive", cuts)
	}
}

// checkCut compares the contents of the sinks at a cut with the lines before
// the watermarks.
func checkCut(t *testing.T, name string, c cutState, sinks map[string]*extentSink, lanes [][]string) {
	t.Helper()
	if len(c.extents) != len(sinks) {
		t.Errorf("%s: extents %+v", name, c.extents)
	}
	for _, m := range c.extents {
		count := map[string]int{}
		for _, rec := range sinks[m.Sink].all[:m.Length] {
			lane, _, _ := strings.Cut(rec, ":")
			count[lane]++
		}
		for i, lines := range lanes {
			lane := fmt.Sprintf("lane%d", i)
			kinds := map[string]string{"a": "a", "b": "aR", DeadLetterName: "XP"}[m.Sink]
			if sinks["a"].answer == nil {
				kinds = map[string]string{"a": "aR", "b": "aR", DeadLetterName: "XP"}[m.Sink]
			}
			before := lines[:c.at[lane]]
			want := len(of(before, kinds))
			if m.Sink == DeadLetterName && sinks["a"].answer != nil {
				want = len(of(before, "XPR"))
			}
			if count[lane] != want {
				t.Errorf("%s: %s holds %d records of %s before %d, want %d", name, m.Sink, count[lane], lane, c.at[lane], want)
			}
		}
	}
}

func TestCutOptions(t *testing.T) {
	f := func(o Options) {
		t.Helper()
		o.ExactlyOnce, o.NewCodec = true, newFakeCodec
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "exactly once") {
			t.Errorf("%+v: %v", o, err)
		}
	}
	good := Options{Sources: []Source{&cutSource{}}, Sinks: []Sink{&extentSink{}}, Ordering: OrderPerLane}
	o := good
	o.Ordering = OrderNone
	f(o)
	o = good
	o.Sources = []Source{&committing{}}
	f(o)
	o = good
	o.Sources = []Source{&cutSource{}, &cutSource{}}
	f(o)
	o = good
	o.DeadLetter = &fakeSink{}
	f(o)
}

// TestFinish: complete lanes are finished once, first in the sinks and then in
// the source, all due lanes in one call, and again after an error. A lane that
// merely stopped is not finished, and the source does not finish a lane that a
// sink could not finish.
func TestFinish(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		src := &cutSource{refuse: 2}
		sink := &extentSink{never: "lane3"}
		run := func(ctx context.Context, rt Runtime) error {
			for i := range 4 {
				l := rt.NewLane(fmt.Sprintf("lane%d", i), LaneLimits{})
				if i != 1 { // the second lane is empty
					b, err := rt.Get(ctx, l)
					if err != nil {
						return err
					}
					b.In = append(b.In, "a\n"...)
					if err := rt.Emit(ctx, b, Position{A: 1}); err != nil {
						return err
					}
				}
				if i != 2 {
					l.Complete()
				}
				rt.End(l)
			}
			<-ctx.Done()
			return nil
		}
		p := inBackground(t, Options{Sources: []Source{&finishing{funcSource{run: run}, src}}, Sinks: []Sink{sink}})
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := p.p.Snapshot(); len(s.Lanes) != 1 {
			t.Errorf("want all lanes kept except the finished ones: %+v", s.Lanes)
		}
		if !slices.Equal(src.finished, []string{"lane0", "lane1"}) || src.calls != 1 || sink.finished[0] != "lane0" || slices.Contains(sink.finished, "lane2") {
			t.Errorf("source: %q in %d calls, sink: %q", src.finished, src.calls, sink.finished)
		}
		sink.mu.Lock()
		sink.never = ""
		sink.mu.Unlock()
		p.stop()
		if err := <-p.ended; err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(src.finished, []string{"lane0", "lane1", "lane3"}) {
			t.Errorf("at the end, source: %q", src.finished)
		}
	})
}

type finishing struct {
	funcSource
	*cutSource
}

func (s *finishing) Open(ctx context.Context, rt Runtime) error { return s.funcSource.Open(ctx, rt) }
func (s *finishing) Run(ctx context.Context) error              { return s.funcSource.Run(ctx) }
func (s *finishing) Close(ctx context.Context) error            { return s.funcSource.Close(ctx) }
