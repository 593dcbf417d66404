package kafka

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// An outTopic is an empty topic.
type outTopic struct {
	conn  connect.Kafka
	name  string
	parts int
}

// eachBroker runs test with an empty topic, of kfake and of a real broker.
func eachBroker(t *testing.T, parts int, test func(t *testing.T, out outTopic)) {
	t.Run("fake", func(t *testing.T) {
		_, conn := kafkatest.Fake(t, kfake.SeedTopics(int32(parts), "out"))
		test(t, outTopic{conn, "out", parts})
	})
	t.Run("real", func(t *testing.T) {
		conn := kafkatest.Real(t)
		name := fmt.Sprintf("exact-%d", time.Now().UnixNano())
		kafkatest.CreateTopic(t, conn, name, parts, nil)
		test(t, outTopic{conn, name, parts})
	})
}

// open returns an open sink with exactly-once delivery.
func (o outTopic) open(t *testing.T, resume []engine.Extent, change func(*sink)) *sink {
	t.Helper()
	s := newSink(t, o.conn, func(c *Config) { c.ExactlyOnce, c.Topic, c.Name, c.Resume = true, o.name, "sink", resume })
	if change != nil {
		change(s)
	}
	if err := s.Open(kafkatest.Context(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(kafkatest.Context(t)) }) // all records are answered
	return s
}

// write appends a record of another producer.
func (o outTopic) write(t *testing.T, partition int, text string) {
	t.Helper()
	kafkatest.Write(t, kafkatest.Client(t, o.conn), o.name, partition, "gzip", kafka.Record{Value: []byte(text)})
}

// submitRange submits the records at the positions from first up to end.
func submitRange(t *testing.T, s *sink, first, end int) {
	t.Helper()
	b := &engine.Batch{Lane: new(engine.Lane), Off: int64(first)}
	for i := first; i < end; i++ {
		at := uint32(len(b.Out.Bytes))
		b.Out.Bytes = fmt.Appendf(b.Out.Bytes, "record %d\n", i)
		b.Out.Recs = append(b.Out.Recs, engine.OutRec{Span: engine.Span{Off: at, Len: uint32(len(b.Out.Bytes)) - at}, Src: uint32(i - first)})
	}
	if r := submitBatch(t, s, b); r.Err != nil {
		t.Fatal(r.Err)
	}
}

// once checks that the topic has the records at the positions before end, each once,
// and nothing else than others.
func (o outTopic) once(t *testing.T, end int, others ...string) {
	t.Helper()
	want := slices.Clone(others)
	for i := range end {
		want = append(want, fmt.Sprintf("record %d", i))
	}
	var got []string
	for _, p := range kafkatest.Read(t, kafkatest.Client(t, o.conn), o.name, o.parts) {
		for _, r := range p {
			got = append(got, string(r.Value))
		}
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("topic has %q, want %q", got, want)
	}
}

// TestReadBack: a restart does not write again what the topic has received after the
// checkpoint, on any partition and with records of others among it. In each life the
// checkpoint covers the first half of what the life before has written.
func TestReadBack(t *testing.T) {
	for _, by := range []string{"input", "none"} {
		t.Run(by, func(t *testing.T) {
			eachBroker(t, 3, func(t *testing.T, out outTopic) {
				out.write(t, 1, "older")
				others := []string{"older"}
				var cut []engine.Extent
				for life := range 8 {
					s := out.open(t, cut, func(s *sink) { s.format.partitionBy = by })
					if life > 0 && s.found.len() == 0 {
						t.Errorf("life %d: nothing was read back", life)
					}
					submitRange(t, s, life*10, life*10+10)
					cut = s.Extents(nil)
					submitRange(t, s, life*10+10, life*10+20)
					out.write(t, life%3, "other")
					others = append(others, "other")
					if err := s.Close(kafkatest.Context(t)); err != nil {
						t.Fatal(err)
					}
				}
				out.once(t, 90, others...)
			})
		})
	}
}

// TestLateRequest: a request of the killed process arrives after the restart has read
// back, and before the first request of the restart.
func TestLateRequest(t *testing.T) {
	type span struct{ first, end int }
	for _, tt := range []struct{ late, first span }{
		{span{10, 13}, span{10, 13}}, // the same request: for the broker a duplicate
		{span{13, 16}, span{10, 13}}, // as many other records: for the broker a duplicate, too
		{span{10, 12}, span{10, 13}},
		{span{10, 14}, span{10, 13}},
		{span{12, 20}, span{10, 11}},
	} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			eachBroker(t, 1, func(t *testing.T, out outTopic) {
				killed := out.open(t, nil, nil)
				submitRange(t, killed, 0, 10)
				s := out.open(t, killed.Extents(nil), nil)
				submitRange(t, killed, tt.late.first, tt.late.end)
				submitRange(t, s, tt.first.first, tt.first.end)
				submitRange(t, s, tt.first.end, 30)
				out.once(t, 30)
			})
		})
	}
}

