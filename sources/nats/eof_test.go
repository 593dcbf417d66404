package nats_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	source "github.com/urlfold/urlfold/sources/nats"
)

// A run that is to end with its input waits for what another instance has taken and
// does not answer, and ends when all of it is acknowledged.
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
	if _, err := c.Next(jetstream.FetchMaxWait(30 * time.Second)); err != nil { // and no answer
		t.Fatal(err)
	}
	r = start(t, w.source(untilEOF), w.sink(nil), nil)
	<-r.done
	r.end()
	w.exactly(n + 1)
}
