package kafka

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// numbers returns the numbers of the URLs from an input partition that are in
// the output, one output partition after the other.
func numbers(t *testing.T, out [][]kafka.Record, partition int) (all []int) {
	t.Helper()
	for _, records := range out {
		for _, r := range records {
			if p, n := kafkatest.Parse(t, r.Value); p == partition {
				all = append(all, n)
			}
		}
	}
	return all
}

// TestLeadersMove is experiment 12. It writes and reads while partitions move
// between brokers, brokers come and go, and the coordinators of groups change:
// for two seconds, or with URLFOLD_LONG=1 for half an hour.
func TestLeadersMove(t *testing.T) {
	const parts = 4
	c, conn := kafkatest.Fake(t, kfake.NumBrokers(3), kfake.SeedTopics(parts, "in"), kfake.SeedTopics(parts, "out"))
	client := kafkatest.Client(t, conn, "in", "out")
	source := newSource(t, conn)
	out := newSink(t, conn, func(cfg *Config) { cfg.PartitionBy = "input" })
	run := kafkatest.Start(t, engine.Options{
		Sources: []engine.Source{source}, Sinks: []engine.Sink{out}, Ordering: engine.OrderPerLane, Batches: 16,
	})
	var wg sync.WaitGroup
	quit := make(chan struct{})
	var filling sync.Mutex // no broker is removed while it is held, so that the contents of the input are known
	wg.Go(func() { shake(t, c, &filling, quit) })
	n := 0
	for end := time.Now().Add(kafkatest.Span(2*time.Second, 30*time.Minute)); time.Now().Before(end); n += 500 {
		filling.Lock()
		kafkatest.Fill(t, client, "in", parts, n, n+500)
		filling.Unlock()
		<-time.After(kafkatest.Span(50*time.Millisecond, time.Second))
	}
	close(quit)
	wg.Wait()
	kafkatest.Until(t, "all records", func() bool {
		return slices.Equal(kafkatest.Committed(t, conn, "g", "in", parts), slices.Repeat([]int64{int64(n)}, parts))
	})
	rebalances := rebalancesOf(source)
	if err := run.Stop(); err != nil {
		t.Fatal(err)
	}
	doubled := compare(t, kafkatest.Read(t, client, "out", parts), parts, n)
	if bound := rebalances * 16 * 1000; doubled > bound {
		t.Errorf("%d records duplicated, at most %d are allowed", doubled, bound)
	}
	t.Logf("%d records, %d rebalances, lost 0, %d duplicated", parts*n, rebalances, doubled)
}

// rebalancesOf returns how often a source has rejoined its group.
func rebalancesOf(s engine.Source) (n int) {
	s.(interface {
		Metrics(emit func(name, help, kind string, value float64, labels ...string))
	}).Metrics(func(name, _, _ string, value float64, _ ...string) {
		if name == "source_rebalances_total" {
			n = int(value)
		}
	})
	return n
}

// shake changes the leaders of partitions and the set of brokers every 200 ms.
func shake(t *testing.T, c *kfake.Cluster, filling *sync.Mutex, quit <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-quit:
			return
		case <-time.After(200 * time.Millisecond):
		}
		c.ShufflePartitionLeaders()
		c.RehashCoordinators()
		if i%3 != 0 {
			continue
		}
		// Replace a broker, but not the first one, to which clients connect
		// initially.
		filling.Lock()
		if err := c.RemoveNode(int32(1 + i/3%2)); err != nil {
			t.Error(err)
		}
		if _, _, err := c.AddNode(int32(1+i/3%2), 0); err != nil {
			t.Error(err)
		}
		filling.Unlock()
	}
}

// compare compares the output with n records of each input partition, each in
// order. It returns the number of duplicates.
func compare(t *testing.T, out [][]kafka.Record, parts, n int) (doubled int) {
	t.Helper()
	for p := range parts {
		got := numbers(t, out, p)
		doubled += kafkatest.Check(t, fmt.Sprintf("partition %d", p), got, n)
		if !kafkatest.Sorted(got) {
			t.Errorf("partition %d is out of order", p)
		}
	}
	return doubled
}

