package sinks_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/internal/testkit/s3test"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/builtin"
	"github.com/urlfold/urlfold/sinks/discard"
	"github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sinks/kafka"
	sinknats "github.com/urlfold/urlfold/sinks/nats"
	sinks3 "github.com/urlfold/urlfold/sinks/s3"
)

// A subject is a sink under test in one of its configurations.
type subject struct {
	kind string // registered type; empty for a sink that only the one-shot commands use
	name string
	// start prepares the target of the sink: an empty directory or a broker.
	start func(t testing.TB) fixture
}

// A fixture is a target for one sink at a time.
type fixture struct {
	sink func() engine.Sink // returns an unopened sink
	// written returns the written records, one per line, after Close; nil if
	// they cannot be determined.
	written func() string
	// published returns the existing final names; nil if the sink does not
	// delay any names until Close.
	published func() []string
	// broken returns a sink whose Open fails; nil if not applicable.
	broken func() engine.Sink
	// scattered reports that the records of a lane go to several outputs,
	// without an order between them.
	scattered bool
}

// subjects returns at least one subject for each registered type.
func subjects() []subject {
	return []subject{
		{"file", "log", toLog("out.log")},
		{"file", "zstd log", toLog("out.log.zst")},
		{"file", "rotated log", toLog("{seq}.log.gz")},
		{"file", "log of lanes", toLog("{lane}-{seq}.log")},
		{"s3", "rotated objects", toObjects("{seq}.log.gz")},
		{"s3", "objects of lanes", toObjects("{lane}-{seq}.log")},
		{"stdout", "plain", toStdout("")},
		{"stdout", "zstd", toStdout("zstd")},
		{"discard", "at once", toDiscard(0)},
		{"discard", "slow", toDiscard(50 * time.Microsecond)},
		{"kafka", "one partition", toKafka(1, "none")},
		{"kafka", "partitions by key", toKafka(3, "key")},
		{"jetstream", "ordered", toJetStream(func(c *sinknats.JetStreamConfig) { c.Publish.Ordered = true })},
		{"jetstream", "at once", toJetStream(func(*sinknats.JetStreamConfig) {})},
		{"nats", "subject", toCore},
		{"", "file", toFile("out.log")},
		{"", "gzip file", toFile("out.log.gz")},
		{"", "zstd file", toFile("out.log.zst")},
		{"", "writer", toWriter},
	}
}

