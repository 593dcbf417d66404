//go:build invariants

package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// mustPanic fails the test unless f panics with a text that begins with "BUG: "
// and contains want.
func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		text := fmt.Sprint(recover())
		if !strings.HasPrefix(text, "BUG: ") || !strings.Contains(text, want) {
			t.Errorf("panic %q, want BUG: … %s", text, want)
		}
	}()
	f()
}

// TestInvariantTicket: a ticket can be answered once, and only for its own
// submission.
func TestInvariantTicket(t *testing.T) {
	var first Ticket
	n := 0
	sink := &fakeSink{hold: 1, submit: func(_ context.Context, _ *Batch, tk Ticket) error {
		n++
		switch n {
		case 1:
			first = tk
		case 60: // the batch is in use again
			mustPanic(t, "already answered", func() { first.Done(Result{}) })
			mustPanic(t, "already answered", func() { first.Stream() })
		}
		return nil
	}}
	p := newPipe(t, Options{Sources: []Source{oneLane(1000, "a")}, Sinks: []Sink{sink}, Workers: 1})
	if err := p.Run(t.Context()); err != nil {
		t.Errorf("Run: %v", err)
	}
	if n < 60 {
		t.Errorf("only %d submissions, so the test is inconclusive", n)
	}
	mustPanic(t, "the zero Ticket", func() { Ticket{}.Done(Result{}) })
}

// TestInvariantPool: a batch can be released only once, its contents are
// overwritten, and later writes to it are detected.
func TestInvariantPool(t *testing.T) {
	l := newPool(&delivery{sinks: make([]*target, 1)}, 1, 10)
	b := <-l.free
	b.held.Store(true)
	b.In = append(b.In, "secret"...)
	b.Out.Bytes = append(b.Out.Bytes, "out"...)
	b.Out.Recs = append(b.Out.Recs, OutRec{Span: Span{Len: 3}})
	in, out, recs := b.In, b.Out.Bytes, b.Out.Recs
	if !l.put(b) {
		t.Fatal("put does not accept the batch")
	}
	for _, kept := range [][]byte{in, out} {
		if strings.Trim(string(kept), string([]byte{poisonByte})) != "" {
			t.Errorf("a retained slice reads %q", kept)
		}
	}
	if recs[0] != poisonRec {
		t.Errorf("a retained record reads %+v", recs[0])
	}
	mustPanic(t, "released twice", func() { l.put(b) })
	b.mustBePoisoned()
	in[2] = 'x'
	mustPanic(t, "In, byte 2", b.mustBePoisoned)
}

// TestInvariantPoisonInRun: a run detects writes to a free batch.
func TestInvariantPoisonInRun(t *testing.T) {
	src := &funcSource{run: func(ctx context.Context, rt Runtime) error {
		l := rt.NewLane("l", LaneLimits{})
		b, err := rt.Get(ctx, l)
		if err != nil {
			return err
		}
		kept := append(b.In, "text"...)
		rt.Put(b)
		kept[0] = 'T'
		mustPanic(t, "was written to after it was released", func() {
			for { // until the batch is reused
				b, err := rt.Get(ctx, l)
				if err != nil {
					t.Error(err)
					return
				}
				rt.Put(b)
			}
		})
		return nil
	}}
	p := newPipe(t, Options{Sources: []Source{src}, Sinks: []Sink{&fakeSink{}}})
	err := p.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "1 batches were taken") { // the batch with which Get panicked
		t.Errorf("Run: %v", err)
	}
}

// TestInvariantOrder: an outlet returns the batches of its lane in order, and
// holds at most one batch per number.
func TestInvariantOrder(t *testing.T) {
	l := newLane("l", 8)
	o := &outlet{ring: make([]*Batch, 4)}
	first, stray := &Batch{Lane: l}, &Batch{Lane: l, Seq: 4} // both belong in slot 0
	o.put(first)
	mustPanic(t, "batch 4 would overwrite batch 0", func() { o.mustBeVacant(stray) })
	b := o.pop()
	o.mustBeNext(l, b)
	mustPanic(t, "batch 4 submitted out of order", func() { o.mustBeNext(l, stray) })
	mustPanic(t, "batch 0 submitted out of order", func() { o.mustBeNext(newLane("other", 8), b) })
}

// TestInvariantLane: the counters of a lane are consistent.
func TestInvariantLane(t *testing.T) {
	l := newLane("l", 8)
	l.mustHold()
	l.low = 1
	mustPanic(t, "lane l: low 1, base 0, next 0", l.mustHold)
	l = newLane("l", 8)
	l.base = 1
	mustPanic(t, "base 1", l.mustHold)
}
