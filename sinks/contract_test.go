package sinks_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/builtin"
)

// This file has three parts:
//
//   - TestContract: runs each check for each subject of each registered sink.
//   - client: submits batches as a worker does, and counts the answers.
//   - The checks: the contract of engine.Sink and engine.Ticket.

// A check verifies one part of the contract of a sink.
type check struct {
	name string
	run  func(t testing.TB, f fixture)
}

var checks = []check{
	{"in order", inOrder},
	{"at once", atOnce},
	{"canceled", canceled},
	{"hard stop", hardStop},
	{"submit after close", submitAfterClose},
	{"close during submit", closeDuringSubmit},
	{"close", closes},
	{"caps", capsAreConstant},
	{"health", healthy},
	{"extents", extents},
	{"finish", finishes},
	{"routed", routed},
}

func TestContract(t *testing.T) {
	requireSubjects(t, builtin.Types(), subjects())
	for _, sub := range subjects() {
		t.Run(strings.TrimPrefix(sub.kind+"/", "/")+sub.name, func(t *testing.T) {
			for _, c := range checks {
				t.Run(c.name, func(t *testing.T) { c.run(t, sub.start(t)) })
			}
		})
	}
}

// requireSubjects fails the test for each registered type without a subject,
// and for each subject whose type is not registered.
func requireSubjects(t testing.TB, types []kinds.Sink, subs []subject) {
	t.Helper()
	registered := map[string]bool{"": true}
	for _, typ := range types {
		registered[typ.Name] = true
		if !slices.ContainsFunc(subs, func(s subject) bool { return s.kind == typ.Name }) {
			t.Errorf("sink %s is registered, but the contract suite has no subject for it: add one to subjects", typ.Name)
		}
	}
	for _, s := range subs {
		if !registered[s.kind] {
			t.Errorf("subject %s: no sink is registered as %s", s.name, s.kind)
		}
	}
}

// patience is the time that a check waits for an answer that must come.
var patience = time.Minute

// A client submits the batches of one lane, as a worker does.
type client struct {
	t     testing.TB
	sink  engine.Sink
	lane  *engine.Lane
	facts bool
	seq   uint64
	off   int64

	taken   int64        // batches that Submit accepted
	answers atomic.Int64 // answers to these batches
}

// newClient returns a client for an open sink.
func newClient(t testing.TB, s engine.Sink, id string) *client {
	t.Helper()
	c := &client{t: t, sink: s, lane: new(engine.Lane)}
	c.lane.SetID(id)
	c.lane.SetRel(id)
	if r, ok := s.(kinds.FactReader); ok {
		c.facts = r.NeedsFacts()
	}
	return c
}

// batch returns a batch of these records, each of which ends with a line feed.
func (c *client) batch(records ...string) *engine.Batch {
	b := &engine.Batch{Lane: c.lane, Seq: c.seq, Off: c.off}
	for _, r := range records {
		at := uint32(len(b.Out.Bytes))
		b.Out.Recs = append(b.Out.Recs, engine.OutRec{Span: engine.Span{Off: at, Len: uint32(len(r))}, Src: at})
		b.In, b.Out.Bytes = append(b.In, r...), append(b.Out.Bytes, r...)
		if c.facts {
			f := record.Fact{Host: uint64(at), Key: codec.KeyFromUint64s(c.seq+1, uint64(c.off)+uint64(at)+1)}
			b.Out.Facts = append(b.Out.Facts, f)
		}
	}
	c.seq++
	c.off += int64(len(b.In))
	b.End = engine.Position{A: c.off}
	return b
}

// submit submits a batch of records. It overwrites the batch after the answer,
// as its reuse would.
func (c *client) submit(ctx context.Context, records ...string) error {
	b := c.batch(records...)
	before := bytes.Clone(b.Out.Bytes)
	var mu sync.Mutex
	answered, refused := 0, false
	err := c.sink.Submit(ctx, b, engine.NewTicket(&b.Out, func(r engine.Result) {
		mu.Lock()
		defer mu.Unlock()
		if answered++; answered > 1 || refused {
			c.t.Errorf("batch %d: answer %d, refused %t: a ticket is answered once, or Submit returns an error", b.Seq, answered, refused)
			return
		}
		if !bytes.Equal(b.Out.Bytes, before) {
			c.t.Errorf("batch %d: the sink modified it", b.Seq)
		}
		if ctx.Err() == nil && (r.Class != engine.OK || r.Err != nil) {
			c.t.Errorf("batch %d: %v, class %d", b.Seq, r.Err, r.Class)
		}
		for _, p := range [][]byte{b.In, b.Out.Bytes} {
			for i := range p {
				p[i] = '#'
			}
		}
		clear(b.Out.Recs)
		c.answers.Add(1)
	}))
	if err == nil {
		c.taken++
		return nil
	}
	mu.Lock()
	defer mu.Unlock()
	if refused = true; answered > 0 {
		c.t.Errorf("batch %d: the sink both answered it and returned an error: %v", b.Seq, err)
	}
	return err
}

