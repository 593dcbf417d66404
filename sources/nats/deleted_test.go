package nats_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/testkit"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/pipeline/engine"
	source "github.com/urlfold/urlfold/sources/nats"
)

// This file tests lasting problems: a deleted consumer or stream, and a missing
// permission.

// A linesSink keeps records without deduplication. While it is shut, batches
// wait in it.
type linesSink struct {
	tally
	mu    sync.Mutex
	taken int // records, including those that wait
	got   map[string]int
	ids   map[string]bool // of lanes
	shut  chan struct{}   // nil: open
	open  atomic.Int64    // submissions that are not answered
}

// Barrier waits until all submissions are answered.
func (s *linesSink) Barrier(ctx context.Context) error {
	for s.open.Load() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// submitted returns the number of submitted records.
func (s *linesSink) submitted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

func (s *linesSink) Submit(ctx context.Context, b *engine.Batch, t engine.Ticket) error {
	s.mu.Lock()
	shut := s.shut
	s.taken += len(t.Stream().Recs)
	s.mu.Unlock()
	s.open.Add(1)
	go func() {
		defer s.open.Add(-1)
		if shut != nil {
			<-shut
		}
		s.mu.Lock()
		if s.got == nil {
			s.got, s.ids = map[string]int{}, map[string]bool{}
		}
		s.ids[b.Lane.ID()] = true
		for _, r := range t.Stream().Recs {
			s.got[strings.TrimSpace(string(t.Stream().Bytes[r.Off:r.Off+r.Len]))]++
		}
		s.mu.Unlock()
		t.Done(engine.Result{})
	}()
	return nil
}

// close makes batches wait until the returned function is called.
func (s *linesSink) close() (open func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := make(chan struct{})
	s.shut = c
	return sync.OnceFunc(func() {
		s.mu.Lock()
		if s.shut == c {
			s.shut = nil
		}
		s.mu.Unlock()
		close(c)
	})
}

// count returns how many of n URLs, numbered from from on, it has, and how many
// of them more than once.
func (s *linesSink) count(from, n int) (have, doubled int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := from; i < from+n; i++ {
		if c := s.got[url(i)]; c > 0 {
			have++
			doubled += c - 1
		}
	}
	return have, doubled
}

// has reports whether a record has arrived.
func (s *linesSink) has(record string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got[record] > 0
}

func (w *world) deleteConsumer() {
	w.t.Helper()
	if err := w.js.DeleteConsumer(bg(w.t, patience), "IN", "urlfold"); err != nil {
		w.t.Fatal(err)
	}
}

// replaceStream deletes IN and creates another stream with that name.
func (w *world) replaceStream() {
	w.t.Helper()
	if err := w.js.DeleteStream(bg(w.t, patience), "IN"); err != nil {
		w.t.Fatal(err)
	}
	w.stream("IN", "in.>")
}

// TestConsumerRecreated checks that a deleted consumer is recreated after the
// last acknowledged message, so that nothing is lost or duplicated.
func TestConsumerRecreated(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"earliest", "latest"} {
		t.Run(start, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var log testkit.Log
			out := &linesSink{}
			src := w.source(func(c *source.JetStreamConfig) {
				c.Logger, c.Consumer.FilterSubjects = log.Logger(), []string{"in.1", "in.3"}
				if err := c.Start.UnmarshalText([]byte(start)); err != nil {
					t.Fatal(err)
				}
			})
			r := startRun(t, src, out)
			log.Wants(t, "consumer created", "start_sequence=1")
			for round := range 3 {
				w.fill(round*1000, 1000)
				n := 200 * (round + 1)
				if round == 2 {
					n++ // 5001
				}
				until(t, "all messages to be acknowledged", func() bool { return src.Stats().Acked == int64(n) })
				w.deleteConsumer()
				w.fill(5000+round, 1) // while there is no consumer; 5001 is in in.1
				until(t, "the consumer to be recreated", func() bool { return src.Stats().Recreated == int64(round+1) && src.Health() == nil })
			}
			w.fill(3000, 1000)
			until(t, "all messages", func() bool { have, _ := out.count(0, 4000); return have == 800 })
			until(t, "all messages to be acknowledged", func() bool { return src.Stats().InFlight == 0 })
			r.end()
			have, doubled := out.count(0, 6000)
			if have != 801 || doubled != 0 {
				t.Errorf("%d of 801 messages received, %d twice", have, doubled)
			}
			log.Wants(t, "level=WARN", "read failed, retrying", "consumer=urlfold")
			log.Wants(t, "read recovered")
			log.Wants(t, "level=WARN", "consumer recreated", "acknowledged=994", "start_sequence=995")
			if m := metricsOf(t, src); m["source_consumers_recreated_total|stream|IN|consumer|urlfold|start|acknowledged"] != 3 || m["source_retries_total|class|blocked"] == 0 {
				t.Errorf("%v", m)
			}
		})
	}
}

