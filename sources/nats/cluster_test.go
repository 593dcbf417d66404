package nats_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/testkit/natstest"
	sink "github.com/urlfold/urlfold/sinks/nats"
	source "github.com/urlfold/urlfold/sources/nats"
)

// TestLeaderChanges makes the leaders of both streams and of the consumer in a
// cluster of three step down repeatedly under load, and restarts a server.
func TestLeaderChanges(t *testing.T) {
	if few(0, 1) == 0 {
		t.Skip("three servers that elect leaders: set URLFOLD_LONG=1")
	}
	t.Parallel()
	cluster := natstest.Cluster(t, 3)
	w := newWorldOf(t, jetstream.FileStorage, cluster...)
	const rounds = 20
	const n = rounds*1000 + 1000
	w.fill(0, n)
	src := w.source(func(c *source.JetStreamConfig) { c.Consumer.AckWait = 2 * second })
	out := w.sink(func(c *sink.JetStreamConfig) { c.Publish.MaxPending, c.Publish.AckTimeout = 200, second })
	r := start(t, src, out, nil)
	stepped := 0
	for i := range rounds {
		until(t, "the run to make progress", func() bool { return w.count("OUT") > i*1000+500 })
		for _, of := range []string{"STREAM.LEADER.STEPDOWN.OUT", "CONSUMER.LEADER.STEPDOWN.IN.urlfold", "STREAM.LEADER.STEPDOWN.IN"} {
			if w.stepDown(of) {
				stepped++
			}
		}
		if i == rounds/2 {
			cluster[1].Down()
			cluster[1].Up()
		}
	}
	w.acknowledged(n)
	r.end()
	w.exactly(n)
	t.Logf("%d leaders stepped down, one server restarted; source %+v, sink %+v", stepped, src.Stats(), out.Stats())
	if stepped < rounds {
		t.Error("leaders did not change: the test proves nothing")
	}
}

// stepDown reports whether a leader has stepped down.
func (w *world) stepDown(of string) bool {
	w.t.Helper()
	m, err := w.nc.RequestWithContext(bg(w.t, 10*second), "$JS.API."+of, nil)
	if err != nil {
		return false // election in progress
	}
	var answer struct{ Success bool }
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		w.t.Fatal(fmt.Errorf("%s: %w", of, err))
	}
	return answer.Success
}