// mustSubmit submits a batch that the sink must accept.
func (c *client) mustSubmit(records ...string) {
	c.t.Helper()
	if err := c.submit(ctx, records...); err != nil {
		c.t.Fatalf("Submit: %v", err)
	}
}

// barrier calls Barrier, after which everything submitted must be answered.
func (c *client) barrier() {
	c.t.Helper()
	if err := c.sink.Barrier(ctx); err != nil {
		c.t.Errorf("Barrier: %v", err)
	}
	c.allAnswered("Barrier")
}

func (c *client) allAnswered(after string) {
	c.t.Helper()
	if got := c.answers.Load(); got != c.taken {
		c.t.Errorf("after %s there are %d answers to %d batches", after, got, c.taken)
	}
}

// eventuallyAnswered waits until everything submitted is answered.
func (c *client) eventuallyAnswered() {
	c.t.Helper()
	for end := time.Now().Add(patience); c.answers.Load() < c.taken; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			c.t.Errorf("%d answers to %d batches that Submit accepted", c.answers.Load(), c.taken)
			return
		}
	}
}

// finish calls Barrier and Close.
func (c *client) finish() {
	c.t.Helper()
	c.barrier()
	c.close(ctx)
	c.allAnswered("Close")
}

func (c *client) close(ctx context.Context) {
	c.t.Helper()
	if err := c.sink.Close(ctx); err != nil && ctx.Err() == nil {
		c.t.Errorf("Close: %v", err)
	}
}

func open(t testing.TB, f fixture) engine.Sink {
	t.Helper()
	s := f.sink()
	if err := s.Open(ctx); err != nil {
		t.Fatalf("Open: %v", err)
	}
	return s
}

// sameRecords fails the test unless each record of want was written once, and
// in that order if the sink keeps the order.
func sameRecords(t testing.TB, f fixture, want []string, ordered bool) {
	t.Helper()
	if f.written == nil {
		return
	}
	got := slices.Collect(strings.Lines(f.written()))
	if !ordered {
		slices.Sort(got)
		want = slices.Sorted(slices.Values(want))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d records written, want the %d submitted ones", len(got), len(want))
	}
}

// inOrder: a sink with the capability Ordered writes records in the order of
// submission, regardless of Barriers in between.
func inOrder(t testing.TB, f fixture) {
	s := open(t, f)
	c := newClient(t, s, "lane")
	var want []string
	for i := range 100 {
		records := []string{fmt.Sprintf("record %d\n", i), fmt.Sprintf("another record %d\n", i), fmt.Sprintf("third %d\n", i)}[:1+i%3]
		want = append(want, records...)
		c.mustSubmit(records...)
		if i%50 == 7 {
			c.barrier()
			c.barrier()
		}
	}
	c.finish()
	sameRecords(t, f, want, s.Caps().Ordered && !f.scattered)
}

// atOnce: when many workers submit concurrently during calls of Barrier, every
// record is written once.
func atOnce(t testing.TB, f fixture) {
	s := open(t, f)
	const workers, each = 8, 40
	var work, barriers sync.WaitGroup
	stop := make(chan struct{})
	barriers.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				if err := s.Barrier(ctx); err != nil {
					t.Errorf("Barrier: %v", err)
				}
			}
		}
	})
	var want []string
	var clients []*client
	for w := range workers {
		c := newClient(t, s, fmt.Sprint("lane", w))
		clients = append(clients, c)
		for i := range each {
			want = append(want, fmt.Sprintf("record %d of %d\n", i, w))
		}
		records := want[w*each:]
		work.Go(func() {
			for _, r := range records {
				if err := c.submit(ctx, r); err != nil {
					t.Errorf("Submit: %v", err)
				}
			}
		})
	}
	work.Wait()
	close(stop)
	barriers.Wait()
	for _, c := range clients {
		c.barrier()
	}
	clients[0].close(ctx)
	sameRecords(t, f, want, false)
}

// canceled: Submit after a hard stop either accepts the batch or returns an
// error, never both. Close answers the accepted batches.
func canceled(t testing.TB, f fixture) {
	s := open(t, f)
	c := newClient(t, s, "lane")
	over, cancel := context.WithCancel(ctx)
	cancel()
	for range 10 {
		_ = c.submit(over, "record\n") // both results are allowed
	}
	c.close(over)
	c.allAnswered("Close")
}