func startRun(t *testing.T, src engine.Source, out engine.Sink) *run {
	t.Helper()
	r := start(t, src, out, nil)
	until(t, "the run to start", func() bool { return r.p.Snapshot().State == engine.Running })
	return r
}

// TestConsumerRecreatedMembers checks that an instance that recreates the
// consumer does not skip messages that another instance has not acknowledged.
func TestConsumerRecreatedMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 3000
	first, second := &linesSink{}, &linesSink{}
	release := second.close()
	defer release()
	member := func() *source.JetStream {
		return w.source(func(c *source.JetStreamConfig) { c.Prefetch.Messages, c.Batch.Messages = 40, 7 })
	}
	a, b := member(), member()
	startRun(t, a, first)
	rb := startRun(t, b, second)
	w.fill(0, n)
	until(t, "one instance to finish and the other to hold messages", func() bool {
		return b.Stats().InFlight > 0 && a.Stats().InFlight == 0 && int(a.Stats().Acked+b.Stats().Received) >= n-40
	})
	w.deleteConsumer()
	until(t, "the consumer to be recreated", func() bool { return a.Stats().Recreated+b.Stats().Recreated > 0 })
	rb.kill() // what it holds is lost with it
	until(t, "the first instance to read the messages of the other", func() bool { have, _ := first.count(0, n); return have == n })
	if a.Health() != nil {
		t.Errorf("%v", a.Health())
	}
}

