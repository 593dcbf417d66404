package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/testkit"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// An echo is a codec that passes lines through.
type echo struct{}

func (echo) Process(b *engine.Batch) {
	for b.Next < len(b.In) {
		n := strings.IndexByte(string(b.In[b.Next:]), '\n') + 1
		if n == 0 {
			n = len(b.In) - b.Next
		}
		off := len(b.Out.Bytes)
		b.Out.Bytes = append(b.Out.Bytes, b.In[b.Next:b.Next+n]...)
		b.Out.Recs = append(b.Out.Recs, engine.OutRec{Span: engine.Span{Off: uint32(off), Len: uint32(n)}, Src: uint32(b.Next)})
		b.Stats.Records++
		b.Stats.Emitted++
		b.Next += n
	}
}

// A stopper is an echo that ends the run at a line that begins with S.
type stopper struct {
	echo
	err error
}

func (s *stopper) Process(b *engine.Batch) {
	in := b.In
	s.err = nil
	if at := bytes.Index(in[b.Next:], []byte("S|")); at >= 0 {
		b.In, s.err = in[:b.Next+at], errors.New("the end")
	}
	s.echo.Process(b)
	b.In = in
}

func (s *stopper) Err() error { return s.err }

func (echo) Reject(b *engine.Batch) { b.Next = len(b.In) }
func (echo) Refuse(*engine.Batch)   {}

// A shelf is a sink that keeps lines with the ids of their lanes. It outlives
// the pipelines that write to it.
type shelf struct {
	mu      sync.Mutex
	lines   []string
	ids     []string
	eager   bool                // see mortal
	stall   chan struct{}       // if not nil, no batch is available before it is closed
	exact   bool                // truncated to the stored extents when a daemon starts
	stops   bool                // the codec is a stopper
	idles   bool                // lanes are ended as soon as possible
	onBatch func(*engine.Batch) // called for each batch, one at a time
	full    func(n int)         // called after each batch with the number of lines
}

func (s *shelf) Open(context.Context) error    { return nil }
func (s *shelf) Barrier(context.Context) error { return nil }
func (s *shelf) Close(context.Context) error   { return nil }
func (s *shelf) Caps() engine.SinkCaps         { return engine.SinkCaps{Ordered: true} }

func (s *shelf) Submit(_ context.Context, b *engine.Batch, t engine.Ticket) error {
	s.mu.Lock()
	st := t.Stream()
	if s.onBatch != nil {
		s.onBatch(b)
	}
	for _, r := range st.Recs {
		s.lines = append(s.lines, string(st.Bytes[r.Off:r.Off+r.Len]))
		s.ids = append(s.ids, b.Lane.ID())
	}
	n := len(s.lines)
	s.mu.Unlock()
	if s.full != nil {
		s.full(n)
	}
	t.Done(engine.Result{})
	return nil
}

// Extents implements engine.ExtentReporter: the extent of the shelf is its
// number of lines.
func (s *shelf) Extents(dst []engine.Extent) []engine.Extent {
	return append(dst, engine.Extent{Path: "shelf", Length: int64(s.count())})
}

// cutBack removes lines that no checkpoint covers.
func (s *shelf) cutBack(extents []engine.Extent) {
	n := 0
	for _, m := range extents {
		n = int(m.Length)
	}
	s.lines, s.ids = s.lines[:n], s.ids[:n]
}

func (s *shelf) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.lines)
}

// check fails the test unless the lines are want, each once, in any order.
func (s *shelf) check(t testing.TB, want []string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	got := map[string]int{}
	for _, l := range s.lines {
		got[l]++
	}
	missing, doubled := 0, 0
	first := ""
	for _, l := range want {
		switch n := got[l]; {
		case n == 0:
			missing++
			if first == "" {
				first = l
			}
		case n > 1:
			doubled++
			if first == "" {
				first = l
			}
		}
		delete(got, l)
	}
	if missing > 0 || doubled > 0 || len(got) > 0 {
		t.Errorf("of %d lines: %d lost, %d duplicated, %d unexpected, including %.40q", len(want), missing, doubled, len(got), first)
		for l := range got {
			t.Logf("unexpected: %.60q", l)
			break
		}
	}
}

// quick returns settings for tests, with short waits.
func quick(include ...string) Settings {
	s := DefaultSettings()
	s.Include = include
	s.PollInterval = 5 * time.Millisecond
	s.RotateWait = 150 * time.Millisecond
	s.DamageAfter = 150 * time.Millisecond
	s.RestartPointEvery = 1 << 20
	return s
}

// A mortal is a watcher that can be killed. After that it stores and finishes
// nothing, but reports success to the pipeline.
type mortal struct {
	*watcher
	dead  atomic.Bool
	eager bool          // lanes are finished as soon as they end
	stall chan struct{} // see shelf
}

func (m *mortal) Open(ctx context.Context, rt engine.Runtime) error {
	if m.eager {
		rt = eager{rt, m.watcher}
	}
	if m.stall != nil {
		rt = stalled{rt, m.stall}
	}
	return m.watcher.Open(ctx, rt)
}

// stalled is a Runtime without free batches until its channel is closed.
type stalled struct {
	engine.Runtime
	over <-chan struct{}
}

func (s stalled) Get(ctx context.Context, l *engine.Lane) (*engine.Batch, error) {
	<-s.over
	return s.Runtime.Get(ctx, l)
}

// eager is a Runtime that finishes lanes at once.
type eager struct {
	engine.Runtime
	w *watcher
}

func (e eager) End(l *engine.Lane) {
	e.Runtime.End(l)
	e.w.Finish(context.Background(), []*engine.Lane{l})
}

