package sinks_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/discard"
	"github.com/urlfold/urlfold/sinks/kafka"
	sinknats "github.com/urlfold/urlfold/sinks/nats"
)

// limit is the maximum size of a message of the dead letters. least is the size
// of the smallest input message: with 2 KiB less than the limit.
const limit, least = 4096, limit - 2048

// A sizedMessage is a message of a given size.
type sizedMessage struct {
	key, header, value string
}

// sized returns messages of every step-th size from least to limit: of control
// characters, which are six times as long in a dead letter, of quotes, of bytes
// that are no UTF-8, of letters, and with a long key or header. The last kind
// can be parsed, and is refused by the sink.
func sized(step int) (all []sizedMessage) {
	for n := limit; n >= least; n -= step {
		name := strconv.Itoa(len(all))
		for _, fill := range []string{"\x01", `"`, "\xff", "x"} {
			name := strconv.Itoa(len(all))
			all = append(all, sizedMessage{"k", "h", name + strings.Repeat(fill, n-len(name))})
		}
		all = append(all, sizedMessage{strings.Repeat("k", n-100), "h", name + "{key"}, sizedMessage{"k", strings.Repeat("h", n-100), name + "{header"})
		url := fmt.Sprintf(`{"url":"http://h/%s","rest":"`, name)
		all = append(all, sizedMessage{"k", "h", url + strings.Repeat("x", n-len(url)-2) + `"}`})
	}
	return all
}

// A messageSource emits messages, one lane of them.
type messageSource struct {
	rt   engine.Runtime
	list []sizedMessage
}

func (s *messageSource) Open(_ context.Context, rt engine.Runtime) error { s.rt = rt; return nil }
func (s *messageSource) Close(context.Context) error                     { return nil }

func (s *messageSource) Run(ctx context.Context) error {
	l := s.rt.NewLane("in[0]", engine.LaneLimits{})
	l.SetID("kafka/in/0")
	defer s.rt.End(l)
	for at := 0; at < len(s.list); {
		b, err := s.rt.Get(ctx, l)
		if err != nil {
			return err
		}
		for end := min(at+50, len(s.list)); at < end; at++ {
			m := &s.list[at]
			b.AddMessage(int64(at), 1, []byte(m.key), []byte(m.value))
			b.AddHeader("h", []byte(m.header))
		}
		if err := s.rt.Emit(ctx, b, engine.Position{A: int64(at)}); err != nil {
			return err
		}
	}
	return nil
}

// A refuser permanently refuses all records.
type refuser struct{}

func (refuser) Open(context.Context) error    { return nil }
func (refuser) Barrier(context.Context) error { return nil }
func (refuser) Close(context.Context) error   { return nil }
func (refuser) Caps() engine.SinkCaps         { return engine.SinkCaps{Ordered: true} }

func (refuser) Submit(_ context.Context, _ *engine.Batch, t engine.Ticket) error {
	t.Done(engine.Result{Err: errors.New("refused"), Class: engine.Permanent, Fault: engine.FaultRecord})
	return nil
}

// TestDeadLettersOfEverySize: each message whose size is at most the limit of
// the dead letters' sink becomes one dead letter. A sink without a limit gets it
// whole; another one gets it cut if it is too long, with the length and the hash
// of the record.
func TestDeadLettersOfEverySize(t *testing.T) {
	for name, start := range map[string]func(t testing.TB) fixture{
		"file": toLog("dead.jsonl"), "kafka": deadKafka, "jetstream": deadJetStream, "nats": deadCore,
	} {
		for ordering, step := range map[engine.Ordering]int{engine.OrderNone: 1, engine.OrderPerLane: 16} {
			t.Run(name+"/"+ordering.String(), func(t *testing.T) {
				t.Parallel()
				f := start(t)
				if testing.Short() {
					step *= 8
				}
				list := sized(step)
				c := record.Config{Format: "jsonl", URLField: "url"}
				runToDeadLetter(t, &messageSource{list: list}, refuser{}, f.sink(), c, ordering)
				checkDeadLetters(t, list, f.written(), name == "file")
			})
		}
	}
}

