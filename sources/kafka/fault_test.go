package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// start runs a source with a collector as its sink.
func start(t *testing.T, cfg Config, out *kafkatest.Collector) (*source, *kafkatest.Run) {
	t.Helper()
	s := newSource(t, cfg)
	return s, kafkatest.Start(t, engine.Options{Sources: []engine.Source{s}, Sinks: []engine.Sink{out}, Ordering: engine.OrderPerLane})
}

func stop(t *testing.T, run *kafkatest.Run) {
	t.Helper()
	if err := run.Stop(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// TestRetention (experiment 16) checks that records deleted before they were
// read are counted exactly, before the first read and between two reads.
func TestRetention(t *testing.T) {
	const n = 400
	c, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
	client := kafkatest.Client(t, conn, "in")
	kafkatest.Fill(t, client, "in", 1, 0, n)
	out := &kafkatest.Collector{T: t}
	_, run := start(t, quick(conn, "in"), out)
	kafkatest.Until(t, "the first records", func() bool { return out.Count() == n })
	stop(t, run)

	kafkatest.Fill(t, client, "in", 1, n, 2*n)
	const deleted = 123
	if err := c.DeleteRecords("in", 0, n+deleted); err != nil {
		t.Fatal(err)
	}
	out = &kafkatest.Collector{T: t}
	s, run := start(t, quick(conn, "in"), out)
	kafkatest.Until(t, "the rest", func() bool { return out.Count() == n-deleted })
	if got := s.Stats().Gaps; got != deleted {
		t.Errorf("gap of %d, want %d", got, deleted)
	}
	kafkatest.Until(t, "no lag", func() bool { st := s.Stats(); return len(st.Partitions) == 1 && st.Partitions[0].Lag == 0 })
	kafkatest.WantFigures(t, s, map[string]float64{
		`urlfold_source_offset_gap_records_total{topic="in"}`:            deleted,
		`urlfold_source_lag_records{group="g",partition="0",topic="in"}`: 0,
		`urlfold_source_partitions{group="g"}`:                           1,
		`urlfold_source_resets_total{reason="ended",topic="in"}`:         0,
		`urlfold_source_retries_total{class="blocked"}`:                  0,
	})
	stop(t, run)
	kafkatest.WantFigures(t, s, map[string]float64{
		`urlfold_source_offset_gap_records_total{topic="in"}`: deleted,
		`urlfold_source_partitions{group="g"}`:                0,
	})
	t.Logf("retention deleted %d of %d records, counted gap: %d", deleted, 2*n, s.Stats().Gaps)
	if got := out.Got(0); got[0] != n+deleted {
		t.Errorf("reading begins at offset %d, want %d", got[0], n+deleted)
	}
}

// TestRecreated checks that reading restarts in a topic that was deleted and
// recreated.
func TestRecreated(t *testing.T) {
	c, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
	kafkatest.Fill(t, kafkatest.Client(t, conn, "in"), "in", 1, 0, 300)
	out := &kafkatest.Collector{T: t}
	_, run := start(t, quick(conn, "in"), out)
	kafkatest.Until(t, "the first records", func() bool { return out.Count() == 300 })
	stop(t, run)
	if err := c.DeleteTopic("in"); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateTopic("in", 1, nil); err != nil {
		t.Fatal(err)
	}
	kafkatest.Fill(t, kafkatest.Client(t, conn, "in"), "in", 1, 0, 100)
	out = &kafkatest.Collector{T: t}
	s, run := start(t, quick(conn, "in"), out)
	kafkatest.Until(t, "the new records", func() bool { return out.Count() == 100 })
	kafkatest.Until(t, "the new position", func() bool { return kafkatest.Committed(t, conn, "g", "in", 1)[0] == 100 })
	if s.Stats().Resets > 1 {
		t.Errorf("%d resets, want 1 at most", s.Stats().Resets)
	}
	stop(t, run)
}

// TestHangingSink (experiment 15) checks that a member whose sink hangs during
// a rebalance commits none of the hanging records, and that another member
// reads them.
func TestHangingSink(t *testing.T) {
	const parts, n = 2, 100
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(parts, "in"))
	client := kafkatest.Client(t, conn, "in")
	kafkatest.Fill(t, client, "in", parts, 0, n)
	release := make(chan struct{})
	var held atomic.Int32
	slow := &kafkatest.Collector{T: t, Hold: func(ctx context.Context) {
		held.Add(1)
		select {
		case <-release:
		case <-ctx.Done():
		}
	}}
	cfg := quick(conn, "in")
	cfg.SessionTimeout, cfg.RebalanceTimeout = time.Second, time.Second
	_, first := start(t, cfg, slow)
	kafkatest.Until(t, "the sink to hang", func() bool { return held.Load() > 1 })
	out := &kafkatest.Collector{T: t}
	_, second := start(t, cfg, out)
	kafkatest.Until(t, "the other member to read", func() bool { return out.Count() > 0 })
	for p, got := range kafkatest.Committed(t, conn, "g", "in", parts) {
		if durable := len(out.Got(p)); got > int64(durable) {
			t.Errorf("partition %d: committed %d, but %d records are durable", p, got, durable)
		}
	}
	first.Kill()
	kafkatest.Until(t, "all records", func() bool { return out.Count() >= parts*n })
	close(release)
	all := slices.Repeat([]int64{n}, parts)
	kafkatest.Until(t, "all offsets to be committed", func() bool { return slices.Equal(kafkatest.Committed(t, conn, "g", "in", parts), all) })
	stop(t, second)
	doubled := 0
	for p := range parts {
		doubled += kafkatest.Check(t, fmt.Sprint("partition ", p), out.Got(p), n)
	}
	t.Logf("%d records, %d batches hung during a rebalance: 0 lost, %d duplicated", parts*n, held.Load(), doubled)
}

// TestStaleCommit checks that a commit of a past generation has no effect and
// is not an error.
func TestStaleCommit(t *testing.T) {
	c, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
	client := kafkatest.Client(t, conn, "in")
	kafkatest.Fill(t, client, "in", 1, 0, 10)
	for _, code := range []*kerr.Error{kerr.IllegalGeneration, kerr.UnknownMemberID} {
		h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: code, Count: -1})
		out := &kafkatest.Collector{T: t}
		s, run := start(t, quick(conn, "in"), out)
		kafkatest.Until(t, "records", func() bool { return out.Count() == 10 })
		kafkatest.Until(t, "a commit", func() bool { return h.Hits() > 0 })
		stop(t, run)
		h.Remove()
		if err := s.Health(); err != nil {
			t.Errorf("%v: Health: %v", code, err)
		}
		if got := kafkatest.Committed(t, conn, "g", "in", 1)[0]; got > 0 {
			t.Errorf("%v: committed %d", code, got)
		}
	}
}

