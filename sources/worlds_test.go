package sources_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/internal/testkit/s3test"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sources/builtin"
	"github.com/urlfold/urlfold/sources/file"
	sourcekafka "github.com/urlfold/urlfold/sources/kafka"
	sourcenats "github.com/urlfold/urlfold/sources/nats"
	sourceobjects "github.com/urlfold/urlfold/sources/objects"
	sources3 "github.com/urlfold/urlfold/sources/s3"
)

// worlds has one entry for each registered type.
var worlds = map[string]func(t testing.TB) *world{
	"file":      filesWorld,
	"objects":   objectsWorld,
	"s3":        s3World,
	"stdin":     stdinWorld,
	"kafka":     kafkaWorld,
	"jetstream": jetStreamWorld,
	"nats":      coreWorld,
}

// recordsOf returns n records of an origin.
func recordsOf(origin string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s-%06d", origin, i+1)
	}
	return all
}

// build creates a source of a registered type, from its default configuration
// changed by fill.
func build[C any](t testing.TB, kind string, env kinds.SourceEnv, fill func(*C)) engine.Source {
	t.Helper()
	env.Name, env.Framing, env.Linger, env.MaxRecord = kind, lines{}, time.Millisecond, 1<<20
	env.BatchBytes, env.BatchRecords = 1000, 30
	i := slices.IndexFunc(builtin.Types(), func(typ kinds.Source) bool { return typ.Name == kind })
	if i < 0 {
		t.Fatalf("source %s is not registered", kind)
	}
	typ := builtin.Types()[i]
	cfg := typ.Default()
	fill(cfg.(*C))
	s, err := typ.New(cfg, env)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func filesWorld(t testing.TB) *world {
	dir := t.TempDir()
	store, err := checkpoint.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() }) // the runs have committed
	w := &world{resumes: true}
	for i, name := range []string{"a", "b", "c"} {
		records := recordsOf(name, 200*(i+1))
		w.want = append(w.want, records...)
		if err := os.WriteFile(filepath.Join(dir, name+".log"), []byte(strings.Join(records, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	from := func(pattern string) func() engine.Source {
		return func() engine.Source {
			return build(t, "file", kinds.SourceEnv{Files: file.Host{Store: store}}, func(c *file.Settings) {
				c.Include, c.Mode = []string{filepath.Join(dir, pattern)}, "batch"
				c.PollInterval, c.RotateWait = 10*time.Millisecond, 20*time.Millisecond
			})
		}
	}
	w.source, w.broken = from("*.log"), from("*.none")
	return w
}

func s3World(t testing.TB) *world {
	srv := s3test.New(t)
	store, err := checkpoint.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() }) // the runs have committed
	w := &world{resumes: true}
	for i, name := range []string{"a", "b", "c"} {
		records := recordsOf(name, 200*(i+1))
		w.want = append(w.want, records...)
		srv.Put("in/"+name+".log", []byte(strings.Join(records, "\n")+"\n"))
	}
	from := func(url string) func() engine.Source {
		return func() engine.Source {
			return build(t, "s3", kinds.SourceEnv{Files: file.Host{Store: store}}, func(c *sources3.Config) { c.Include, c.Mode = []string{url}, "batch" })
		}
	}
	w.source, w.broken = from("s3://bucket/in"), from("s3://no-bucket/in")
	return w
}

// objectsWorld is the world of the source s3 with a JetStream stream that names the
// objects.
func objectsWorld(t testing.TB) *world {
	w, srv := s3World(t), natstest.Start(t, nil)
	store, err := checkpoint.Open(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() }) // the runs have committed
	js, err := jetstream.New(dial(t, srv.URL()))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "IN", Subjects: []string{"in.>"}, Storage: jetstream.MemoryStorage}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if _, err := js.Publish(ctx, "in.x", fmt.Appendf(nil, `{"url":"s3://bucket/in/%s.log"}`, name)); err != nil {
			t.Fatal(err)
		}
	}
	from := func(stream string) func() engine.Source {
		return func() engine.Source {
			return build(t, "objects", kinds.SourceEnv{UntilEOF: true, Files: file.Host{Store: store}}, func(c *sourceobjects.Config) {
				natsConfig(&c.JetStream.NATS, srv.URL())
				c.JetStream.Stream, c.JetStream.Durable, c.JetStream.Consumer.AckWait = stream, "urlfold", 2*time.Second
			})
		}
	}
	w.source, w.broken = from("IN"), from("MISSING")
	return w
}

