package changelog

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// parts is the number of partitions of the input.
const parts = 3

// cluster starts a broker with the topic in.
func cluster(t *testing.T) (*kfake.Cluster, connect.Kafka) {
	t.Helper()
	c, conn := kafkatest.Fake(t)
	kafkatest.CreateTopic(t, conn, "in", parts, nil)
	return c, conn
}

// configOf returns the configuration of a set.
func configOf(conn connect.Kafka, by string) Config {
	return Config{
		Connection: conn, Topic: "log", Create: true, Input: "in", Identity: keyset.Identity{"by": by},
		MaxMemory: 1 << 20, Dir: "", Log: slog.New(slog.DiscardHandler),
	}
}

func opened(t *testing.T, cfg Config) *Changelog {
	t.Helper()
	c, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// laneOf returns a lane of a partition.
func laneOf(partition int) *engine.Lane {
	l := new(engine.Lane)
	l.SetID(fmt.Sprintf("kafka/in/%d", partition))
	return l
}

// entries returns n entries; the first record of key k is at offset k.
func entries(from, n int) (list []engine.FirstKey) {
	for k := from; k < from+n; k++ {
		list = append(list, engine.FirstKey{Key: keyNo(k), At: int64(k)})
	}
	return list
}

func keyNo(k int) codec.Key {
	return codec.KeyFromUint64s((uint64(k)+1)*0x9E3779B97F4A7C15, uint64(k))
}

func seal(t *testing.T, c *Changelog, l *engine.Lane, list []engine.FirstKey) {
	t.Helper()
	if err := c.Seal(t.Context(), l, list); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, c *Changelog, l *engine.Lane, from int64) {
	t.Helper()
	if err := c.Load(t.Context(), l, engine.Position{A: from}); err != nil {
		t.Fatal(err)
	}
}

// wantKeys checks that the set of l has exactly the keys for which has is true,
// out of the first n.
func wantKeys(t *testing.T, c *Changelog, l *engine.Lane, n int, has func(k int) bool) {
	t.Helper()
	for k := range n {
		if got, err := c.Has(l, keyNo(k), 0); err != nil || got != has(k) {
			t.Fatalf("key %d: %v, %v, want %v", k, got, err, has(k))
		}
	}
}

// TestUnusable: a topic that would lose entries, or whose partitions do not
// correspond to those of the input, is refused with the reason.
func TestUnusable(t *testing.T) {
	_, conn := cluster(t)
	kafkatest.CreateTopic(t, conn, "deleted", parts, nil)
	kafkatest.CreateTopic(t, conn, "both", parts, map[string]string{policy: "compact,delete"})
	kafkatest.CreateTopic(t, conn, "few", parts-1, settings)
	for topic, want := range map[string]string{
		"deleted": "deleted: has cleanup.policy=delete",
		"both":    "both: has cleanup.policy=compact,delete",
		"few":     "few: has 2 partitions, but in has 3",
		"none":    "none: does not exist; create it with 3 partitions",
	} {
		cfg := configOf(conn, "equivalent")
		cfg.Topic, cfg.Create = topic, topic != "none"
		if c, err := Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", topic, c, err, want)
		}
	}
	cfg := configOf(conn, "equivalent")
	if err := Check(t.Context(), cfg); err != nil {
		t.Errorf("a topic that can be created: %v", err)
	}
	cfg.Create = false
	if err := Check(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "does not exist; create it") {
		t.Errorf("the check has created the topic, or it is no error that it is missing: %v", err)
	}
	cfg.Create, cfg.Input = true, "nowhere"
	if _, err := Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "input topic nowhere") {
		t.Error(err)
	}
	cfg.Connection.Brokers, cfg.Connection.RequestTimeout = []string{"127.0.0.1:1"}, 300*time.Millisecond
	if _, err := Open(t.Context(), cfg); err == nil {
		t.Error("a broker that does not exist is no error")
	}
}

