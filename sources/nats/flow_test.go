package nats_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/pipeline/engine"
	sink "github.com/urlfold/urlfold/sinks/nats"
	source "github.com/urlfold/urlfold/sources/nats"
)

// This file contains helpers for tests of runs: streams, their contents before
// and after, and pipelines between them.

const second = time.Second

// patience is how long a test waits for an expected event. A machine may be
// slow; no test depends on how long something takes.
const patience = 180 * second

// few returns short, or long with URLFOLD_LONG=1, as the size of a test.
func few(short, long int) int {
	if os.Getenv("URLFOLD_LONG") == "1" {
		return long
	}
	return short
}

func bg(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// A world is a server with two streams: IN with the subjects "in.>", OUT with
// "out.>".
type world struct {
	t   *testing.T
	srv *natstest.Server
	nc  *nats.Conn
	js  jetstream.JetStream

	urls     []string
	storage  jetstream.StorageType
	replicas int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, jetstream.MemoryStorage)
}

// newWorldOn returns a world with streams in memory or in files, which survive
// a restart.
func newWorldOn(t *testing.T, storage jetstream.StorageType) *world {
	t.Helper()
	return newWorldOf(t, storage, natstest.Start(t, nil))
}

// newWorldOf returns a world on the servers of one cluster, each with a replica
// of the streams.
func newWorldOf(t *testing.T, storage jetstream.StorageType, servers ...*natstest.Server) *world {
	t.Helper()
	w := &world{t: t, srv: servers[0], storage: storage, replicas: len(servers)}
	for _, s := range servers {
		w.urls = append(w.urls, s.URL())
	}
	var err error
	if w.nc, err = nats.Connect(strings.Join(w.urls, ","), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.nc.Close)
	if w.js, err = jetstream.New(w.nc, jetstream.WithPublishAsyncMaxPending(1000)); err != nil {
		t.Fatal(err)
	}
	w.stream("IN", "in.>")
	w.stream("OUT", "out.>")
	return w
}

func (w *world) stream(name, subjects string) {
	w.t.Helper()
	cfg := jetstream.StreamConfig{
		Name: name, Subjects: []string{subjects}, Storage: w.storage, Replicas: w.replicas,
		Duplicates: time.Hour, // so that repeated publishes on a slow machine are within the window
	}
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); {
		// A new cluster does not respond until it has elected leaders.
		ctx, cancel := context.WithTimeout(context.Background(), 5*second)
		_, err = w.js.CreateStream(ctx, cfg)
		cancel()
		if err == nil || w.replicas == 1 {
			break
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// url returns the URL of record i.
func url(i int) string { return fmt.Sprintf("http://host%d.example.com/page/%d?q=some+words", i%50, i) }

// fill publishes n URLs to IN, numbered from from on.
func (w *world) fill(from, n int) {
	w.t.Helper()
	for i := from; i < from+n; i++ {
		if _, err := w.js.PublishAsync(fmt.Sprintf("in.%d", i%10), []byte(url(i)), jetstream.WithStallWait(patience)); err != nil {
			w.t.Fatal(err)
		}
	}
	select {
	case <-w.js.PublishAsyncComplete():
	case <-time.After(patience):
		w.t.Fatal("IN did not store the messages")
	}
}

// counts returns how often each message is in a stream.
func (w *world) counts(stream string) map[string]int {
	w.t.Helper()
	got := map[string]int{}
	for _, m := range w.messages(stream) {
		got[string(m.Data())]++
	}
	return got
}

func (w *world) messages(stream string) []jetstream.Msg {
	w.t.Helper()
	ctx := bg(w.t, patience)
	s, err := w.js.Stream(ctx, stream)
	if err != nil {
		w.t.Fatal(err)
	}
	left := int(s.CachedInfo().State.Msgs)
	c, err := s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		w.t.Fatal(err)
	}
	var all []jetstream.Msg
	for left > 0 {
		batch, err := c.Fetch(min(left, 1000), jetstream.FetchMaxWait(30*second))
		if err != nil {
			w.t.Fatal(err)
		}
		before := len(all)
		for m := range batch.Messages() {
			all = append(all, m)
		}
		if left -= len(all) - before; len(all) == before {
			w.t.Fatalf("%s: %d messages not delivered", stream, left)
		}
	}
	return all
}

// exactly fails unless OUT holds each of n URLs once.
func (w *world) exactly(n int) {
	w.t.Helper()
	got := w.counts("OUT")
	lost, doubled := 0, 0
	for i := range n {
		switch c := got[url(i)]; {
		case c == 0:
			lost++
		case c > 1:
			doubled += c - 1
		}
	}
	w.t.Logf("%d records, %d lost, %d duplicated, %d distinct", n, lost, doubled, len(got))
	if lost > 0 || doubled > 0 || len(got) != n {
		w.t.Error("want each record once")
	}
}

func (w *world) count(stream string) int {
	s, err := w.js.Stream(bg(w.t, 10*second), stream)
	if err != nil {
		return 0
	}
	return int(s.CachedInfo().State.Msgs)
}

// until waits until f returns true.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timeout waiting for: %s", what)
		}
	}
}