// runToDeadLetter runs a pipeline to its end.
func runToDeadLetter(t *testing.T, src engine.Source, sink, dead engine.Sink, c record.Config, ordering engine.Ordering) *engine.Pipeline {
	t.Helper()
	n, err := codec.New(codec.Profiles()[0])
	if err != nil {
		t.Fatal(err)
	}
	c.Normalizer, c.OnRejected, c.Facts = n, record.DispositionDead, true
	job, err := record.New(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.New(engine.Options{
		Sources: []engine.Source{src}, Sinks: []engine.Sink{sink}, DeadLetter: dead, NewCodec: engine.NewRecordCodec(job),
		Ordering: ordering, Workers: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience, p.HardStop)
	defer late.Stop()
	if err := p.Run(ctx); err != nil {
		t.Fatalf("Run: %v, %+v", err, p.Snapshot().Sinks)
	}
	return p
}

func checkDeadLetters(t *testing.T, list []sizedMessage, written string, whole bool) {
	t.Helper()
	bySum := map[string]int{}
	for _, m := range list {
		sum := sha256.Sum256([]byte(m.value))
		bySum[hex.EncodeToString(sum[:])]++
	}
	cut := 0
	for line := range strings.Lines(written) {
		var got struct {
			Reason, Sha256, Record string
			Record64               []byte `json:"record_b64"`
			Truncated              bool
			Length                 int
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Reason == "" {
			t.Fatalf("%.100q: %v", line, err)
		}
		if got.Truncated {
			cut++
			if len(strings.TrimSuffix(line, "\n")) > limit || got.Length == 0 {
				t.Fatalf("%d bytes: %.100q", len(line), line)
			}
		} else {
			sum := sha256.Sum256(append(got.Record64, got.Record...))
			got.Sha256 = hex.EncodeToString(sum[:])
		}
		if bySum[got.Sha256]--; bySum[got.Sha256] < 0 {
			t.Fatalf("twice, or not from the input: %.100q", line)
		}
	}
	for sum, n := range bySum {
		if n != 0 {
			t.Fatalf("no dead letter has the record with the hash %s", sum)
		}
	}
	if whole != (cut == 0) {
		t.Errorf("%d dead letters are cut", cut)
	}
}

// TestBurstOfLongRecords: batches of records that are too large for a broker go
// to the dead letter, however many there are, and their lane continues.
func TestBurstOfLongRecords(t *testing.T) {
	for name, start := range map[string]func(t testing.TB) fixture{"kafka": deadKafka, "jetstream": deadJetStream, "nats": deadCore} {
		for _, ordering := range []engine.Ordering{engine.OrderNone, engine.OrderPerLane} {
			t.Run(name+"/"+ordering.String(), func(t *testing.T) {
				t.Parallel()
				f := start(t)
				long := strings.Repeat("http://h/"+strings.Repeat("x", limit)+"\n", 2)
				src := &textSource{batches: []string{long, long, long, long, long, long, "http://h/1\nhttp://h/2\n"}}
				p := runToDeadLetter(t, src, f.sink(), discard.New(discard.Config{}), record.Config{Format: "lines"}, ordering)
				if s := p.Snapshot(); s.Sinks[0].Records != 2 || s.Sinks[0].DeadLetters != 12 {
					t.Errorf("%+v", s.Sinks[0])
				}
				sameRecords(t, f, []string{"http://h/1\n", "http://h/2\n"}, false)
			})
		}
	}
}

func deadKafka(t testing.TB) fixture {
	c, conn := kafkatest.Fake(t)
	if err := c.CreateTopic("out", 1, map[string]string{"max.message.bytes": strconv.Itoa(limit)}); err != nil {
		t.Fatal(err)
	}
	f := toKafka(1, "none")(t)
	f.sink = func() engine.Sink {
		return build(t, "kafka", kinds.SinkEnv{}, func(c *kafka.Config) {
			c.Kafka, c.Topic, c.Compression, c.BatchBytes = conn, "out", "none", 32<<10
		})
	}
	f.written = func() string {
		var text strings.Builder
		for _, r := range kafkatest.Read(t, kafkatest.Client(t, conn, "out"), "out", 1)[0] {
			fmt.Fprintf(&text, "%s\n", r.Value)
		}
		return text.String()
	}
	return f
}

func deadJetStream(t testing.TB) fixture {
	srv := natstest.Start(t, func(o *server.Options) { o.MaxPayload = limit })
	js := streamOut(t, srv.URL())
	return fixture{
		sink: func() engine.Sink {
			return build(t, "jetstream", kinds.SinkEnv{}, func(c *sinknats.JetStreamConfig) {
				natsConfig(&c.NATS, srv.URL())
				c.Subject, c.Publish.Ordered = "out.x", true
			})
		},
		written: func() string { return messages(t, js) },
	}
}

func deadCore(t testing.TB) fixture {
	srv := natstest.Start(t, func(o *server.Options) { o.MaxPayload = limit })
	return fixtureOfCore(t, srv.URL())
}
