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
	"github.com/urlfold/urlfold/pipeline"
	source "github.com/urlfold/urlfold/sources/nats"
)

// This file holds tests of what lasts: a consumer or a stream that is deleted, and a
// permission that is missing.

// A linesSink keeps what it gets, which is not deduplicated. While it is shut,
// batches wait in it.
type linesSink struct {
	tally
	mu    sync.Mutex
	taken int // records, those that wait included
	got   map[string]int
	ids   map[string]bool // of lanes
	shut  chan struct{}   // nil: it is open
	open  atomic.Int64    // submissions that are not answered
}

// Barrier waits until all submissions are answered, as its contract asks.
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

// submitted returns how many records it was given.
func (s *linesSink) submitted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

func (s *linesSink) Submit(ctx context.Context, b *pipeline.Batch, t pipeline.Ticket) error {
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
		t.Done(pipeline.Result{})
	}()
	return nil
}

// close has batches wait until the function that it returns is called.
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

// count returns how many of n URLs, the first with number from, it has, and how many
// more than once.
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

func (w *world) deleteConsumer() {
	w.t.Helper()
	if err := w.js.DeleteConsumer(bg(w.t, patience), "IN", "urlfold"); err != nil {
		w.t.Fatal(err)
	}
}

// replaceStream deletes IN, and makes one of that name with other messages.
func (w *world) replaceStream() {
	w.t.Helper()
	if err := w.js.DeleteStream(bg(w.t, patience), "IN"); err != nil {
		w.t.Fatal(err)
	}
	w.stream("IN", "in.>")
}

// TestConsumerRecreated: a consumer that is deleted is created again after the last
// message that was acknowledged, so that nothing is lost and nothing comes twice.
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
				until(t, "all is acknowledged", func() bool { return src.Stats().Acked == int64(n) })
				w.deleteConsumer()
				w.fill(5000+round, 1) // while there is no consumer; 5001 is in in.1
				until(t, "it is created again", func() bool { return src.Stats().Recreated == int64(round+1) && src.Health() == nil })
			}
			w.fill(3000, 1000)
			until(t, "all has come", func() bool { have, _ := out.count(0, 4000); return have == 800 })
			until(t, "all is acknowledged", func() bool { return src.Stats().InFlight == 0 })
			r.end()
			have, doubled := out.count(0, 6000)
			if have != 801 || doubled != 0 {
				t.Errorf("%d of 801 have come, %d twice", have, doubled)
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

func startRun(t *testing.T, src pipeline.Source, out pipeline.Sink) *run {
	t.Helper()
	r := start(t, src, out, nil)
	until(t, "it runs", func() bool { return r.p.Snapshot().State == pipeline.Running })
	return r
}

// TestConsumerRecreatedMembers: an instance that creates the consumer again does not
// skip what another one has and has not acknowledged.
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
	until(t, "one has done its work, and the other holds messages", func() bool {
		return b.Stats().InFlight > 0 && a.Stats().InFlight == 0 && int(a.Stats().Acked+b.Stats().Received) >= n-40
	})
	w.deleteConsumer()
	until(t, "it is created again", func() bool { return a.Stats().Recreated+b.Stats().Recreated > 0 })
	rb.kill() // what it holds is lost with it
	until(t, "the first one has read what the other had", func() bool { have, _ := first.count(0, n); return have == n })
	if a.Health() != nil {
		t.Errorf("%v", a.Health())
	}
}

// TestConsumerNotCreated: with create: false a source whose consumer is deleted is
// not ready, and says so in the log, until somebody creates it.
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
	until(t, "they have come", func() bool { have, _ := out.count(0, 10); return have == 10 })
	w.deleteConsumer()
	until(t, "it is missed", func() bool {
		err := src.Health()
		return err != nil && strings.Contains(err.Error(), `consumer not found: "urlfold"`) && metricsOf(t, src)["source_failing"] == 1
	})
	log.Wants(t, "level=WARN", "consumer unavailable, retrying", "create: true")
	again()
	w.fill(10, 10)
	until(t, "all have come", func() bool { have, _ := out.count(0, 20); return have == 20 })
	until(t, "it is ready", func() bool { return src.Health() == nil })
	log.Wants(t, "level=INFO", "consumer available again")
	r.end()
	if have, doubled := out.count(0, 20); have != 20 || doubled > 0 {
		t.Errorf("%d have come, %d twice", have, doubled)
	}
}

