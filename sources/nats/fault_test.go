package nats_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/internal/testkit/proxy"
	"github.com/urlfold/urlfold/pipeline/engine"
	sink "github.com/urlfold/urlfold/sinks/nats"
	source "github.com/urlfold/urlfold/sources/nats"
)

// Each test here disturbs a run from IN to OUT, and then checks that every
// record is in OUT exactly once: records read again are dropped by their ids.

// acknowledged waits until the consumer has nothing left and the stream OUT has
// n messages.
func (w *world) acknowledged(n int) {
	w.t.Helper()
	until(w.t, fmt.Sprintf("%d messages in OUT", n), func() bool { return w.count("OUT") >= n })
	until(w.t, "all messages to be acknowledged", func() bool {
		c, err := w.js.Consumer(bg(w.t, patience), "IN", "urlfold")
		return err == nil && c.CachedInfo().NumAckPending == 0 && c.CachedInfo().NumPending == 0
	})
}

func TestServerRestart(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, jetstream.FileStorage)
	restarts := few(2, 15)
	n := restarts*1000 + 1000
	w.fill(0, n)
	src := w.source(func(c *source.JetStreamConfig) { c.Consumer.AckWait = 2 * second })
	out := w.sink(func(c *sink.JetStreamConfig) { c.Publish.MaxPending, c.Publish.AckTimeout = 200, second })
	r := start(t, src, out, nil)
	for i := range restarts {
		until(t, "the run to make progress", func() bool { return w.count("OUT") > i*1000+300 })
		w.srv.Down()
		until(t, "source and sink to be unhealthy", func() bool { return src.Health() != nil && out.Health() != nil })
		w.srv.Up()
	}
	w.acknowledged(n)
	until(t, "source and sink to be healthy again", func() bool { return src.Health() == nil && out.Health() == nil })
	r.end()
	w.exactly(n)
	t.Logf("source %+v, sink %+v", src.Stats(), out.Stats())
	if src.Stats().Reconnects == 0 || out.Stats().Reconnects == 0 {
		t.Error("the connections were never lost: the test proves nothing")
	}
}

// TestLostAcks loses a fifth of all acknowledgments: of messages on their way
// to the server, and of publishes on their way back.
func TestLostAcks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := few(1500, 20000)
	w.fill(0, n)
	lossy, back := proxy.New(t, w.srv.Addr()), proxy.New(t, w.srv.Addr())
	var open atomic.Bool
	fifthOf := func(prefix string, dropped *atomic.Int64) func(subject string) bool {
		return func(subject string) bool {
			drop := open.Load() && strings.HasPrefix(subject, prefix) && rand.IntN(5) == 0
			if drop {
				dropped.Add(1)
			}
			return drop
		}
	}
	var acks, answers atomic.Int64
	drop := fifthOf("$JS.ACK.", &acks)
	lossy.Filter(natstest.Drop(func(subject string) bool {
		if strings.HasPrefix(subject, "$JS.API.CONSUMER.MSG.NEXT.") {
			open.Store(true) // sink and source are open
		}
		return drop(subject)
	}), nil)
	back.Filter(nil, natstest.Drop(fifthOf("_INBOX.", &answers)))
	src := w.source(func(c *source.JetStreamConfig) {
		c.Servers, c.Consumer.AckWait = []string{"nats://" + lossy.Addr()}, 500*time.Millisecond
	})
	out := w.sink(func(c *sink.JetStreamConfig) {
		c.Servers, c.Publish.AckTimeout = []string{"nats://" + back.Addr()}, 200*time.Millisecond
	})
	r := start(t, src, out, nil)
	w.acknowledged(n)
	r.end()
	w.exactly(n)
	t.Logf("%d acks and %d publish acks lost; source %+v, sink %+v", acks.Load(), answers.Load(), src.Stats(), out.Stats())
	if acks.Load() == 0 || answers.Load() == 0 || src.Stats().Redelivered == 0 || out.Stats().Duplicates == 0 ||
		metricsOf(t, out)["sink_retries_total|class|timeout"] == 0 {
		t.Error("nothing was lost: the test proves nothing")
	}
}

