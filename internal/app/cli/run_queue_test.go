//go:build unix

package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/notification"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/internal/testkit/s3test"
)

// fromQueue is a configuration that reads the objects that messages name.
const fromQueue = `version: 1
data_dir: state
sources:
  - objects:
      from: lines
      name: in
      max_deliveries: 0 # kills are not the fault of an object
      jetstream: {servers: [%q], stream: Q, durable: d, consumer: {ack_wait: 500ms}}
codec: {profile: equiv}
sinks:
  - file: {name: out, path: "out/{source.relpath}", exactly_once: true}
dead_letter:
  file: {path: dead.jsonl}
commit_interval: 20ms
`

// A queueOf is a JetStream stream with references to objects.
type queueOf struct {
	t   *testing.T
	srv *natstest.Server
	js  jetstream.JetStream
}

func newQueue(t *testing.T) *queueOf {
	t.Helper()
	srv := natstest.Start(t, nil)
	conn, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "Q", Subjects: []string{"q"}, Storage: jetstream.MemoryStorage, Retention: jetstream.WorkQueuePolicy})
	if err != nil {
		t.Fatal(err)
	}
	return &queueOf{t, srv, js}
}

// put publishes messages.
func (q *queueOf) put(messages ...string) {
	q.t.Helper()
	for _, m := range messages {
		if _, err := q.js.Publish(q.t.Context(), "q", []byte(m)); err != nil {
			q.t.Fatal(err)
		}
	}
}

// state returns the state of the consumer.
func (q *queueOf) state() *jetstream.ConsumerInfo {
	q.t.Helper()
	c, err := q.js.Consumer(q.t.Context(), "Q", "d")
	if err != nil {
		q.t.Fatal(err)
	}
	return c.CachedInfo()
}

// records returns all records below out, sorted.
func (d *daemonRun) records() (got []string) {
	d.t.Helper()
	outs, _ := filepath.Glob(filepath.Join(d.dir, "out", "*", "*"))
	for _, name := range outs {
		text, err := os.ReadFile(name)
		if err != nil {
			d.t.Fatal(err)
		}
		got = append(got, strings.Fields(string(text))...)
	}
	slices.Sort(got)
	return got
}

// TestQueueKilled: the real program reads the objects of a queue and is killed
// again and again. Their messages are delivered again, and the outputs have each
// record once.
func TestQueueKilled(t *testing.T) {
	eachStore(t, func(t *testing.T, srv *store) {
		want := putInputs(srv, 200_000)
		again(t, func(rng *rand.Rand, kills int) int {
			q := newQueue(t)
			for key := range srv.get("in/") {
				q.put(fmt.Sprintf(`{"url":"s3://bucket/%s"}`, key))
			}
			d := newRun(t, fmt.Sprintf(fromQueue, q.srv.URL()))
			n := 0
			for ; n < kills; n++ {
				d.start("--until-eof")
				select {
				case <-d.done:
				case <-time.After(time.Duration(100+rng.IntN(400)) * time.Millisecond):
					_ = d.cmd.Process.Kill() // it may have ended
					<-d.done
				}
				if d.err == nil {
					break
				}
			}
			d.start("--until-eof")
			if code := d.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if got := d.records(); !slices.Equal(got, want) {
				t.Errorf("%d records, want %d, each once", len(got), len(want))
			}
			if i := q.state(); i.NumAckPending > 0 || i.NumPending > 0 {
				t.Errorf("%d messages not acknowledged, %d not delivered", i.NumAckPending, i.NumPending)
			}
			t.Logf("killed %d times", n)
			return n
		})
	})
}

