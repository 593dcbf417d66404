package kafka

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
	source "github.com/urlfold/urlfold/sources/kafka"
)

func newSink(t testing.TB, c connect.Kafka, change func(*Config)) *sink {
	t.Helper()
	cfg := *Default()
	cfg.Kafka, cfg.Topic = c, "out"
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*sink)
}

func newSource(t testing.TB, c connect.Kafka) engine.Source {
	t.Helper()
	cfg := *source.Default()
	cfg.Kafka, cfg.Topics, cfg.Group = c, []string{"in"}, "g"
	cfg.SessionTimeout, cfg.HeartbeatInterval = 30*time.Second, 100*time.Millisecond
	cfg.RebalanceTimeout, cfg.DrainTimeout = 30*time.Second, 10*time.Second
	cfg.FetchWait, cfg.Linger = 50*time.Millisecond, 5*time.Millisecond
	s, err := source.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// count returns the number of records.
func count(all [][]kafka.Record) (n int) {
	for _, p := range all {
		n += len(p)
	}
	return n
}

// roundtrip sends the records of one partition through a pipeline, and returns
// the output by partition.
func roundtrip(t *testing.T, parts int, change func(*Config), in ...kafka.Record) [][]kafka.Record {
	t.Helper()
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"), kfake.SeedTopics(int32(parts), "out"))
	client := kafkatest.Client(t, conn, "in", "out")
	kafkatest.Write(t, client, "in", 0, "none", in...)
	run := kafkatest.Start(t, engine.Options{
		Sources: []engine.Source{newSource(t, conn)}, Sinks: []engine.Sink{newSink(t, conn, change)}, Ordering: engine.OrderPerLane,
	})
	kafkatest.Until(t, "all records", func() bool { return count(kafkatest.Read(t, client, "out", parts)) >= len(in) })
	if err := run.Stop(); err != nil {
		t.Fatal(err)
	}
	return kafkatest.Read(t, client, "out", parts)
}

// TestRoundtrip: keys, headers, timestamps and tombstones pass through with
// each compression.
func TestRoundtrip(t *testing.T) {
	for _, compression := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run(compression, func(t *testing.T) {
			out := roundtrip(t, 1, func(c *Config) { c.Compression, c.PartitionBy = compression, "input" },
				kafka.Record{Millis: 1000, Key: []byte("equivalent"), Value: []byte("HTTP://Example.com/%7e"), Headers: []kafka.Header{{Name: []byte("h"), Value: []byte("v")}, {Name: []byte("h"), Value: []byte{}}}},
				kafka.Record{Millis: 2000, Key: []byte("fetch")},
				kafka.Record{Millis: 3000, Value: []byte("http://b.example/")},
				kafka.Record{Millis: 4000, Key: []byte{}, Value: []byte("http://c.example/")},
			)[0]
			want := []string{
				`1000 "equivalent" true "http://example.com/~" [h=v h=]`,
				`2000 "fetch" false "" []`,
				`3000 "" true "http://b.example/" []`,
				`4000 "" true "http://c.example/" []`,
			}
			if len(out) != len(want) {
				t.Fatalf("%d records, want %d", len(out), len(want))
			}
			for i, r := range out {
				heads := []string{}
				for _, h := range r.Headers {
					heads = append(heads, fmt.Sprintf("%s=%s", h.Name, h.Value))
				}
				if got := fmt.Sprintf("%d %q %t %q %v", r.Millis, r.Key, r.Value != nil, r.Value, heads); got != want[i] {
					t.Errorf("record %d: %s\nwant %s", i, got, want[i])
				}
			}
			if out[2].Key != nil || out[3].Key == nil {
				t.Error("a missing key and an empty key do not differ")
			}
		})
	}
}

// TestPartitionByKey: each page has one key and one partition, which is that of
// Java's default partitioner.
func TestPartitionByKey(t *testing.T) {
	const parts = 5
	var in []kafka.Record
	for n := range 40 {
		in = append(in,
			kafka.Record{Value: []byte(kafkatest.URL(0, n))},
			kafka.Record{Value: bytes.ToUpper([]byte(kafkatest.URL(0, n))[:19])})
		in[len(in)-1].Value = append(in[len(in)-1].Value, kafkatest.URL(0, n)[19:]...)
	}
	out := roundtrip(t, parts, func(c *Config) {
		c.Headers = connect.Headers{Headers: []string{"source", "flags"}, AddHeaders: map[string]string{"p": "x"}}
	}, in...)
	if n := count(out); n != len(in) {
		t.Fatalf("%d records, want %d", n, len(in))
	}
	keys := map[string]string{}
	for p, records := range out {
		if len(records) == 0 {
			t.Errorf("partition %d is empty", p)
		}
		for _, r := range records {
			if len(r.Key) != 32 || kafka.Partition(r.Key, parts) != p {
				t.Errorf("key %q in partition %d", r.Key, p)
			}
			if was, ok := keys[string(r.Value)]; ok && was != string(r.Key) {
				t.Errorf("%s has two keys", r.Value)
			}
			keys[string(r.Value)] = string(r.Key)
			if len(r.Headers) < 2 || string(r.Headers[len(r.Headers)-2].Name) != "urlfold-source" || !bytes.HasPrefix(r.Headers[len(r.Headers)-2].Value, []byte("in/0/")) {
				t.Errorf("headers %q", r.Headers)
			}
		}
	}
	if len(keys) != len(in)/2 {
		t.Errorf("%d pages, want %d", len(keys), len(in)/2)
	}
}
