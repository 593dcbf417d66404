package endtoend

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// A natsWorld is a server with two streams, IN and OUT, and a description of
// the records published to IN.
type natsWorld struct {
	t    *testing.T
	srv  *natstest.Server
	js   jetstream.JetStream
	in   jetstream.Stream
	out  jetstream.Stream
	spec chaos.Spec

	records  uint64 // number of published records
	messages uint64 // number of messages that contain them
	ids      string // msg_id of the sink
}

func newNATS(t *testing.T, ids string) *natsWorld {
	t.Helper()
	w := &natsWorld{t: t, srv: natstest.Start(t, nil), spec: chaos.Spec{Seed: 7, Format: chaos.Lines, Poison: 500}, ids: ids}
	nc, err := nats.Connect(w.srv.URL(), nats.Timeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if w.js, err = jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(1000), jetstream.WithPublishAsyncErrHandler(
		func(_ jetstream.JetStream, _ *nats.Msg, err error) { t.Errorf("a message is not published: %v", err) })); err != nil {
		t.Fatal(err)
	}
	w.in, w.out = w.stream("IN", "in.>"), w.stream("OUT", "out.>")
	return w
}

func (w *natsWorld) stream(name, subject string) jetstream.Stream {
	w.t.Helper()
	s, err := w.js.CreateStream(w.context(), jetstream.StreamConfig{
		Name: name, Subjects: []string{subject}, Storage: jetstream.MemoryStorage, Duplicates: time.Hour,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *natsWorld) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	w.t.Cleanup(cancel)
	return ctx
}

// fill publishes messages of one to four records until n messages are
// undelivered.
func (w *natsWorld) fill(n uint64) {
	w.t.Helper()
	undelivered := w.messages
	if i := w.consumer(); i != nil {
		undelivered = i.NumPending
	}
	for ; undelivered < n; undelivered++ {
		var data []byte
		for range 1 + w.messages%4 {
			data = w.spec.Append(data, 0, w.records)
			w.records++
		}
		w.messages++
		if _, err := w.js.PublishAsync("in.x", data, jetstream.WithStallWait(patience)); err != nil {
			w.t.Fatal(err)
		}
	}
	select {
	case <-w.js.PublishAsyncComplete():
	case <-time.After(patience):
		w.t.Fatal("IN does not take the messages")
	}
}

// consumer returns the state of the consumer, or nil if there is none.
func (w *natsWorld) consumer() *jetstream.ConsumerInfo {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := w.in.Consumer(ctx, "urlfold")
	if err != nil {
		return nil
	}
	return c.CachedInfo()
}

// stored returns the number of messages in OUT.
func (w *natsWorld) stored() int64 {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	i, err := w.out.Info(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	return int64(i.State.Msgs)
}

// config returns a configuration that copies from IN to OUT.
func (w *natsWorld) config() string {
	return fmt.Sprintf(`
version: 1
data_dir: %q
sources:
  - jetstream:
      from: lines
      servers: [%q]
      stream: IN
      durable: urlfold
      consumer: {ack_wait: 2s}
codec: {profile: equiv}
sinks:
  - jetstream: {servers: [%[2]q], subject: "out.{host_key%%8}", msg_id: %s}
dead_letter: {jetstream: {servers: [%[2]q], subject: out.dead}}
admin: {listen: "127.0.0.1:0"}
`, w.t.TempDir(), w.srv.URL(), w.ids)
}

// drained waits until all messages of IN are acknowledged.
func (w *natsWorld) drained() {
	w.t.Helper()
	advance(w.t, "all is acknowledged", w.acknowledged, w.idle)
}

// acknowledged returns the number of messages of IN that are acknowledged, as far
// as the consumer has delivered messages.
func (w *natsWorld) acknowledged() int64 {
	if i := w.consumer(); i != nil {
		return int64(i.Delivered.Stream) - int64(i.NumAckPending)
	}
	return 0
}

// idle reports whether everything is acknowledged.
func (w *natsWorld) idle() bool {
	i := w.consumer()
	return i != nil && i.NumPending == 0 && i.NumAckPending == 0
}

// judge counts the records in OUT.
func (w *natsWorld) judge() chaos.Result { return w.judgeFrom(0) }

// judgeFrom counts the records in OUT. Those before from may be missing.
func (w *natsWorld) judgeFrom(from uint64) chaos.Result {
	w.t.Helper()
	o := chaos.NewOracle(w.spec)
	o.Expect(0, w.records)
	o.Excuse(0, 0, from)
	s := o.NewStream()
	c, err := w.out.OrderedConsumer(w.context(), jetstream.OrderedConsumerConfig{})
	if err != nil {
		w.t.Fatal(err)
	}
	for left := int(w.stored()); left > 0; {
		batch, err := c.Fetch(min(left, 1000), jetstream.FetchMaxWait(patience))
		if err != nil {
			w.t.Fatal(err)
		}
		before := left
		for m := range batch.Messages() {
			s.Line(bytes.TrimSuffix(m.Data(), []byte("\n")))
			left--
		}
		if left == before {
			w.t.Fatalf("%d messages of OUT are not delivered", left)
		}
	}
	return o.Result()
}

// TestNATSKill kills the program at random moments, while it starts and while
// it works. No record may be lost. With msg_id: position, no record may be
// doubled in the stream; without ids, records in flight are doubled.
func TestNATSKill(t *testing.T) {
	for _, ids := range []string{"position", "none"} {
		t.Run(ids, func(t *testing.T) {
			t.Parallel()
			w := newNATS(t, ids)
			kills, working := few(5, 50), 0
			kill := func(atWork bool) {
				w.fill(5000)
				before := w.stored()
				p := start(t, w.config())
				if atWork {
					more := rand.Int64N(4000)
					advance(t, "it works", w.stored, func() bool { return w.stored() > before+more || p.Ended() })
				} else { // kill it at any time
					time.Sleep(rand.N(time.Second))
				}
				if p.Ended() {
					t.Fatal("it has ended by itself")
				}
				p.Kill()
				if w.stored() > before {
					working++
				}
			}
			finish := func() {
				p := start(t, w.config())
				w.drained()
				stop(t, p)
			}
			for i := range kills {
				kill(i%2 == 0)
			}
			finish()
			for ; ids == "none" && uint64(w.stored()) <= w.records && kills < 100; kills++ { // each kill came between two acknowledgments
				kill(true)
				finish()
			}
			r := w.judge()
			t.Logf("msg_id %s: %d kills, %d of them at work: %v", ids, kills, working, &r)
			if !r.Right() || ids == "position" && r.Doubled > 0 {
				t.Errorf("%v", r.Examples)
			}
			if ids == "none" && r.Doubled == 0 {
				t.Error("nothing was read again: the test shows nothing")
			}
		})
	}
}

// TestNATSMembers: three instances share one consumer under load, while members
// are killed, stopped and added. Nothing is lost or doubled, and all have their
// share.
func TestNATSMembers(t *testing.T) {
	t.Parallel()
	w := newNATS(t, "position")
	changes := few(6, 60)
	members := churn(t, w.config(), changes, func() { w.fill(5000) }, w.stored, 2000)
	took := func(p *chaos.Process) float64 {
		m, err := p.Scrape(w.context())
		if err != nil {
			t.Fatal(err)
		}
		return m.Sum("urlfold_source_messages_total")
	}
	var shares []float64
	until(t, "each has something to do", func() bool {
		shares = shares[:0]
		idle := false
		for _, p := range members {
			shares = append(shares, took(p))
			idle = idle || shares[len(shares)-1] == 0
		}
		if idle {
			w.fill(5000)
		}
		return !idle
	})
	w.drained()
	for _, p := range members {
		stop(t, p)
	}
	r := w.judge()
	t.Logf("%d changes of 3 to 4 members; the last of them took %v messages of %d: %v", changes, shares, w.messages, &r)
	if !r.Right() || r.Doubled > 0 {
		t.Errorf("%v", r.Examples)
	}
}