// TestQueueKafkaKilled: the real program reads the objects that messages in Kafka name,
// and is killed again and again. The outputs have each record once, and the offsets of
// all messages are committed.
func TestQueueKafkaKilled(t *testing.T) {
	eachStore(t, func(t *testing.T, srv *store) {
		want := putInputs(srv, 800_000)
		again(t, func(rng *rand.Rand, kills int) int {
			_, conn := kafkatest.Fake(t, kfake.SeedTopics(2, "q"))
			client, n := kafkatest.Client(t, conn, "q"), 0
			for key := range srv.get("in/") {
				kafkatest.Write(t, client, "q", n%2, "none", kafka.Record{Value: fmt.Appendf(nil, `{"url":"s3://bucket/%s"}`, key)})
				n++
			}
			d := newRun(t, queueInKafka(conn))
			killed := 0
			for ; killed < kills; killed++ {
				d.start("--until-eof")
				select {
				case <-d.done:
				case <-time.After(time.Duration(100+rng.IntN(300)+min(killed, 1)*1000) * time.Millisecond): // the session of a killed process lasts a second
					_ = d.cmd.Process.Kill() // it may have ended
					<-d.done
				}
				if d.err == nil {
					break
				}
			}
			kafkatest.Until(t, "all offsets", func() bool { // a killed process has partitions until its session ends
				d.start("--until-eof")
				if code := d.wait(); code != 0 {
					t.Fatalf("exit code %d", code)
				}
				c := kafkatest.Committed(t, conn, "g", "q", 2)
				return c[0]+c[1] == int64(n)
			})
			if got := d.records(); !slices.Equal(got, want) {
				t.Errorf("%d records, want %d, each once", len(got), len(want))
			}
			t.Logf("killed %d times", killed)
			return killed
		})
	})
}

// queueInKafka returns fromQueue with a queue in the topic "q".
func queueInKafka(conn connect.Kafka) string {
	return regexp.MustCompile("jetstream: .*").ReplaceAllString(fromQueue, fmt.Sprintf(
		"kafka: {brokers: [%q], topics: [q], group: g, session_timeout: 1s, drain_timeout: 100ms}", conn.Brokers[0]))
}

