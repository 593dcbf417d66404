package pipelinetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/pipeline"
)

// This file tests the suites: good components pass, and each fault is found.

// A recorder is a testing.TB that stores failures.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	failures []string
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

// failuresOf runs f with a recorder, in a separate goroutine, which Fatal
// can end.
func failuresOf(t *testing.T, f func(testing.TB)) string {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil { // with the invariants
				r.Errorf("panic: %v", v)
			}
		}()
		f(r)
	}()
	<-done
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.failures, "\n")
}

// impatient shortens the time that the suites wait for faulty components.
func impatient(t *testing.T) {
	long := patience
	patience = time.Second
	t.Cleanup(func() { patience = long })
}

// A faults has functions that replace methods of a sink, if they are not nil.
type faults struct {
	submit  func(m *memory, t pipeline.Ticket) error
	barrier func(m *memory)
	close   func(m *memory) error
	caps    func(m *memory) pipeline.SinkCaps
}

// A memory is a sink that keeps some tickets until Barrier.
type memory struct {
	faults

	mu      sync.Mutex
	out     *bytes.Buffer
	waiting []pipeline.Ticket
	n       int
	open    bool
	closed  bool
}

var errClosed = errors.New("closed")

func (m *memory) Open(context.Context) error { m.open = true; return nil }

func (m *memory) Submit(_ context.Context, t pipeline.Ticket) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	if m.submit != nil {
		return m.submit(m, t)
	}
	return m.take(t)
}

func (m *memory) take(t pipeline.Ticket) error {
	if m.closed {
		return errClosed
	}
	m.out.Write(t.Bytes())
	m.waiting = append(m.waiting, t)
	if len(m.waiting) > 2 {
		m.answer()
	}
	return nil
}

func (m *memory) answer() {
	for _, t := range m.waiting {
		t.Ack()
	}
	m.waiting = nil
}

func (m *memory) Barrier(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.barrier != nil {
		m.barrier(m)
		return nil
	}
	m.answer()
	return nil
}

func (m *memory) Close(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.close != nil {
		return m.close(m)
	}
	m.answer()
	return nil
}

func (m *memory) Caps() pipeline.SinkCaps {
	if m.caps != nil {
		return m.caps(m)
	}
	return pipeline.SinkCaps{Ordered: true}
}

func TestSinkSuite(t *testing.T) {
	var out *bytes.Buffer
	open := func(f faults) func() pipeline.Sink {
		return func() pipeline.Sink {
			out = new(bytes.Buffer)
			return &memory{out: out, faults: f}
		}
	}
	written := func() []byte { return out.Bytes() }
	TestSink(t, open(faults{}), written)
	TestSink(t, func() pipeline.Sink {
		out = new(bytes.Buffer)
		to := out
		return pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error { to.Write(t.Bytes()); return nil })
	}, written)

	var kept [][]byte
	for name, f := range map[string]struct {
		faults faults
		want   string
	}{
		"an answer twice": {faults{submit: func(m *memory, t pipeline.Ticket) error {
			t.Ack()
			return m.take(t)
		}}, "twice|2 times"},
		"an answer and an error": {faults{submit: func(_ *memory, t pipeline.Ticket) error {
			t.Ack()
			return errClosed
		}}, "both answered"},
		"no answer": {faults{barrier: func(*memory) {}, submit: func(m *memory, t pipeline.Ticket) error { m.waiting = append(m.waiting, t); return nil }}, "no answer|never answered"},
		"a lost record": {faults{submit: func(m *memory, t pipeline.Ticket) error {
			if m.n == 3 {
				t.Ack()
				return nil
			}
			return m.take(t)
		}}, "bytes written are not"},
		"kept slices": {faults{submit: func(_ *memory, t pipeline.Ticket) error {
			kept = append(kept, t.Bytes())
			t.Ack()
			return nil
		}, close: func(m *memory) error {
			for _, b := range kept {
				m.out.Write(b)
			}
			kept = nil
			return nil
		}}, "keep slices"},
		"changed records": {faults{submit: func(m *memory, t pipeline.Ticket) error {
			err := m.take(t)
			t.Bytes()[0] = 'X'
			return err
		}}, "modified"},
		"other caps": {faults{caps: func(m *memory) pipeline.SinkCaps { return pipeline.SinkCaps{Ordered: !m.open} }}, "before Open"},
		"an error of Close": {faults{close: func(m *memory) error {
			m.answer()
			if !m.open {
				return errClosed
			}
			return nil
		}}, "Close without Open"},
		"silence after Close": {faults{submit: func(m *memory, t pipeline.Ticket) error {
			if m.closed {
				return nil
			}
			return m.take(t)
		}}, "after Close"},
		"a Submit that hangs": {faults{submit: func(*memory, pipeline.Ticket) error { select {} }}, "has not returned"},
	} {
		t.Run(name, func(t *testing.T) {
			impatient(t)
			var all strings.Builder
			for _, run := range []func(testing.TB, func() pipeline.Sink, func() []byte){sinkTickets, sinkCanceled, sinkCloses} {
				all.WriteString(failuresOf(t, func(r testing.TB) { run(r, open(f.faults), written) }) + "\n")
			}
			one, other, _ := strings.Cut(f.want, "|")
			if got := all.String(); !strings.Contains(got, one) && (other == "" || !strings.Contains(got, other)) {
				t.Errorf("want %q in the failures:\n%s", f.want, got)
			}
		})
	}
}

