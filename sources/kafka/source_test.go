package kafka

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// quick returns a configuration with short waits for records and long waits for
// members, so that no member is removed because the machine is slow.
func quick(c connect.Kafka, topics ...string) Config {
	cfg := *Default()
	cfg.Kafka, cfg.Topics, cfg.Group = c, topics, "g"
	cfg.SessionTimeout, cfg.HeartbeatInterval = 30*time.Second, 100*time.Millisecond
	cfg.RebalanceTimeout, cfg.DrainTimeout = 30*time.Second, 10*time.Second
	cfg.FetchWait, cfg.Linger = 50*time.Millisecond, 5*time.Millisecond
	return cfg
}

func newSource(t testing.TB, cfg Config) *source {
	t.Helper()
	s, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*source)
}

// TestConsume reads several partitions, stops, and resumes.
func TestConsume(t *testing.T) {
	const parts, n = 3, 1000
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(parts, "in"))
	client := kafkatest.Client(t, conn, "in")
	kafkatest.Fill(t, client, "in", parts, 0, n)
	out := &kafkatest.Collector{T: t}
	s := newSource(t, quick(conn, "in"))
	run := kafkatest.Start(t, engine.Options{Sources: []engine.Source{s}, Sinks: []engine.Sink{out}, Ordering: engine.OrderPerLane})
	kafkatest.Until(t, "all records", func() bool { return out.Count() >= parts*n })
	if err := s.Health(); err != nil {
		t.Errorf("Health: %v", err)
	}
	if err := run.Stop(); err != nil {
		t.Fatalf("Run: %v", err)
	}
	for p := range parts {
		if got := out.Got(p); !slices.IsSorted(got) || kafkatest.Check(t, "first run", got, n) != 0 {
			t.Errorf("partition %d: duplicated or out of order", p)
		}
	}
	kafkatest.Fill(t, client, "in", parts, n, 2*n)
	out2 := &kafkatest.Collector{T: t}
	run = kafkatest.Start(t, engine.Options{Sources: []engine.Source{newSource(t, quick(conn, "in"))}, Sinks: []engine.Sink{out2}})
	kafkatest.Until(t, "the second half", func() bool { return out2.Count() >= parts*n })
	if err := run.Stop(); err != nil {
		t.Fatalf("Run: %v", err)
	}
	for p := range parts {
		if d := kafkatest.Check(t, "both runs", append(out.Got(p), out2.Got(p)...), 2*n); d != 0 {
			t.Errorf("partition %d: %d records duplicated after a clean stop", p, d)
		}
	}
}

// A stopper is a codec that ends the run at a message that ends in "stop".
type stopper struct {
	engine.Codec
	err error
}

func (s *stopper) Process(b *engine.Batch) {
	s.err = nil
	for i := range b.Msgs {
		if v := b.Msgs[i].Value; bytes.HasSuffix(b.In[v.Off:v.Off+v.Len], []byte("stop")) {
			b.Next, b.NextMsg, s.err = int(v.Off), i, errors.New("the end")
			return
		}
	}
	s.Codec.Process(b)
}

func (s *stopper) Err() error { return s.err }

// TestSplit checks that when a codec ends the run at a message, the messages
// before it are emitted and its offset is committed, wherever in a batch it is,
// and that the error names it.
func TestSplit(t *testing.T) {
	const n = 500
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
	client := kafkatest.Client(t, conn, "in")
	kafkatest.Fill(t, client, "in", 1, 0, n)
	kafkatest.Write(t, client, "in", 0, "none", kafka.Record{Value: []byte("http://stop")})
	kafkatest.Fill(t, client, "in", 1, n, n+10)
	codec := kafkatest.Codec(t)
	for _, want := range []int{n, 0} {
		cfg := quick(conn, "in")
		cfg.BatchRecords = 300
		out := &kafkatest.Collector{T: t}
		run := kafkatest.Start(t, engine.Options{
			Sources: []engine.Source{newSource(t, cfg)}, Sinks: []engine.Sink{out}, Ordering: engine.OrderPerLane,
			NewCodec: func() engine.Codec { return &stopper{Codec: codec()} },
		})
		if err := run.Wait(); err == nil || !strings.Contains(err.Error(), "in[0], offset 500: the end") {
			t.Fatal(err)
		}
		if out.Count() != want {
			t.Errorf("%d records, want %d", out.Count(), want)
		}
		if got := kafkatest.Committed(t, conn, "g", "in", 1); !slices.Equal(got, []int64{n}) {
			t.Errorf("committed %v, want %d", got, n)
		}
	}
}
