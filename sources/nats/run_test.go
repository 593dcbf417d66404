package nats_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
	sink "github.com/urlfold/urlfold/sinks/nats"
	source "github.com/urlfold/urlfold/sources/nats"
)

// TestRoundtrip checks that every record of IN is in OUT once, with the subject
// of its host, the headers of its message and an id.
func TestRoundtrip(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 3000
	w.fill(0, n-1)
	last := &nats.Msg{Subject: "in.x", Data: []byte(url(n - 1)), Header: nats.Header{
		"Trace": {"a b", "c"}, "Nats-Msg-Id": {"of the input"},
	}}
	if _, err := w.js.PublishMsg(bg(t, patience), last); err != nil {
		t.Fatal(err)
	}
	src, out := w.source(nil), w.sink(nil)
	r := start(t, src, out, nil)
	until(t, "all records in OUT", func() bool { return w.count("OUT") == n })
	until(t, "all messages to be acknowledged", func() bool { return src.Stats().Acked == n })
	r.end()
	w.exactly(n)
	ids := map[string]bool{}
	for _, m := range w.messages("OUT") {
		h := m.Headers()
		ids[h.Get("Nats-Msg-Id")] = true
		if !strings.HasPrefix(h.Get("urlfold-source"), "jetstream/IN/urlfold@") || !strings.HasPrefix(m.Subject(), "out.") {
			t.Fatalf("subject %s, headers %v", m.Subject(), h)
		}
		if string(m.Data()) == url(n-1) && strings.Join(h["Trace"], "|") != "a b|c" {
			t.Errorf("headers %v", h)
		}
	}
	if len(ids) != n || ids["of the input"] || ids[""] {
		t.Errorf("%d ids for %d messages", len(ids), n)
	}
	c, err := w.js.Consumer(bg(t, patience), "IN", "urlfold")
	if err != nil || c.CachedInfo().NumAckPending > 0 || c.CachedInfo().NumPending > 0 {
		t.Errorf("%v, %+v", err, c.CachedInfo())
	}
	if s := src.Stats(); s.Received != n || s.Redelivered > 0 || s.InFlight > 0 {
		t.Errorf("source: %+v", s)
	}
	if s := out.Stats(); s.Published != n || s.Again > 0 || s.Duplicates > 0 || s.InFlight > 0 {
		t.Errorf("sink: %+v", s)
	}
}

// TestSplit checks that when a codec ends the run at a message, everything
// before the message is published and acknowledged, and the rest is returned,
// wherever in a batch the message is.
func TestSplit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n, rest = 700, 10
	w.fill(0, n)
	if _, err := w.js.Publish(bg(t, patience), "in.0", []byte("http://long.example/"+strings.Repeat("x", 100))); err != nil {
		t.Fatal(err)
	}
	w.fill(n, rest)
	stops := jobOf(t, record.Config{MaxRecord: 100, OnOversize: record.DispositionStop})
	src := w.source(func(c *source.JetStreamConfig) { c.Batch.Messages = 300 })
	r := start(t, src, w.sink(func(c *sink.JetStreamConfig) { c.Publish.Ordered = true }), func(o *engine.Options) {
		o.NewCodec, o.Ordering = engine.NewRecordCodec(stops), engine.OrderPerLane
	})
	<-r.done
	if !errors.Is(r.err, record.ErrOversize) || !strings.Contains(r.err.Error(), fmt.Sprintf(", offset %d: ", n+1)) {
		t.Errorf("run ended with: %v", r.err)
	}
	w.exactly(n)
	if s := src.Stats(); s.Acked != n || s.Acked+s.Naked != s.Received {
		t.Errorf("%+v", s)
	}
	c, err := w.js.Consumer(bg(t, patience), "IN", "urlfold")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.CachedInfo().AckFloor.Stream; got != n {
		t.Errorf("acknowledged up to %d, want %d", got, n)
	}
}
