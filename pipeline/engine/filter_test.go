package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// everySecond is a filter that drops every second record of each lane.
type everySecond struct {
	mu    sync.Mutex
	n     map[string]int
	calls []string // batches, as lane:seq
	fail  bool
	err   error // of every call
}

func (f *everySecond) Filter(b *Batch, keep Keep) error {
	if f.fail {
		panic("secret")
	}
	if !f.mu.TryLock() {
		panic("two calls at a time")
	}
	defer f.mu.Unlock()
	name := b.Lane.Name()
	f.calls = append(f.calls, fmt.Sprint(name, ":", b.Seq))
	if f.n == nil {
		f.n = make(map[string]int)
	}
	for i := range b.Out.Recs {
		if f.n[name]%2 == 1 {
			keep.Drop(i)
		}
		f.n[name]++
	}
	return f.err
}

// alternate returns every second line, starting with the first.
func alternate(lines []string) (out []string) {
	for i := 0; i < len(lines); i += 2 {
		out = append(out, lines[i])
	}
	return out
}

// TestFilter: with every ordering, each lane is filtered in order, the kept
// records are submitted in the required order, and dead letters bypass the
// filter.
func TestFilter(t *testing.T) {
	for _, order := range []Ordering{OrderNone, OrderPerLane, OrderInput} {
		for _, async := range []bool{false, true} {
			t.Run(fmt.Sprint(order, "/", async), func(t *testing.T) {
				src := &fakeSource{readers: 3}
				for i := range 7 {
					src.lanes = append(src.lanes, numbered(100+40*i, "KKXKDP"))
				}
				sink, again := &fakeSink{}, 0
				sink.async = async
				sink.answer = func(*Batch, *Stream) (Result, bool) {
					if again++; again%50 == 0 && !async {
						return Result{Class: Retryable, Err: errors.New("busy")}, true
					}
					return Result{}, true
				}
				dead, filter := &fakeSink{}, &everySecond{}
				p := newPipe(t, Options{
					Sources: []Source{src}, Sinks: []Sink{sink}, DeadLetter: dead, Filter: filter,
					Workers: 4, Batches: 16, Ordering: order,
				})
				s := finished(context.Background(), t, p)
				var want []string
				for i, lines := range src.lanes {
					name := fmt.Sprint("lane", i)
					kept := alternate(of(lines, "K"))
					sameLines(t, name, sink.lines[name], kept, order != OrderNone)
					sameLines(t, name+" dead", dead.lines[name], of(lines, "XP"), order != OrderNone)
					for _, l := range kept {
						want = append(want, name+":"+l)
					}
				}
				sameLines(t, "all", sink.all, want, order == OrderInput)
				n := int64(len(want))
				if s.Ledger.Emitted != n || s.Ledger.Duplicates == 0 || s.Stats.Duplicates != s.Ledger.Duplicates {
					t.Errorf("%d records were kept: %+v, %d duplicates by the stats", n, s.Ledger, s.Stats.Duplicates)
				}
				seen := map[string]int{}
				for _, call := range filter.calls {
					var lane string
					var seq int
					if _, err := fmt.Sscanf(call, "%5s:%d", &lane, &seq); err != nil || seen[lane] > seq {
						t.Fatalf("%q after batch %d: %v", call, seen[lane], err)
					}
					seen[lane] = seq
				}
			})
		}
	}
}

// TestFilterRefused: the ledger counts records that the filter keeps and a sink
// refuses in the same way as without a filter.
func TestFilterRefused(t *testing.T) {
	src := &fakeSource{lanes: [][]string{numbered(600, "KL")}}
	sink, dead := &fakeSink{}, &fakeSink{}
	sink.answer = func(_ *Batch, s *Stream) (Result, bool) {
		var failed []uint32
		for i, r := range s.Recs {
			if s.Bytes[r.Off+1] == '4' {
				failed = append(failed, uint32(i))
			}
		}
		if failed == nil || len(failed) == len(s.Recs) {
			return Result{}, true
		}
		return Result{Class: Permanent, Failed: failed, Err: errors.New("no")}, true
	}
	p := newPipe(t, Options{
		Sources: []Source{src}, Sinks: []Sink{sink}, DeadLetter: dead, Filter: &everySecond{}, Workers: 3, Ordering: OrderPerLane,
	})
	s := finished(context.Background(), t, p)
	if s.Ledger.Duplicates != 300 || s.Ledger.Emitted+s.Ledger.Dead != 300 || s.Ledger.Dead == 0 || int(s.Ledger.Dead) != len(dead.all) {
		t.Errorf("%+v, %d dead letters", s.Ledger, len(dead.all))
	}
}

// TestFilterStop: a hard stop gives up the batches that wait for the filter,
// and a panic in the filter ends the run.
func TestFilterStop(t *testing.T) {
	for _, order := range []Ordering{OrderNone, OrderInput} {
		src := &fakeSource{readers: 2, block: true}
		for range 4 {
			src.lanes = append(src.lanes, numbered(200, "K"))
		}
		p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{&fakeSink{hold: 3}}, Filter: &everySecond{}, Workers: 3, Ordering: order, ShutdownTimeout: time.Hour})
		go p.HardStop()
		if err := p.Run(context.Background()); err != nil && !errors.Is(err, ErrDeadline) {
			t.Errorf("after a hard stop: %v", err)
		}
		if l := p.Snapshot().Ledger; !l.Balanced() || l.InFlight != 0 {
			t.Errorf("after a hard stop: %+v", l)
		}
		src = &fakeSource{lanes: [][]string{numbered(200, "K")}}
		p = newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{&fakeSink{}}, Filter: &everySecond{fail: true}, Workers: 3, Ordering: order})
		if err := p.Run(context.Background()); err == nil {
			t.Error("a panic in the filter did not end the run")
		}
		if l := p.Snapshot().Ledger; !l.Balanced() || l.InFlight != 0 || l.Emitted != 0 {
			t.Errorf("after a panic in the filter: %+v", l)
		}
		src = &fakeSource{lanes: [][]string{numbered(200, "K")}}
		full := errors.New("disk full")
		p = newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{&fakeSink{}}, Filter: &everySecond{err: full}, Workers: 3, Ordering: order})
		if err := p.Run(context.Background()); !errors.Is(err, full) {
			t.Errorf("the error of the filter: %v", err)
		}
		if l := p.Snapshot().Ledger; !l.Balanced() || l.InFlight != 0 || l.Emitted != 0 {
			t.Errorf("after an error of the filter: %+v", l)
		}
	}
}
