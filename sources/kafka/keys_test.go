package kafka

import (
	"log/slog"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/unique/changelog"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// startKeys starts a pipeline that deduplicates the topic in.
func startKeys(t *testing.T, conn connect.Kafka, out *kafkatest.Collector, interval time.Duration) (*source, *kafkatest.Run) {
	t.Helper()
	return startWindows(t, conn, out, interval, nil)
}

// startWindows is startKeys with windows.
func startWindows(t *testing.T, conn connect.Kafka, out *kafkatest.Collector, interval time.Duration, window *engine.Window) (*source, *kafkatest.Run) {
	t.Helper()
	keys, err := changelog.Open(t.Context(), changelog.Config{
		Connection: conn, Topic: "keys", Create: true, Input: "in", Identity: keyset.Identity{}, Window: window, MaxMemory: 1 << 20, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	profile, _ := codec.Lookup("rfc3986-scheme")
	n, err := codec.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	job, err := record.New(record.Config{Format: "lines", Normalizer: n, Facts: true, Identity: record.Identity{By: "equivalent"}})
	if err != nil {
		t.Fatal(err)
	}
	src, err := New(quick(conn, "in"), nil)
	if err != nil {
		t.Fatal(err)
	}
	run := kafkatest.Start(t, engine.Options{
		Sources: []engine.Source{src}, Sinks: []engine.Sink{out}, NewCodec: engine.NewRecordCodec(job), CommitInterval: interval,
		Dedupe: &engine.Dedupe{Lanes: keys, Scope: engine.ScopeLane, Window: window},
	})
	t.Cleanup(func() {
		run.Kill()
		if err := keys.Close(); err != nil {
			t.Error(err)
		}
	})
	return src.(*source), run
}

// TestKeysRecreated: in a topic that was recreated while its offsets remain, the
// keys whose first records are at or beyond the new position are written again.
// That holds for the keys in memory and for those that a new owner loads.
func TestKeysRecreated(t *testing.T) {
	const n, few = 300, 100
	for _, restart := range []bool{false, true} {
		c, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
		client := kafkatest.Client(t, conn, "in")
		kafkatest.Fill(t, client, "in", 1, 0, n)
		kafkatest.Fill(t, client, "in", 1, 0, n) // duplicates
		out := &kafkatest.Collector{T: t}
		s, run := startKeys(t, conn, out, 20*time.Millisecond)
		committed := func(want int64) {
			t.Helper()
			kafkatest.Until(t, "the position", func() bool { return kafkatest.Committed(t, conn, "g", "in", 1)[0] == want })
		}
		committed(2 * n)
		if out.Count() != n {
			t.Errorf("%d records, want %d", out.Count(), n)
		}
		if restart {
			stop(t, run)
		}
		if err := c.DeleteTopic("in"); err != nil {
			t.Fatal(err)
		}
		if err := c.CreateTopic("in", 1, nil); err != nil {
			t.Fatal(err)
		}
		client.Refresh()
		kafkatest.Fill(t, kafkatest.Client(t, conn, "in"), "in", 1, 0, few)
		kafkatest.Fill(t, kafkatest.Client(t, conn, "in"), "in", 1, 0, few)
		want := n + few
		if restart {
			out, want = &kafkatest.Collector{T: t}, few
			s, run = startKeys(t, conn, out, 20*time.Millisecond)
		}
		committed(2 * few)
		kafkatest.Until(t, "the new records", func() bool { return out.Count() >= want })
		stop(t, run)
		if out.Count() != want || s.Stats().Resets > 1 {
			t.Errorf("restart %v: %d records, want %d; %d resets", restart, out.Count(), want, s.Stats().Resets)
		}
	}
}

// TestKeysRebalance: a member that loses a partition stores the keys before the
// offset, although no commit is due, so the next owner drops their duplicates.
func TestKeysRebalance(t *testing.T) {
	const n, parts = 300, 2
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(parts, "in"))
	client := kafkatest.Client(t, conn, "in")
	kafkatest.Fill(t, client, "in", parts, 0, n)
	one, other := &kafkatest.Collector{T: t}, &kafkatest.Collector{T: t}
	s, run := startKeys(t, conn, one, time.Hour)
	kafkatest.Until(t, "the first records", func() bool { return one.Count() == parts*n })
	o, second := startKeys(t, conn, other, time.Hour)
	kafkatest.Until(t, "both have a partition", func() bool { return len(s.Stats().Partitions) == 1 && len(o.Stats().Partitions) == 1 })
	kafkatest.Fill(t, client, "in", parts, 0, n)
	kafkatest.Until(t, "the duplicates", func() bool {
		return one.Count()+other.Count() > parts*n || run.P.Snapshot().Dedupe.Duplicates+second.P.Snapshot().Dedupe.Duplicates == parts*n
	})
	if one.Count() != parts*n || other.Count() != 0 {
		t.Errorf("%d and %d records, want %d and none", one.Count(), other.Count(), parts*n)
	}
	stop(t, second)
	stop(t, run)
}

// TestNotes: the next owner of a partition knows how far its times have come. After
// the offsets were set by another program, it does not.
func TestNotes(t *testing.T) {
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
	client := kafkatest.Client(t, conn, "in")
	window := &engine.Window{Size: time.Hour, Lateness: time.Hour, ByMessage: true}
	hour := func(h int) int64 { return int64(400_000+h) * time.Hour.Milliseconds() }
	n := int64(0)
	late := func(hours ...int) int64 {
		t.Helper()
		for _, h := range hours {
			kafkatest.Write(t, client, "in", 0, "none", kafka.Record{Millis: hour(h), Value: []byte(kafkatest.URL(0, int(n)))})
			n++
		}
		out := &kafkatest.Collector{T: t}
		_, run := startWindows(t, conn, out, 20*time.Millisecond, window)
		kafkatest.Until(t, "the position", func() bool { return kafkatest.Committed(t, conn, "g", "in", 1)[0] == n })
		late := run.P.Snapshot().Dedupe.Late
		stop(t, run)
		return late
	}
	if got := late(1, 1, 1, 2, 3, 4); got != 0 {
		t.Errorf("%d records are late, want none", got)
	}
	if got := late(1, 4); got != 1 {
		t.Errorf("%d records are late after a restart, want 1", got)
	}
	kafkatest.Rewind(t, conn, "g", "in", []int64{n})
	if got := late(1, 4); got != 0 {
		t.Errorf("%d records are late after the offset was set, want none", got)
	}
}
