package nats_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/pipeline/engine"
	source "github.com/urlfold/urlfold/sources/nats"
)

type emitter interface {
	Metrics(emit func(name, help, kind string, value float64, labels ...string))
}

// metricsOf returns the metrics that x emits, by name and labels:
// "name|label|value". It fails the test for invalid or duplicate metrics.
func metricsOf(t *testing.T, x emitter) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	x.Metrics(func(name, help, kind string, value float64, labels ...string) {
		key := strings.Join(append([]string{name}, labels...), "|")
		_, twice := got[key]
		if twice || help == "" || len(labels)%2 != 0 || (kind == "counter") != strings.HasSuffix(name, "_total") {
			t.Errorf("%s: %q, a %s, twice: %v", key, help, kind, twice)
		}
		got[key] = value
	})
	return got
}

// TestMetrics checks the metrics about deliveries and their outcomes.
func TestMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const given, n = 3, 400
	w.fill(0, given)
	c, err := w.js.CreateConsumer(bg(t, patience), "IN", jetstream.ConsumerConfig{
		Durable: "urlfold", AckPolicy: jetstream.AckExplicitPolicy, AckWait: patience, MaxDeliver: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	var theirs []jetstream.Msg // held elsewhere, and returned later
	batch, err := c.Fetch(given)
	if err != nil {
		t.Fatal(err)
	}
	for m := range batch.Messages() {
		theirs = append(theirs, m)
	}
	w.fill(given, n)
	src := w.source(func(c *source.JetStreamConfig) {
		c.Batch.Messages, c.Prefetch.Messages, c.Poison.After = 10, 8, 1
	})
	if m := metricsOf(t, src); m["source_messages_total"] != 0 || len(m) < 8 {
		t.Errorf("before Open: %v", m)
	}
	wait := &held{Sink: w.sink(nil), free: make(chan struct{})}
	r := start(t, src, wait, func(o *engine.Options) { o.Batches = 4 })
	figure := func(name string) int {
		m := metricsOf(t, src)
		return int(m["source_"+name] + m["source_"+name+"|stream|IN|consumer|urlfold"] +
			m["source_"+name+"|group|urlfold|topic|IN|partition|"]) // each metric has one of these label sets
	}
	is := func(name string, want int) {
		t.Helper()
		until(t, fmt.Sprintf("%s is %d", name, want), func() bool { return figure(name) == want })
	}
	is("ack_pending", given)
	until(t, "messages in flight", func() bool { return figure("inflight_messages") > 0 && figure("lag_records") > 0 })
	if figure("acks_total") != 0 {
		t.Error("nothing was acknowledged")
	}
	close(wait.free)
	is("acks_total", n)
	for _, m := range theirs {
		if err := m.Nak(); err != nil {
			t.Fatal(err)
		}
	}
	is("poison_total", given)
	is("messages_total", given+n)
	is("redelivered_total", given)
	is("inflight_messages", 0)
	is("pending_messages", 0)
	w.srv.Down()
	until(t, "the connection to be lost", func() bool { return src.Health() != nil })
	w.srv.Up()
	is("reconnects_total", 1)
	r.kill()
	if after := figure("acks_total"); after != n {
		t.Errorf("after the end: %d", after)
	}
}

// A held sink accepts nothing until it is released.
type held struct {
	engine.Sink
	free chan struct{}
}

func (s *held) Submit(ctx context.Context, b *engine.Batch, t engine.Ticket) error {
	select {
	case <-s.free:
		return s.Sink.Submit(ctx, b, t)
	case <-ctx.Done():
		return ctx.Err()
	}
}