// TestCuts cuts and freezes connections repeatedly.
func TestCuts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cuts := few(4, 60)
	n := cuts*500 + 500
	w.fill(0, n)
	in, back := proxy.New(t, w.srv.Addr()), proxy.New(t, w.srv.Addr())
	src := w.source(func(c *source.JetStreamConfig) {
		c.Servers, c.Ack, c.Consumer.AckWait = []string{"nats://" + in.Addr()}, "confirmed", 2*second
	})
	out := w.sink(func(c *sink.JetStreamConfig) {
		c.Servers, c.Publish.MaxPending, c.Publish.AckTimeout = []string{"nats://" + back.Addr()}, 100, second
		c.PingInterval = 100 * time.Millisecond // how quickly silence is detected
	})
	in.Delay(time.Millisecond)
	back.Delay(time.Millisecond)
	r := start(t, src, out, nil)
	for at := range cuts {
		until(t, "the run to make progress", func() bool { return w.count("OUT") > at*500 })
		in.Cut()
		back.Cut()
		if at == 3 {
			back.Freeze(true)
			until(t, "the silence to be detected", func() bool { return out.Health() != nil })
			back.Freeze(false)
		}
	}
	in.Delay(0)
	back.Delay(0)
	w.acknowledged(n)
	r.end()
	w.exactly(n)
	t.Logf("source %+v, sink %+v", src.Stats(), out.Stats())
	if out.Stats().Again == 0 {
		t.Error("nothing was published again: the test proves nothing")
	}
}

// TestFullWindow checks that all 4,000 messages of a full window are published
// again after a disconnect, with the same ids.
func TestFullWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n, window = 9000, 4000
	w.fill(0, n)
	back := proxy.New(t, w.srv.Addr())
	const answered = 1000 // all publish acks after the first 1000 are lost
	var answers atomic.Int64
	var hears atomic.Bool
	back.Filter(nil, natstest.Drop(func(subject string) bool {
		return strings.HasPrefix(subject, "_INBOX.") && answers.Add(1) > answered && !hears.Load()
	}))
	src := w.source(func(c *source.JetStreamConfig) { c.Prefetch.Messages, c.Batch.Linger = 4000, second })
	out := w.sink(func(c *sink.JetStreamConfig) {
		c.Servers, c.Publish.MaxPending = []string{"nats://" + back.Addr()}, window
		c.Publish.AckTimeout, c.CheckStreams = time.Hour, false // a check requires responses too
	})
	r := start(t, src, out, func(o *engine.Options) { o.Batches = 64 })
	until(t, "the window to be full", func() bool {
		s := out.Stats() // a waiting publisher is woken for 64 vacant slots, not for each
		return s.InFlight > window-64 && s.Published-int64(s.InFlight) == answered
	})
	until(t, "all of the window to be stored and its publish acks to be lost", func() bool { return answers.Load() == out.Stats().Published })
	held, before := out.Stats().InFlight, w.count("OUT")
	back.Refuse(true)
	back.Cut()
	until(t, "the sink to lose its connection", func() bool { return out.Health() != nil })
	hears.Store(true)
	back.Refuse(false)
	w.acknowledged(n)
	r.end()
	w.exactly(n)
	s := out.Stats()
	t.Logf("%d messages in the window at the cut, %d in OUT; %+v", held, before, s)
	if s.Again < int64(held) || s.Duplicates == 0 {
		t.Error("not all of the window was published again: the test proves nothing")
	}
}

// A slow sink delays each batch.
type slow struct {
	engine.Sink
	wait time.Duration
}

func (s slow) Submit(ctx context.Context, b *engine.Batch, t engine.Ticket) error {
	time.Sleep(s.wait)
	return s.Sink.Submit(ctx, b, t)
}

// TestInProgress checks that no message is delivered twice although processing,
// and waiting for a free batch, take longer than ack_wait.
func TestInProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 30
	w.fill(0, n)
	src := w.source(func(c *source.JetStreamConfig) {
		c.Consumer.AckWait, c.Batch.Messages = 6*second, 5
	})
	r := start(t, src, slow{w.sink(nil), 7 * second}, func(o *engine.Options) { o.Batches, o.Workers = 4, 3 })
	w.acknowledged(n)
	r.end()
	w.exactly(n)
	if s := src.Stats(); s.Redelivered > 0 || s.InProgress == 0 {
		t.Errorf("%+v", s)
	}
}

// TestMaxProcessingTime checks that a message that takes longer is delivered to
// another instance.
func TestMaxProcessingTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 10
	w.fill(0, n)
	src := w.source(func(c *source.JetStreamConfig) {
		c.Consumer.AckWait, c.MaxProcessingTime = 200*time.Millisecond, 500*time.Millisecond
	})
	r := start(t, src, slow{w.sink(nil), 1200 * time.Millisecond}, nil)
	w.acknowledged(n)
	r.end()
	w.exactly(n)
	if s := src.Stats(); s.Redelivered == 0 || s.InProgress == 0 {
		t.Errorf("%+v", s)
	}
}