// TestQueuePoison: objects that cannot be read or are damaged, and messages that
// name none, become dead letters with their verdicts. They keep no other object
// from being read, and do not come back.
func TestQueuePoison(t *testing.T) {
	srv, q := s3test.New(t), newQueue(t)
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write([]byte("http://damaged.example/\n"))
	_ = w.Close()
	z.Bytes()[z.Len()-5] ^= 1
	srv.Put("in/damaged.gz", z.Bytes())
	srv.Put("in/archived", []byte("http://archived.example/\n"))
	srv.Archive("in/archived")
	srv.Put("in/a b+c", []byte("http://a.example/\n"))
	srv.Put("in/d", []byte("http://d.example/\n"))
	srv.Put("in/folder/", nil)
	record := func(key string) string {
		return fmt.Sprintf(`{"eventName":"ObjectCreated:Put","s3":{"bucket":{"name":"bucket"},"object":{"key":%q}}}`, key)
	}
	q.put(`{"url":"s3://bucket/in/damaged.gz"}`, `{"url":"s3://bucket/in/archived"}`, `{"url":"s3://bucket/in/missing"}`,
		"no JSON", `{"Service":"Amazon S3","Event":"s3:TestEvent"}`, `{"url":"s3://bucket/in/folder/"}`,
		`{"url":"s3://bucket/in/d","etag":"older"}`, `{"url":"s3://bucket/in/d","etag":"older","verdict":"changed"}`,
		fmt.Sprintf(`{"Records":[%s,%s]}`, record("in/a+b%2Bc"), record("in/d")))
	d := newRun(t, fmt.Sprintf(fromQueue, q.srv.URL()))
	d.start("--until-eof")
	d.wait()
	if got := d.records(); !slices.Equal(got, []string{"http://a.example/", "http://d.example/", "http://damaged.example/"}) {
		t.Errorf("records %q", got)
	}
	text, err := os.ReadFile(filepath.Join(d.dir, "dead.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(text)) {
		var letter struct{ Reason, Record string }
		var ref struct{ URL, Verdict, Message string }
		if err := json.Unmarshal([]byte(line), &letter); err != nil || letter.Reason != "input-unreadable" {
			t.Fatalf("%v in %s", err, line)
		}
		if err := json.Unmarshal([]byte(letter.Record), &ref); err != nil {
			t.Fatal(err)
		}
		got[ref.URL+ref.Message] += ref.Verdict
	}
	for of, verdict := range map[string]string{
		"s3://bucket/in/damaged.gz": "bad-crc", "s3://bucket/in/archived": "unreadable", "s3://bucket/in/missing": "unreadable", "no JSON": "invalid-message", "s3://bucket/in/d": "changed",
	} {
		if got[of] != verdict {
			t.Errorf("%s: verdict %q, want %q", of, got[of], verdict)
		}
	}
	if i := q.state(); len(got) != 5 || i.NumAckPending > 0 || i.NumPending > 0 || i.NumRedelivered > 0 {
		t.Errorf("dead letters %v; %d messages not acknowledged, %d not delivered, %d delivered again", got, i.NumAckPending, i.NumPending, i.NumRedelivered)
	}
}

// TestQueueVersions: messages that name versions of one object give the records of
// each version once.
func TestQueueVersions(t *testing.T) {
	q := newQueue(t)
	_, admin := s3test.Moto.Start(t)
	if err := admin.EnableVersioning(t.Context(), "bucket"); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 3 {
		var text strings.Builder
		for k := range 1000 {
			want = append(want, fmt.Sprintf("http://h%d.example/%04d", i, k))
			text.WriteString(want[len(want)-1] + "\n")
		}
		u, err := admin.PutObject(t.Context(), "bucket", "in/k.log", strings.NewReader(text.String()), int64(text.Len()), minio.PutObjectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		q.put(fmt.Sprintf(`{"url":"s3://bucket/in/k.log","etag":%q,"versionId":%q}`, u.ETag, u.VersionID))
	}
	d := newRun(t, fmt.Sprintf(fromQueue, q.srv.URL()))
	d.start("--until-eof")
	d.wait()
	if got := d.records(); !slices.Equal(got, want) {
		t.Errorf("%d records, want %d, each once", len(got), len(want))
	}
	if dead, err := os.ReadFile(filepath.Join(d.dir, "dead.jsonl")); err == nil && len(dead) > 0 {
		t.Errorf("dead letters: %s", dead)
	}
}

// TestEnqueue: enqueue publishes a message about each object once, also if it runs
// again, and shares the objects out. A run reads them.
func TestEnqueue(t *testing.T) {
	srv, q := s3test.New(t), newQueue(t)
	var want []string
	for i := range 250 {
		want = append(want, fmt.Sprintf("http://h.example/%03d", i))
		srv.Put(fmt.Sprintf("in/%03d", i), []byte(want[i]+"\n"))
	}
	srv.Put("in/folder/", nil)
	srv.Put("other", []byte("http://other.example/\n"))
	d := newRun(t, fmt.Sprintf(fromQueue, q.srv.URL()))
	published := 0
	for i, args := range [][]string{{"--shard", "0/2"}, {"--shard", "1/2"}, {"--shard", "0/2"}, {"--subject", "q"}} {
		code, out := d.run(append([]string{"daemon", "enqueue", "-c", "c.yaml", "s3://bucket/in/"}, args...)...)
		n := 0
		if _, err := fmt.Sscanf(out, "published %d objects", &n); err != nil || code != 0 || n < 1 {
			t.Fatalf("%s: exit code %d, %s", args, code, out)
		}
		if published += n; i == 1 && published != len(want) || i == 3 && n != len(want) {
			t.Errorf("%s: %d objects of %d", args, n, len(want))
		}
	}
	d.start("--until-eof")
	d.wait()
	if got := d.records(); !slices.Equal(got, want) {
		t.Errorf("%d records, want %d, each once", len(got), len(want))
	}
	if s, err := q.js.Stream(t.Context(), "Q"); err != nil || s.CachedInfo().State.LastSeq != uint64(len(want)) {
		t.Errorf("the stream stored %d messages, want %d; %v", s.CachedInfo().State.LastSeq, len(want), err)
	}
	for _, args := range [][]string{{"s3:///in"}, {"--shard", "2/2", "s3://bucket/"}, {}, {"--subject", "none", "s3://bucket/in/000"}} {
		if code, out := d.run(append([]string{"daemon", "enqueue", "-c", "c.yaml"}, args...)...); code == 0 {
			t.Errorf("%s: %s", args, out)
		}
	}
}

// TestQueueKeepsMessages: a message whose object takes longer than ack_wait is not
// delivered again, and after a soft stop it is at once, to a run that goes on where
// the first one stopped.
func TestQueueKeepsMessages(t *testing.T) {
	srv, q := s3test.New(t), newQueue(t)
	var b strings.Builder
	var want []string
	for i := range 400_000 {
		want = append(want, fmt.Sprintf("http://h.example/%06d", i))
		b.WriteString(want[i] + "\n")
	}
	srv.Put("in/slow", []byte(b.String()))
	srv.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Range") != "" {
			time.Sleep(700 * time.Millisecond)
		}
		return false
	})
	q.put(`{"url":"s3://bucket/in/slow"}`)
	d := newRun(t, fmt.Sprintf(fromQueue, q.srv.URL()))
	d.start()
	d.until("some records", func() bool {
		parts, _ := filepath.Glob(filepath.Join(d.dir, "out", "in", "*"))
		return len(parts) > 0 && d.length("out/in/"+filepath.Base(parts[0])) > 1<<20
	})
	if i := q.state(); i.NumRedelivered > 0 || i.NumAckPending != 1 {
		t.Errorf("%d messages delivered again, %d not acknowledged", i.NumRedelivered, i.NumAckPending)
	}
	d.signal(15)
	if code := d.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	d.start("--until-eof")
	d.wait()
	if got := d.records(); !slices.Equal(got, want) {
		t.Errorf("%d records, want %d, each once", len(got), len(want))
	}
}