// build returns a sink of a registered type, whose default configuration fill
// changes.
func build[C any](t testing.TB, kind string, env kinds.SinkEnv, fill func(*C)) engine.Sink {
	t.Helper()
	for _, typ := range builtin.Types() {
		if typ.Name != kind {
			continue
		}
		cfg := typ.Default()
		fill(cfg.(*C))
		s, err := typ.New(cfg, env)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Fatalf("no sink is registered as %s", kind)
	return nil
}

func toLog(name string) func(t testing.TB) fixture {
	return func(t testing.TB) fixture {
		dir := t.TempDir()
		at := func(path string) func() engine.Sink {
			return func() engine.Sink {
				return build(t, "file", kinds.SinkEnv{}, func(c *file.LogConfig) {
					c.Path, c.SyncInterval = path, time.Millisecond
					if strings.Contains(path, "{seq}") {
						c.Rotate.Records, c.Rotate.Size = 30, 300
					}
				})
			}
		}
		inTheWay := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(inTheWay, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return fixture{
			sink:    at(filepath.Join(dir, name)),
			written: func() string { return readAll(t, dir) },
			broken:  at(filepath.Join(inTheWay, "out.log")),
		}
	}
}

// readAll returns the text of all files in dir.
func readAll(t testing.TB, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, name := range names {
		packed, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(unpack(t, packed))
	}
	return text.String()
}

func toObjects(key string) func(t testing.TB) fixture {
	return func(t testing.TB) fixture {
		srv, dir := s3test.New(t), t.TempDir()
		to := func(bucket string) func() engine.Sink {
			return func() engine.Sink {
				return build(t, "s3", kinds.SinkEnv{}, func(c *sinks3.Config) {
					c.Path, c.Spool, c.SyncInterval = "s3://"+bucket+"/"+key, dir, time.Millisecond
					c.Rotate.Records, c.Rotate.Size = 30, 300
				})
			}
		}
		return fixture{
			sink: to("bucket"),
			written: func() (text string) {
				for _, key := range srv.Keys() {
					text += unpack(t, srv.Get(key))
				}
				return text + readAll(t, dir) // the unfinished output
			},
			broken: to("missing"),
		}
	}
}

func toStdout(method string) func(t testing.TB) fixture {
	return func(t testing.TB) fixture {
		var out bytes.Buffer
		return fixture{
			sink: func() engine.Sink {
				return build(t, "stdout", kinds.SinkEnv{Stdout: &out}, func(c *file.StdoutConfig) {
					if method == "" {
						return
					}
					if err := c.Compress.UnmarshalText([]byte(method)); err != nil {
						t.Fatal(err)
					}
				})
			},
			written: func() string { return unpack(t, out.Bytes()) },
		}
	}
}

func toDiscard(delay time.Duration) func(t testing.TB) fixture {
	return func(t testing.TB) fixture {
		return fixture{sink: func() engine.Sink {
			return build(t, "discard", kinds.SinkEnv{}, func(c *discard.Config) { c.Delay = delay })
		}}
	}
}

func toKafka(partitions int, by string) func(t testing.TB) fixture {
	return func(t testing.TB) fixture {
		_, conn := kafkatest.Fake(t, kfake.SeedTopics(int32(partitions), "out"))
		to := func(topic string) func() engine.Sink {
			return func() engine.Sink {
				return build(t, "kafka", kinds.SinkEnv{}, func(c *kafka.Config) {
					c.Kafka, c.Topic, c.PartitionBy = conn, topic, by
					c.RequestTimeout = time.Second
				})
			}
		}
		return fixture{
			sink: to("out"),
			written: func() string {
				var text strings.Builder
				for _, records := range kafkatest.Read(t, kafkatest.Client(t, conn, "out"), "out", partitions) {
					for _, r := range records {
						fmt.Fprintf(&text, "%s\n", r.Value)
					}
				}
				return text.String()
			},
			broken:    to("missing"),
			scattered: partitions > 1,
		}
	}
}

// natsConfig returns the configuration of a connection to a server.
func natsConfig(c *connect.NATS, url string) {
	c.Servers, c.ReconnectWait = []string{url}, 10*time.Millisecond
}

func toJetStream(change func(*sinknats.JetStreamConfig)) func(t testing.TB) fixture {
	return func(t testing.TB) fixture {
		srv := natstest.Start(t, nil)
		js := streamOut(t, srv.URL())
		to := func(subject string) func() engine.Sink {
			return func() engine.Sink {
				return build(t, "jetstream", kinds.SinkEnv{}, func(c *sinknats.JetStreamConfig) {
					natsConfig(&c.NATS, srv.URL())
					c.Subject = subject
					change(c)
				})
			}
		}
		return fixture{
			sink:    to("out.x"),
			written: func() string { return messages(t, js) },
			broken:  to("nobody.takes.it"),
		}
	}
}

// streamOut creates a stream OUT.
func streamOut(t testing.TB, url string) jetstream.JetStream {
	t.Helper()
	nc := dial(t, url)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	cfg := jetstream.StreamConfig{Name: "OUT", Subjects: []string{"out.>"}, Duplicates: time.Hour, Storage: jetstream.MemoryStorage}
	if _, err := js.CreateStream(ctx, cfg); err != nil {
		t.Fatal(err)
	}
	return js
}

func dial(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// messages returns the messages of OUT, one per line.
func messages(t testing.TB, js jetstream.JetStream) string {
	t.Helper()
	s, err := js.Stream(ctx, "OUT")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for seq := uint64(1); seq <= s.CachedInfo().State.LastSeq; seq++ {
		m, err := s.GetMsg(ctx, seq)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s\n", m.Data)
	}
	return text.String()
}

func toCore(t testing.TB) fixture { return fixtureOfCore(t, natstest.Start(t, nil).URL()) }

func fixtureOfCore(t testing.TB, server string) fixture {
	nc := dial(t, server)
	heard := make(chan *nats.Msg, 20000)
	if _, err := nc.ChanSubscribe("out.>", heard); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	to := func(url string) func() engine.Sink {
		return func() engine.Sink {
			return build(t, "nats", kinds.SinkEnv{}, func(c *sinknats.CoreConfig) {
				natsConfig(&c.NATS, url)
				c.Subject = "out.x"
			})
		}
	}
	return fixture{
		sink: to(server),
		written: func() string {
			if err := nc.Flush(); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for len(heard) > 0 {
				fmt.Fprintf(&text, "%s\n", (<-heard).Data)
			}
			return text.String()
		},
	}
}

func toFile(name string) func(t testing.TB) fixture {
	return func(t testing.TB) fixture {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		var last file.Output
		return fixture{
			sink: func() engine.Sink {
				last = newFile(t, file.Config{Path: path})
				return last
			},
			written: func() string {
				if err := last.Publish(); err != nil {
					t.Fatal(err)
				}
				return readAll(t, dir)
			},
			published: func() []string {
				names, _ := filepath.Glob(path) // the pattern is valid
				return names
			},
			broken: func() engine.Sink {
				return newFile(t, file.Config{Path: filepath.Join(dir, "no", "such", "folder")})
			},
		}
	}
}

func toWriter(t testing.TB) fixture {
	var out bytes.Buffer
	return fixture{
		sink:    func() engine.Sink { return newFile(t, file.Config{Writer: &out}) },
		written: out.String,
	}
}

func newFile(t testing.TB, cfg file.Config) file.Output {
	t.Helper()
	out, err := file.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func unpack(t testing.TB, packed []byte) string {
	t.Helper()
	r := compress.NewReader(bytes.NewReader(packed), compress.Options{})
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil || r.Verdict().Kind != compress.OK {
		t.Fatalf("%v, %v", err, r.Verdict())
	}
	return string(text)
}

var ctx = context.Background()
