package sources_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sources/builtin"
)

// This file contains:
//
//   - TestRegistered: runs each check for each registered source in a real
//     pipeline. The pipeline detects batches that do not come back and lanes
//     that are misused: the error of the run then begins with BUG:.
//   - collector: the sink of these runs.
//   - The checks: the contracts of engine.Source, Committer, Acker and
//     Finisher.

// A world provides the input of one source at a time and stores its positions.
type world struct {
	source func() engine.Source // creates an unopened source
	broken func() engine.Source // creates one whose Open fails; nil if not applicable
	want   []string             // all records
	// publish, if not nil, is called when the source runs; it is for sources
	// that only read messages published meanwhile.
	publish func(engine.Source)
	resumes bool // positions are stored: a second run resumes where the first one ended
	// redelivers says that a second run may get the messages returned by the
	// first one in another order.
	redelivers bool

	ran bool // the source has run before
}

var registeredChecks = []struct {
	name string
	run  func(t testing.TB, w *world)
}{
	{"whole", readsAll},
	{"few batches", readsAllWithFewBatches},
	{"calls repeated", repeatsCalls},
	{"soft stop", softStop},
	{"hard stop", hardStop},
	{"close", closesAlways},
}

func TestRegistered(t *testing.T) {
	requireWorlds(t, builtin.Types(), worlds)
	for _, kind := range slices.Sorted(maps.Keys(worlds)) {
		t.Run(kind, func(t *testing.T) {
			for _, c := range registeredChecks {
				t.Run(c.name, func(t *testing.T) { c.run(t, worlds[kind](t)) })
			}
		})
	}
}

// requireWorlds fails the test for each registered type without a world, and
// for each world of an unregistered type.
func requireWorlds(t testing.TB, types []kinds.Source, worlds map[string]func(testing.TB) *world) {
	t.Helper()
	names := map[string]bool{}
	for _, typ := range types {
		names[typ.Name] = true
		if worlds[typ.Name] == nil {
			t.Errorf("no contract test for the registered source %s: add an entry to worlds", typ.Name)
		}
	}
	for kind := range worlds {
		if !names[kind] {
			t.Errorf("source %s is not registered", kind)
		}
	}
}

// A counter is a testing.TB that counts errors.
type counter struct {
	testing.TB
	errors []string
}

func (c *counter) Helper() {}
func (c *counter) Errorf(format string, args ...any) {
	c.errors = append(c.errors, fmt.Sprintf(format, args...))
}

// TestSuiteCoversTypes checks that the suite fails for a registered type
// without a world and for a world of an unregistered type.
func TestSuiteCoversTypes(t *testing.T) {
	c := &counter{TB: t}
	requireWorlds(c, append(builtin.Types(), kinds.Source{Name: "dummy"}), worlds)
	if len(c.errors) != 1 || !strings.Contains(c.errors[0], "no contract test for the registered source dummy") {
		t.Errorf("with a dummy source: %q", c.errors)
	}
	c = &counter{TB: t}
	requireWorlds(c, builtin.Types()[1:], worlds)
	if len(c.errors) != 1 {
		t.Errorf("with a subject of no type: %q", c.errors)
	}
}

// A copier is a codec that copies lines and messages.
type copier struct{}

func (copier) Process(b *engine.Batch) {
	add := func(src, msg int, text []byte) {
		at := uint32(len(b.Out.Bytes))
		b.Out.Recs = append(b.Out.Recs, engine.OutRec{Span: engine.Span{Off: at, Len: uint32(len(text))}, Src: uint32(src), Msg: uint32(msg)})
		b.Out.Bytes = append(b.Out.Bytes, text...)
		b.Stats.Records++
		b.Stats.Emitted++
	}
	for i := range b.Msgs {
		v := b.Msgs[i].Value
		add(int(v.Off), i, b.In[v.Off:v.Off+v.Len])
	}
	if len(b.Msgs) == 0 {
		at := 0
		for line := range bytes.Lines(b.In) {
			add(at, 0, bytes.TrimSuffix(line, []byte("\n")))
			at += len(line)
		}
	}
	b.Next, b.NextMsg = len(b.In), len(b.Msgs)
}

func (copier) Reject(*engine.Batch) {}
func (copier) Refuse(*engine.Batch) {}

