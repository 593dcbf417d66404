package endtoend

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

// A changelogWorld is a kafkaWorld whose input has duplicates at every distance.
type changelogWorld struct {
	*kafkaWorld
	rng   *rand.Rand
	lines [kafkaPartitions][]int // the key of each record
	mark  bool                   // keep: mark; each record has another URL, with a parameter that k2 removes
	times *hourly                // windows of an hour; the URLs differ as with mark
}

// newChangelog creates the changelog. With a real broker, it is compacted all the
// time.
func newChangelog(w *kafkaWorld) *changelogWorld {
	kafkatest.CreateTopic(w.t, w.conn, w.topic("keys"), kafkaPartitions, map[string]string{
		"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "500", "segment.bytes": "1048576",
	})
	return &changelogWorld{kafkaWorld: w, rng: rand.New(rand.NewPCG(31, 0))}
}

// config returns the configuration of a member.
func (w *changelogWorld) config() string {
	config := w.kafkaWorld.config()
	if w.times != nil {
		config = strings.Replace(config, "profile: equiv", "profile: analytics, to: {jsonl: {fields: [url]}}", 1)
		return strings.Replace(config, "codec:", fmt.Sprintf("dedupe: {by: fetch, window: {size: 1h, lateness: 10m, time: message}, scope: lane, changelog: {topic: %s, create: false}}\ncodec:", w.topic("keys")), 1)
	}
	if w.mark {
		config = strings.Replace(config, "profile: equiv", "profile: analytics, to: {jsonl: {fields: [url]}}", 1)
		return strings.Replace(config, "codec:", fmt.Sprintf("dedupe: {by: fetch, keep: mark, scope: lane, changelog: {topic: %s, create: false}}\ncodec:", w.topic("keys")), 1)
	}
	return strings.Replace(config, "codec:", fmt.Sprintf("dedupe: {by: equivalent, scope: lane, changelog: {topic: %s, create: false}}\ncodec:", w.topic("keys")), 1)
}

// fill writes n more records to each partition. A third of them are the first of
// their key.
func (w *changelogWorld) fill(n int) {
	w.t.Helper()
	const few = 100
	for w.records += uint64(n); len(w.lines[0]) < int(w.records); {
		for p := range kafkaPartitions {
			batch := make([]kafka.Record, few)
			for i := range batch {
				newest := len(w.lines[p]) / 3
				key := newest
				if len(w.lines[p])%3 > 0 {
					key = max(0, newest-int(w.rng.ExpFloat64()*float64(int(1)<<w.rng.IntN(12))))
				}
				more := ""
				if w.mark || w.times != nil {
					more = fmt.Sprintf("?utm_source=%d", len(w.lines[p]))
				}
				millis := time.Now().UnixMilli()
				if w.times != nil {
					millis = w.times.of(len(w.lines[p]))
				}
				w.lines[p] = append(w.lines[p], key)
				scheme := [...]string{"http", "HTTP"}[w.rng.IntN(2)] // other bytes, the same key
				batch[i] = kafka.Record{Millis: millis, Value: fmt.Appendf(nil, "%s://example.com/%d/%d%s", scheme, p, key, more)}
			}
			kafkatest.Write(w.t, w.client, w.topic("in"), p, "none", batch...)
		}
	}
}

// counts returns how often each key was written.
func (w *changelogWorld) counts() map[string]int {
	w.t.Helper()
	count := map[string]int{}
	for _, records := range kafkatest.Read(w.t, w.client, w.topic("out"), kafkaPartitions) {
		for _, r := range records {
			count[string(r.Value)]++
		}
	}
	for _, records := range kafkatest.Read(w.t, w.client, w.topic("dead"), 1) {
		if len(records) > 0 {
			w.t.Errorf("%d dead letters", len(records))
		}
	}
	return count
}

// judgeKeys checks that each key was written, and returns how many times one was
// written again.
func (w *changelogWorld) judgeKeys() (again int) {
	w.t.Helper()
	count := w.counts()
	lost := 0
	for p := range w.lines {
		for key := range slices.Max(w.lines[p]) + 1 {
			url := fmt.Sprintf("http://example.com/%d/%d", p, key)
			if count[url] == 0 {
				lost++
				w.t.Logf("lost: %s", url)
			}
			again += max(0, count[url]-1)
			delete(count, url)
		}
	}
	if lost > 0 || len(count) > 0 {
		w.t.Errorf("%d keys are lost, %d were never written to the input", lost, len(count))
	}
	return again
}

