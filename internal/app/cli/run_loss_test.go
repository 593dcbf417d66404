//go:build unix

package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// A loss is a kind of loss: how to cause it, the event that names it, the attribute
// with the number, and the metric with the same number. Without an attribute, the
// metric counts the events.
type loss struct {
	name, event, attr, metric string
	cause                     func(t *testing.T) *daemonRun
}

var losses = []loss{
	{"file truncated with an unread rest", "file removed or truncated before it was read to the end", "lost_bytes", "urlfold_source_lost_bytes_total", func(t *testing.T) *daemonRun {
		d, open := hung(t, 1)
		if err := os.Truncate(filepath.Join(d.dir, "in0.log"), 0); err != nil {
			t.Fatal(err)
		}
		open()
		return d
	}},
	{"files removed unread", "file removed or truncated before it was read to the end", "lost_bytes", "urlfold_source_lost_bytes_total", func(t *testing.T) *daemonRun {
		d, open := hung(t, 3)
		for i := range 3 {
			if err := os.Remove(filepath.Join(d.dir, fmt.Sprintf("in%d.log", i))); err != nil {
				t.Fatal(err)
			}
		}
		open()
		return d
	}},
	{"files truncated by copytruncate", "file truncated or overwritten, reading from the beginning", "", "urlfold_source_truncations_total", func(t *testing.T) *daemonRun {
		d := newRun(t, strings.Replace(tailing, "in.log", "a*.log", 1))
		for i := range 5 {
			write(t, filepath.Join(d.dir, fmt.Sprintf("a%d.log", i)), fmt.Sprintf("http://h/%d\n", i))
		}
		d.start()
		d.measures(`urlfold_sink_records_total{component="out"} 5`)
		for i := range 5 {
			if err := os.Truncate(filepath.Join(d.dir, fmt.Sprintf("a%d.log", i)), 0); err != nil {
				t.Fatal(err)
			}
		}
		d.measures(`urlfold_source_truncations_total{component="in"} 5`)
		return d
	}},
	{"damaged archive, quarantined", "file finished", "unverified_lines", `urlfold_archive_unverified_records_total{component="in",outcome="withheld"}`, damagedArchive("quarantine")},
	{"damaged archive, skipped", "file finished", "unverified_lines", `urlfold_archive_unverified_records_total{component="in",outcome="withheld"}`, damagedArchive("skip-file")},
	{"damaged archive, emitted", "file finished", "", `urlfold_source_files_finished_total{component="in",verdict="truncated"}`, damagedArchive("emit-and-report")},
	{"on_error.unparsed: drop", "records dropped", "lost_records", "urlfold_discarded_records_total", func(t *testing.T) *daemonRun {
		d := newRun(t, strings.Replace(tailing, "from: lines", "from: combined", 1)+"on_error: {unparsed: drop}\n")
		d.feed("a\nb\nc\n")
		d.start()
		return d
	}},
	{"rejected, and nothing to write", "records dropped", "lost_records", "urlfold_discarded_records_total", func(t *testing.T) *daemonRun {
		d := newRun(t, strings.Replace(tailing, "profile: equiv", "profile: equiv, to: urls", 1))
		d.feed("http://[/\nhttp://h:x/\n")
		d.start()
		return d
	}},
	{"on_error.oversize: drop", "records dropped", "lost_records", "urlfold_discarded_records_total", func(t *testing.T) *daemonRun {
		d := newRun(t, strings.Replace(tailing, "profile: equiv", "profile: equiv, max_record: 1KiB", 1)+"on_error: {oversize: drop}\n")
		d.feed("http://h/" + strings.Repeat("a", 2000) + "\nhttp://h/\nhttp://h/" + strings.Repeat("b", 3000) + "\n")
		d.start()
		return d
	}},
	{"on_error.refused: drop, Kafka", "records refused, dropped", "lost_records", `urlfold_sink_refused_records_total{action="drop",component="out"}`, func(t *testing.T) *daemonRun {
		_, c := kafkatest.Fake(t)
		kafkatest.CreateTopic(t, c, "out", 1, map[string]string{"max.message.bytes": "1000"})
		d := newRun(t, strings.Replace(tailing, "file: {name: out, path: out.log}", fmt.Sprintf("kafka: {name: out, brokers: [%q], topic: out, compress: none}", c.Brokers[0]), 1)+"on_error: {refused: drop}\n")
		d.feed("http://h/" + strings.Repeat("a", 2000) + "\nhttp://h/\nhttp://h/" + strings.Repeat("b", 3000) + "\n")
		d.start()
		return d
	}},
	{"on_error.refused: drop, JetStream", "records refused, dropped", "lost_records", `urlfold_sink_refused_records_total{action="drop",component="out"}`, func(t *testing.T) *daemonRun {
		s, js := jetStreamOf(t)
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, MaxMsgSize: 1000}); err != nil {
			t.Fatal(err)
		}
		d := newRun(t, strings.Replace(tailing, "file: {name: out, path: out.log}", fmt.Sprintf("jetstream: {name: out, servers: [%q], subject: s}", s.URL()), 1)+"on_error: {refused: drop}\n")
		d.feed("http://h/" + strings.Repeat("a", 2000) + "\nhttp://h/\n")
		d.start()
		return d
	}},
	{"dead letter refused, dropped", "records refused, dropped", "lost_records", `urlfold_sink_refused_records_total{action="drop",component="dead_letter"}`, func(t *testing.T) *daemonRun {
		_, c := kafkatest.Fake(t)
		kafkatest.CreateTopic(t, c, "dead", 1, map[string]string{"max.message.bytes": "100"})
		d := newRun(t, strings.Replace(tailing, "from: lines", "from: combined", 1)+fmt.Sprintf("dead_letter: {kafka: {brokers: [%q], topic: dead, compress: none}}\non_error: {refused: drop}\n", c.Brokers[0]))
		d.feed(strings.Repeat("a", 2000) + "\n")
		d.start()
		return d
	}},
	{"Kafka: deleted by retention", "kafka records deleted by retention before they were read", "lost_records", "urlfold_source_offset_gap_records_total", func(t *testing.T) *daemonRun {
		c, d := fromKafka(t, 1)
		stopped(t, d)
		kafkatest.Fill(t, c.client, "in", 1, 100, 200)
		if err := c.fake.DeleteRecords("in", 0, 142); err != nil {
			t.Fatal(err)
		}
		d.start()
		return d
	}},
	{"Kafka: topic recreated", "kafka topic recreated, its offsets restart", "", `urlfold_source_resets_total{component="in",reason="recreated"`, func(t *testing.T) *daemonRun {
		c, d := fromKafka(t, 1)
		kafkatest.Recreate(t, kafkatest.Connection(c.fake.ListenAddrs()...), "in", 1)
		kafkatest.Fill(t, kafkatest.Client(t, kafkatest.Connection(c.fake.ListenAddrs()...), "in"), "in", 1, 0, 10)
		return d
	}},
	{"Kafka: log truncated", "kafka log truncated, records already read were removed from it", "", `urlfold_source_resets_total{component="in",reason="truncated"`, func(t *testing.T) *daemonRun {
		c, d := fromKafka(t, 3)
		c.fake.ControlKey(int16(kmsg.OffsetForLeaderEpoch), func(r kmsg.Request) (kmsg.Response, error, bool) {
			c.fake.KeepControl()
			p := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			p.EndOffset = 60
			resp := r.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
			resp.Topics = []kmsg.OffsetForLeaderEpochResponseTopic{{Topic: "in", Partitions: []kmsg.OffsetForLeaderEpochResponseTopicPartition{p}}}
			return resp, nil, true
		})
		if err := c.fake.MoveTopicPartition("in", 0, (c.fake.LeaderFor("in", 0)+1)%3); err != nil {
			t.Fatal(err)
		}
		c.client.Refresh()
		kafkatest.Fill(t, c.client, "in", 1, 100, 101)
		return d
	}},
	{"Kafka: log ends before the position", "kafka log ends before the position, restarting at the configured start", "", `urlfold_source_resets_total{component="in",reason="ended"`, func(t *testing.T) *daemonRun {
		c, d := fromKafka(t, 1)
		stopped(t, d)
		kafkatest.Rewind(t, kafkatest.Connection(c.fake.ListenAddrs()...), "g", "in", []int64{150})
		d.start()
		return d
	}},
	{"JetStream: deleted before it was read", "messages deleted before they were acknowledged", "lost_messages", "urlfold_source_unread_deleted_total", func(t *testing.T) *daemonRun {
		js, d := fromJetStream(t, "")
		deleteUnread(t, js, d)
		return d
	}},
	{"JetStream: possibly deleted before it was read", "messages possibly deleted before they were acknowledged", "sequences", "urlfold_source_unread_deleted_possible_total", func(t *testing.T) *daemonRun {
		js, d := fromJetStream(t, ", consumer: {filter_subjects: [in.x]}")
		deleteUnread(t, js, d)
		return d
	}},
	{"JetStream: stream recreated", "stream recreated, its sequences restart", "", "urlfold_source_streams_recreated_total", streamRecreated},
	{"JetStream: consumer recreated in a new stream", "consumer recreated, nothing known to be acknowledged", "", `urlfold_source_consumers_recreated_total{component="in",consumer="d",start="configured"`, streamRecreated},
	{"JetStream: end of the stream lost", "stream lost messages at its end", "lost_messages", "urlfold_source_stream_lost_messages_total", func(t *testing.T) *daemonRun {
		s, js := jetStreamOf(t)
		createIn(t, js)
		publish(t, js, 1)
		backup := t.TempDir()
		moved := func(from, to string) {
			s.Down()
			if err := os.RemoveAll(to); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(to, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			s.Up()
		}
		moved(s.Store(), backup)
		d := readsJetStream(t, s, "")
		publish(t, js, 50)
		d.until("the acknowledgments", func() bool { return d.sum("urlfold_source_acks_total") == 51 })
		moved(backup, s.Store())
		return d
	}},
	{"core NATS: slow consumer", "messages dropped, slow consumer", "lost_messages", "urlfold_source_dropped_total", func(t *testing.T) *daemonRun {
		s, _ := jetStreamOf(t)
		d := newRun(t, strings.Replace(tailing, `file: {from: lines, name: in, include: ["in.log"], poll_interval: 10ms}`, fmt.Sprintf("nats: {from: lines, name: in, servers: [%q], subjects: [x], pending: {messages: 10}}", s.URL()), 1))
		d.start()
		d.until("the subscription", func() bool { return s.Listeners("x") == 1 })
		c, err := nats.Connect(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for i := range 100_000 {
			if err := c.Publish("x", fmt.Appendf(nil, "http://h/%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		return d
	}},
}

// TestLoss injects each kind of loss: the log has an error with its number, which no
// limit holds back, and the metric is equal.
func TestLoss(t *testing.T) {
	for _, l := range losses {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			d := l.cause(t)
			d.until(l.event+" with the number of "+l.metric, func() bool {
				logged := d.logged(l.event, l.attr)
				return logged > 0 && logged == d.sum(l.metric)
			})
			if strings.Contains(d.log.String(), "verdict=ok") {
				t.Error("a file counts as finished")
			}
		})
	}
}

// TestLossAbandoned: records that a stop gives up are an error, and the last line of
// a JSON log is JSON.
func TestLossAbandoned(t *testing.T) {
	d, open := hung(t, 1)
	defer open()
	d.signal(syscall.SIGTERM)
	if d.wait() == 0 || d.logged("stopped", "abandoned")+d.logged("stopped", "unresolved") == 0 {
		t.Error("no error")
	}
	d = newRun(t, tailing+"log: {format: json}\n")
	write(t, filepath.Join(d.dir, "state"), "")
	d.start()
	code := d.wait()
	lines := strings.Split(strings.TrimSpace(d.log.String()), "\n")
	if last := lines[len(lines)-1]; code != 1 || !strings.HasPrefix(last, `{"time":`) || !strings.Contains(last, `"msg":"exiting","error":`) || !strings.HasSuffix(last, `"exit_code":1}`) {
		t.Errorf("exit code %d, last line %s", code, last)
	}
}

// logged returns the sum of an attribute of the errors with this event, or the number
// of these errors if attr is empty.
func (d *daemonRun) logged(event, attr string) (sum int) {
	value := regexp.MustCompile(` ` + attr + `=(\d+)`)
	for line := range strings.SplitSeq(d.log.String(), "\n") {
		switch {
		case !strings.Contains(line, "level=ERROR msg="+quoted(event)):
		case attr == "":
			sum++
		default:
			if m := value.FindStringSubmatch(line); m != nil {
				n, _ := strconv.Atoi(m[1])
				sum += n
			}
		}
	}
	return sum
}

// quoted returns a value as the log has it.
func quoted(s string) string {
	if strings.Contains(s, " ") {
		return strconv.Quote(s)
	}
	return s + " "
}

// sum returns the sum of the series that begin with a prefix.
func (d *daemonRun) sum(prefix string) (sum int) {
	for line := range strings.SplitSeq(d.metrics(), "\n") {
		if strings.HasPrefix(line, prefix) {
			n, _ := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			sum += int(n)
		}
	}
	return sum
}

// hung starts a run with a sink that hangs until open is called. It reads the
// first of n large files, and waits.
func hung(t *testing.T, n int) (d *daemonRun, open func()) {
	d = newRun(t, strings.NewReplacer("in.log", "in?.log", "poll_interval: 10ms", "poll_interval: 10ms, rotate_wait: 100ms, max_readers: 1, max_open_files: 1",
		"file: {name: out, path: out.log}", "stdout: {}").Replace(tailing)+"max_in_flight: 1MiB\nbatch: {size: 64KiB}\nshutdown_timeout: 1s\n")
	for i := range n {
		write(t, filepath.Join(d.dir, fmt.Sprintf("in%d.log", i)), strings.Repeat(fmt.Sprintf("http://h/%d\n", i), 1<<20))
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d.stdout = in
	d.start()
	_ = in.Close() // the process has its own
	t.Cleanup(func() { _ = out.Close() })
	d.until("no free batch", func() bool {
		return d.sum("urlfold_batches_free ") == 0 && d.sum("urlfold_source_files{component=\"in\",state=\"open\"}") == n
	})
	return d, func() { go func() { _, _ = io.Copy(io.Discard, out) }() }
}

// damagedArchive reads a truncated gzip file with this policy.
func damagedArchive(policy string) func(t *testing.T) *daemonRun {
	return func(t *testing.T) *daemonRun {
		d := newRun(t, strings.NewReplacer("in.log", "in.gz", "poll_interval: 10ms", "poll_interval: 10ms, damage_after: 100ms, on_damage: "+policy).Replace(tailing))
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		for i := range 10_000 {
			_, _ = fmt.Fprintf(z, "http://h/%d\n", i*7919)
		}
		_ = z.Close()
		write(t, filepath.Join(d.dir, "in.gz"), b.String()[:b.Len()-1000])
		d.start()
		return d
	}
}

func stopped(t *testing.T, d *daemonRun) {
	t.Helper()
	d.signal(syscall.SIGTERM)
	if code := d.wait(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
}

// A fakeTopic is a topic "in" with a partition.
type fakeTopic struct {
	fake   *kfake.Cluster
	client kafka.Client
}

// fromKafka starts a run that has read 100 records of a topic, and committed.
func fromKafka(t *testing.T, brokers int) (*fakeTopic, *daemonRun) {
	fake, c := kafkatest.Fake(t, kfake.NumBrokers(brokers), kfake.SeedTopics(1, "in"))
	client := kafkatest.Client(t, c, "in")
	kafkatest.Fill(t, client, "in", 1, 0, 100)
	d := newRun(t, strings.Replace(tailing, `file: {from: lines, name: in, include: ["in.log"], poll_interval: 10ms}`, fmt.Sprintf("kafka: {from: lines, name: in, brokers: [%q], topics: [in], group: g, start: earliest}", c.Brokers[0]), 1))
	d.start()
	d.until("the position", func() bool { return kafkatest.Committed(t, c, "g", "in", 1)[0] == 100 })
	return &fakeTopic{fake, client}, d
}

func jetStreamOf(t *testing.T) (*natstest.Server, jetstream.JetStream) {
	s := natstest.Start(t, nil)
	conn, err := nats.Connect(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return s, js
}

func createIn(t *testing.T, js jetstream.JetStream) {
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "IN", Subjects: []string{"in.*"}}); err != nil {
		t.Fatal(err)
	}
}

// fromJetStream starts a run that has read a message of the stream IN.
func fromJetStream(t *testing.T, more string) (jetstream.JetStream, *daemonRun) {
	s, js := jetStreamOf(t)
	createIn(t, js)
	publish(t, js, 1)
	return js, readsJetStream(t, s, more)
}

// readsJetStream starts a run that has read the only message of the stream IN.
func readsJetStream(t *testing.T, s *natstest.Server, more string) *daemonRun {
	d := newRun(t, strings.Replace(tailing, `file: {from: lines, name: in, include: ["in.log"], poll_interval: 10ms}`, fmt.Sprintf("jetstream: {from: lines, name: in, servers: [%q], stream: IN, durable: d%s}", s.URL(), more), 1))
	d.start()
	d.measures(`urlfold_sink_records_total{component="out"} 1`)
	return d
}

// streamRecreated replaces the stream of a run by an empty one.
func streamRecreated(t *testing.T) *daemonRun {
	js, d := fromJetStream(t, "")
	if err := js.DeleteStream(t.Context(), "IN"); err != nil {
		t.Fatal(err)
	}
	createIn(t, js)
	return d
}

func publish(t *testing.T, js jetstream.JetStream, n int) {
	for i := range n {
		if _, err := js.Publish(t.Context(), "in.x", fmt.Appendf(nil, "http://h/%d", i)); err != nil {
			t.Fatal(err)
		}
	}
}

// deleteUnread deletes messages while no run reads them, and starts it again.
func deleteUnread(t *testing.T, js jetstream.JetStream, d *daemonRun) {
	stopped(t, d)
	publish(t, js, 50)
	if _, err := js.UpdateStream(t.Context(), jetstream.StreamConfig{Name: "IN", Subjects: []string{"in.*"}, MaxMsgs: 10}); err != nil {
		t.Fatal(err)
	}
	d.start()
}
