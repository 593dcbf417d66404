package sinks_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/builtin"
)

// This file tests the suite itself: a type without tests, and a sink that
// breaks the contract, must make it fail.

// A recorder is a testing.TB that stores failures.
type recorder struct {
	testing.TB // of the surrounding test
	mu         sync.Mutex
	failures   []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// failuresOf runs f with a recorder and returns the failures.
func failuresOf(t *testing.T, f func(testing.TB)) []string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // Fatal ends the goroutine
		defer close(done)
		defer func() { // with the invariants, the pipeline panics at some faults
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		f(r)
	}()
	<-done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures
}

// TestSuiteCoversTypes: the suite fails for a registered type without a
// subject, and for a subject whose type is not registered.
func TestSuiteCoversTypes(t *testing.T) {
	dummy := kinds.Sink{Name: "dummy"}
	got := failuresOf(t, func(r testing.TB) { requireSubjects(r, append(builtin.Types(), dummy), subjects()) })
	if len(got) != 1 || !strings.Contains(got[0], "sink dummy is registered, but the contract suite has no subject for it") {
		t.Errorf("with a dummy sink: %q", got)
	}
	stray := append(subjects(), subject{kind: "dummy", name: "stray"})
	if got = failuresOf(t, func(r testing.TB) { requireSubjects(r, builtin.Types(), stray) }); len(got) != 1 {
		t.Errorf("with a subject of an unregistered type: %q", got)
	}
}

// A fault replaces parts of a sink's behavior with violations of the contract.
type fault struct {
	caps    engine.SinkCaps // after Open
	submit  func(s *faulty, b *engine.Batch, t engine.Ticket) error
	barrier func(s *faulty)
	close   func(s *faulty, ctx context.Context) error
}

// A faulty is a sink in memory with one fault.
type faulty struct {
	fault
	mu      sync.Mutex
	text    *strings.Builder
	waiting []func()
	n       int
	open    bool
	closed  bool
}

var errFaulty = errors.New("closed")

func (s *faulty) Open(context.Context) error { s.open = true; return nil }

func (s *faulty) Submit(_ context.Context, b *engine.Batch, t engine.Ticket) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	if s.submit != nil {
		return s.submit(s, b, t)
	}
	return s.take(t)
}

// take handles a batch as the contract requires.
func (s *faulty) take(t engine.Ticket) error {
	if s.closed {
		return errFaulty
	}
	s.text.Write(t.Stream().Bytes)
	s.waiting = append(s.waiting, func() { t.Done(engine.Result{}) })
	return nil
}

func (s *faulty) answer() {
	for _, f := range s.waiting {
		f()
	}
	s.waiting = nil
}

func (s *faulty) Barrier(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.barrier != nil {
		s.barrier(s)
		return nil
	}
	s.answer()
	return nil
}

func (s *faulty) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.close != nil {
		return s.close(s, ctx)
	}
	s.answer()
	return nil
}

func (s *faulty) Caps() engine.SinkCaps {
	if s.open {
		return s.caps
	}
	return engine.SinkCaps{Ordered: true}
}

// TestSuiteFindsFaults runs all checks with sinks that each violate one rule.
func TestSuiteFindsFaults(t *testing.T) {
	long := patience
	t.Cleanup(func() { patience = long })
	ordered := engine.SinkCaps{Ordered: true}
	for name, f := range map[string]struct {
		fault
		want string // expected in a failure; empty: no failure
	}{
		"nothing": {fault{caps: ordered}, ""},
		"an answer twice": {fault{caps: ordered, submit: func(s *faulty, _ *engine.Batch, t engine.Ticket) error {
			err := s.take(t)
			if s.n == 1 {
				t.Done(engine.Result{})
			}
			return err
		}}, "a ticket is answered once"},
		"an answer and an error": {fault{caps: ordered, submit: func(_ *faulty, _ *engine.Batch, t engine.Ticket) error {
			t.Done(engine.Result{})
			return errFaulty
		}}, "both answered it and returned an error"},
		"a batch kept": {fault{caps: ordered, submit: func(s *faulty, _ *engine.Batch, t engine.Ticket) error {
			st := t.Stream()
			t.Done(engine.Result{})
			s.text.Write(st.Bytes)
			return nil
		}}, "records written"},
		"a batch changed": {fault{caps: ordered, submit: func(s *faulty, b *engine.Batch, t engine.Ticket) error {
			err := s.take(t)
			b.Out.Bytes[0] = 'X'
			return err
		}}, "the sink modified it"},
		"a record lost": {fault{caps: ordered, submit: func(s *faulty, _ *engine.Batch, t engine.Ticket) error {
			if s.n == 3 {
				t.Done(engine.Result{})
				return nil
			}
			return s.take(t)
		}}, "records written"},
		"another order": {fault{caps: ordered, submit: func(s *faulty, _ *engine.Batch, t engine.Ticket) error {
			before := s.text.String()
			s.text.Reset()
			err := s.take(t)
			s.text.WriteString(before)
			return err
		}}, "submitted ones"},
		"an empty Barrier":  {fault{caps: ordered, barrier: func(*faulty) {}}, "after Barrier"},
		"other caps":        {fault{caps: engine.SinkCaps{MaxRecordBytes: 9}}, "before Open"},
		"an empty Close":    {fault{caps: ordered, close: func(*faulty, context.Context) error { return nil }}, "after Close"},
		"an error of Close": {fault{caps: ordered, close: func(s *faulty, _ context.Context) error { s.answer(); return errFaulty }}, "Close without Open"},
		"silence after Close": {fault{caps: ordered, submit: func(s *faulty, _ *engine.Batch, t engine.Ticket) error {
			if s.closed {
				return nil
			}
			return s.take(t)
		}}, "batches that Submit accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			patience = long // a good sink on a busy machine needs it
			if f.want != "" {
				patience = 50 * time.Millisecond
			}
			var all []string
			for _, c := range checks {
				all = append(all, failuresOf(t, func(r testing.TB) { c.run(r, f.fixture()) })...)
			}
			got := strings.Join(all, "\n")
			if f.want == "" && got != "" || !strings.Contains(got, f.want) {
				t.Errorf("want %q in the failures:\n%s", f.want, got)
			}
		})
	}
}

// fixture returns a fixture for sinks with the fault f.
func (f fault) fixture() fixture {
	text := new(strings.Builder)
	return fixture{sink: func() engine.Sink { return &faulty{fault: f, text: text} }, written: text.String}
}
