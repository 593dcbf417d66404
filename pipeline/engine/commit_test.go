package engine

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// A committing is a fakeSource that stores the committed positions.
type committing struct {
	fakeSource
	cmu     sync.Mutex
	commits []map[string]Position
	fail    func() error
	back    string // a lane whose position decreased
}

func (s *committing) Commit(_ context.Context, ups []LanePos) error {
	s.cmu.Lock()
	defer s.cmu.Unlock()
	if s.fail != nil {
		if err := s.fail(); err != nil {
			return err
		}
	}
	now := make(map[string]Position)
	if n := len(s.commits); n > 0 {
		maps.Copy(now, s.commits[n-1])
	}
	for _, up := range ups {
		if up.Pos.A <= now[up.Lane.Name()].A {
			s.back = up.Lane.Name()
		}
		now[up.Lane.Name()] = up.Pos
	}
	s.commits = append(s.commits, now)
	return nil
}

// last returns the last committed positions, by lane.
func (s *committing) last() map[string]Position {
	s.cmu.Lock()
	defer s.cmu.Unlock()
	if len(s.commits) == 0 {
		return nil
	}
	return s.commits[len(s.commits)-1]
}

// TestCommit: during the run, watermarks that have moved are committed at every
// interval, and again after an error. At the end all of them are committed.
func TestCommit(t *testing.T) {
	f := func(name string, fail func() error) {
		t.Helper()
		bubble.Test(t, func(t *testing.T) {
			src := &committing{fail: fail}
			src.readers = 2
			for range 4 {
				src.lanes = append(src.lanes, numbered(300, "aD"))
			}
			sink := &fakeSink{async: true, answer: flaky(20), submit: func(context.Context, *Batch, Ticket) error { nap(100); return nil }}
			p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, Workers: 4})
			finished(t.Context(), t, p)
			for i, l := range src.opened {
				if got := src.last()[l.Name()]; got.A != int64(len(src.lanes[i])) {
					t.Errorf("%s: %s is committed up to %d, want %d", name, l.Name(), got.A, len(src.lanes[i]))
				}
			}
			if src.back != "" {
				t.Errorf("%s: the position of %s did not increase", name, src.back)
			}
			if len(src.commits) < 2 {
				t.Errorf("%s: only %d commits: nothing was committed during the run", name, len(src.commits))
			}
		})
	}
	f("good", nil)
	n := 0
	f("failing", func() error {
		if n++; n%3 != 0 {
			return errSink
		}
		return nil
	})
}

// TestCommitNever: a commit that never succeeds becomes the error of the run.
func TestCommitNever(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		src := &committing{fail: func() error { return errSink }}
		src.lanes = [][]string{numbered(10, "a")}
		p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{&fakeSink{}}})
		begin := time.Now()
		if err := p.Run(t.Context()); !errors.Is(err, errSink) {
			t.Errorf("Run: %v, want %v", err, errSink)
		}
		if d := time.Since(begin); d != 30*time.Second {
			t.Errorf("it took %v, want the shutdown timeout", d)
		}
	})
}

// TestCommitWaitsForDeadLetter covers experiments 10 and 11: while the dead
// letter is down, no position after the first poison record is committed. When
// it is back, all positions are.
func TestCommitWaitsForDeadLetter(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		src := &committing{}
		src.lanes = [][]string{append(numbered(20, "a"), "P20", "a21", "a22")}
		src.block = true
		up := make(chan struct{})
		dead := &fakeSink{answer: func(*Batch, *Stream) (Result, bool) {
			select {
			case <-up:
				return Result{}, true
			default:
				return Result{Err: errSink, Class: Retryable}, true
			}
		}}
		sink := &fakeSink{}
		p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}, DeadLetter: dead})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Run(ctx) }()
		time.Sleep(time.Hour)
		s := p.Snapshot()
		if s.Waiting != 1 || s.Ledger.InFlight == 0 || !s.Ledger.Balanced() || s.Retries < 100 {
			t.Errorf("with the dead letter down: %+v, %d waiting, %d retries", s.Ledger, s.Waiting, s.Retries)
		}
		if got := src.last()["lane0"].A; got > 20 {
			t.Errorf("committed %d, after the record at 20", got)
		}
		if len(sink.lines["lane0"]) != 22 {
			t.Errorf("%d lines in the sink, want 22", len(sink.lines["lane0"]))
		}
		close(up)
		time.Sleep(time.Minute)
		if got := src.last()["lane0"].A; got != 23 {
			t.Errorf("committed %d, want 23", got)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		sameLines(t, "dead letter", dead.lines["lane0"], []string{"P20"}, true)
	})
}

// An acking is a fakeSource that acknowledges batches.
type acking struct {
	fakeSource
	amu       sync.Mutex
	resolved  int
	abandoned map[error]int
}

func (s *acking) Resolved(b *Batch) {
	s.amu.Lock()
	defer s.amu.Unlock()
	s.resolved += int(b.Stats.Records)
}

func (s *acking) Abandoned(_ *Batch, cause error) {
	s.amu.Lock()
	defer s.amu.Unlock()
	if s.abandoned == nil {
		s.abandoned = make(map[error]int)
	}
	s.abandoned[cause]++
}

func TestAcker(t *testing.T) {
	src := &acking{fakeSource: fakeSource{lanes: [][]string{numbered(500, "aD"), nil, numbered(77, "X")}, readers: 2}}
	p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{&fakeSink{}}, DeadLetter: &fakeSink{}})
	finished(t.Context(), t, p)
	if src.resolved != 577 || len(src.abandoned) != 0 {
		t.Errorf("%d records acknowledged, abandoned: %v", src.resolved, src.abandoned)
	}
}

func TestAckerRevoke(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		src := &acking{fakeSource: fakeSource{lanes: [][]string{{"a1"}}, block: true}}
		sink := &fakeSink{hold: 1}
		p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{sink}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Run(ctx) }()
		synctest.Wait()
		src.opened[0].Revoke()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
		if src.resolved != 0 || src.abandoned[ErrRevoked] != 1 {
			t.Errorf("%d acknowledged, abandoned: %v", src.resolved, src.abandoned)
		}
		if l := p.Snapshot().Ledger; !l.Balanced() || l.Emitted != 1 {
			t.Errorf("ledger %+v", l)
		}
	})
}
