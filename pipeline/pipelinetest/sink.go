// Package pipelinetest tests sources and sinks against the contract of package pipeline.
// Call [TestSource] or [TestSink] in a test of the component, and run it once with the build
// tag invariants as well.
package pipelinetest

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// patience is the time that a check waits for what must happen.
var patience = 20 * time.Second

// TestSink checks a sink. open returns a new sink that was not opened, with an empty target.
// written returns what the last sink has written, after its Close; if it is nil, what is
// written is not checked. The sink must accept records of text.
func TestSink(t *testing.T, open func() pipeline.Sink, written func() []byte) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(t testing.TB, open func() pipeline.Sink, written func() []byte)
	}{
		{"pipeline", sinkInPipeline},
		{"tickets", sinkTickets},
		{"canceled", sinkCanceled},
		{"close", sinkCloses},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, open, written) })
	}
}

// soon calls f and fails the test if it does not return in time.
func soon(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan any, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- fmt.Sprintf("%v\n%s", v, debug.Stack())
				return
			}
			done <- nil
		}()
		f()
	}()
	select {
	case v := <-done:
		if v != nil {
			t.Fatalf("%s: panic: %v", what, v)
		}
	case <-time.After(patience):
		t.Fatalf("%s has not returned after %v", what, patience)
	}
}

// records returns n records of about 50 bytes. 5000 of them fill more than one
// batch.
func records(n int) (all [][]byte) {
	for i := range n {
		all = append(all, fmt.Appendf(nil, "http://example.com/%d/%s\n", i, bytes.Repeat([]byte("x"), i%50)))
	}
	return all
}

// sinkInPipeline writes records of a SourceFunc, in order.
func sinkInPipeline(t testing.TB, open func() pipeline.Sink, written func() []byte) {
	all := records(5000)
	s := open()
	ordered := s.Caps().Ordered
	p := newPipeline(t, pipeline.Options{
		Sources: []pipeline.Source{pipeline.SourceFunc(func(_ context.Context, emit func([]byte) error) error {
			for _, r := range all {
				if err := emit(r); err != nil {
					return err
				}
			}
			return nil
		})},
		Sinks: []pipeline.Sink{s}, Workers: 4, Ordered: ordered,
	})
	var err error
	soon(t, "Run", func() { err = p.Run(context.Background()) })
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if got := p.Counts(); got.Written != int64(len(all)) {
		t.Errorf("%d of %d records were written: %+v", got.Written, len(all), got)
	}
	if written != nil {
		compare(t, written(), all, ordered)
	}
}

// compare checks that each record was written once and, if they are ordered, in order.
func compare(t testing.TB, got []byte, all [][]byte, ordered bool) {
	t.Helper()
	if ordered {
		if want := bytes.Join(all, nil); !bytes.Contains(got, want) && !bytes.Equal(got, want) {
			t.Errorf("the %d bytes written are not the %d bytes of the records in order; does the sink keep slices of a ticket?", len(got), len(want))
		}
		return
	}
	for _, r := range all {
		if n := bytes.Count(got, bytes.TrimSuffix(r, []byte("\n"))); n != 1 {
			t.Fatalf("record %q was written %d times", r, n)
		}
	}
}