// TestMembers lets three instances share a consumer while members are stopped,
// killed and added.
func TestMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const most = 500 // messages in flight, in all instances together
	changes := few(5, 40)
	n := changes*1000 + 2000
	w.fill(0, n)
	member := func() *run {
		src := w.source(func(c *source.JetStreamConfig) {
			c.Prefetch.Messages, c.Batch.Messages, c.NakDelay, c.Consumer.AckWait = 200, 50, 0, 2*second
			c.Consumer.MaxAckPending = most
		})
		return start(t, src, slow{w.sink(nil), 2 * time.Millisecond}, func(o *engine.Options) { o.Batches = 8 })
	}
	members := []*run{member(), member(), member()}
	for i := range changes {
		until(t, "the run to make progress", func() bool { return w.count("OUT") > i*1000 })
		if c, err := w.js.Consumer(bg(t, patience), "IN", "urlfold"); err != nil || c.CachedInfo().NumAckPending > most {
			t.Errorf("%v: %+v", err, c.CachedInfo())
		}
		k := rand.IntN(len(members))
		if i%2 == 0 {
			members[k].kill()
		} else {
			members[k].end()
		}
		members[k] = member()
	}
	w.acknowledged(n)
	for _, m := range members {
		m.end()
	}
	w.exactly(n)
}

// TestSoftStop checks that prefetched messages are delivered to the next
// instance at once, not after ack_wait.
func TestSoftStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 2000
	w.fill(0, n)
	hour := func(c *source.JetStreamConfig) {
		c.Consumer.AckWait, c.Prefetch.Messages, c.Batch.Messages = time.Hour, 1000, 10
	}
	first := w.source(hour)
	r := start(t, first, slow{w.sink(nil), 20 * time.Millisecond}, func(o *engine.Options) { o.Batches = 4 })
	until(t, "the run to make progress", func() bool { return w.count("OUT") > 100 })
	r.end()
	if s := first.Stats(); s.Naked == 0 || s.InFlight > 0 {
		t.Errorf("no message was returned: %+v", s)
	}
	second := w.source(hour)
	r = start(t, second, w.sink(nil), nil)
	w.acknowledged(n)
	r.end()
	w.exactly(n)
}

// returnAll fetches n messages and returns them once all have arrived: a message
// that is returned earlier may be delivered to the same fetch again, in the place
// of another.
func returnAll(t *testing.T, c jetstream.Consumer, n int) {
	t.Helper()
	batch, err := c.Fetch(n)
	if err != nil {
		t.Fatal(err)
	}
	var all []jetstream.Msg
	for m := range batch.Messages() {
		all = append(all, m)
	}
	if len(all) != n {
		t.Fatalf("%d of %d messages fetched: %v", len(all), n, batch.Error())
	}
	for _, m := range all {
		if err := m.Nak(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPoison checks that a message that was delivered too often is moved to the
// poison subject, and the others are processed.
func TestPoison(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stream("AWAY", "away")
	w.fill(0, 3)
	c, err := w.js.CreateConsumer(bg(t, patience), "IN", jetstream.ConsumerConfig{
		Durable: "urlfold", AckPolicy: jetstream.AckExplicitPolicy, AckWait: patience, MaxDeliver: -1, MaxAckPending: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // delivered twice, and returned
		returnAll(t, c, 3)
	}
	w.fill(3, 7)
	src := w.source(func(c *source.JetStreamConfig) {
		c.Poison = source.Poison{After: 2, Action: "publish", Subject: "away"}
	})
	r := start(t, src, w.sink(nil), nil)
	w.acknowledged(7)
	r.end()
	got := w.messages("AWAY")
	if len(got) != 3 || src.Stats().Terminated != 3 || w.count("OUT") != 7 {
		t.Fatalf("%d poison messages, %d in OUT, %+v", len(got), w.count("OUT"), src.Stats())
	}
	for i, m := range got {
		if string(m.Data()) != url(i) || m.Headers().Get("urlfold-source") == "" || m.Headers().Get("urlfold-reason") == "" {
			t.Errorf("%s, %v", m.Data(), m.Headers())
		}
	}
}