// TestAmbiguous is experiment 13. A broker applies requests but reports
// timeouts. With numbered batches they are not applied again; otherwise each of
// them is duplicated.
func TestAmbiguous(t *testing.T) {
	f := func(idempotent bool, code *kerr.Error) {
		t.Helper()
		const n, batch, faults = 2000, 50, 7
		c, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "out"))
		client := kafkatest.Client(t, conn, "out")
		s := newSink(t, conn, func(cfg *Config) { cfg.Idempotent, cfg.Key = idempotent, "none" })
		if err := s.Open(kafkatest.Context(t)); err != nil {
			t.Fatal(err)
		}
		for at := 0; at < n; at += batch {
			if at/batch < faults {
				c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: code})
			}
			if r := submit(t, s, urls(at, at+batch)...); r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		if err := s.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		want := 0
		if !idempotent {
			want = faults * batch
		}
		got := numbers(t, kafkatest.Read(t, client, "out", 1), 0)
		if doubled := kafkatest.Check(t, "out", got, n); doubled != want {
			t.Errorf("idempotent %t, %v: %d duplicates, want %d", idempotent, code, doubled, want)
		}
		t.Logf("%d of %d requests applied and reported as failed, numbered: %t: lost 0, %d of %d records duplicated", faults, n/batch, idempotent, want, n)
		if idempotent && !slices.IsSorted(got) {
			t.Error("out of order")
		}
	}
	f(true, kerr.RequestTimedOut)
	f(false, kerr.RequestTimedOut)
	f(true, kerr.NotEnoughReplicasAfterAppend)
}

func urls(from, to int) (all []string) {
	for n := from; n < to; n++ {
		all = append(all, kafkatest.URL(0, n))
	}
	return all
}

// submit submits records to the sink as one batch, and waits for the answer.
func submit(t *testing.T, s *sink, records ...string) engine.Result {
	t.Helper()
	b := &engine.Batch{Lane: new(engine.Lane)}
	for _, r := range records {
		at := uint32(len(b.Out.Bytes))
		b.Out.Bytes = append(b.Out.Bytes, r...)
		b.Out.Recs = append(b.Out.Recs, engine.OutRec{Span: engine.Span{Off: at, Len: uint32(len(r))}, Src: at})
	}
	return submitBatch(t, s, b)
}

// submitBatch submits b, and returns the answer.
func submitBatch(t *testing.T, s *sink, b *engine.Batch) engine.Result {
	t.Helper()
	done := make(chan engine.Result, 1)
	ticket := engine.NewTicket(&b.Out, func(r engine.Result) {
		r.Failed = slices.Clone(r.Failed)
		clear(b.Out.Bytes) // code that still reads these bytes would write zeros
		done <- r
	})
	if err := s.Submit(kafkatest.Context(t), b, ticket); err != nil {
		t.Fatal(err)
	}
	select {
	case r := <-done:
		return r
	case <-kafkatest.Context(t).Done():
		t.Fatal("no answer in a minute")
		return engine.Result{}
	}
}

