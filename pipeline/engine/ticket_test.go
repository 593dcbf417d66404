package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// oneLane returns a source with one lane of n lines.
func oneLane(n int, kinds string) *fakeSource {
	return &fakeSource{lanes: [][]string{numbered(n, kinds)}}
}

var errSink = errors.New("sink says no")

func TestNewTicket(t *testing.T) {
	st := &Stream{Bytes: []byte("x")}
	var got []Result
	ticket := NewTicket(st, func(r Result) { got = append(got, r) })
	if ticket.Stream() != st {
		t.Error("Stream returns a different stream")
	}
	ticket.Done(Result{Class: Permanent})
	if len(got) != 1 || got[0].Class != Permanent {
		t.Errorf("got %+v", got)
	}
}

// TestTicketBugs: the run reports sinks that break their contract.
func TestTicketBugs(t *testing.T) {
	skipIfPanics(t)
	f := func(name string, sink *fakeSink, want string) {
		t.Helper()
		// Fewer batches than the pipeline has, so that the source reaches its
		// end.
		p := newPipe(t, Options{Sources: []Source{oneLane(12, "a")}, Sinks: []Sink{sink}, Workers: 2})
		err := p.Run(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), "BUG:") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: Run: %v, want BUG: … %s", name, err, want)
		}
		if l := p.Snapshot().Ledger; !l.Balanced() {
			t.Errorf("%s: ledger %+v", name, l)
		}
	}
	f("two answers", &fakeSink{submit: func(_ context.Context, _ *Batch, tk Ticket) error {
		tk.Done(Result{})
		return nil // the second answer follows
	}}, "answered a batch twice")
	f("an answer and an error", &fakeSink{submit: func(_ context.Context, _ *Batch, tk Ticket) error {
		tk.Done(Result{})
		return errSink
	}}, "both answered a batch and returned an error for it")
	f("no answer", &fakeSink{answer: func(*Batch, *Stream) (Result, bool) { return Result{}, false }}, "never answered")
	f("a nonexistent record", &fakeSink{answer: func(_ *Batch, s *Stream) (Result, bool) {
		return Result{Err: errSink, Class: Permanent, Failed: []uint32{uint32(len(s.Recs))}}, true
	}}, "nonexistent record")
}

// TestTicketLate: a second answer is detected after the batch was reused.
func TestTicketLate(t *testing.T) {
	skipIfPanics(t)
	var first Ticket
	n := 0
	sink := &fakeSink{submit: func(_ context.Context, _ *Batch, tk Ticket) error {
		if n++; n == 1 {
			first = tk
		} else if n == 60 {
			first.Done(Result{})
		}
		return nil
	}}
	p := newPipe(t, Options{Sources: []Source{oneLane(1000, "a")}, Sinks: []Sink{sink}, Workers: 1})
	if err := p.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "BUG:") {
		t.Errorf("Run: %v, want BUG: …", err)
	}
}

// TestFatal: after an error that ends the run, nothing is resolved, and
// everything committed before it is stored. This is exact with one worker; a
// batch of another worker may be resolved too late for the last commit, and is
// then read again.
func TestFatal(t *testing.T) {
	f := func(name string, sink, dead *fakeSink, kinds string) {
		t.Helper()
		src := &committing{fakeSource: fakeSource{lanes: [][]string{numbered(1000, kinds)}, perCall: 10}}
		o := Options{Sources: []Source{src}, Sinks: []Sink{sink}, Workers: 1, Ordering: OrderPerLane, ShutdownTimeout: time.Hour}
		if dead != nil {
			o.DeadLetter = dead
		}
		p := newPipe(t, o)
		if err := p.Run(t.Context()); !errors.Is(err, errSink) {
			t.Errorf("%s: Run: %v, want %v", name, err, errSink)
		}
		checkClosed(t, p)
		s := p.Snapshot()
		if !s.Ledger.Balanced() || s.Ledger.InFlight != 0 {
			t.Errorf("%s: ledger %+v", name, s.Ledger)
		}
		if src.opened[0].Stats().Records >= 1000 {
			t.Errorf("%s: the run continued to its end", name)
		}
		wm, _ := src.opened[0].Watermark()
		if got := src.last()["lane0"].A; got != wm.A || len(of(sink.lines["lane0"], "a")) < int(wm.A)/len(kinds) {
			t.Errorf("%s: committed %d, watermark %d, %d lines in the sink", name, got, wm.A, len(sink.lines["lane0"]))
		}
		if !sink.cutShort {
			t.Errorf("%s: Close was called without a canceled context", name)
		}
	}
	after := func(n int, r Result) func(*Batch, *Stream) (Result, bool) {
		return func(*Batch, *Stream) (Result, bool) {
			if n--; n < 0 {
				return r, true
			}
			return Result{}, true
		}
	}
	f("fatal", &fakeSink{answer: after(10, Result{Err: errSink, Class: Fatal})}, nil, "a")
	f("no class", &fakeSink{answer: after(10, Result{Err: errSink})}, nil, "a")
	n := 0
	f("submit", &fakeSink{submit: func(context.Context, *Batch, Ticket) error {
		if n++; n > 10 {
			return errSink
		}
		return nil
	}}, nil, "a")
}

func TestFatalBarrier(t *testing.T) {
	p := newPipe(t, Options{Sources: []Source{oneLane(10, "a")}, Sinks: []Sink{&fakeSink{barrierErr: errSink}}})
	if err := p.Run(t.Context()); !errors.Is(err, errSink) {
		t.Errorf("Run: %v, want %v", err, errSink)
	}
}