// A collector is a sink that keeps records by lane.
type collector struct {
	// hold selects batches, numbered from 1, that stay unanswered until Close.
	hold func(n int) bool
	// seen, if not nil, is called after each batch with the total number of
	// records and whether the batch is held.
	seen func(records int, held bool)

	mu    sync.Mutex
	lanes map[string][]string
	n     int
	held  []engine.Ticket
	over  bool // closed
}

func (c *collector) Open(context.Context) error { return nil }

func (c *collector) Submit(_ context.Context, b *engine.Batch, t engine.Ticket) error {
	c.mu.Lock()
	if c.over { // after a hard stop, Close answers no more
		c.mu.Unlock()
		return errors.New("closed")
	}
	c.n++
	held := c.hold != nil && c.hold(c.n)
	if held {
		c.held = append(c.held, t)
	} else {
		c.keep(b, t.Stream())
	}
	records := 0
	for _, l := range c.lanes {
		records += len(l)
	}
	c.mu.Unlock()
	if !held {
		t.Done(engine.Result{})
	}
	if c.seen != nil {
		c.seen(records, held)
	}
	return nil
}

// keep adds the records of a batch. The caller holds mu.
func (c *collector) keep(b *engine.Batch, st *engine.Stream) {
	if c.lanes == nil {
		c.lanes = map[string][]string{}
	}
	for _, r := range st.Recs {
		c.lanes[b.Lane.Name()] = append(c.lanes[b.Lane.Name()], string(st.Bytes[r.Off:r.Off+r.Len]))
	}
}

func (c *collector) Barrier(context.Context) error { return nil }

func (c *collector) Close(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.held {
		t.Done(engine.Result{Err: errors.New("closed"), Class: engine.Retryable})
	}
	c.held, c.over = nil, true
	return nil
}

func (c *collector) Caps() engine.SinkCaps { return engine.SinkCaps{Ordered: true} }

// records returns all records, sorted.
func (c *collector) records() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(func(yield func(string) bool) {
		for _, l := range c.lanes {
			for _, r := range l {
				if !yield(r) {
					return
				}
			}
		}
	})
}

// inOrder fails the test unless the records ORIGIN-NUMBER of each origin are in
// order within their lane.
func (c *collector) inOrder(t testing.TB) {
	t.Helper()
	for lane, records := range c.lanes {
		last := map[string]string{}
		for _, r := range records {
			origin, n, _ := strings.Cut(r, "-")
			if n <= last[origin] {
				t.Errorf("lane %s: record %s after %s-%s", lane, r, origin, last[origin])
				return
			}
			last[origin] = n
		}
	}
}

// runTime limits the duration of a run in these tests.
const runTime = 60 * time.Second

// run runs src with the sink out. stop, if not nil, is called before the run
// with the pipeline and a function that requests a soft stop.
func (w *world) run(t testing.TB, src engine.Source, out *collector, batches int, arrange func(p *engine.Pipeline, stop func())) error {
	t.Helper()
	p, err := engine.New(engine.Options{
		Sources: []engine.Source{src}, Sinks: []engine.Sink{out}, NewCodec: func() engine.Codec { return copier{} },
		Ordering: engine.OrderPerLane, Workers: 2, BatchBytes: 1000, Batches: batches,
		CommitInterval: 10 * time.Millisecond, ShutdownTimeout: runTime,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), runTime)
	defer stop()
	if arrange != nil {
		arrange(p, stop)
	}
	if w.publish != nil {
		go w.publish(src)
	}
	err = p.Run(ctx)
	w.ran = true
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("run does not end: %d of %d records", len(out.records()), len(w.want))
	}
	if err != nil && strings.HasPrefix(err.Error(), "BUG:") {
		t.Errorf("Run: %v", err)
	}
	if l := p.Snapshot().Ledger; !l.Balanced() {
		t.Errorf("ledger does not balance: %+v", l)
	}
	return err
}

// whole runs a source to the end of its input.
func (w *world) whole(t testing.TB, src engine.Source, batches int) *collector {
	t.Helper()
	out, again := &collector{}, w.ran
	err := w.run(t, src, out, batches, func(_ *engine.Pipeline, stop func()) {
		if w.publish != nil { // the input has no end
			out.seen = func(records int, _ bool) {
				if records >= len(w.want) {
					stop()
				}
			}
		}
	})
	if err != nil {
		t.Errorf("Run: %v", err)
	}
	if !w.redelivers || !again {
		out.inOrder(t)
	}
	return out
}