// TestConsumerNotCreated checks that, with create: false, a source whose
// consumer is deleted is not ready, and logs that, until somebody creates the
// consumer.
func TestConsumerNotCreated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := bg(t, patience)
	again := func() {
		t.Helper()
		_, err := w.js.CreateConsumer(ctx, "IN", jetstream.ConsumerConfig{
			Durable: "urlfold", AckPolicy: jetstream.AckExplicitPolicy, AckWait: 2 * second, DeliverPolicy: jetstream.DeliverNewPolicy,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	again()
	var log testkit.Log
	out := &linesSink{}
	src := w.source(func(c *source.JetStreamConfig) {
		c.Logger, c.Consumer.Create, c.Consumer.AckWait = log.Logger(), false, 0
	})
	r := startRun(t, src, out)
	w.fill(0, 10)
	until(t, "the first messages", func() bool { have, _ := out.count(0, 10); return have == 10 })
	w.deleteConsumer()
	until(t, "the missing consumer to be reported", func() bool {
		err := src.Health()
		return err != nil && strings.Contains(err.Error(), `consumer not found: "urlfold"`) && metricsOf(t, src)["source_failing"] == 1
	})
	log.Wants(t, "level=WARN", "consumer unavailable, retrying", "create: true")
	again()
	w.fill(10, 10)
	until(t, "all messages", func() bool { have, _ := out.count(0, 20); return have == 20 })
	until(t, "the source to be ready", func() bool { return src.Health() == nil })
	log.Wants(t, "level=INFO", "consumer available again")
	r.end()
	if have, doubled := out.count(0, 20); have != 20 || doubled > 0 {
		t.Errorf("%d messages received, %d twice", have, doubled)
	}
}

// TestStreamRecreated checks that a stream that is deleted and recreated is
// read as a new stream: from the configured start, with an error in the log,
// and with new record ids.
func TestStreamRecreated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var log testkit.Log
	src := w.source(func(c *source.JetStreamConfig) { c.Logger = log.Logger() })
	r := startRun(t, src, w.sink(nil))
	w.fill(0, 10)
	w.acknowledged(10)
	if err := w.js.DeleteStream(bg(t, patience), "IN"); err != nil {
		t.Fatal(err)
	}
	until(t, "the missing stream to be reported", func() bool {
		err := src.Health()
		return err != nil && strings.Contains(err.Error(), `stream not found: "IN"`)
	})
	log.Wants(t, "consumer unavailable, retrying", "stream not found")
	w.stream("IN", "in.>")
	w.fill(10, 10) // with the sequences of the first ten
	w.acknowledged(20)
	w.replaceStream() // and at once
	w.fill(20, 10)
	w.acknowledged(30)
	until(t, "the source to be healthy", func() bool { return src.Health() == nil })
	w.deleteConsumer()
	w.fill(30, 10)
	w.acknowledged(40)
	r.end()
	w.exactly(40)
	log.Wants(t, "level=ERROR", "stream recreated, its sequences restart", "stream=IN")
	log.Wants(t, "level=ERROR", "consumer recreated, nothing known to be acknowledged", "start=earliest", "start_sequence=1")
	log.Wants(t, "level=WARN", "consumer recreated", "acknowledged=10")
	if s := src.Stats(); s.Streams != 2 || s.Restarted != 2 || s.Recreated != 1 {
		t.Errorf("%+v", s)
	}
}

// TestLateAck checks that an acknowledgment for a message of a deleted stream
// does not acknowledge the message with the same sequence in the next one.
func TestLateAck(t *testing.T) {
	t.Parallel()
	for _, ack := range []string{"sent", "confirmed"} {
		t.Run(ack, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			out := &linesSink{}
			release := out.close()
			defer release()
			src := w.source(func(c *source.JetStreamConfig) { c.Ack = ack })
			r := startRun(t, src, out)
			w.fill(0, 50)
			until(t, "the messages of the first stream", func() bool { return out.submitted() == 50 })
			openOld := release
			releaseNew := out.close() // for messages that arrive from now on
			defer releaseNew()
			w.replaceStream()
			w.fill(100, 50)
			until(t, "the messages of the second stream", func() bool { return out.submitted() == 100 })
			openOld()
			until(t, "the first stream to be finished", func() bool { return src.Stats().InFlight == 50 })
			time.Sleep(300 * time.Millisecond) // time for acknowledgments that must not be sent
			c, err := w.js.Consumer(bg(t, patience), "IN", "urlfold")
			if err != nil {
				t.Fatal(err)
			}
			if i := c.CachedInfo(); i.NumAckPending != 50 || i.AckFloor.Stream != 0 {
				t.Errorf("%d messages pending, floor %d: messages were acknowledged that no sink has written", i.NumAckPending, i.AckFloor.Stream)
			}
			releaseNew()
			until(t, "all messages to be acknowledged", func() bool { return src.Stats().Acked == 50 })
			r.end()
			if a, b := len(out.ids), src.Stats().Streams; a != 2 || b != 1 {
				t.Errorf("%d lane identities, %d streams", a, b)
			}
		})
	}
}

