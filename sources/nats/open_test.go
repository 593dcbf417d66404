package nats_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/pipeline/engine"
	source "github.com/urlfold/urlfold/sources/nats"
)

// TestCheckConnect checks that the error lists everything that is wrong with a
// stream or consumer, with the commands that fix it.
func TestCheckConnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := bg(t, patience)
	has := func(name string, change func(*jetstream.ConsumerConfig)) {
		t.Helper()
		c := jetstream.ConsumerConfig{Durable: name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: 10 * second, MaxAckPending: 500}
		change(&c)
		if _, err := w.js.CreateConsumer(ctx, "IN", c); err != nil {
			t.Fatal(err)
		}
	}
	has("good", func(*jetstream.ConsumerConfig) {})
	has("none", func(c *jetstream.ConsumerConfig) { c.AckPolicy, c.MaxAckPending = jetstream.AckNonePolicy, 0 })
	has("backoff", func(c *jetstream.ConsumerConfig) { c.BackOff, c.MaxDeliver = []time.Duration{second, 10 * second}, 5 })
	has("filtered", func(c *jetstream.ConsumerConfig) { c.FilterSubjects = []string{"in.a", "in.b"} })
	has("limited", func(c *jetstream.ConsumerConfig) {
		c.AckWait, c.MaxAckPending, c.MaxDeliver, c.InactiveThreshold = second, 300, 5, time.Hour
	})
	has("paused", func(c *jetstream.ConsumerConfig) { c.PauseUntil = new(time.Now().Add(time.Hour)) })
	has("headers", func(c *jetstream.ConsumerConfig) { c.HeadersOnly = true })
	f := func(change func(*source.JetStreamConfig), want ...string) {
		t.Helper()
		src := w.source(func(c *source.JetStreamConfig) { c.Consumer.AckWait = 0; c.Durable = "good"; change(c) })
		err := src.CheckConnect(ctx)
		if len(want) == 0 && err != nil {
			t.Errorf("%v", err)
		}
		for _, text := range want {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%v\nwant %s", err, text)
			}
		}
	}
	f(func(*source.JetStreamConfig) {})
	f(func(c *source.JetStreamConfig) { c.Durable = "new" })
	f(func(c *source.JetStreamConfig) { c.Durable, c.Consumer.Create = "new", false }, `consumer not found: "new"`, "create: true")
	f(func(c *source.JetStreamConfig) { c.Stream = "NONE" }, `stream not found: "NONE"`, "nats stream add NONE")
	f(func(c *source.JetStreamConfig) { c.Durable = "none" }, "ack policy is AckNone but must be explicit")
	f(func(c *source.JetStreamConfig) { c.Durable = "backoff" }, "has a backoff")
	f(func(c *source.JetStreamConfig) { c.Durable = "headers" }, "headers only")
	f(func(c *source.JetStreamConfig) {
		c.Durable, c.Consumer.FilterSubjects = "filtered", []string{"in.b", "in.a"}
	})
	f(func(c *source.JetStreamConfig) {
		c.Consumer.AckWait, c.Consumer.MaxAckPending = 90*second, 700
		c.Consumer.FilterSubjects = []string{"in.a"}
	}, "ack_wait is 10s but the configuration has 1m30s: change the configuration, or run nats consumer edit IN good --wait 1m30s",
		"max_ack_pending is 500 but the configuration has 700", "filter_subjects are [] but the configuration has [in.a]")
	f(func(c *source.JetStreamConfig) {
		c.Servers, c.ConnectTimeout = []string{"nats://127.0.0.1:1"}, 100*time.Millisecond
	},
		"cannot connect to NATS at 127.0.0.1:1: nats: no servers available")
	f(func(c *source.JetStreamConfig) { c.Consumer.FilterSubjects = []string{"in.a", "other.>"} },
		`stream "IN" has the subjects [in.>]: consumer.filter_subjects entry "other.>" can never match`)
	f(func(c *source.JetStreamConfig) { c.Durable, c.Delays = "limited", true }, "max_deliver is 5, but dedupe.bucket requires -1", "nats consumer edit IN limited --max-deliver -1")
	if _, err := w.js.Consumer(ctx, "IN", "new"); err == nil {
		t.Error("CheckConnect has created a consumer")
	}
	warns := func(change func(*source.JetStreamConfig), want ...string) {
		t.Helper()
		src := w.source(func(c *source.JetStreamConfig) { c.Consumer.AckWait = 0; change(c) })
		if err := src.CheckConnect(ctx); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(src.Warnings(), "\n")
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s\nwant %s", got, text)
			}
		}
		if len(src.Warnings()) != len(want) {
			t.Errorf("%s\nwant %q", got, want)
		}
	}
	warns(func(c *source.JetStreamConfig) { c.Durable = "good" })
	warns(func(c *source.JetStreamConfig) { c.Durable = "limited" }, "ack_wait is 1s", "max_ack_pending (300 ", "max_deliver is 5", "after 1h0m0s")
	warns(func(c *source.JetStreamConfig) { c.Durable, c.Poison.After, c.Prefetch.Messages = "limited", 3, 300 }, "ack_wait is 1s", "after 1h0m0s")
	warns(func(c *source.JetStreamConfig) { c.Durable = "paused" }, "nats consumer resume IN paused")
	s, err := w.js.Stream(ctx, "IN")
	if err != nil {
		t.Fatal(err)
	}
	limited := s.CachedInfo().Config
	limited.MaxMsgs, limited.MaxAge = 1000, 24*time.Hour
	if _, err := w.js.UpdateStream(ctx, limited); err != nil {
		t.Fatal(err)
	}
	warns(func(c *source.JetStreamConfig) { c.Durable = "good" }, `stream "IN": deletes messages by its limits (max_age 24h0m0s, max_msgs 1000) even if they are not read`)
	limited.Discard = jetstream.DiscardNew
	if _, err := w.js.UpdateStream(ctx, limited); err != nil {
		t.Fatal(err)
	}
	warns(func(c *source.JetStreamConfig) { c.Durable = "good" }, "by its limits (max_age 24h0m0s) even")
	w.retain(jetstream.InterestPolicy)
	warns(func(c *source.JetStreamConfig) { c.Durable = "good" }, "retention is interest")
}