func (w *world) source(change func(*source.JetStreamConfig)) *source.JetStream {
	w.t.Helper()
	cfg := source.DefaultJetStream()
	cfg.Servers = w.urls
	cfg.ReconnectWait = 10 * time.Millisecond
	cfg.Stream, cfg.Durable = "IN", "urlfold"
	cfg.Consumer.AckWait = patience
	cfg.Batch.Linger = 5 * time.Millisecond
	cfg.Prefetch.Messages = 400
	if change != nil {
		change(&cfg)
	}
	s, err := source.NewJetStream(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return s.(*source.JetStream)
}

// A jetStreamSink is the part of the sink that tests need.
type jetStreamSink interface {
	engine.Sink
	engine.Healther
	Stats() sink.Stats
	Metrics(emit func(name, help, kind string, value float64, labels ...string))
}

func (w *world) sink(change func(*sink.JetStreamConfig)) jetStreamSink {
	w.t.Helper()
	cfg := sink.DefaultJetStream()
	cfg.Headers.Headers = []string{"input", "flags", "source"}
	cfg.Servers = w.urls
	cfg.ReconnectWait = 10 * time.Millisecond
	cfg.Subject = "out.{host_key%8}"
	cfg.Publish.AckTimeout = patience
	if change != nil {
		change(&cfg)
	}
	s, err := sink.NewJetStream(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return s.(jetStreamSink)
}

// job returns a job that writes URLs unchanged, one per line.
func job(t *testing.T) *record.Job {
	t.Helper()
	return jobOf(t, record.Config{})
}

// jobOf is job with additional settings.
func jobOf(t *testing.T, c record.Config) *record.Job {
	t.Helper()
	profile, err := codec.Lookup("crawler")
	if err != nil {
		t.Fatal("profile crawler not found")
	}
	n, err := codec.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	c.Format, c.Normalizer, c.Facts = "lines", n, true
	j, err := record.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A run is a running pipeline.
type run struct {
	t    *testing.T
	p    *engine.Pipeline
	stop context.CancelFunc
	done chan struct{}
	err  error
}

// start runs a pipeline from src to out.
func start(t *testing.T, src engine.Source, out engine.Sink, change func(*engine.Options)) *run {
	t.Helper()
	o := engine.Options{
		Sources: []engine.Source{src}, Sinks: []engine.Sink{out}, NewCodec: engine.NewRecordCodec(job(t)),
		CommitInterval: 50 * time.Millisecond, Workers: 2, ShutdownTimeout: patience,
	}
	if change != nil {
		change(&o)
	}
	p, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &run{t: t, p: p, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = p.Run(ctx)
	}()
	t.Cleanup(func() { stop(); p.HardStop(); <-r.done })
	return r
}

// end stops the run softly. The run must succeed and account for every record.
func (r *run) end() {
	r.t.Helper()
	r.stop()
	<-r.done
	if r.err != nil {
		r.t.Errorf("run ended with: %v", r.err)
	}
	if l := r.p.Snapshot().Ledger; !l.Balanced() || l.InFlight > 0 || l.Abandoned > 0 {
		r.t.Errorf("unbalanced ledger: %+v", l)
	}
}

// kill stops the run like a second signal.
func (r *run) kill() {
	r.stop()
	r.p.HardStop()
	<-r.done
}