// A numbers is a source of the numbers from its position on, which its users share.
type numbers struct {
	rt    *pipeline.Runtime
	at    *pipeline.LanePosition
	start func(at *pipeline.LanePosition) (offset, token int64)
	run   func(ctx context.Context) error // instead of all else
}

func (s *numbers) Open(_ context.Context, rt *pipeline.Runtime) error { s.rt = rt; return nil }
func (*numbers) Close(context.Context) error                          { return nil }

func (s *numbers) Commit(_ context.Context, done []pipeline.LanePosition) error {
	*s.at = done[len(done)-1]
	return nil
}

func (s *numbers) Run(ctx context.Context) error {
	if s.run != nil {
		return s.run(ctx)
	}
	offset, n := s.start(s.at)
	l, err := s.rt.Lane("numbers", offset)
	if err != nil {
		return err
	}
	defer l.End(false)
	for ctx.Err() == nil {
		b, err := s.rt.Get(ctx, l)
		if err != nil {
			break
		}
		for range 40 {
			n++
			b.Append(fmt.Appendf(nil, "http://example.com/%d\n", n))
		}
		if err := s.rt.Emit(ctx, b, n); err != nil {
			return err
		}
	}
	return nil
}

func TestSourceSuite(t *testing.T) {
	var at pipeline.LanePosition
	good := func(at *pipeline.LanePosition) (offset, token int64) { return at.Offset, at.Token }
	TestSource(t, func() pipeline.Source { return &numbers{at: &at, start: good} })
	TestSource(t, func() pipeline.Source {
		return pipeline.SourceFunc(func(_ context.Context, emit func([]byte) error) error {
			for i := range 100 {
				if err := emit(fmt.Appendf(nil, "http://example.com/%d", i)); err != nil {
					return err
				}
			}
			return nil
		})
	})
	for name, f := range map[string]struct {
		source numbers
		run    func(testing.TB, func() pipeline.Source)
		want   string
	}{
		"offsets from 0 again":  {numbers{start: func(at *pipeline.LanePosition) (int64, int64) { return 0, at.Token }}, sourceLives, "two records have the id"},
		"a forgotten position":  {numbers{start: func(*pipeline.LanePosition) (int64, int64) { return 0, 0 }}, sourceLives, "is read again by the next process"},
		"an error after a stop": {numbers{run: func(ctx context.Context) error { <-ctx.Done(); return errClosed }}, sourceStopped, "closed"},
		"no end":                {numbers{run: func(context.Context) error { select {} }}, sourceStopped, "has not returned"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no end" {
				impatient(t)
			}
			var at pipeline.LanePosition
			got := failuresOf(t, func(r testing.TB) {
				f.run(r, func() pipeline.Source { s := f.source; s.at = &at; return &s })
			})
			if f.want != "" && !strings.Contains(got, f.want) {
				t.Errorf("want %q in the failures:\n%s", f.want, got)
			}
		})
	}
}