// TestCreated checks that a created consumer has the configured settings or the
// documented defaults.
func TestCreated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	src := w.source(func(c *source.JetStreamConfig) {
		c.Consumer.AckWait, c.Consumer.FilterSubjects = 0, []string{"in.1", "in.2"}
	})
	r := start(t, src, w.sink(nil), nil)
	w.fill(0, 100)
	until(t, "the filtered messages in OUT", func() bool { return w.count("OUT") == 20 })
	r.end()
	c, err := w.js.Consumer(bg(t, patience), "IN", "urlfold")
	if err != nil {
		t.Fatal(err)
	}
	got := c.CachedInfo().Config
	if got.AckWait != 90*second || got.MaxAckPending != 20000 || got.MaxDeliver != -1 || got.AckPolicy != jetstream.AckExplicitPolicy || len(got.FilterSubjects) != 2 {
		t.Errorf("%+v", got)
	}
}

// TestLaneID checks that the lane identity contains stream and consumer, and
// changes when the stream is recreated.
func TestLaneID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := map[string]bool{}
	for i := range 3 {
		if i == 2 {
			if err := w.js.DeleteStream(context.Background(), "IN"); err != nil {
				t.Fatal(err)
			}
			w.stream("IN", "in.>")
		}
		w.fill(i, 1)
		seen := &laneSink{}
		src := w.source(nil)
		r := start(t, src, seen, nil)
		until(t, "the message to be acknowledged", func() bool { return src.Stats().Acked == 1 })
		r.end()
		if !strings.HasPrefix(seen.id, "jetstream/IN/urlfold/") || seen.name != "jetstream/IN/urlfold" {
			t.Errorf("lane %q, id %q", seen.name, seen.id)
		}
		ids[seen.id] = true
	}
	if len(ids) != 2 {
		t.Errorf("ids of two streams in three runs: %v", ids)
	}
}

type laneSink struct {
	tally
	name, id string
}

func (s *laneSink) Submit(_ context.Context, b *engine.Batch, t engine.Ticket) error {
	s.name, s.id = b.Lane.Name(), b.Lane.ID()
	t.Done(engine.Result{})
	return nil
}
