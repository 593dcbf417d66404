package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// A laneModel is a simple model of Lane: a list of all batches.
type laneModel struct {
	epoch   uint32
	batches []modelBatch
	wm      Position
}

type modelBatch struct {
	b     *Batch
	epoch uint32
	end   Position
	back  bool // released
	ok    bool // released as durable
}

// update advances the watermark over the longest resolved prefix of the epoch.
// It reports whether the whole epoch is resolved.
func (m *laneModel) update() (drained bool) {
	for _, b := range m.batches {
		if b.epoch != m.epoch {
			continue
		}
		if !b.ok {
			return false
		}
		m.wm = b.end
	}
	return true
}

// window returns the number of batches from the oldest unreleased one on.
func (m *laneModel) window() int {
	i := slices.IndexFunc(m.batches, func(b modelBatch) bool { return !b.back })
	if i < 0 {
		return 0
	}
	return len(m.batches) - i
}

func TestLaneModel(t *testing.T) {
	const limit = 7
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 29))
		l, m := newLane("model", limit), &laneModel{}
		var last Position
		for step := range 400 {
			switch op := rng.IntN(100); {
			case op < 50: // get and emit a batch
				a, _, err := l.admit(false)
				if want := m.window() < limit; (a == admitted) != want || err != nil {
					t.Fatalf("seed %d step %d: admit is %v, %v with %d in the window of %d", seed, step, a, err, m.window(), limit)
				}
				if a != admitted {
					continue
				}
				b := &Batch{}
				l.taken(b)
				end := Position{A: int64(step), B: int64(seed)}
				if err := l.issue(b, end); err != nil {
					t.Fatal(err)
				}
				if b.Seq != uint64(len(m.batches)) {
					t.Fatalf("seed %d step %d: Seq %d, want %d", seed, step, b.Seq, len(m.batches))
				}
				m.batches = append(m.batches, modelBatch{b: b, epoch: m.epoch, end: end})
			case op < 97: // release a batch
				var flying []int
				for i := range m.batches {
					if !m.batches[i].back {
						flying = append(flying, i)
					}
				}
				if len(flying) == 0 {
					continue
				}
				b := &m.batches[flying[rng.IntN(len(flying))]]
				b.back, b.ok = true, rng.IntN(40) > 0
				l.resolve(b.b, b.ok)
			default:
				l.Revoke()
				m.epoch++
			}
			drained := m.update()
			if got, _ := l.Watermark(); got != m.wm {
				t.Fatalf("seed %d step %d: watermark %v, want %v", seed, step, got, m.wm)
			}
			if m.wm.A < last.A {
				t.Fatalf("seed %d step %d: the watermark went back from %v to %v", seed, step, last, m.wm)
			}
			last = m.wm
			if err := l.Drain(done); (err == nil) != drained {
				t.Fatalf("seed %d step %d: Drain: %v, want drained: %v", seed, step, err, drained)
			}
		}
	}
}

// emitted returns a batch of l that was emitted with the position end.
func emitted(t *testing.T, l *Lane, end int64) *Batch {
	t.Helper()
	b := &Batch{}
	if a, _, err := l.admit(false); a != admitted || err != nil {
		t.Fatalf("admit: %v, %v", a, err)
	}
	l.taken(b)
	if err := l.issue(b, Position{A: end}); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLaneDrain(t *testing.T) {
	f := func(name string, act func(l *Lane, b *Batch), want error) {
		t.Helper()
		bubble.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			l := newLane(name, 4)
			l.stop = stop
			b := emitted(t, l, 1)
			got := make(chan error)
			go func() { got <- l.Drain(t.Context()) }()
			synctest.Wait()
			select {
			case err := <-got:
				t.Fatalf("%s: Drain returns %v too early", name, err)
			default:
			}
			if act == nil {
				close(stop)
			} else {
				act(l, b)
			}
			if err := <-got; !errors.Is(err, want) {
				t.Errorf("%s: Drain: %v, want %v", name, err, want)
			}
		})
	}
	f("resolved", func(l *Lane, b *Batch) { l.resolve(b, true) }, nil)
	f("revoked", func(l *Lane, _ *Batch) { l.Revoke() }, ErrRevoked)
	f("stopped", nil, ErrStopped)
}

// TestLaneStart checks that each piece of a record has the record's offset, whichever
// worker gets it, unless the lane began within the record.
func TestLaneStart(t *testing.T) {
	l := newLane("pieces", 16)
	emit := func(p Piece, off, want int64) {
		t.Helper()
		b := &Batch{Piece: p, Off: off}
		if a, _, err := l.admit(false); a != admitted || err != nil {
			t.Fatalf("admit: %v, %v", a, err)
		}
		l.taken(b)
		if err := l.issue(b, Position{A: off}); err != nil {
			t.Fatal(err)
		}
		if p != Whole && b.start != want {
			t.Errorf("piece at %d: the record starts at %d, want %d", off, b.start, want)
		}
	}
	emit(Last, 5, -1)
	emit(First, 10, 10)
	emit(Middle, 20, 10)
	emit(Last, 30, 10)
	emit(Whole, 40, 0)
	emit(First, 50, 50)
	l.Revoke()
	emit(Last, 60, -1)
}

// TestLaneRevoke: batches taken before Revoke cannot be emitted after it,
// because the watermark would otherwise pass batches that were given up.
func TestLaneRevoke(t *testing.T) {
	l := newLane("revoked", 4)
	old := emitted(t, l, 10)
	taken := &Batch{}
	if a, _, _ := l.admit(false); a != admitted {
		t.Fatal("not admitted")
	}
	l.taken(taken)
	l.Revoke()
	if err := l.issue(taken, Position{A: 20}); !errors.Is(err, ErrRevoked) {
		t.Errorf("issue: %v, want ErrRevoked", err)
	}
	l.resolve(old, true)
	if wm, ok := l.Watermark(); ok {
		t.Errorf("watermark %v from before Revoke", wm)
	}
	if _, due := l.undirty(); due {
		t.Error("a watermark is due after Revoke")
	}
	fresh := emitted(t, l, 5)
	l.resolve(fresh, true)
	if wm, _ := l.Watermark(); wm.A != 5 {
		t.Errorf("watermark %v, want 5", wm)
	}
	if st := l.Stats(); st.Records != 0 {
		t.Errorf("stats %+v", st)
	}
}

func TestLaneHead(t *testing.T) {
	l := newLane("head", 4)
	if l.Head() != nil {
		t.Error("a new lane has a head")
	}
	rec := []byte("a,b\n")
	l.SetHead(rec)
	rec[0] = 'x'
	if string(l.Head()) != "a,b\n" || l.Name() != "head" {
		t.Errorf("head %q of %q: SetHead did not copy the bytes", l.Head(), l.Name())
	}
}
