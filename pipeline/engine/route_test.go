package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// routeOf returns the sinks of a line by its first byte: A and B go to one sink
// each, C to both, and N to none.
func routeOf(rec []byte) uint64 {
	switch rec[0] {
	case 'A':
		return 1 << 0
	case 'B':
		return 1 << 1
	case 'N':
		return 0
	}
	return allSinks
}

func newRoutingCodec() Codec { return &fakeCodec{to: routeOf} }

// TestRoute: with every ordering, each sink gets the lines of its branch and
// those of all sinks, compressed on its own, in the required order, although
// the sinks ask for retries. Lines that no sink gets are filtered.
func TestRoute(t *testing.T) {
	for _, order := range []Ordering{OrderNone, OrderPerLane, OrderInput} {
		t.Run(order.String(), func(t *testing.T) {
			src := &fakeSource{readers: 3}
			for i := range 7 {
				src.lanes = append(src.lanes, numbered(100+40*i, "AABCNAXBBDPANN"))
			}
			tries := 0
			first, second, dead := &fakeSink{}, &fakeSink{}, &fakeSink{}
			second.answer = func(*Batch, *Stream) (Result, bool) {
				if tries++; tries%20 == 0 {
					return Result{Class: Retryable, Err: errors.New("busy")}, true
				}
				return Result{}, true
			}
			p := newPipe(t, Options{
				Sources: []Source{src}, Sinks: []Sink{first, second}, DeadLetter: dead, NewCodec: newRoutingCodec,
				Workers: 4, Batches: 16, Ordering: order,
			})
			s := finished(context.Background(), t, p)
			var read, left, sum int
			for i, lines := range src.lanes {
				name := fmt.Sprint("lane", i)
				sameLines(t, name+" first", first.lines[name], of(lines, "AC"), order != OrderNone)
				sameLines(t, name+" second", second.lines[name], of(lines, "BC"), order != OrderNone)
				sameLines(t, name+" dead", dead.lines[name], of(lines, "XP"), order != OrderNone)
				read += len(lines)
				left += len(of(lines, "N"))
				sum += len(of(lines, "AC")) + len(of(lines, "BC"))
			}
			if int(s.Ledger.Read) != read || int(s.Ledger.Filtered) != left || int(s.Sinks[0].Records+s.Sinks[1].Records) != sum {
				t.Errorf("%d lines, %d left out, %d delivered: %+v", read, left, sum, s.Ledger)
			}
		})
	}
}

// TestRouteRefused: a routed sink gets the rest of its own records again after
// a refusal, and each knows its position among all records.
func TestRouteRefused(t *testing.T) {
	src := &fakeSource{lanes: [][]string{numbered(600, "AB")}}
	first, second, dead := &fakeSink{}, &fakeSink{}, &fakeSink{}
	second.answer = func(b *Batch, s *Stream) (r Result, ok bool) {
		for i, rec := range s.Recs {
			line := string(s.Bytes[rec.Off : rec.Off+rec.Len])
			if all, at := s.Whole(i); all[at].Src != rec.Src || string(b.In[rec.Src:rec.Src+rec.Len]) != line {
				t.Errorf("%q is record %d of its batch", line, at)
			}
			switch {
			case r.Failed != nil:
				r.Untried = append(r.Untried, uint32(i))
			case line[1] == '3':
				r.Class, r.Err, r.Failed = Permanent, errors.New("no"), []uint32{uint32(i)}
			}
		}
		return r, true
	}
	p := newPipe(t, Options{
		Sources: []Source{src}, Sinks: []Sink{first, second}, DeadLetter: dead, NewCodec: newRoutingCodec, Workers: 3, Ordering: OrderPerLane,
	})
	s := finished(context.Background(), t, p)
	lines := src.lanes[0]
	refused := func(l string) bool { return l[0] == 'B' && l[1] == '3' }
	sameLines(t, "first", first.lines["lane0"], of(lines, "A"), true)
	sameLines(t, "dead", dead.lines["lane0"], slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !refused(l) }), false)
	if n := int64(len(dead.all)); s.Ledger.Dead != n || s.Ledger.Emitted != 600-n || n == 0 {
		t.Errorf("%d dead letters: %+v", n, s.Ledger)
	}
}

// TestRouteFiltered: what a filter has left is distributed.
func TestRouteFiltered(t *testing.T) {
	src := &fakeSource{lanes: [][]string{numbered(900, "ABBA")}}
	first, second := &fakeSink{}, &fakeSink{}
	p := newPipe(t, Options{
		Sources: []Source{src}, Sinks: []Sink{first, second}, NewCodec: newRoutingCodec, Filter: &everySecond{}, Workers: 3, Ordering: OrderPerLane,
	})
	finished(context.Background(), t, p)
	kept := alternate(src.lanes[0])
	sameLines(t, "first", first.lines["lane0"], of(kept, "A"), true)
	sameLines(t, "second", second.lines["lane0"], of(kept, "B"), true)
}
