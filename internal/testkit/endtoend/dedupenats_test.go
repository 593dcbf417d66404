package endtoend

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/testkit/chaos"
)

// A dedupeWorld is a natsWorld whose messages hold URLs with few different
// keys.
type dedupeWorld struct {
	*natsWorld
	keys int // number of keys published
}

// publish publishes n messages of one or two URLs. About every third URL is a
// new one.
func (w *dedupeWorld) publish(n int) {
	w.t.Helper()
	for range n {
		var lines []string
		for range 1 + rand.IntN(2) {
			key := rand.IntN(w.keys + 1)
			if rand.IntN(3) == 0 {
				key = w.keys
				w.keys++
			}
			key = min(key, w.keys-1)
			lines = append(lines, fmt.Sprintf("%s://example.com/%d", [...]string{"http", "HTTP"}[rand.IntN(2)], max(key, 0)))
		}
		if _, err := w.js.PublishAsync("in.x", []byte(strings.Join(lines, "\n")), jetstream.WithStallWait(patience)); err != nil {
			w.t.Fatal(err)
		}
	}
	select {
	case <-w.js.PublishAsyncComplete():
	case <-time.After(patience):
		w.t.Fatal("IN does not take the messages")
	}
}

// config returns a configuration that drops duplicates.
func (w *dedupeWorld) config(dedupe string) string {
	return fmt.Sprintf(`
version: 1
sources:
  - jetstream: {servers: [%q], stream: IN, durable: urlfold, consumer: {ack_wait: 2s}, nak_delay: 300ms, batch: {messages: 200}}
codec: {format: lines, render: urls}
dedupe: {by: k1, bucket: seen, %s}
sinks:
  - jetstream: {servers: [%[1]q], subject: "out.{host_key%%8}", msg_id: %[3]s}
dead_letter: {jetstream: {servers: [%[1]q], subject: out.dead}}
admin: {listen: "127.0.0.1:0"}
`, w.srv.URL(), dedupe, w.ids)
}

// counts returns how often each key is in OUT.
func (w *dedupeWorld) counts() map[string]int {
	w.t.Helper()
	got := map[string]int{}
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
			got[strings.TrimSuffix(string(m.Data()), "\n")]++
			left--
		}
		if left == before {
			w.t.Fatalf("%d messages of OUT are not delivered", left)
		}
	}
	return got
}

// compare checks that each key is in OUT, and returns the number of times that
// a key is there again.
func (w *dedupeWorld) compare() (doubled int) {
	w.t.Helper()
	got := w.counts()
	for i := range w.keys {
		url := fmt.Sprintf("http://example.com/%d", i)
		if got[url] == 0 {
			w.t.Errorf("%s is lost", url)
		}
		doubled += max(0, got[url]-1)
		delete(got, url)
	}
	if len(got) > 0 {
		w.t.Errorf("not published: %v", got)
	}
	return doubled
}

// TestDedupeNATS kills three members at random moments under load. With
// msg_id: position, the stream drops a record that is written again, so each key
// is there once: a redelivered message finds its own claims, and no other record
// takes them over. Without ids and with a short take_over, no key is lost.
func TestDedupeNATS(t *testing.T) {
	for _, c := range []struct{ ids, dedupe string }{
		{"position", "take_over: 1h"},
		{"none", "take_over: 1s, remember: 1h"},
	} {
		t.Run(c.ids, func(t *testing.T) {
			t.Parallel()
			w := &dedupeWorld{natsWorld: newNATS(t, c.ids)}
			config := w.config(c.dedupe)
			var members []*chaos.Process
			for range 3 {
				members = append(members, start(t, config))
			}
			kills := few(6, 60)
			for range kills {
				w.publish(3000)
				before := w.stored()
				until(t, "they work", func() bool { return w.stored() > before+rand.Uint64N(300) || w.idle() })
				k := rand.IntN(len(members))
				members[k].Kill()
				members[k] = start(t, config)
			}
			w.drained()
			var sums [4]float64
			for i, p := range members {
				m, err := p.Scrape(w.context())
				if err != nil {
					t.Fatal(err)
				}
				sums[0] += m.Sum("urlfold_dedupe_records_total")
				sums[1] += m.Sum("urlfold_dedupe_takeovers_total")
				sums[2] += m.Sum("urlfold_dedupe_reclaims_total")
				sums[3] += m.Sum("urlfold_dedupe_bucket_requests_total")
				stop(t, members[i])
			}
			doubled := w.compare()
			t.Logf("%d kills, %d keys, %d doubled; the last members compared %.0f records, took over %.0f claims, found %.0f again, with %.0f requests",
				kills, w.keys, doubled, sums[0], sums[1], sums[2], sums[3])
			if c.ids == "position" && doubled > 0 {
				t.Errorf("%d keys came again", doubled)
			}
		})
	}
}

// idle reports whether everything is acknowledged.
func (w *dedupeWorld) idle() bool {
	i := w.consumer()
	return i != nil && i.NumPending == 0 && i.NumAckPending == 0
}
