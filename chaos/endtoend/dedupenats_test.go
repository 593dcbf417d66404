package endtoend

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/chaos"
)

// A dedupeWorld is a natsWorld whose messages hold URLs with few different
// keys.
type dedupeWorld struct {
	*natsWorld
	keys    int   // number of keys published
	mark    bool  // keep: mark; each record has another URL, with a parameter that k2 removes
	records []int // with mark: the key of each record
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
			more := ""
			if w.mark {
				more = fmt.Sprintf("?utm_source=%d", len(w.records))
				w.records = append(w.records, max(key, 0))
			}
			lines = append(lines, fmt.Sprintf("%s://example.com/%d%s", [...]string{"http", "HTTP"}[rand.IntN(2)], max(key, 0), more))
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
	codec, by := "to: urls", "equivalent"
	if w.mark {
		codec, by = "profile: analytics, to: {jsonl: {fields: [url]}}", "fetch, keep: mark"
	}
	return fmt.Sprintf(`
version: 1
sources:
  - jetstream: {from: lines, servers: [%q], stream: IN, durable: urlfold, consumer: {ack_wait: 2s}}
codec: {%[4]s}
dedupe: {by: %[5]s, bucket: seen, %[2]s}
sinks:
  - jetstream: {servers: [%[1]q], subject: "out.{host_key%%8}", msg_id: %[3]s}
dead_letter: {jetstream: {servers: [%[1]q], subject: out.dead}}
admin: {listen: "127.0.0.1:0"}
`, w.srv.URL(), dedupe, w.ids, codec, by)
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

// compareMarks checks that each record is in OUT, and that one record of each key
// is not marked as a duplicate. It returns the number of records that are there
// again.
func (w *dedupeWorld) compareMarks() (doubled int) {
	w.t.Helper()
	got := w.counts()
	firsts := make([]int, w.keys)
	for i, key := range w.records {
		n := 0
		for _, scheme := range []string{"http", "HTTP"} {
			for _, duplicate := range []bool{false, true} {
				line := fmt.Sprintf(`{"url":"%s://example.com/%d?utm_source=%d","duplicate":%t}`, scheme, key, i, duplicate)
				n += got[line]
				if !duplicate {
					firsts[key] += got[line]
				}
				delete(got, line)
			}
		}
		if n == 0 {
			w.t.Errorf("record %d is lost", i)
		}
		doubled += max(0, n-1)
	}
	for key, n := range firsts {
		if n != 1 && slices.Contains(w.records, key) {
			w.t.Errorf("key %d: %d records without a mark, want 1", key, n)
		}
	}
	if len(got) > 0 {
		w.t.Errorf("not published: %v", got)
	}
	return doubled
}

// TestDedupeNATS kills three members at random moments under load. With
// msg_id: position, the stream drops a record that is written again, so each key
// is there once: a redelivered message finds its own claims, and no other record
// takes them over. Without ids and with a short claim_timeout, no key is lost. With
// keep: mark, each record is there once, and one record of each key has no mark.
func TestDedupeNATS(t *testing.T) {
	for _, c := range []struct {
		name, ids, dedupe string
		mark              bool
	}{
		{"position", "position", "claim_timeout: 1h", false},
		{"none", "none", "claim_timeout: 1s, ttl: 1h", false},
		{"windows", "none", "claim_timeout: 1s, window: {size: 1h, time: message}", false},
		{"mark", "position", "claim_timeout: 1h", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newDedupe(t, c.ids)
			w.mark = c.mark
			config := w.config(c.dedupe)
			var members []*chaos.Process
			for range 3 {
				members = append(members, start(t, config))
			}
			kills := dedupeKills(t)
			for range kills {
				w.publish(3000)
				before := w.stored()
				more := rand.Int64N(300)
				advance(t, "they work", w.acknowledged, func() bool { return w.stored() > before+more || w.idle() })
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
			doubled := 0
			if w.mark {
				doubled = w.compareMarks()
			} else {
				doubled = w.compare()
			}
			t.Logf("figure: %s, msg_id %s: %d kills, %d keys, %d doubled; the last members compared %.0f records, took over %.0f claims, found %.0f again, with %.0f requests",
				c.name, c.ids, kills, w.keys, doubled, sums[0], sums[1], sums[2], sums[3])
			if c.ids == "position" && doubled > 0 {
				t.Errorf("%d keys came again", doubled)
			}
		})
	}
}

// dedupeKills returns the number of kills in each case of TestDedupeNATS.
func dedupeKills(t *testing.T) int {
	text := os.Getenv("URLFOLD_DEDUPE_KILLS")
	if text == "" {
		return few(6, 60)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("URLFOLD_DEDUPE_KILLS: %v", err)
	}
	return n
}

// newDedupe returns a world whose members use ids as message ids.
func newDedupe(t *testing.T, ids string) *dedupeWorld {
	t.Helper()
	return &dedupeWorld{natsWorld: newNATS(t, ids)}
}

// TestDedupeNATSRecreated deletes the input stream while claims of its messages
// are open, and creates it again, with other messages at the same sequences.
// Their keys are claimed by records that nobody will deliver again, so they are
// taken over.
func TestDedupeNATSRecreated(t *testing.T) {
	t.Parallel()
	w := newDedupe(t, "none")
	w.publish(3000)
	p := start(t, w.config("claim_timeout: 2s"))
	advance(t, "it works", w.stored, func() bool { return w.stored() > 100 })
	p.Kill()
	if err := w.js.DeleteStream(w.context(), "IN"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.js.CreateStream(w.context(), w.in.CachedInfo().Config); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.in, err = w.js.Stream(w.context(), "IN"); err != nil {
		t.Fatal(err)
	}
	for i := range w.keys { // all keys again, so none may be missing
		if _, err := w.js.PublishAsync("in.x", fmt.Appendf(nil, "http://example.com/%d", w.keys-1-i), jetstream.WithStallWait(patience)); err != nil {
			t.Fatal(err)
		}
	}
	<-w.js.PublishAsyncComplete()
	p = start(t, w.config("claim_timeout: 2s"))
	w.drained()
	stop(t, p)
	t.Logf("%d keys, %d doubled", w.keys, w.compare())
}

// TestDedupeNATSBucketFull: while the bucket accepts no entries, records wait,
// and /readyz says why. When it has room again, nothing is lost or doubled.
func TestDedupeNATSBucketFull(t *testing.T) {
	t.Parallel()
	w := newDedupe(t, "none")
	cfg := jetstream.StreamConfig{
		Name: "KV_seen", Subjects: []string{"$KV.seen.>"}, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, MaxMsgs: 300,
		AllowRollup: true, AllowDirect: true, Storage: jetstream.MemoryStorage,
	}
	if _, err := w.js.CreateStream(w.context(), cfg); err != nil {
		t.Fatal(err)
	}
	w.publish(2000)
	p := start(t, w.config("claim_timeout: 1h"))
	until(t, "it is not ready", func() bool {
		status, body, err := p.Get(w.context(), "/readyz")
		return err == nil && status == http.StatusServiceUnavailable && strings.Contains(string(body), "write to bucket")
	})
	cfg.MaxMsgs = -1
	if _, err := w.js.UpdateStream(w.context(), cfg); err != nil {
		t.Fatal(err)
	}
	w.drained()
	until(t, "it is ready", func() bool {
		status, _, err := p.Get(w.context(), "/readyz")
		return err == nil && status == http.StatusOK
	})
	stop(t, p)
	if doubled := w.compare(); doubled > 0 {
		t.Errorf("%d keys came again", doubled)
	}
}

// TestDedupeNATSRemember: a key comes again after remember.
func TestDedupeNATSRemember(t *testing.T) {
	t.Parallel()
	w := newDedupe(t, "none")
	p := start(t, w.config("ttl: 1s"))
	publish := func() {
		t.Helper()
		if _, err := w.js.Publish(w.context(), "in.x", []byte("http://example.com/a")); err != nil {
			t.Fatal(err)
		}
	}
	publish()
	until(t, "the key is there", func() bool { return w.stored() == 1 })
	until(t, "the key comes again", func() bool {
		publish()
		time.Sleep(200 * time.Millisecond)
		return w.stored() > 1
	})
	w.drained()
	stop(t, p)
}

// TestDedupeNATSWindows: each key is there once in each window, by the times in the
// records, and the entries of keys that are done expire while claims do not.
func TestDedupeNATSWindows(t *testing.T) {
	t.Parallel()
	w := newDedupe(t, "none")
	config := strings.NewReplacer("from: lines", "from: combined", "to: urls", "to: {tsv: {fields: [time, norm]}}").Replace(w.config("window: {size: 1h, lateness: 30s}"))
	members := []*chaos.Process{start(t, config), start(t, config)}
	const hours, copies = 5, 40
	publish := func(time string, page int) {
		t.Helper()
		line := fmt.Appendf(nil, `192.0.2.1 - - [%s] "GET /%d HTTP/1.1" 200 5 "-" "-"`, time, page)
		if _, err := w.js.Publish(w.context(), "in.x", line); err != nil {
			t.Fatal(err)
		}
	}
	for i := range hours * copies {
		publish(fmt.Sprintf("01/Mar/2026:%02d:%02d:00 +0000", i%hours, i%60), i%2)
	}
	for range copies {
		publish("-", 0)
	}
	w.drained()
	groups := map[string]int{} // by hour and page
	for text, n := range w.counts() {
		time, page, _ := strings.Cut(text, "\t")
		groups[time[:min(len(time), len("2026-03-01T00"))]+page] += n
	}
	if groups["/0"] != copies || len(groups) != 1+2*hours {
		t.Errorf("%v; want %d without a time and %d others", groups, copies, 2*hours)
	}
	delete(groups, "/0")
	for key, n := range groups {
		if n != 1 {
			t.Errorf("%s comes %d times", key, n)
		}
	}
	w.judgeBucket(2 * hours)
	for _, p := range members {
		stop(t, p)
	}
}

// judgeBucket checks that the bucket holds that many keys that are done, and that
// they expire.
func (w *dedupeWorld) judgeBucket(want int) {
	w.t.Helper()
	s, err := w.js.Stream(w.context(), "KV_seen")
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := s.OrderedConsumer(w.context(), jetstream.OrderedConsumerConfig{})
	if err != nil {
		w.t.Fatal(err)
	}
	info, err := s.Info(w.context())
	if err != nil {
		w.t.Fatal(err)
	}
	batch, err := c.Fetch(int(info.State.Msgs), jetstream.FetchMaxWait(patience))
	if err != nil {
		w.t.Fatal(err)
	}
	done := 0
	for m := range batch.Messages() {
		state, _, _ := strings.Cut(string(m.Data()), " ")
		ttl := m.Headers().Get("Nats-TTL")
		switch {
		case state == "done" && ttl == "1h0m30s":
			done++
		case state == "done" || state == "claimed" && ttl != "":
			w.t.Errorf("%s: TTL %q", m.Data(), ttl)
		}
	}
	if done != want {
		w.t.Errorf("%d keys are done, want %d", done, want)
	}
}