// TestStart checks that reading begins at the configured start, and resumes
// after a restart.
func TestStart(t *testing.T) {
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
	client := kafkatest.Client(t, conn, "in")
	kafkatest.Fill(t, client, "in", 1, 0, 74) // record i has the time i+1 ms
	f := func(text string, want int64) {
		t.Helper()
		cfg := quick(conn, "in")
		cfg.Group = text
		if err := cfg.Start.UnmarshalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		_, run := start(t, cfg, &kafkatest.Collector{T: t})
		kafkatest.Until(t, text, func() bool { return kafkatest.Committed(t, conn, cfg.Group, "in", 1)[0] >= want })
		stop(t, run)
	}
	f("earliest", 74)
	f("latest", 74)
	f("timestamp:2026-11-01T00:00:00Z", 74)
	cfg := quick(conn, "in")
	cfg.Group, cfg.Start = "time", Start{At: time.UnixMilli(51)}
	out := &kafkatest.Collector{T: t}
	_, run := start(t, cfg, out)
	kafkatest.Until(t, "the records after a time", func() bool { return out.Count() == 24 })
	stop(t, run)
	if got := out.Got(0); got[0] != 50 {
		t.Errorf("reading begins at %d, want 50", got[0])
	}
	// Records written after "latest" was resolved are read, even after a
	// restart.
	kafkatest.Fill(t, client, "in", 1, 74, 100)
	cfg = quick(conn, "in")
	cfg.Group, cfg.Start = "latest", Start{Latest: true}
	out = &kafkatest.Collector{T: t}
	_, run = start(t, cfg, out)
	kafkatest.Until(t, "the records written since", func() bool { return out.Count() == 26 })
	stop(t, run)
}

func TestTransactionsFake(t *testing.T) {
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
	transactions(t, conn, "in")
}

func TestTransactionsReal(t *testing.T) {
	conn := kafkatest.Real(t)
	topic := fmt.Sprintf("txn-%d", time.Now().UnixNano())
	kafkatest.CreateTopic(t, conn, topic, 1, nil)
	transactions(t, conn, topic)
}