func stdinWorld(t testing.TB) *world {
	w := &world{want: recordsOf("stdin", 500)}
	w.source = func() engine.Source {
		in := strings.NewReader(strings.Join(w.want, "\n") + "\n")
		return build(t, "stdin", kinds.SourceEnv{Stdin: in}, func(*file.StdinSettings) {})
	}
	return w
}

func kafkaWorld(t testing.TB) *world {
	const partitions = 2
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(partitions, "in"))
	w := &world{resumes: true}
	client := kafkatest.Client(t, conn, "in")
	for p := range partitions {
		records := recordsOf(fmt.Sprint("p", p), 300)
		w.want = append(w.want, records...)
		for few := range slices.Chunk(records, 37) {
			var list []kafka.Record
			for _, r := range few {
				list = append(list, kafka.Record{Value: []byte(r)})
			}
			kafkatest.Write(t, client, "in", p, "none", list...)
		}
	}
	from := func(topic string) func() engine.Source {
		return func() engine.Source {
			return build(t, "kafka", kinds.SourceEnv{UntilEOF: true}, func(c *sourcekafka.Config) {
				c.Kafka, c.Topics, c.Group = conn, []string{topic}, "g"
				if topic != "in" {
					c.RequestTimeout = 2 * time.Second // the connection attempt uses all of it
				}
				c.SessionTimeout, c.HeartbeatInterval = 30*time.Second, 100*time.Millisecond
				c.RebalanceTimeout, c.DrainTimeout = 30*time.Second, 10*time.Second
				c.FetchWait = 50 * time.Millisecond
			})
		}
	}
	w.source, w.broken = from("in"), from("missing")
	return w
}

// dial returns a connection that is closed at the end of the test.
func dial(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func natsConfig(c *connect.NATS, url string) {
	c.Servers, c.ReconnectWait = []string{url}, 10*time.Millisecond
}

func jetStreamWorld(t testing.TB) *world {
	srv := natstest.Start(t, nil)
	w := &world{want: recordsOf("in", 500), resumes: true, redelivers: true}
	js, err := jetstream.New(dial(t, srv.URL()))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "IN", Subjects: []string{"in.>"}, Storage: jetstream.MemoryStorage}); err != nil {
		t.Fatal(err)
	}
	for _, r := range w.want {
		if _, err := js.Publish(ctx, "in.x", []byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	from := func(stream string) func() engine.Source {
		return func() engine.Source {
			return build(t, "jetstream", kinds.SourceEnv{UntilEOF: true}, func(c *sourcenats.JetStreamConfig) {
				natsConfig(&c.NATS, srv.URL())
				c.Stream, c.Durable = stream, "urlfold"
				c.Consumer.AckWait, c.NakDelay = 2*time.Second, 10*time.Millisecond
				c.Batch.Messages, c.Batch.Linger = 30, time.Millisecond
			})
		}
	}
	w.source, w.broken = from("IN"), from("MISSING")
	return w
}

func coreWorld(t testing.TB) *world {
	srv := natstest.Start(t, nil)
	nc := dial(t, srv.URL())
	w := &world{want: recordsOf("live", 300)}
	w.source = func() engine.Source {
		return build(t, "nats", kinds.SourceEnv{}, func(c *sourcenats.CoreConfig) {
			natsConfig(&c.NATS, srv.URL())
			c.Subjects = []string{"live.>"}
			c.Batch.Messages, c.Batch.Linger = 30, time.Millisecond
		})
	}
	w.publish = func(engine.Source) {
		for srv.Listeners("live.x") == 0 {
			time.Sleep(time.Millisecond)
		}
		for _, r := range w.want {
			if err := nc.Publish("live.x", []byte(r)); err != nil {
				return // the test is over
			}
		}
		_ = nc.Flush() // the test detects missing messages
	}
	return w
}