// TestNoPermission checks that a missing permission is logged and reported by
// Health, although the server does not answer the request.
func TestNoPermission(t *testing.T) {
	t.Parallel()
	f := func(what string, deny *server.SubjectPermission, listen *server.SubjectPermission, want string) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, jetstream.MemoryStorage, natstest.Start(t, func(o *server.Options) {
				o.Users = []*server.User{
					{Username: "all", Password: "a"},
					{Username: "some", Password: "hidden-s", Permissions: &server.Permissions{Publish: deny, Subscribe: listen}},
				}
				o.NoAuthUser = "all"
			}))
			var log testkit.Log
			src := w.source(func(c *source.JetStreamConfig) {
				c.Logger, c.User, c.Password = log.Logger(), "some", "hidden-s"
			})
			start(t, src, &linesSink{}, nil)
			w.fill(0, 10)
			until(t, "the source not to be ready", func() bool {
				err := src.Health()
				return err != nil && strings.Contains(err.Error(), want)
			})
			log.Wants(t, "level=WARN", "server refused a request", strings.Split(want, `"`)[1])
			if strings.Contains(log.String(), "hidden-s") {
				t.Error("the log contains the password")
			}
		})
	}
	f("acknowledgments", &server.SubjectPermission{Deny: []string{"$JS.ACK.>"}}, nil, `Publish to "$JS.ACK.IN.urlfold`)
	f("pulls", &server.SubjectPermission{Deny: []string{"$JS.API.CONSUMER.MSG.NEXT.>"}}, nil, `Publish to "$JS.API.CONSUMER.MSG.NEXT.IN.urlfold"`)
}

// TestCoreNoPermission checks that a subject without permission to subscribe is
// logged and reported by Health.
func TestCoreNoPermission(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, jetstream.MemoryStorage, natstest.Start(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "all", Password: "a"},
			{Username: "some", Password: "s", Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Allow: []string{"open.>"}}}},
		}
		o.NoAuthUser = "all"
	}))
	var log testkit.Log
	src := w.core(func(c *source.CoreConfig) {
		c.Logger, c.User, c.Password, c.Subjects = log.Logger(), "some", "s", []string{"open.x", "secret.x"}
	})
	start(t, src, &linesSink{}, nil)
	until(t, "the source not to be ready", func() bool {
		err := src.Health()
		return err != nil && strings.Contains(err.Error(), `Subscription to "secret.x"`)
	})
	log.Wants(t, "level=WARN", "server refused a request", `secret.x`)
}

// TestServerRestartNewStream checks that a source detects that a server was
// restarted without the stream and got another stream of that name before the
// source looked again.
func TestServerRestartNewStream(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, jetstream.FileStorage)
	var log testkit.Log
	src := w.source(func(c *source.JetStreamConfig) { c.Logger = log.Logger() })
	r := startRun(t, src, w.sink(nil))
	w.fill(0, 100)
	w.acknowledged(100)
	w.srv.Down()
	until(t, "the lost connection to be reported", func() bool { return src.Health() != nil })
	w.srv.Up()
	nc, err := nats.Connect(w.srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	w.replaceStream()
	if _, err := w.js.CreateConsumer(bg(t, patience), "IN", jetstream.ConsumerConfig{
		Durable: "urlfold", AckPolicy: jetstream.AckExplicitPolicy, AckWait: patience,
	}); err != nil {
		t.Fatal(err)
	}
	w.fill(100, 100)
	w.acknowledged(200)
	r.end()
	w.exactly(200)
	if src.Stats().Streams == 0 {
		t.Error("second stream was mistaken for the first")
	}
}

// TestStart checks where a new consumer starts.
func TestStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(0, 10)
	time.Sleep(5 * time.Millisecond)
	at := time.Now()
	w.fill(10, 10)
	for i, c := range []struct {
		start string
		first int
	}{{"earliest", 0}, {"latest", 21}, {"timestamp:" + at.UTC().Format(time.RFC3339Nano), 10}} {
		var s source.Start
		if err := s.UnmarshalText([]byte(c.start)); err != nil {
			t.Fatal(err)
		}
		if text, err := s.MarshalText(); err != nil || string(text) != c.start {
			t.Errorf("%s was marshaled to %s, %v", c.start, text, err)
		}
		out := &linesSink{}
		src := w.source(func(cfg *source.JetStreamConfig) { cfg.Start, cfg.Durable = s, fmt.Sprint("d", i) })
		r := startRun(t, src, out)
		w.fill(20+i, 1)
		n := 21 + i - c.first
		until(t, "all messages", func() bool { return src.Stats().Acked == int64(n) })
		r.end()
		if have, _ := out.count(c.first, n); have != n {
			t.Errorf("%s: %d of %d", c.start, have, n)
		}
	}
	for _, bad := range []string{"", "now", "timestamp:yesterday", "timestamp:"} {
		if new(source.Start).UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