// TestTooLarge: the sink finds the records that are too large, and writes the
// others.
func TestTooLarge(t *testing.T) {
	c, conn := kafkatest.Fake(t)
	limit := "2000"
	if err := c.CreateTopic("out", 1, map[string]string{"max.message.bytes": limit}); err != nil {
		t.Fatal(err)
	}
	client := kafkatest.Client(t, conn, "out")
	s := newSink(t, conn, func(cfg *Config) { cfg.Compression, cfg.Key = "none", "none" })
	if err := s.Open(kafkatest.Context(t)); err != nil {
		t.Fatal(err)
	}
	records := urls(0, 200)
	long := strings.Repeat("x", 3000)
	records = slices.Insert(records, 50, long)
	records = slices.Insert(records, 150, long)
	r := submit(t, s, records...)
	slices.Sort(r.Failed)
	if splits := kafkatest.Figures(t, s)[`urlfold_sink_splits_total{topic="out"}`]; splits < 2 {
		t.Errorf("%v splits", splits)
	}
	if r.Class != engine.Permanent || !slices.Equal(r.Failed, []uint32{50, 150}) || strings.Contains(fmt.Sprint(r.Err), "xxx") {
		t.Errorf("%v %v %v, want records 50 and 150 refused", r.Class, r.Failed, r.Err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	got := numbers(t, kafkatest.Read(t, client, "out", 1), 0)
	if kafkatest.Check(t, "out", got, 200) != 0 || !slices.IsSorted(got) {
		t.Error("duplicated or out of order")
	}
}

// TestDeadLetter sends the records that the topic refuses to another topic.
func TestDeadLetter(t *testing.T) {
	c, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"), kfake.SeedTopics(1, "dlq"))
	if err := c.CreateTopic("out", 1, map[string]string{"max.message.bytes": "1000"}); err != nil {
		t.Fatal(err)
	}
	client := kafkatest.Client(t, conn, "in", "out", "dlq")
	long := kafkatest.URL(0, 1) + "?" + strings.Repeat("x", 2000)
	kafkatest.Write(t, client, "in", 0, "none",
		kafka.Record{Key: []byte("a"), Value: []byte(kafkatest.URL(0, 0))},
		kafka.Record{Key: []byte("b"), Value: []byte(long)},
		kafka.Record{Key: []byte("c"), Value: []byte(kafkatest.URL(0, 1))})
	dead := newSink(t, conn, func(cfg *Config) { cfg.Topic, cfg.Key, cfg.Headers.Headers = "dlq", "input", []string{"source"} })
	run := kafkatest.Start(t, engine.Options{
		Sources:    []engine.Source{newSource(t, conn)},
		Sinks:      []engine.Sink{newSink(t, conn, func(cfg *Config) { cfg.Compression = "none" })},
		DeadLetter: dead,
	})
	kafkatest.Until(t, "the position after all records", func() bool { return kafkatest.Committed(t, conn, "g", "in", 1)[0] == 3 })
	if err := run.Stop(); err != nil {
		t.Fatal(err)
	}
	kafkatest.Check(t, "out", numbers(t, kafkatest.Read(t, client, "out", 1), 0), 2)
	deadLetters := kafkatest.Read(t, client, "dlq", 1)[0]
	if len(deadLetters) != 1 || string(deadLetters[0].Key) != "b" || !strings.Contains(string(deadLetters[0].Value), long) {
		t.Fatalf("%d dead letters, want the long one", len(deadLetters))
	}
	if h := deadLetters[0].Headers; len(h) != 1 || string(h[0].Value) != "in/0/1" {
		t.Errorf("headers %q, want the source in/0/1", h)
	}
	if s := run.P.Snapshot(); !s.Ledger.Balanced() || s.Ledger.Dead != 1 {
		t.Errorf("ledger %+v", s.Ledger)
	}
}

// TestBlocked: while writing is not permitted, the sink retries and Health
// reports it; it continues when writing is permitted.
func TestBlocked(t *testing.T) {
	c, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "out"))
	client := kafkatest.Client(t, conn, "out")
	s := newSink(t, conn, func(cfg *Config) { cfg.Key = "none" })
	if err := s.Open(kafkatest.Context(t)); err != nil {
		t.Fatal(err)
	}
	h := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.TopicAuthorizationFailed, Count: -1})
	done := make(chan engine.Result, 1)
	go func() { done <- submit(t, s, urls(0, 10)...) }()
	kafkatest.Until(t, "red health", func() bool { return s.Health() != nil })
	if err := s.Health(); kafka.CodeOf(err) != kafka.TopicUnauthorized {
		t.Errorf("Health: %v", err)
	}
	kafkatest.WantFigures(t, s, map[string]float64{`urlfold_sink_partitions_failing{topic="out"}`: 1})
	h.Remove()
	if r := <-done; r.Err != nil {
		t.Errorf("answer %v", r.Err)
	}
	kafkatest.WantFigures(t, s, map[string]float64{
		`urlfold_sink_partitions_failing{topic="out"}`:                  0,
		`urlfold_sink_retries_total{class="blocked"}`:                   float64(h.Hits()),
		`urlfold_sink_retries_total{class="retryable",component="out"}`: 0,
	})
	if err := s.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
	if err := s.Barrier(kafkatest.Context(t)); err != nil {
		t.Errorf("Barrier: %v", err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	kafkatest.Check(t, "out", numbers(t, kafkatest.Read(t, client, "out", 1), 0), 10)
}

// TestForgotten: the sink requests a new producer id when the broker no longer
// knows the old one.
func TestForgotten(t *testing.T) {
	c, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "out"))
	client := kafkatest.Client(t, conn, "out")
	s := newSink(t, conn, func(cfg *Config) { cfg.Key = "none" })
	if err := s.Open(kafkatest.Context(t)); err != nil {
		t.Fatal(err)
	}
	for i, code := range []*kerr.Error{nil, kerr.UnknownProducerID, kerr.OutOfOrderSequenceNumber, kerr.InvalidProducerEpoch} {
		if code != nil {
			c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: code})
		}
		if r := submit(t, s, urls(10*i, 10*i+10)...); r.Err != nil {
			t.Errorf("%v: %v", code, r.Err)
		}
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if kafkatest.Check(t, "out", numbers(t, kafkatest.Read(t, client, "out", 1), 0), 40) != 0 {
		t.Error("duplicated records")
	}
}

// TestHardStop: the sink answers everything, even if no broker responds.
func TestHardStop(t *testing.T) {
	c, conn := kafkatest.Fake(t, kfake.SeedTopics(2, "out"))
	s := newSink(t, conn, func(cfg *Config) { cfg.PartitionBy, cfg.Key = "none", "none" })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := s.Open(ctx); err != nil {
		t.Fatal(err)
	}
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return nil, nil, true // never answers
	})
	answers := make(chan engine.Result, 20)
	for range cap(answers) {
		go func() { answers <- submit(t, s, urls(0, 10)...) }()
	}
	kafkatest.Until(t, "all are submitted", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.waiting == cap(answers)
	})
	cancel()
	if err := s.Barrier(ctx); err == nil {
		t.Error("Barrier: no error")
	}
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	for range cap(answers) {
		if r := <-answers; r.Class != engine.Retryable {
			t.Errorf("answer %v %v", r.Class, r.Err)
		}
	}
}
