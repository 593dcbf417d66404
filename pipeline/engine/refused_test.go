package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
	"github.com/urlfold/urlfold/internal/testkit/crew"
)

// A strictSink permanently refuses records until it is repaired. It stores
// accepted records in order, and leaves records untried if Held requires that.
type strictSink struct {
	repaired time.Time // until then it refuses the lines that begin with a byte of bad
	bad      string    // "*": all lines
	fault    Fault

	mu       sync.Mutex
	bySubmit int // submissions before the repair
	lines    map[string][]string
	crew     crew.Crew
}

func (s *strictSink) Open(context.Context) error    { s.lines = map[string][]string{}; return nil }
func (s *strictSink) Barrier(context.Context) error { s.crew.Wait(); return nil }
func (s *strictSink) Close(context.Context) error   { return nil }
func (s *strictSink) Caps() SinkCaps                { return SinkCaps{Ordered: true} }

func (s *strictSink) Submit(_ context.Context, b *Batch, t Ticket) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sick := time.Now().Before(s.repaired)
	if sick {
		s.bySubmit++
	}
	r := Result{}
	st := t.Stream()
	for i, o := range st.Recs {
		line := strings.TrimSuffix(string(st.Bytes[o.Off:o.Off+o.Len]), "\n")
		switch {
		case t.Held():
			r.Untried = append(r.Untried, uint32(i))
		case sick && (s.bad == "*" || strings.Contains(s.bad, line[:1])):
			t.Hold()
			r.Failed = append(r.Failed, uint32(i))
		default:
			s.lines[b.Lane.Name()] = append(s.lines[b.Lane.Name()], line)
		}
	}
	switch {
	case r.Failed != nil:
		r.Class, r.Err, r.Code, r.Fault = Permanent, errSink, "TOO_LARGE", s.fault
	case r.Untried != nil:
		r.Class, r.Err = Retryable, errSink
	}
	s.crew.Go(func() { time.Sleep(time.Millisecond); t.Done(r) })
	return nil
}

// taken returns the lines of a lane.
func (s *strictSink) taken(lane string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines[lane])
}

// submissions returns the number of submissions before the repair.
func (s *strictSink) submissions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bySubmit
}

var orderings = [...]Ordering{OrderNone, OrderPerLane, OrderInput}

// TestRefusedBlocks: with RefusedBlock, a lane waits at a refused record, and
// the snapshot names it. Nothing before it is lost, other lanes continue, the
// sink gets few retries, and after a repair all records are written once, in
// order.
func TestRefusedBlocks(t *testing.T) {
	for _, ordering := range orderings {
		bubble.Test(t, func(t *testing.T) {
			src := &committing{fakeSource: fakeSource{lanes: [][]string{numbered(200, "a"), numbered(200, "aaaaaaaR")}, readers: 2}}
			sink := &strictSink{bad: "R", repaired: time.Now().Add(10 * time.Minute)}
			p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, Ordering: ordering, Workers: 4})
			ended := make(chan struct{})
			go func() { defer close(ended); finished(t.Context(), t, p) }()
			time.Sleep(9 * time.Minute)
			s := p.Snapshot()
			if len(s.Sinks[0].Blocked) == 0 || s.Sinks[0].Stuck == 0 {
				t.Fatalf("%v: no blocked lane in the snapshot", ordering)
			}
			at := s.Sinks[0].Blocked[0]
			if at.Lane != "lane1" || at.Code != "TOO_LARGE" || at.Records < 1 || at.Reason != errSink.Error() {
				t.Errorf("%v: blocked: %+v", ordering, at)
			}
			if got := src.last()["lane1"].A; got > 7 {
				t.Errorf("%v: %d lines are committed, although line 7 is refused", ordering, got)
			}
			if n := len(sink.taken("lane0")); n != 200 {
				t.Errorf("%v: %d lines of the other lane", ordering, n)
			}
			if !s.Ledger.Balanced() || s.Ledger.Dropped != 0 {
				t.Errorf("%v: ledger %+v", ordering, s.Ledger)
			}
			if n := sink.submissions(); n > 2000 {
				t.Errorf("%v: %d submissions in 9 minutes", ordering, n)
			}
			<-ended
			for i, lane := range []string{"lane0", "lane1"} {
				sameLines(t, ordering.String()+" "+lane, sink.taken(lane), src.lanes[i], ordering != OrderNone)
			}
			if got := src.last()["lane1"].A; got != 200 {
				t.Errorf("%v: %d lines are committed at the end", ordering, got)
			}
			if s := p.Snapshot(); s.Ledger.Emitted != 400 || s.Sinks[0].Stuck != 0 {
				t.Errorf("%v: at the end: %+v, %d stuck", ordering, s.Ledger, s.Sinks[0].Stuck)
			}
		})
	}
}