// transactions checks that aborted records and control batches are skipped, and
// that the position advances past them.
func transactions(t *testing.T, conn connect.Kafka, topic string) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(conn.Brokers...), kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	n := 0
	send := func(k int, commit kgo.TransactionEndTry) {
		t.Helper()
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for range k {
			value := kafkatest.URL(0, n)
			if commit {
				n++
			} else {
				value = kafkatest.URL(1, n)
			}
			if err := cl.ProduceSync(kafkatest.Context(t), &kgo.Record{Value: []byte(value)}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		if err := cl.EndTransaction(kafkatest.Context(t), commit); err != nil {
			t.Fatal(err)
		}
	}
	send(3, kgo.TryCommit)
	send(4, kgo.TryAbort)
	send(2, kgo.TryCommit)
	send(5, kgo.TryAbort)
	send(1, kgo.TryAbort)
	client := kafkatest.Client(t, conn, topic)
	const end = 3 + 4 + 2 + 5 + 1 + 5 // records, and a control record for each transaction
	kafkatest.Until(t, "the last control record, which the broker writes after EndTransaction returns", func() bool {
		latest, err := client.Offset(kafkatest.Context(t), topic, 0, kafka.Latest)
		return err == nil && latest == end
	})
	for isolation, aborted := range map[string]int{"read_committed": 0, "read_uncommitted": 10} {
		cfg := quick(conn, topic)
		cfg.Group, cfg.Isolation = topic+isolation, isolation
		out := &kafkatest.Collector{T: t}
		_, run := start(t, cfg, out)
		kafkatest.Until(t, "the end of the log", func() bool { return kafkatest.Committed(t, conn, cfg.Group, topic, 1)[0] == end })
		stop(t, run)
		if got := out.Got(0); kafkatest.Check(t, isolation, got, n) != 0 || !slices.IsSorted(got) {
			t.Errorf("%s: duplicated or out of order", isolation)
		}
		if got := len(out.Got(1)); got != aborted {
			t.Errorf("%s: %d aborted records, want %d", isolation, got, aborted)
		}
	}
}

// TestCompacted (experiment 17, like the transaction tests) reads a topic in
// which compaction has removed records and whole batches.
func TestCompacted(t *testing.T) {
	c, conn := kafkatest.Fake(t)
	config := map[string]string{"cleanup.policy": "compact", "min.compaction.lag.ms": "0", "segment.ms": "1"}
	if err := c.CreateTopic("in", 1, config); err != nil {
		t.Fatal(err)
	}
	client := kafkatest.Client(t, conn, "in")
	now := time.Now().UnixMilli() // retention checks it
	for n := range 200 {
		r := kafka.Record{Millis: now, Key: []byte{byte('a' + n%3)}, Value: []byte(kafkatest.URL(0, n))}
		kafkatest.Write(t, client, "in", 0, "none", r, r)
	}
	c.Compact()
	left := len(kafkatest.Read(t, client, "in", 1)[0])
	if left == 0 || left >= 10 {
		t.Fatalf("%d of 400 records left: log was not compacted", left)
	}
	out := &kafkatest.Collector{T: t}
	_, run := start(t, quick(conn, "in"), out)
	kafkatest.Until(t, "the end of the log", func() bool { return kafkatest.Committed(t, conn, "g", "in", 1)[0] == 400 })
	stop(t, run)
	if out.Count() != left {
		t.Errorf("%d records, want %d", out.Count(), left)
	}
}

// TestSlowStop checks that records that become durable after Run has returned
// are committed.
func TestSlowStop(t *testing.T) {
	const n = 500
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
	kafkatest.Fill(t, kafkatest.Client(t, conn, "in"), "in", 1, 0, n)
	var held atomic.Int32
	out := &kafkatest.Collector{T: t, Hold: func(ctx context.Context) {
		held.Add(1)
		select {
		case <-time.After(500 * time.Millisecond): // longer than several heartbeats
		case <-ctx.Done():
		}
	}}
	_, run := start(t, quick(conn, "in"), out)
	kafkatest.Until(t, "records in flight", func() bool { return held.Load() > 0 })
	stop(t, run)
	if got, want := kafkatest.Committed(t, conn, "g", "in", 1)[0], int64(out.Count()); got != want || want == 0 {
		t.Errorf("committed %d after a clean stop, but %d records are durable", got, want)
	}
}

// TestMetrics checks the metrics for lag and retries.
func TestMetrics(t *testing.T) {
	c, conn := kafkatest.Fake(t, kfake.SeedTopics(2, "in"))
	kafkatest.Fill(t, kafkatest.Client(t, conn, "in"), "in", 2, 0, 100)
	h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.TopicAuthorizationFailed, Count: 3})
	release := make(chan struct{})
	out := &kafkatest.Collector{T: t, Hold: func(context.Context) { <-release }}
	cfg := quick(conn, "in")
	cfg.BatchRecords = 1 // so that the free batches do not suffice
	s, run := start(t, cfg, out)
	lag := func(p int) float64 {
		return kafkatest.Figures(t, s)[fmt.Sprintf(`urlfold_source_lag_records{group="g",partition="%d",topic="in"}`, p)]
	}
	kafkatest.Until(t, "a lag", func() bool { return lag(0) > 0 && lag(1) > 0 && lag(0)+lag(1) < 200 })
	if got := kafkatest.Figures(t, s)[`urlfold_source_retries_total{class="blocked"}`]; got < 1 || got != float64(h.Hits()) {
		t.Errorf("%v retries, want %d", got, h.Hits())
	}
	close(release)
	kafkatest.Until(t, "no lag", func() bool { return lag(0) == 0 && lag(1) == 0 })
	_, other := start(t, quick(conn, "in"), &kafkatest.Collector{T: t})
	kafkatest.Until(t, "half of the partitions", func() bool { return kafkatest.Figures(t, s)[`urlfold_source_partitions{group="g"}`] == 1 })
	if got := kafkatest.Figures(t, s)[`urlfold_source_rebalances_total{group="g"}`]; got < 1 {
		t.Error("there was no rebalance")
	}
	stop(t, other)
	stop(t, run)
}