// TestStreamRecreated: a stream that is deleted and created again is read as
// another one: from where start says, with an error in the log, and with ids that
// the old one had not.
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
	until(t, "it is missed", func() bool {
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
	until(t, "all is well", func() bool { return src.Health() == nil })
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

// TestLateAck: an acknowledgment of a message of a stream that is gone does not
// acknowledge the message that bears its sequence in the next one.
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
			until(t, "the first stream is under way", func() bool { return out.submitted() == 50 })
			openOld := release
			releaseNew := out.close() // for what comes from now on
			defer releaseNew()
			w.replaceStream()
			w.fill(100, 50)
			until(t, "the second stream is under way too", func() bool { return out.submitted() == 100 })
			openOld()
			until(t, "the first is done with", func() bool { return src.Stats().InFlight == 50 })
			time.Sleep(300 * time.Millisecond) // for acknowledgments that must not be sent
			c, err := w.js.Consumer(bg(t, patience), "IN", "urlfold")
			if err != nil {
				t.Fatal(err)
			}
			if i := c.CachedInfo(); i.NumAckPending != 50 || i.AckFloor.Stream != 0 {
				t.Errorf("%d are pending, the floor is %d: somebody acknowledged messages that nobody has written", i.NumAckPending, i.AckFloor.Stream)
			}
			releaseNew()
			until(t, "all is acknowledged", func() bool { return src.Stats().Acked == 50 })
			r.end()
			if a, b := len(out.ids), src.Stats().Streams; a != 2 || b != 1 {
				t.Errorf("%d identities of lanes, %d streams", a, b)
			}
		})
	}
}

// TestNoPermission: what the server refuses is in the log and in Health: it answers
// nothing.
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
			until(t, "it is not ready", func() bool {
				err := src.Health()
				return err != nil && strings.Contains(err.Error(), want)
			})
			log.Wants(t, "level=WARN", "server refused a request", strings.Split(want, `"`)[1])
			if strings.Contains(log.String(), "hidden-s") {
				t.Error("the log holds the password")
			}
		})
	}
	f("acknowledgments", &server.SubjectPermission{Deny: []string{"$JS.ACK.>"}}, nil, `Publish to "$JS.ACK.IN.urlfold`)
	f("pulls", &server.SubjectPermission{Deny: []string{"$JS.API.CONSUMER.MSG.NEXT.>"}}, nil, `Publish to "$JS.API.CONSUMER.MSG.NEXT.IN.urlfold"`)
}

// TestCoreNoPermission: a subject that may not be listened to is in the log and in
// Health.
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
	until(t, "it is not ready", func() bool {
		err := src.Health()
		return err != nil && strings.Contains(err.Error(), `Subscription to "secret.x"`)
	})
	log.Wants(t, "level=WARN", "server refused a request", `secret.x`)
}

// TestServerRestartNewStream: a server that comes back without the stream, and gets
// another one of that name before anybody looks, is found out too.
func TestServerRestartNewStream(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, jetstream.FileStorage)
	var log testkit.Log
	src := w.source(func(c *source.JetStreamConfig) { c.Logger = log.Logger() })
	r := startRun(t, src, w.sink(nil))
	w.fill(0, 100)
	w.acknowledged(100)
	w.srv.Down()
	until(t, "the connection is missed", func() bool { return src.Health() != nil })
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
		t.Error("the second stream was taken for the first")
	}
}

// TestStart: start says where a consumer begins that is created.
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
			t.Errorf("%s becomes %s, %v", c.start, text, err)
		}
		out := &linesSink{}
		src := w.source(func(cfg *source.JetStreamConfig) { cfg.Start, cfg.Durable = s, fmt.Sprint("d", i) })
		r := startRun(t, src, out)
		w.fill(20+i, 1)
		n := 21 + i - c.first
		until(t, "all has come", func() bool { return src.Stats().Acked == int64(n) })
		r.end()
		if have, _ := out.count(c.first, n); have != n {
			t.Errorf("%s: %d of %d", c.start, have, n)
		}
	}
	for _, bad := range []string{"", "now", "timestamp:yesterday", "timestamp:"} {
		if new(source.Start).UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