// TestSystematicRefusals: a sink that refuses whole batches with one code seems
// to be misconfigured. After the third batch the lanes block, even if there is a
// dead letter, and after a minute one batch every 30 s goes there. The others
// are written after a repair.
func TestSystematicRefusals(t *testing.T) {
	for _, ordering := range orderings[:2] {
		bubble.Test(t, func(t *testing.T) {
			src := &committing{fakeSource: fakeSource{lanes: [][]string{numbered(3000, "ab")}, perCall: 50}}
			sink := &strictSink{bad: "*", repaired: time.Now().Add(10 * time.Minute)}
			dead := &strictSink{}
			p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, DeadLetter: dead, Ordering: ordering, Workers: 1})
			ended := make(chan struct{})
			go func() { defer close(ended); finished(t.Context(), t, p) }()
			time.Sleep(50 * time.Second)
			letters := dead.taken("lane0")
			// Two batches, plus those with a single record.
			if n := len(letters); n < 2 || n > 2*50+10 {
				t.Errorf("%v: %d dead letters before the lane was blocked", ordering, n)
			}
			time.Sleep(8 * time.Minute)
			before := len(letters)
			letters = dead.taken("lane0")
			if n := len(letters) - before; n < 16 || n > 17*50 {
				t.Errorf("%v: %d dead letters in 8 minutes", ordering, n)
			}
			if s := p.Snapshot(); s.Sinks[0].Stuck == 0 || s.Sinks[0].DeadLetters != int64(len(letters)) {
				t.Errorf("%v: %d stuck, %d letters counted", ordering, s.Sinks[0].Stuck, s.Sinks[0].DeadLetters)
			}
			<-ended
			got := sink.taken("lane0")
			if ordering != OrderNone {
				for i := 1; i < len(got); i++ {
					if len(got[i-1]) > len(got[i]) || len(got[i-1]) == len(got[i]) && got[i-1][1:] >= got[i][1:] {
						t.Fatalf("%v: %s after %s", ordering, got[i], got[i-1])
					}
				}
			}
			sameLines(t, ordering.String(), append(got, dead.taken("lane0")...), src.lanes[0], false)
		})
	}
}

// TestFaultyRecordsDoNotBlock: if the fault is known to be in the records,
// whole batches of them go to the dead letter at once.
func TestFaultyRecordsDoNotBlock(t *testing.T) {
	for _, ordering := range orderings {
		for _, fault := range [...]Fault{FaultRecord, FaultSize} {
			bubble.Test(t, func(t *testing.T) {
				src := oneLane(400, "R")
				src.lanes[0] = append(src.lanes[0], numbered(10, "a")...)
				sink, dead := &strictSink{bad: "R", fault: fault, repaired: time.Now().Add(time.Hour)}, &strictSink{}
				p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, DeadLetter: dead, Ordering: ordering})
				begin := time.Now()
				finished(t.Context(), t, p)
				if d := time.Since(begin); d > time.Minute {
					t.Errorf("%v, %v: it took %v", ordering, fault, d)
				}
				sameLines(t, ordering.String(), sink.taken("lane0"), of(src.lanes[0], "a"), ordering != OrderNone)
				sameLines(t, ordering.String()+", letters", dead.taken("lane0"), of(src.lanes[0], "R"), false)
			})
		}
	}
}

