package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A logBuffer keeps what is logged.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// with returns the lines that contain text.
func (l *logBuffer) with(text string) (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		if strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return lines
}

// startLogged is start with a source that logs to l, which is shown if the test fails.
func startLogged(t *testing.T, cfg Config, out *kafkatest.Collector, l *logBuffer) (*source, *kafkatest.Run) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%d records received; logged:\n%s", out.Count(), strings.Join(l.with(""), ""))
		}
	})
	src, err := New(cfg, slog.New(slog.NewTextHandler(l, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return src.(*source), kafkatest.Start(t, engine.Options{Sources: []engine.Source{src}, Sinks: []engine.Sink{out}, Ordering: engine.OrderPerLane})
}

// write appends the URLs from, …, to-1 of an era to partition 0.
func write(t *testing.T, client kafka.Client, topic string, era, from, to int) {
	t.Helper()
	for at := from; at < to; at += 50 {
		var records []kafka.Record
		for n := at; n < min(at+50, to); n++ {
			records = append(records, kafka.Record{Millis: int64(n + 1), Value: []byte(kafkatest.URL(era, n))})
		}
		kafkatest.Write(t, client, topic, 0, "none", records...)
	}
}

func TestRecreatedFake(t *testing.T) {
	_, conn := kafkatest.Fake(t)
	testRecreated(t, conn)
}

func TestRecreatedReal(t *testing.T) { testRecreated(t, kafkatest.Real(t)) }

// testRecreated: all records of a topic that was deleted and created again come out,
// once, whether it has fewer or more of them than before, and whether the source runs
// meanwhile. Brokers delete the offsets of a topic with it, but not always at once. An
// instance that starts then resumes after them.
func testRecreated(t *testing.T, conn connect.Kafka) {
	const before = 100
	for _, n := range []int{20, 300} {
		for _, when := range []string{"running", "stopped", "stopped, offsets kept"} {
			t.Run(fmt.Sprintf("%d records, %s", n, when), func(t *testing.T) {
				running, resets := when == "running", int64(1)
				topic := fmt.Sprintf("recreated-%d", time.Now().UnixNano())
				kafkatest.CreateTopic(t, conn, topic, 1, nil)
				client := kafkatest.Client(t, conn, topic)
				write(t, client, topic, 0, 0, before)
				cfg := quick(conn, topic)
				cfg.Group = topic
				committed := func(want int64) func() bool {
					return func() bool { return kafkatest.Committed(t, conn, topic, topic, 1)[0] == want }
				}
				out, log := &kafkatest.Collector{T: t}, &logBuffer{}
				s, run := startLogged(t, cfg, out, log)
				kafkatest.Until(t, "the first position", committed(before))
				if !running {
					stop(t, run)
				}
				offsets, notes := kafkatest.CommittedNotes(t, conn, topic, topic, 1)
				kafkatest.Recreate(t, conn, topic, 1)
				switch when {
				case "stopped":
					resets = 0 // it is a topic like any other
				case "stopped, offsets kept":
					kafkatest.Rewind(t, conn, topic, topic, offsets, notes...)
				}
				write(t, kafkatest.Client(t, conn, topic), topic, 1, 0, n)
				if !running {
					out = &kafkatest.Collector{T: t}
					s, run = startLogged(t, cfg, out, log)
				}
				kafkatest.Until(t, "the new position", committed(int64(n)))
				kafkatest.Until(t, "the new records", func() bool { return len(out.Got(1)) >= n })
				stop(t, run)
				if d := kafkatest.Check(t, "the new topic", out.Got(1), n); d != 0 {
					t.Errorf("%d records twice", d)
				}
				if got := s.count.resets[reset{topic, recreated}]; got != resets || s.Stats().Resets != resets {
					t.Errorf("%d of %d resets, want %d", got, s.Stats().Resets, resets)
				}
				if lines := log.with("kafka topic recreated, its offsets restart"); len(lines) != int(resets) || resets == 1 && !strings.Contains(lines[0], "position=100 to=0") {
					t.Errorf("logged %q", lines)
				}
				again := &kafkatest.Collector{T: t}
				write(t, kafkatest.Client(t, conn, topic), topic, 1, n, n+1)
				_, run = start(t, cfg, again)
				kafkatest.Until(t, "the position after a restart", committed(int64(n)+1))
				stop(t, run)
				if again.Count() != 1 {
					t.Errorf("%d records after a restart, want 1", again.Count())
				}
			})
		}
	}
}

// TestElections: after each of many elections of a leader, reading goes on at the
// position: no record comes twice, and none is lost.
func TestElections(t *testing.T) {
	const few = 20
	elections := 20
	if os.Getenv(kafkatest.Long) == "1" {
		elections = 100
	}
	c, conn := kafkatest.Fake(t, kfake.NumBrokers(3), kfake.SeedTopics(1, "in"))
	client := kafkatest.Client(t, conn, "in")
	out := &kafkatest.Collector{T: t}
	s, run := start(t, quick(conn, "in"), out)
	n := 0
	for i := range elections {
		write(t, client, "in", 0, n, n+few)
		n += few
		if i%2 == 0 { // otherwise during reading
			kafkatest.Until(t, "the records", func() bool { return out.Count() >= n })
		}
		if err := c.MoveTopicPartition("in", 0, (c.LeaderFor("in", 0)+1)%3); err != nil {
			t.Fatal(err)
		}
		client.Refresh()
	}
	kafkatest.Until(t, "the last records", func() bool { return kafkatest.Committed(t, conn, "g", "in", 1)[0] == int64(n) })
	stop(t, run)
	if d := kafkatest.Check(t, "the partition", out.Got(0), n); d != 0 || s.Stats().Resets != 0 {
		t.Errorf("%d records twice, %d resets", d, s.Stats().Resets)
	}
	_, run = start(t, quick(conn, "in"), out) // with the epoch that is stored
	write(t, client, "in", 0, n, n+1)
	kafkatest.Until(t, "the position after a restart", func() bool { return kafkatest.Committed(t, conn, "g", "in", 1)[0] == int64(n+1) })
	stop(t, run)
	if out.Count() != 1 { // Open has emptied it
		t.Errorf("%d records after a restart, want 1", out.Count())
	}
}

// TestTruncated: a new leader whose log ended before the position has appended other
// records since. Reading goes back to where the logs diverge, while the source runs and
// when it starts. The records after that are read once more: kfake still has them.
func TestTruncated(t *testing.T) {
	const n, end = 100, 60
	for _, running := range []bool{true, false} {
		t.Run(fmt.Sprint("running ", running), func(t *testing.T) {
			c, conn := kafkatest.Fake(t, kfake.NumBrokers(3), kfake.SeedTopics(1, "in"))
			client := kafkatest.Client(t, conn, "in")
			write(t, client, "in", 0, 0, n)
			out, log := &kafkatest.Collector{T: t}, &logBuffer{}
			s, run := startLogged(t, quick(conn, "in"), out, log)
			kafkatest.Until(t, "the position", func() bool { return kafkatest.Committed(t, conn, "g", "in", 1)[0] == n })
			if !running {
				stop(t, run)
			}
			c.ControlKey(int16(kmsg.OffsetForLeaderEpoch), func(r kmsg.Request) (kmsg.Response, error, bool) {
				c.KeepControl()
				req := r.(*kmsg.OffsetForLeaderEpochRequest)
				p := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
				p.EndOffset = end
				resp := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
				resp.Topics = []kmsg.OffsetForLeaderEpochResponseTopic{{Topic: "in", Partitions: []kmsg.OffsetForLeaderEpochResponseTopicPartition{p}}}
				if asked := req.Topics[0].Partitions[0]; asked.LeaderEpoch >= asked.CurrentLeaderEpoch {
					t.Errorf("asked for the epoch %d in the epoch %d", asked.LeaderEpoch, asked.CurrentLeaderEpoch)
				}
				return resp, nil, true
			})
			if err := c.MoveTopicPartition("in", 0, (c.LeaderFor("in", 0)+1)%3); err != nil {
				t.Fatal(err)
			}
			client.Refresh()
			write(t, client, "in", 1, 0, 1)
			want := n + n - end + 1
			if !running {
				out, want = &kafkatest.Collector{T: t}, n-end+1
				s, run = startLogged(t, quick(conn, "in"), out, log)
			}
			kafkatest.Until(t, "the position after it", func() bool { return kafkatest.Committed(t, conn, "g", "in", 1)[0] == n+1 })
			stop(t, run)
			if out.Count() != want {
				t.Errorf("%d records, want %d", out.Count(), want)
			}
			if got := s.count.resets[reset{"in", truncated}]; got != 1 || s.Stats().Resets != 1 {
				t.Errorf("%d of %d resets, want 1", got, s.Stats().Resets)
			}
			if lines := log.with("kafka log truncated"); len(lines) != 1 || !strings.Contains(lines[0], "from=60 to=100 offsets=40") {
				t.Errorf("logged %q", lines)
			}
		})
	}
}

// TestOldBroker: with brokers that have no topic ids, the source reads and commits as
// before.
func TestOldBroker(t *testing.T) {
	c, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"))
	c.ControlKey(int16(kmsg.ApiVersions), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp := r.ResponseKind().(*kmsg.ApiVersionsResponse)
		resp.ApiKeys = []kmsg.ApiVersionsResponseApiKey{
			{ApiKey: 0, MaxVersion: 7}, {ApiKey: 1, MaxVersion: 11}, {ApiKey: 2, MaxVersion: 5}, {ApiKey: 3, MaxVersion: 8}, {ApiKey: 8, MaxVersion: 7},
			{ApiKey: 9, MaxVersion: 5}, {ApiKey: 10, MaxVersion: 2}, {ApiKey: 11, MaxVersion: 5}, {ApiKey: 12, MaxVersion: 3}, {ApiKey: 13, MaxVersion: 2},
			{ApiKey: 14, MaxVersion: 3}, {ApiKey: 18, MaxVersion: 2}, {ApiKey: 22, MaxVersion: 1}, {ApiKey: 23, MaxVersion: 3},
		}
		return resp, nil, true
	})
	client := kafkatest.Client(t, conn, "in")
	write(t, client, "in", 0, 0, 100)
	out := &kafkatest.Collector{T: t}
	_, run := start(t, quick(conn, "in"), out)
	kafkatest.Until(t, "the position", func() bool { return kafkatest.Committed(t, conn, "g", "in", 1)[0] == 100 })
	stop(t, run)
	if kafkatest.Check(t, "the partition", out.Got(0), 100) != 0 {
		t.Error("records twice")
	}
	if log, err := client.LogState(context.Background(), "in", 0); err != nil || log.Known() {
		t.Errorf("log %v, %v", log, err)
	}
}

// TestMark: what is stored with an offset is read again, also with a note of the
// pipeline, and foreign texts are left to the pipeline.
func TestMark(t *testing.T) {
	p := &partition{topic: "in", log: kafka.Log{ID: kafka.TopicID{1, 2, 15: 255}, Epoch: 9}}
	p.epoch.Store(7)
	for _, note := range []string{"", "urlfold window 1 record {}", "a b  c"} {
		log, got := parseMark(p.assignment(5, note).Note)
		if log.ID != p.log.ID || log.Epoch != 7 || got != note {
			t.Errorf("%q: %v %q", note, log, got)
		}
	}
	for text, want := range map[string]string{"": "", "x": "x", markPrefix: "", markPrefix + "AAA 7 x": "", markPrefix + strings.Repeat("A", 22) + " x y": ""} {
		if log, note := parseMark(text); log.Known() || log.Epoch != -1 || note != want {
			t.Errorf("%q: %v %q", text, log, note)
		}
	}
	if !errors.As(error(&change{what: recreated}), new(*change)) {
		t.Error("a change is no error")
	}
}