// hardStop: after a hard stop, Close answers all tickets and publishes nothing
// under a final name.
func hardStop(t testing.TB, f fixture) {
	over, cancel := context.WithCancel(ctx)
	defer cancel()
	s := f.sink()
	if err := s.Open(over); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, s, "lane")
	for i := range 20 {
		if err := c.submit(over, fmt.Sprintf("record %d\n", i)); err != nil {
			t.Fatalf("Submit: %v", err)
		}
	}
	cancel()
	c.close(over)
	c.allAnswered("Close")
	if f.published != nil {
		if names := f.published(); len(names) > 0 {
			t.Errorf("published after a hard stop: %q", names)
		}
	}
}

// submitAfterClose: a late Submit returns an error or answers its ticket.
func submitAfterClose(t testing.TB, f fixture) {
	s := open(t, f)
	c := newClient(t, s, "lane")
	c.mustSubmit("record\n")
	c.finish()
	over, cancel := context.WithCancel(ctx)
	cancel()
	for range 3 {
		_ = c.submit(over, "late\n") // both results are allowed
	}
	c.eventuallyAnswered()
}

// closeDuringSubmit: after a hard stop, Close may be called during Submit.
func closeDuringSubmit(t testing.TB, f fixture) {
	over, cancel := context.WithCancel(ctx)
	defer cancel()
	s := f.sink()
	if err := s.Open(over); err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	var clients []*client
	var begin sync.Once
	begun := make(chan struct{})
	for w := range 4 {
		c := newClient(t, s, fmt.Sprint("lane", w))
		clients = append(clients, c)
		work.Go(func() {
			for i := range 200 {
				err := c.submit(over, fmt.Sprintf("record %d of %d\n", i, w))
				begin.Do(func() { close(begun) })
				if err != nil {
					return
				}
			}
		})
	}
	<-begun
	cancel()
	clients[0].close(over)
	work.Wait()
	for _, c := range clients {
		c.eventuallyAnswered()
	}
}

// closes: Close succeeds without Open, a second time, and after a failed Open.
func closes(t testing.TB, f fixture) {
	if err := f.sink().Close(ctx); err != nil {
		t.Errorf("Close without Open: %v", err)
	}
	s := open(t, f)
	for range 2 {
		if err := s.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if f.broken == nil {
		return
	}
	s = f.broken()
	if err := s.Open(ctx); err == nil {
		t.Error("Open succeeds on a broken sink")
	}
	if err := s.Close(ctx); err != nil {
		t.Errorf("Close after a failed Open: %v", err)
	}
}

// capsAreConstant: Caps may be called before Open, and its result does not
// change.
func capsAreConstant(t testing.TB, f fixture) {
	s := f.sink()
	before := s.Caps()
	if err := s.Open(ctx); err != nil {
		t.Fatal(err)
	}
	if after := s.Caps(); after != before {
		t.Errorf("Caps: %+v before Open, %+v after it", before, after)
	}
	if err := s.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// healthy: Health of a working sink returns nil.
func healthy(t testing.TB, f fixture) {
	s := open(t, f)
	c := newClient(t, s, "lane")
	c.mustSubmit("record\n")
	c.barrier()
	if h, ok := s.(engine.Healther); ok {
		if err := h.Health(); err != nil {
			t.Errorf("Health: %v", err)
		}
	}
	c.finish()
}

// extents: Extents appends, is repeatable, and no output shrinks.
func extents(t testing.TB, f fixture) {
	s := open(t, f)
	c := newClient(t, s, "lane")
	r, ok := s.(engine.ExtentReporter)
	last := map[[2]string]int64{}
	for i := range 5 {
		c.mustSubmit(fmt.Sprintf("record %d\n", i))
		c.barrier()
		if !ok {
			continue
		}
		first := r.Extents(nil)
		marker := engine.Extent{Path: "marker"}
		if again := r.Extents([]engine.Extent{marker}); again[0] != marker || !slices.Equal(again[1:], first) {
			t.Errorf("Extents: %v, then %v", first, again)
		}
		for _, e := range first {
			if key := [2]string{e.Lane, e.Path}; e.Length <= 0 || e.Length < last[key] {
				t.Errorf("output %s shrinks from %d to %d bytes", e.Path, last[key], e.Length)
			} else {
				last[key] = e.Length
			}
		}
	}
	c.finish()
}

// finishes: Finish is idempotent and loses nothing.
func finishes(t testing.TB, f fixture) {
	s := open(t, f)
	var want []string
	var lanes []*engine.Lane
	for _, id := range []string{"a", "b"} {
		c := newClient(t, s, id)
		for i := range 10 {
			want = append(want, fmt.Sprintf("record %d of %s\n", i, id))
			c.mustSubmit(want[len(want)-1])
		}
		c.barrier()
		lanes = append(lanes, c.lane)
	}
	if fin, ok := s.(engine.Finisher); ok {
		for range 2 {
			for i, err := range fin.Finish(ctx, lanes) {
				if err != nil {
					t.Errorf("Finish, lane %d: %v", i, err)
				}
			}
		}
	}
	if err := s.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
	sameRecords(t, f, want, false)
}