func (m *mortal) Commit(ctx context.Context, ups []engine.LanePos) error {
	if m.dead.Load() {
		return nil
	}
	return m.watcher.Commit(ctx, ups)
}

func (m *mortal) Keep() error {
	if m.dead.Load() {
		return nil
	}
	return m.watcher.Keep()
}

func (m *mortal) CommitCut(ctx context.Context, ups []engine.LanePos, extents []engine.Extent) error {
	if m.dead.Load() {
		return nil
	}
	return m.watcher.CommitCut(ctx, ups, extents)
}

func (m *mortal) Finish(ctx context.Context, lanes []*engine.Lane) []error {
	if m.dead.Load() || m.eager {
		return nil
	}
	return m.watcher.Finish(ctx, lanes)
}

func (m *mortal) Close(ctx context.Context) error {
	if m.dead.Load() {
		return nil
	}
	return m.watcher.Close(ctx)
}

// A daemon is a run of a watcher in a real pipeline.
type daemon struct {
	t       testing.TB
	w       *watcher
	life    *mortal
	p       *engine.Pipeline
	store   *checkpoint.Store
	stop    context.CancelFunc
	done    chan error
	mu      sync.Mutex
	reports []Report
	ahead   atomic.Int64 // offset of the clock, in nanoseconds
}

// start starts a daemon with a checkpoint in dir.
func start(t testing.TB, dir string, set Settings, sink *shelf, mod func(*WatchConfig)) *daemon {
	t.Helper()
	store, err := checkpoint.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{t: t, store: store, done: make(chan error, 1)}
	var logged testkit.Log
	t.Cleanup(func() {
		if t.Failed() && os.Getenv("URLFOLD_TEST_LOG") != "" {
			t.Log(logged.String())
		}
	})
	logger := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg := WatchConfig{Settings: set, Logger: logger, Framing: lines{}, Host: Host{Store: store, OnReport: func(r Report) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.reports = append(d.reports, r)
	}}}
	if mod != nil {
		mod(&cfg)
	}
	if d.w, err = makeWatcher(cfg); err != nil {
		t.Fatal(err)
	}
	d.w.bound.clock = func() time.Time { return time.Now().Add(time.Duration(d.ahead.Load())) }
	if len(t.Name())%2 == 0 || sink.idles { // in half of the tests, lanes are ended as soon as possible
		d.w.retireAfter = 0
	}
	d.life = &mortal{watcher: d.w, eager: sink.eager, stall: sink.stall}
	if sink.exact {
		sink.cutBack(store.Extents("sink 1"))
	}
	d.p, err = engine.New(engine.Options{
		ExactlyOnce: sink.exact,
		Sources:     []engine.Source{d.life}, Sinks: []engine.Sink{sink}, Ordering: engine.OrderPerLane,
		NewCodec: func() engine.Codec {
			if sink.stops {
				return new(stopper)
			}
			return echo{}
		},
		BatchBytes: 4 << 10, CommitInterval: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	go func() { d.done <- d.p.Run(ctx) }()
	return d
}

// wait waits for the end of the run.
func (d *daemon) wait() {
	d.t.Helper()
	if err := d.result(); err != nil {
		d.t.Error(err)
	}
}

// result waits for the end of the run and returns its error.
func (d *daemon) result() error {
	d.t.Helper()
	result := <-d.done
	d.stop()
	d.checkStored()
	if err := d.store.Close(); err != nil {
		d.t.Error(err)
	}
	if n := d.w.Stats().Descriptors; n != 0 {
		d.t.Errorf("%d descriptors are still open", n)
	}
	return result
}

// checkStored fails the test unless the store holds the current state of all
// tracks. Only tracks marked as changed are stored, so every change must mark
// its track.
func (d *daemon) checkStored() {
	d.t.Helper()
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	want := map[string]checkpoint.Entry{}
	for _, t := range d.w.known.tracks {
		if e := d.w.progress.describe(t, t.entry.entry()); e.Offset > 0 || t.end.state != checkpoint.Reading {
			want[t.id] = e
		}
	}
	for _, e := range d.store.Entries(d.w.cfg.Name) {
		if f := d.w.finished.objects[fileID{e.Dev, e.Ino}]; f.lane.String() == e.ID {
			if int64(f.gone) != e.Gone || e.State != checkpoint.Done {
				d.t.Errorf("stored: %+v\nactual: %+v", e, f)
			}
			continue
		}
		if e != want[e.ID] {
			d.t.Errorf("stored: %+v\nactual: %+v", e, want[e.ID])
		}
		delete(want, e.ID)
	}
	for _, e := range want {
		d.t.Errorf("not stored: %+v", e)
	}
}

// kill ends the run like a crash: nothing is stored from then on.
func (d *daemon) kill() {
	d.t.Helper()
	d.life.dead.Store(true)
	d.p.HardStop()
	<-d.done
	d.stop()
	_ = d.store.Close()
}

// end stops the run softly.
func (d *daemon) end() {
	d.t.Helper()
	d.stop()
	d.wait()
}

// until waits until ok returns true.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timeout waiting for: %s", what)
		}
	}
}

// numbered returns n lines that contain name and number.
func numbered(name string, from, n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%s|%d|%s\n", name, from+i, strings.Repeat("x", (from+i)*7%60)))
	}
	return all
}

func join(parts ...[]string) []string { return slices.Concat(parts...) }

// makeWatcher is NewWatcher with test defaults.
func makeWatcher(cfg WatchConfig) (*watcher, error) {
	w, err := NewWatcher(cfg)
	if err != nil {
		return nil, err
	}
	return w.(*watcher), nil
}