// TestBlockedLaneHeals: a long run of refused batches, however long, does not
// stop its lane forever. The first accepted record ends it.
func TestBlockedLaneHeals(t *testing.T) {
	for _, ordering := range orderings {
		bubble.Test(t, func(t *testing.T) {
			src := oneLane(300, "R")
			src.lanes[0], src.perCall = append(src.lanes[0], numbered(2000, "a")...), 10
			sink, dead := &strictSink{bad: "R", repaired: time.Now().Add(time.Hour)}, &strictSink{}
			p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, DeadLetter: dead, Ordering: ordering, Workers: 2})
			begin := time.Now()
			finished(t.Context(), t, p)
			if d := time.Since(begin); d > 59*time.Minute {
				t.Errorf("%v: healed only by the repair, after %v", ordering, d)
			}
			sameLines(t, ordering.String(), sink.taken("lane0"), of(src.lanes[0], "a"), ordering != OrderNone)
			sameLines(t, ordering.String()+", letters", dead.taken("lane0"), of(src.lanes[0], "R"), false)
		})
	}
}

// TestSingleRefusalsDoNotBlock: individual refused records go to the dead
// letter, regardless of their number.
func TestSingleRefusalsDoNotBlock(t *testing.T) {
	for _, ordering := range orderings {
		bubble.Test(t, func(t *testing.T) {
			src := oneLane(400, "aR")
			sink, dead := &strictSink{bad: "R", repaired: time.Now().Add(time.Hour)}, &strictSink{}
			p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, DeadLetter: dead, Ordering: ordering})
			begin := time.Now()
			s := finished(t.Context(), t, p)
			if d := time.Since(begin); d > time.Minute {
				t.Errorf("%v: it took %v", ordering, d)
			}
			sameLines(t, ordering.String(), sink.taken("lane0"), of(src.lanes[0], "a"), ordering != OrderNone)
			sameLines(t, ordering.String()+", letters", dead.taken("lane0"), of(src.lanes[0], "R"), false)
			if s.Sinks[0].DeadLetters != 200 {
				t.Errorf("%v: %d letters are counted", ordering, s.Sinks[0].DeadLetters)
			}
		})
	}
}

// TestRefusedLetters: a dead letter that its sink refuses is not lost, because
// its lane blocks. Only RefusedDrop drops it, and counts it.
func TestRefusedLetters(t *testing.T) {
	for _, ordering := range orderings {
		bubble.Test(t, func(t *testing.T) {
			src := &committing{fakeSource: *oneLane(300, "aXR")}
			sink := &strictSink{bad: "R", repaired: time.Now().Add(time.Hour)}
			dead := &strictSink{bad: "XR", repaired: time.Now().Add(10 * time.Minute)}
			p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, DeadLetter: dead, Ordering: ordering})
			ended := make(chan Snapshot)
			go func() { ended <- finished(t.Context(), t, p) }()
			time.Sleep(9 * time.Minute)
			if b := p.Snapshot().Sinks[1].Blocked; len(b) == 0 || b[0].Lane != "lane0" {
				t.Errorf("%v: %+v is blocked", ordering, b)
			}
			if got := src.last()["lane0"].A; got > 1 {
				t.Errorf("%v: committed %d", ordering, got)
			}
			s := <-ended
			sameLines(t, ordering.String(), dead.taken("lane0"), of(src.lanes[0], "XR"), false)
			if s.Ledger.Dead != 200 || s.Ledger.Dropped != 0 {
				t.Errorf("%v: ledger %+v", ordering, s.Ledger)
			}
		})
	}
	src := oneLane(300, "aXR")
	sink, dead := &strictSink{bad: "R", repaired: time.Now().Add(time.Hour)}, &strictSink{bad: "X", repaired: time.Now().Add(time.Hour)}
	p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, DeadLetter: dead, OnRefused: RefusedDrop})
	s := finished(t.Context(), t, p)
	if want := (Ledger{Read: 300, Emitted: 100, Dropped: 200}); s.Ledger != want || s.Sinks[0].Dropped != 100 || s.Sinks[1].Dropped != 100 {
		t.Errorf("dropped: ledger %+v, want %+v; %d and %d dropped", s.Ledger, want, s.Sinks[0].Dropped, s.Sinks[1].Dropped)
	}
}