func newPipeline(t testing.TB, o pipeline.Options) *pipeline.Pipeline {
	t.Helper()
	o.Job.Format = "lines"
	p, err := pipeline.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A client submits tickets by hand.
type client struct {
	t    testing.TB
	sink pipeline.Sink
	lane engine.Lane

	mu    sync.Mutex
	open  int // tickets without an answer
	taken int // tickets that Submit accepted
	all   [][]byte
}

func newClient(t testing.TB, s pipeline.Sink) *client {
	c := &client{t: t, sink: s}
	c.lane.SetID("lane")
	c.lane.SetRel("lane")
	return c
}

// submit submits some records in one ticket. After the answer, it overwrites
// the records, as a pipeline does that reuses the memory.
func (c *client) submit(ctx context.Context, recs ...[]byte) (err error) {
	b := &engine.Batch{Lane: &c.lane}
	for _, r := range recs {
		at := uint32(len(b.Out.Bytes))
		b.Out.Recs = append(b.Out.Recs, engine.OutRec{Span: engine.Span{Off: at, Len: uint32(len(r))}, Src: at})
		b.In, b.Out.Bytes = append(b.In, r...), append(b.Out.Bytes, r...)
	}
	before := bytes.Clone(b.Out.Bytes)
	answers := 0
	c.mu.Lock()
	c.open++
	c.mu.Unlock()
	ticket := kinds.Outside.Ticket(b, engine.NewTicket(&b.Out, func(r engine.Result) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if answers++; answers > 1 {
			c.t.Errorf("a ticket was answered %d times", answers)
			return
		}
		c.open--
		if !bytes.Equal(b.Out.Bytes, before) {
			c.t.Error("the sink modified the records of a ticket")
		}
		if ctx.Err() == nil && r.Err != nil {
			c.t.Errorf("the sink answered: %v", r.Err)
		}
		for i := range b.Out.Bytes {
			b.Out.Bytes[i] = '#'
		}
		clear(b.Out.Recs)
	})).(pipeline.Ticket)
	soon(c.t, "Submit", func() { err = c.sink.Submit(ctx, ticket) })
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.taken++
		c.all = append(c.all, recs...)
	case answers > 0:
		c.t.Errorf("the sink both answered a ticket and returned an error: %v", err)
	default:
		c.open--
	}
	return err
}

// answered checks that no ticket waits for its answer.
func (c *client) answered(after string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open != 0 {
		c.t.Errorf("after %s, %d of %d tickets have no answer", after, c.open, c.taken)
	}
}

func (c *client) barrier() {
	c.t.Helper()
	var err error
	soon(c.t, "Barrier", func() { err = c.sink.Barrier(context.Background()) })
	if err != nil {
		c.t.Errorf("Barrier: %v", err)
	}
	c.answered("Barrier")
}

func mustOpen(t testing.TB, s pipeline.Sink) {
	t.Helper()
	kinds.Outside.Sink(s) // finds what the sink wraps, as a pipeline does
	caps := s.Caps()
	var err error
	soon(t, "Open", func() { err = s.Open(context.Background()) })
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if s.Caps() != caps {
		t.Errorf("Caps: %+v before Open, %+v after it", caps, s.Caps())
	}
}

// sinkTickets submits tickets by hand: each is answered once, at the latest by Barrier.
func sinkTickets(t testing.TB, open func() pipeline.Sink, written func() []byte) {
	s := open()
	mustOpen(t, s)
	c := newClient(t, s)
	all := records(300)
	for i := 0; i < len(all); i += 3 {
		if err := c.submit(context.Background(), all[i:i+3]...); err != nil {
			t.Fatalf("Submit: %v", err)
		}
		if i%60 == 0 {
			c.barrier()
		}
	}
	c.barrier()
	var err error
	soon(t, "Close", func() { err = s.Close(context.Background()) })
	if err != nil {
		t.Errorf("Close: %v", err)
	}
	if written != nil {
		compare(t, written(), all, true)
	}
	if err := c.submit(context.Background(), all[0]); err == nil {
		c.answered("a Submit after Close, which must return an error or answer")
	}
}

// sinkCanceled closes the sink with a context that is done, while tickets are open.
func sinkCanceled(t testing.TB, open func() pipeline.Sink, _ func() []byte) {
	s := open()
	mustOpen(t, s)
	c := newClient(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	for _, r := range records(20) {
		if err := c.submit(ctx, r); err != nil {
			t.Fatalf("Submit: %v", err)
		}
	}
	cancel()
	soon(t, "Close", func() { _ = s.Close(ctx) }) // Close may return an error about the early end of the run
	c.answered("Close")
}

// sinkCloses closes a sink that was never opened.
func sinkCloses(t testing.TB, open func() pipeline.Sink, _ func() []byte) {
	s := open()
	kinds.Outside.Sink(s)
	var err error
	soon(t, "Close", func() { err = s.Close(context.Background()) })
	if err != nil {
		t.Errorf("Close without Open: %v", err)
	}
}