// TestLaterRequest: a request of the killed process arrives after the first request of
// the restart. The broker rejects it, or takes it for a duplicate.
func TestLaterRequest(t *testing.T) {
	for _, n := range []int{1, 3, 5} {
		eachBroker(t, 1, func(t *testing.T, out outTopic) {
			killed := out.open(t, nil, nil)
			submitRange(t, killed, 0, 10)
			s := out.open(t, killed.Extents(nil), nil)
			submitRange(t, s, 10, 13)
			var e kafka.Encoder
			for range n {
				e.Append(&kafka.Record{Value: []byte("copy")})
			}
			w := killed.writers[0]
			batch, err := e.Finish(w.producer, w.sequence, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = kafkatest.Client(t, out.conn).Produce(kafkatest.Context(t), out.name, 0, batch)
			if same := n == 3; (err == nil) != same {
				t.Errorf("%d records: error %v", n, err)
			}
			out.once(t, 13)
		})
	}
}

// A lagging leader shows records only from a time on.
type lagging struct {
	kafka.Client
	until time.Time
	end   int64 // the end that it knows until then
}

func (l lagging) Fetch(ctx context.Context, r *kafka.FetchRequest, f *kafka.Fetched) error {
	if time.Now().Before(l.until) {
		*f = kafka.Fetched{}
		<-time.After(10 * time.Millisecond)
		return nil
	}
	return l.Client.Fetch(ctx, r, f)
}

func (l lagging) Offset(ctx context.Context, topic string, partition int, at int64) (int64, error) {
	if at == kafka.Latest && time.Now().Before(l.until) {
		return l.end, nil
	}
	return l.Client.Offset(ctx, topic, partition, at)
}

// TestLaggingLeader: the first request of a restart is written, but a new leader does
// not show its records for a while. The request is sent again with the same number.
func TestLaggingLeader(t *testing.T) {
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "out"))
	out := outTopic{conn, "out", 1}
	killed := out.open(t, nil, nil)
	submitRange(t, killed, 0, 10)
	s := out.open(t, killed.Extents(nil), func(s *sink) { s.cfg.RequestTimeout = 100 * time.Millisecond })
	s.client = lagging{s.client, time.Now().Add(time.Second), 10}
	submitRange(t, s, 10, 13)
	submitRange(t, s, 13, 20)
	out.once(t, 20)
	w := s.writers[0]
	s.client = lagging{s.client, time.Now().Add(time.Second), 5}
	if end, err := w.bounds(kafkatest.Context(t)); end != 20 || err != nil || w.next != 20 {
		t.Errorf("end %d, error %v, next %d: the part before the end counts as gone", end, err, w.next)
	}
}

// TestForgottenProducer: the brokers have forgotten the producer of the checkpoint.
func TestForgottenProducer(t *testing.T) {
	c, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "out"))
	out := outTopic{conn, "out", 1}
	killed := out.open(t, nil, nil)
	submitRange(t, killed, 0, 10)
	s := out.open(t, killed.Extents(nil), nil)
	c.ControlKey(int16(kmsg.Produce), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		return refuse(kreq.(*kmsg.ProduceRequest), kerr.OutOfOrderSequenceNumber), nil, true
	})
	submitRange(t, s, 10, 20)
	out.once(t, 20)
}

// refuse returns the response to req with the error e for each partition.
func refuse(req *kmsg.ProduceRequest, e *kerr.Error) *kmsg.ProduceResponse {
	res := req.ResponseKind().(*kmsg.ProduceResponse)
	for _, topic := range req.Topics {
		out := kmsg.NewProduceResponseTopic()
		out.Topic = topic.Topic
		for _, p := range topic.Partitions {
			one := kmsg.NewProduceResponseTopicPartition()
			one.Partition, one.ErrorCode = p.Partition, e.Code
			out.Partitions = append(out.Partitions, one)
		}
		res.Topics = append(res.Topics, out)
	}
	return res
}

// TestTopicGone: a topic that is shorter than at the checkpoint is reported.
func TestTopicGone(t *testing.T) {
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "out"))
	out := outTopic{conn, "out", 1}
	var text bytes.Buffer
	s := out.open(t, []engine.Extent{{Path: "kafka://out/0", Length: 100}}, func(s *sink) { s.log = slog.New(slog.NewTextHandler(&text, nil)) })
	submitRange(t, s, 0, 3)
	out.once(t, 3)
	if !strings.Contains(text.String(), `checkpoint=100 start=0 end=0`) {
		t.Error(text.String())
	}
}

// TestExactNeedsNumbers: exactly-once delivery requires idempotent writes.
func TestExactNeedsNumbers(t *testing.T) {
	c, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "out"))
	c.ControlKey(int16(kmsg.InitProducerID), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		res := kreq.ResponseKind().(*kmsg.InitProducerIDResponse)
		res.ErrorCode = kerr.ClusterAuthorizationFailed.Code
		return res, nil, true
	})
	s := newSink(t, conn, func(c *Config) { c.ExactlyOnce = true })
	if err := s.Open(kafkatest.Context(t)); err == nil || !strings.Contains(err.Error(), "exactly_once requires idempotent writes") {
		t.Error(err)
	}
	if err := s.Close(kafkatest.Context(t)); err != nil {
		t.Error(err)
	}
	cfg := Default()
	cfg.Kafka, cfg.Topic, cfg.ExactlyOnce, cfg.Idempotent = conn, "out", true, false
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "must be true with exactly_once") {
		t.Error(err)
	}
}