// TestShutdownWhileBlocked: a blocked lane does not delay a shutdown beyond its
// timeout, and the position stays before the refused record.
func TestShutdownWhileBlocked(t *testing.T) {
	for _, ordering := range orderings {
		bubble.Test(t, func(t *testing.T) {
			src := &committing{fakeSource: *oneLane(300, "aaaR")}
			sink := &strictSink{bad: "R", repaired: time.Now().Add(24 * time.Hour)}
			p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, Ordering: ordering, ShutdownTimeout: 20 * time.Second})
			ctx, stop := context.WithCancel(t.Context())
			time.AfterFunc(time.Minute, stop)
			begin := time.Now()
			if err := p.Run(ctx); !errors.Is(err, ErrDeadline) {
				t.Errorf("%v: Run: %v", ordering, err)
			}
			if d := time.Since(begin); d > 80*time.Second {
				t.Errorf("%v: it took %v", ordering, d)
			}
			if got := src.last()["lane0"].A; got > 3 {
				t.Errorf("%v: committed %d", ordering, got)
			}
			if l := p.Snapshot().Ledger; !l.Balanced() || l.InFlight != 0 || l.Dropped != 0 {
				t.Errorf("%v: ledger %+v", ordering, l)
			}
		})
	}
}

// TestRevokedWhileBlocked: a refused record of a revoked lane is given up,
// because another process owns the lane.
func TestRevokedWhileBlocked(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		src := &committing{fakeSource: fakeSource{lanes: [][]string{{"R0"}}, block: true}}
		sink := &strictSink{bad: "R", repaired: time.Now().Add(24 * time.Hour)}
		p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- p.Run(ctx) }()
		time.Sleep(time.Minute)
		if p.Snapshot().Sinks[0].Stuck != 1 {
			t.Error("no lane is blocked")
		}
		src.opened[0].Revoke()
		time.Sleep(time.Minute)
		if s := p.Snapshot(); s.Sinks[0].Stuck != 0 || s.InFlight != 0 {
			t.Errorf("%d batches are blocked, %d in flight", s.Sinks[0].Stuck, s.InFlight)
		}
		stop()
		if err := <-ended; err != nil && !errors.Is(err, ErrDeadline) {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestPartOfBatch: in a part of a batch, records keep their position among all
// records and their facts.
func TestPartOfBatch(t *testing.T) {
	b := &Batch{handover: handover{legs: make([]leg, 1)}}
	for i := range 5 {
		b.Out.add(b, []byte{'a' + byte(i), '\n'})
	}
	g := &b.legs[0]
	g.keep(&b.Out, []uint32{1, 2, 4})
	g.keep(&g.rest, []uint32{1, 2})
	s := &g.rest
	if len(s.Recs) != 2 || s.Bytes[s.Recs[1].Off] != 'e' {
		t.Fatalf("%+v", s.Recs)
	}
	for i, want := range []int{2, 4} {
		if _, at := s.Whole(i); at != want {
			t.Errorf("record %d has index %d in the whole stream, want %d", i, at, want)
		}
		if _, ordinal := b.Origin(s, i); ordinal != want {
			t.Errorf("record %d has the ordinal %d, want %d", i, ordinal, want)
		}
	}
}
