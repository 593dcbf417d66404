package engine

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// TestSnapshotBalanced: the ledger balances in every snapshot during a run.
func TestSnapshotBalanced(t *testing.T) {
	src := &fakeSource{readers: 3, lanes: [][]string{numbered(3000, "aDXP"), numbered(3000, "a"), numbered(3000, "Rb")}}
	p := newPipe(t, Options{
		Sources: []Source{src}, Sinks: []Sink{&fakeSink{answer: picky}, &fakeSink{async: true}}, DeadLetter: &fakeSink{}, Workers: 4,
	})
	quit, seen := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-quit:
				seen <- n
				return
			default:
			}
			s := p.Snapshot()
			if !s.Ledger.Balanced() || s.Ledger.Read != s.Stats.Records || s.Ledger.InFlight < 0 {
				t.Errorf("ledger %+v, %d records", s.Ledger, s.Stats.Records)
				<-quit
				seen <- n
				return
			}
			if s.Ledger.InFlight > 0 {
				n++
			}
		}
	}()
	s := finished(t.Context(), t, p)
	close(quit)
	if <-seen == 0 {
		t.Error("no snapshot had a record in flight, so the test is inconclusive")
	}
	if s.Ledger.Read != 9000 || s.Opened != 3 {
		t.Errorf("%d records in %d lanes", s.Ledger.Read, s.Opened)
	}
}

func TestSnapshotLanes(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		src := &fakeSource{lanes: [][]string{{"a1", "a2"}, {"D1"}}, block: true}
		sink := &fakeSink{submit: func(context.Context, *Batch, Ticket) error { <-block; return nil }}
		b := inBackground(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, Workers: 4})
		synctest.Wait()
		s := b.p.Snapshot()
		if len(s.Lanes) != 1 || s.Lanes[0].Name != "lane0" || !s.Lanes[0].Ended || s.Lanes[0].Moved || s.Lanes[0].InFlight == 0 || s.Lanes[0].Bytes != 6 {
			t.Errorf("lanes: %+v", s.Lanes)
		}
		if s.Bytes != 9 || s.Opened != 2 || s.State != Running || s.Ledger.InFlight != 2 || s.Ledger.Dropped != 1 {
			t.Errorf("%d bytes, %d lanes, %v, %+v", s.Bytes, s.Opened, s.State, s.Ledger)
		}
		close(block)
		b.stop()
		if err := <-b.ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestSnapshotBlocked: a source that waits for a slow sink is blocked for most of the
// time, whether it waits for a batch or for a place among those of its lane.
func TestSnapshotBlocked(t *testing.T) {
	for _, order := range orderings {
		bubble.Test(t, func(t *testing.T) {
			src := &fakeSource{readers: 1, lanes: [][]string{numbered(2000, "a")}}
			slow := func(context.Context, *Batch, Ticket) error { time.Sleep(time.Second); return nil }
			p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{&fakeSink{submit: slow}}, Ordering: order})
			begin := time.Now()
			s := finished(t.Context(), t, p)
			if all := time.Since(begin); 2*s.Sources[0].Blocked < all || s.Sources[0].Blocked > all {
				t.Errorf("%v: blocked for %v of %v", order, s.Sources[0].Blocked, all)
			}
		})
	}
}

func TestStateString(t *testing.T) {
	var got []string
	for s := Idle; s <= Closed+1; s++ {
		got = append(got, s.String())
	}
	if want := []string{"idle", "opening", "running", "stopping", "draining", "committing", "closed", "invalid"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
