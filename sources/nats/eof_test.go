package nats_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	source "github.com/urlfold/urlfold/sources/nats"
)

// TestUntilEOF checks that a run that ends with its input waits for messages
// that another instance holds, and ends when all are acknowledged.
func TestUntilEOF(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const n = 2500
	w.fill(0, n)
	untilEOF := func(c *source.JetStreamConfig) { c.UntilEOF, c.Consumer.AckWait = true, 2*second }
	r := start(t, w.source(untilEOF), w.sink(nil), nil)
	<-r.done
	r.end()
	w.exactly(n)

	w.fill(n, 1)
	c, err := w.js.Consumer(bg(t, patience), "IN", "urlfold")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Next(jetstream.FetchMaxWait(30 * time.Second)); err != nil { // never acknowledged
		t.Fatal(err)
	}
	r = start(t, w.source(untilEOF), w.sink(nil), nil)
	<-r.done
	r.end()
	w.exactly(n + 1)
}