// TestNoPartition checks that a member without a partition stays in the group
// and takes over later.
func TestNoPartition(t *testing.T) {
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
	client := kafkatest.Client(t, conn, "in")
	outs := [2]*kafkatest.Collector{{T: t}, {T: t}}
	sources, runs := [2]*source{}, [2]*kafkatest.Run{}
	for i := range outs {
		sources[i], runs[i] = start(t, quick(conn, "in"), outs[i])
	}
	both := func() bool { return outs[0].Count()+outs[1].Count() >= 10 }
	owner := func(i int) bool { return len(sources[i].Stats().Partitions) == 1 }
	kafkatest.Until(t, "one owner", func() bool { return owner(0) != owner(1) })
	before := sources[0].Stats().Rebalances + sources[1].Stats().Rebalances
	<-time.After(300 * time.Millisecond)
	if after := sources[0].Stats().Rebalances + sources[1].Stats().Rebalances; after > before+2 {
		t.Errorf("%d rebalances although no member joined or left", after-before)
	}
	kafkatest.Fill(t, client, "in", 1, 0, 10)
	kafkatest.Until(t, "records", both)
	i := 0
	if owner(1) {
		i = 1
	}
	stop(t, runs[i])
	kafkatest.Fill(t, client, "in", 1, 10, 20)
	kafkatest.Until(t, "records of the other", func() bool { return outs[0].Count()+outs[1].Count() >= 20 })
	stop(t, runs[1-i])
}

// TestOpen checks that Open fails early and says what is wrong.
func TestOpen(t *testing.T) {
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
	s := newSource(t, quick(conn, "in", "nosuch"))
	if err := s.CheckConnect(context.Background()); kafka.CodeOf(err) != kafka.UnknownTopic || !strings.Contains(err.Error(), "nosuch does not exist") {
		t.Errorf("CheckConnect: %v", err)
	}
	if err := newSource(t, quick(conn, "in")).CheckConnect(context.Background()); err != nil {
		t.Errorf("CheckConnect: %v", err)
	}
	cfg := quick(kafkatest.Connection("127.0.0.1:1"), "in")
	cfg.RequestTimeout = time.Second
	log := new(logBuffer)
	src, err := New(cfg, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if err := src.(*source).CheckConnect(context.Background()); err == nil {
		t.Error("CheckConnect succeeds without a broker")
	}
	if lines := log.with("check the addresses"); len(lines) == 0 || !strings.Contains(lines[0], "read failed, retrying") {
		t.Errorf("logged %q", lines) // before the timeout
	}
}