// judgeMarks checks that each record was written, each time with the mark that it
// has without kills. It returns how many times one was written again.
func (w *changelogWorld) judgeMarks() (again int) {
	w.t.Helper()
	count := w.counts()
	for p := range w.lines {
		newest := -1
		for i, key := range w.lines[p] {
			duplicate := key <= newest
			newest = max(newest, key)
			var n [2]int // with the right and the wrong mark
			for _, scheme := range []string{"http", "HTTP"} {
				for k, mark := range []bool{duplicate, !duplicate} {
					n[k] += count[fmt.Sprintf(`{"url":"%s://example.com/%d/%d?utm_source=%d","duplicate":%t}`, scheme, p, key, i, mark)]
				}
			}
			if n[0] == 0 || n[1] > 0 {
				w.t.Errorf("partition %d, record %d, duplicate %t: written %d times with this mark, %d times with the other", p, i, duplicate, n[0], n[1])
			}
			again += max(0, n[0]-1)
		}
	}
	return again
}

// TestKafkaDedupe: across restarts and other members, each key is written once.
// After the offsets of the group were set back, the keys whose first records
// are read again, and only these, are written again.
func TestKafkaDedupe(t *testing.T) {
	onBrokers(t, func(t *testing.T, k *kafkaWorld) {
		w := newChangelog(k)
		for range 3 {
			w.fill(1000)
			p := start(t, w.config())
			w.drained()
			stop(t, p)
			if again := w.judgeKeys(); again > 0 {
				t.Fatalf("%d keys were written again", again)
			}
		}
		offsets, want := make([]int64, kafkaPartitions), 0
		for p := range offsets {
			offsets[p] = 500 + 300*int64(p)
			want += slices.Max(w.lines[p]) - slices.Max(w.lines[p][:offsets[p]])
		}
		kafkatest.Rewind(t, w.conn, w.name, w.topic("in"), offsets)
		p := start(t, w.config())
		w.drained()
		stop(t, p)
		if again := w.judgeKeys(); again != want {
			t.Errorf("%d keys were written again after the offsets were set back, want %d", again, want)
		}
	})
}

// TestKafkaDedupeMembers lets members join and leave under load. As none of them
// dies, each key is written once.
func TestKafkaDedupeMembers(t *testing.T) {
	onBrokers(t, func(t *testing.T, k *kafkaWorld) {
		w := newChangelog(k)
		config := strings.Replace(w.config(), "session_timeout: 4s", "session_timeout: 45s", 1) // no member is late
		members := []*chaos.Process{start(t, config), start(t, config)}
		for i := range few(6, 60) {
			before, more := w.stored(), rand.Int64N(1500)
			w.fill(1000)
			advance(t, "they work", w.stored, func() bool { return w.stored() > before+more })
			if i%2 == 0 {
				members = append(members, start(t, config))
				continue
			}
			k := rand.IntN(len(members))
			stop(t, members[k])
			members = slices.Delete(members, k, k+1)
		}
		w.drained()
		for _, p := range members {
			stop(t, p)
		}
		if again := w.judgeKeys(); again > 0 {
			t.Errorf("%d keys were written again, although no member has died", again)
		}
	})
}

// TestKafkaDedupeKill lets three members share a topic under load, while they
// are killed, added and stopped. Two of three changes are kills: 6 or, with
// URLFOLD_LONG=1, 60, or as many as URLFOLD_DEDUPE_KILLS says. Each key must be
// written at least once.
func TestKafkaDedupeKill(t *testing.T) {
	onBrokers(t, func(t *testing.T, k *kafkaWorld) {
		w := newChangelog(k)
		w.killMembers("first", w.judgeKeys)
	})
}

// TestKafkaDedupeMark is TestKafkaDedupeKill with keep: mark. Each record must be
// written, each time with the same mark.
func TestKafkaDedupeMark(t *testing.T) {
	onBrokers(t, func(t *testing.T, k *kafkaWorld) {
		w := newChangelog(k)
		w.mark = true
		w.killMembers("mark", w.judgeMarks)
	})
}

// killMembers kills and changes members under load, and judges what they wrote.
func (w *changelogWorld) killMembers(keep string, judge func() (again int)) {
	t := w.t
	config := w.config() + "shutdown_timeout: 2m\n" // of which a loaded machine may need a part
	var members []*chaos.Process
	w.renew = func() { members = renewed(t, members, config) }
	kills, changes := 0, 0
	for goal := dedupeKills(t); kills < goal; changes++ {
		for len(members) < 3 {
			members = append(members, start(t, config))
		}
		before, more := w.stored(), rand.Int64N(1500)
		w.fill(1000)
		w.await("they work", func() (n int64, done bool) { n = w.stored(); return n, n > before+more })
		k := rand.IntN(len(members))
		switch changes % 6 {
		case 1:
			members = append(members, start(t, config))
		case 3:
			stop(t, members[k])
			members = slices.Delete(members, k, k+1)
		default:
			kills++
			members[k].Kill()
			members[k] = start(t, config)
		}
	}
	w.drained()
	for _, p := range members {
		stop(t, p)
	}
	again := judge()
	t.Logf("figure: keep %s: %d kills, %d other changes: %d records, %d were written again", keep, kills, changes-kills, w.records*kafkaPartitions, again)
}