// exactly fails the test unless got holds each record once.
func (w *world) exactly(t testing.TB, got []string) {
	t.Helper()
	slices.Sort(got)
	if !slices.Equal(got, w.want) {
		t.Errorf("%d records, want %d, each once", len(got), len(w.want))
	}
}

// readsAll checks that Run emits every record once, in order within its lane,
// and that a second run reads nothing.
func readsAll(t testing.TB, w *world) {
	w.exactly(t, w.whole(t, w.source(), 0).records())
	if w.resumes {
		if again := w.whole(t, w.source(), 0).records(); len(again) > 0 {
			t.Errorf("%d records read again", len(again))
		}
	}
}

// readsAllWithFewBatches checks that a source works with the minimum number of
// batches.
func readsAllWithFewBatches(t testing.TB, w *world) {
	w.exactly(t, w.whole(t, w.source(), 4).records())
}

// A repeater is a Committer that repeats each call.
type repeater struct{ engine.Source }

func (r repeater) Commit(ctx context.Context, ups []engine.LanePos) error {
	c := r.Source.(engine.Committer)
	if err := c.Commit(ctx, ups); err != nil {
		return err
	}
	return c.Commit(ctx, ups)
}

// A finishRepeater is a repeater that is also a Finisher.
type finishRepeater struct{ repeater }

func (r finishRepeater) Finish(ctx context.Context, lanes []*engine.Lane) []error {
	f := r.Source.(engine.Finisher)
	if errs := f.Finish(ctx, lanes); errs != nil {
		return errs
	}
	return f.Finish(ctx, lanes)
}

// repeatsCalls checks that Commit and Finish are idempotent.
func repeatsCalls(t testing.TB, w *world) {
	src := w.source()
	_, commits := src.(engine.Committer)
	_, finishes := src.(engine.Finisher)
	switch {
	case commits && finishes:
		src = finishRepeater{repeater{src}}
	case commits:
		src = repeater{src}
	}
	w.exactly(t, w.whole(t, src, 0).records())
	if w.resumes {
		if again := w.whole(t, w.source(), 0).records(); len(again) > 0 {
			t.Errorf("%d records read again", len(again))
		}
	}
}

// softStop checks that after a soft stop Run returns nil and all emitted
// records are drained, and that a second run reads exactly the rest.
func softStop(t testing.TB, w *world) {
	first := &collector{}
	err := w.run(t, w.source(), first, 4, func(_ *engine.Pipeline, stop func()) {
		first.seen = func(records int, _ bool) {
			if records >= len(w.want)/4 {
				stop()
			}
		}
	})
	if err != nil {
		t.Errorf("Run: %v", err)
	}
	first.inOrder(t)
	if w.resumes {
		w.exactly(t, slices.Concat(first.records(), w.whole(t, w.source(), 0).records()))
	}
}

// hardStop checks that batches that no sink has answered are not committed, and
// that a second run reads them again.
func hardStop(t testing.TB, w *world) {
	first := &collector{hold: func(n int) bool { return n > 3 }}
	err := w.run(t, w.source(), first, 4, func(p *engine.Pipeline, _ func()) {
		first.seen = func(_ int, held bool) {
			if held {
				p.HardStop()
			}
		}
	})
	if !errors.Is(err, engine.ErrDeadline) {
		t.Errorf("Run: %v, want %v", err, engine.ErrDeadline)
	}
	first.inOrder(t)
	if !w.resumes {
		return
	}
	all := slices.Concat(first.records(), w.whole(t, w.source(), 0).records())
	slices.Sort(all)
	w.exactly(t, slices.Compact(all))
}

// closesAlways checks that Close succeeds without Open and after a failed Open.
func closesAlways(t testing.TB, w *world) {
	if err := w.source().Close(context.Background()); err != nil {
		t.Errorf("Close without Open: %v", err)
	}
	if w.broken == nil {
		return
	}
	err := w.run(t, w.broken(), &collector{}, 0, nil) // calls Close if Open fails
	if err == nil {
		t.Error("run succeeds although its source cannot be opened")
	}
}