// TestCreateDenied: if the brokers do not permit to create the topic, the check
// says so.
func TestCreateDenied(t *testing.T) {
	cluster, conn := cluster(t)
	cluster.ControlKey(int16(kmsg.CreateTopics), func(r kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		res := r.ResponseKind().(*kmsg.CreateTopicsResponse)
		topic := kmsg.NewCreateTopicsResponseTopic()
		topic.Topic, topic.ErrorCode = "log", 29 // TOPIC_AUTHORIZATION_FAILED
		res.Topics = append(res.Topics, topic)
		return res, nil, true
	})
	const want = "log: does not exist, and urlfold cannot create it"
	if err := Check(t.Context(), configOf(conn, "equivalent")); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "create it with 3 partitions") {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestChanged: a member with another configuration logs what has changed, once
// for each partition, and begins with an empty set.
func TestChanged(t *testing.T) {
	cluster, conn := cluster(t)
	var log bytes.Buffer
	member := func(by string) *Changelog {
		log.Reset()
		cfg := configOf(conn, by)
		cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		return opened(t, cfg)
	}
	l := laneOf(0)
	load(t, member("equivalent"), l, 0)
	seal(t, member("equivalent"), l, entries(0, 5))
	load(t, member("equivalent"), l, 9)
	if log.Len() > 0 {
		t.Errorf("the same configuration: %s", &log)
	}
	cluster.Compact()
	c := member("fetch")
	load(t, c, l, 9)
	if got := log.String(); !strings.Contains(got, "set of keys reset") || !strings.Contains(got, `by was \"equivalent\" and is \"fetch\"`) || !strings.Contains(got, "log[0]") {
		t.Errorf("another configuration: %q", got)
	}
	wantKeys(t, c, l, 5, func(int) bool { return false })
	load(t, member("fetch"), l, 9)
	if log.Len() > 0 {
		t.Errorf("the same configuration again: %s", &log)
	}
}

// TestCreate: a topic that was created is compacted and has the right number of
// partitions, also if two members create it at the same time.
func TestCreate(t *testing.T) {
	_, conn := cluster(t)
	done := make(chan error, 2)
	for range 2 {
		go func() {
			c, err := Open(context.Background(), configOf(conn, "equivalent"))
			if err == nil {
				err = c.Close()
			}
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	cfg := configOf(conn, "equivalent")
	cfg.Create = false
	opened(t, cfg)
}

// TestLoad: a member that takes a partition over has the keys whose first
// records lie before the committed offset, and no others: not those of other
// partitions and other sets, and not those that were removed.
func TestLoad(t *testing.T) {
	const n = 3*batchEntries + 7
	cluster, conn := cluster(t)
	one, other := opened(t, configOf(conn, "equivalent")), opened(t, configOf(conn, "fetch"))
	seal(t, one, laneOf(0), entries(0, n))
	seal(t, one, laneOf(1), entries(n, 10))
	for i, f := range entries(n+10, 10) {
		seal(t, other, laneOf(0), []engine.FirstKey{{Key: f.Key, At: int64(i)}})
	}
	seal(t, one, laneOf(0), []engine.FirstKey{{Key: keyNo(5), At: 5}}) // again
	w := entryWriter{set: one.set}
	removed := *w.message(engine.FirstKey{Key: keyNo(n + 30)}, time.Now().UnixMilli())
	removed.Value = nil
	kafkatest.Write(t, kafkatest.Client(t, conn, "log"), "log", 0, "none", removed)
	for _, compact := range []bool{false, true} {
		if compact {
			cluster.Compact()
		}
		taken := opened(t, configOf(conn, "equivalent"))
		l := laneOf(0)
		for _, from := range []int64{n - 100, 3, 0, n + 5} { // each load replaces the set
			load(t, taken, l, from)
			wantKeys(t, taken, l, n+40, func(k int) bool { return k < n && int64(k) < from })
		}
		taken.Drop(l)
		if _, err := taken.Has(l, keyNo(1), 0); err == nil {
			t.Error("a set that was dropped answers")
		}
		if err := taken.Stored(l, entries(0, 1)); err != nil {
			t.Errorf("Stored after Drop: %v", err)
		}
	}
}

// TestStored: an owner knows its own keys when their position is stored.
func TestStored(t *testing.T) {
	_, conn := cluster(t)
	c, l := opened(t, configOf(conn, "equivalent")), laneOf(2)
	load(t, c, l, 0)
	seal(t, c, l, entries(0, 10))
	wantKeys(t, c, l, 10, func(int) bool { return false })
	if err := c.Stored(l, entries(0, 10)); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, c, l, 20, func(k int) bool { return k < 10 })
	figures := kafkatest.Figures(t, c)
	if figures["urlfold_dedupe_keys"] != 10 || figures["urlfold_dedupe_memory_bytes"] == 0 {
		t.Error(figures)
	}
}

// TestSpill: keys that exceed the memory move to files, and are found there.
func TestSpill(t *testing.T) {
	const n = 600_000
	_, conn := cluster(t)
	cfg := configOf(conn, "equivalent")
	cfg.Dir = t.TempDir()
	c, l := opened(t, cfg), laneOf(0)
	seal(t, c, l, entries(0, n))
	load(t, c, l, n/2)
	for k := 0; k < n; k += 997 {
		if got, err := c.Has(l, keyNo(k), 0); err != nil || got != (k < n/2) {
			t.Fatalf("key %d: %v, %v", k, got, err)
		}
	}
	if f := kafkatest.Figures(t, c); f["urlfold_dedupe_disk_bytes"] == 0 || f["urlfold_dedupe_changelog_entries_total{result=\"ahead\"}"] != n/2 {
		t.Error(f["urlfold_dedupe_disk_bytes"])
	}
}

// TestForeign: a message that is no entry stops the partition, with its offset.
func TestForeign(t *testing.T) {
	_, conn := cluster(t)
	c := opened(t, configOf(conn, "equivalent"))
	seal(t, c, laneOf(0), entries(0, 3))
	client := kafkatest.Client(t, conn, "log")
	kafkatest.Write(t, client, "log", 0, "none", kafka.Record{Key: []byte("k"), Value: []byte("v")})
	w := entryWriter{set: c.set}
	short := *w.message(entries(1, 1)[0], time.Now().UnixMilli())
	short.Value = short.Value[:7]
	kafkatest.Write(t, client, "log", 1, "none", short)
	for p, want := range []string{"changelog log[0]: offset 3: not a dedupe entry", "changelog log[1]: offset 0: not a dedupe entry"} {
		if err := c.Load(t.Context(), laneOf(p), engine.Position{A: 9}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := c.Load(t.Context(), laneOf(parts), engine.Position{}); err == nil || !strings.Contains(err.Error(), "has 3 partitions") {
		t.Errorf("a new partition of the input: %v", err)
	}
	l := new(engine.Lane)
	l.SetID("file")
	if err := c.Load(t.Context(), l, engine.Position{}); err == nil {
		t.Error("a lane of a file is no error")
	}
}

// TestLoadStops: loading ends when the context does.
func TestLoadStops(t *testing.T) {
	_, conn := cluster(t)
	c := opened(t, configOf(conn, "equivalent"))
	seal(t, c, laneOf(0), entries(0, 3))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := c.Load(ctx, laneOf(0), engine.Position{A: 3}); err == nil {
		t.Error("no error")
	}
	if _, err := c.Has(laneOf(0), keyNo(0), 0); err == nil {
		t.Error("a set that is not loaded answers")
	}
}