// TestQueueNotified: new objects in the stores of other projects lead to finished
// outputs, because the stores notify the queue.
func TestQueueNotified(t *testing.T) {
	t.Run("SQS", func(t *testing.T) {
		srv, admin := s3test.Moto.Start(t)
		srv.SQS(t, "CreateQueue", `{"QueueName":"q"}`)
		queue := srv.URL + "/123456789012/q"
		to := notification.NewConfig(notification.NewArn("aws", "sqs", "us-east-1", "123456789012", "q"))
		to.AddEvents(notification.ObjectCreatedAll)
		to.AddFilterPrefix("in/")
		var all notification.Configuration
		all.AddQueue(to)
		if err := admin.SetBucketNotification(t.Context(), "bucket", all); err != nil {
			t.Fatal(err)
		}
		config := regexp.MustCompile("jetstream: .*").ReplaceAllString(fromQueue, fmt.Sprintf("sqs: {url: %q}", queue))
		notified(t, admin, config, func() bool {
			a := srv.SQS(t, "GetQueueAttributes", `{"QueueUrl":"`+queue+`","AttributeNames":["All"]}`)
			return strings.Contains(a, `"ApproximateNumberOfMessages": "0"`) && strings.Contains(a, `"ApproximateNumberOfMessagesNotVisible": "0"`)
		})
	})
	t.Run("NATS", func(t *testing.T) {
		q := newQueue(t)
		_, admin := s3test.Versitygw("--event-nats-url", q.srv.URL(), "--event-nats-topic", "q").Start(t)
		notified(t, admin, fmt.Sprintf(fromQueue, q.srv.URL()), func() bool {
			i := q.state()
			return i.NumPending == 0 && i.NumAckPending == 0
		})
	})
	t.Run("Kafka", func(t *testing.T) {
		_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "q"))
		_, admin := s3test.Versitygw("--event-kafka-url", conn.Brokers[0], "--event-kafka-topic", "q").Start(t)
		client := kafkatest.Client(t, conn, "q")
		notified(t, admin, queueInKafka(conn), func() bool {
			return kafkatest.Committed(t, conn, "g", "q", 1)[0] == int64(len(kafkatest.Read(t, client, "q", 1)[0]))
		})
	})
}

// notified creates objects while a run is in progress, which must read them until
// the queue is empty.
func notified(t *testing.T, admin *minio.Client, config string, empty func() bool) {
	t.Helper()
	d := newRun(t, config)
	d.start()
	keys := []string{"in/a b+c.log", "in/d%2B.log", "in/é&=.log"}
	var want []string
	for i, key := range keys {
		var text strings.Builder
		for k := range 1000 {
			want = append(want, fmt.Sprintf("http://h%d.example/%04d", i, k))
			text.WriteString(want[len(want)-1] + "\n")
		}
		if _, err := admin.PutObject(t.Context(), "bucket", key, strings.NewReader(text.String()), int64(len(text.String())), minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	d.until("an output for each object", func() bool {
		outs, _ := filepath.Glob(filepath.Join(d.dir, "out", "in", "*.log"))
		return len(outs) == len(keys) && empty()
	})
	d.signal(syscall.SIGTERM)
	if code := d.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := d.records(); !slices.Equal(got, want) {
		t.Errorf("%d records, want %d, each once", len(got), len(want))
	}
	if dead, err := os.ReadFile(filepath.Join(d.dir, "dead.jsonl")); err == nil && len(dead) > 0 {
		t.Errorf("dead letters: %s", dead)
	}
}
