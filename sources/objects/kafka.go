package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	client "github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/ground/pause"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sources/kafka"
)

// A topics is the queue in Kafka topics. A pipeline reads them with the source
// kafka, one message in each batch. The topics is the sink of this pipeline. It
// answers for a message when the message is acknowledged, so the pipeline
// commits an offset when all messages before it are acknowledged.
type topics struct {
	group    string
	source   kafkaSource
	pipeline *engine.Pipeline
	arrived  chan *message
	held     atomic.Int64 // messages that are not answered
	stop     context.CancelFunc
	over     chan struct{} // closed when the pipeline has ended
	result   atomic.Pointer[error]
}

// A kafkaSource is the source of package kafka.
type kafkaSource interface {
	engine.Source
	engine.Healther
	CheckConnect(ctx context.Context) error
	Metrics(emit func(name, help, kind string, value float64, labels ...string))
}

// newTopics returns a queue with at most the given number of messages in
// progress.
func newTopics(c kafka.Config, most int, log *slog.Logger) (*topics, error) {
	c.BatchRecords = 1
	s, err := kafka.New(c, log)
	if err != nil {
		return nil, err
	}
	q := &topics{group: c.Group, source: s.(kafkaSource), arrived: make(chan *message), over: make(chan struct{})}
	q.pipeline, err = engine.New(engine.Options{
		Sources: []engine.Source{s}, Sinks: []engine.Sink{sink{q}}, NewCodec: func() engine.Codec { return verbatim{} },
		Workers: 1, BatchBytes: 1 << 10, Batches: most + 16, Logger: log,
	})
	return q, err
}

func (q *topics) name() string { return "kafka/" + q.group }

func (q *topics) open(ctx context.Context) error {
	if err := q.check(ctx); err != nil {
		return err
	}
	run, stop := context.WithCancel(context.Background())
	q.stop = stop
	go func() {
		q.result.Store(new(q.pipeline.Run(run)))
		close(q.over)
	}()
	return nil
}

func (q *topics) check(ctx context.Context) error { return q.source.CheckConnect(ctx) }

func (q *topics) fetch(ctx context.Context, _ int) ([]*message, error) {
	select {
	case m := <-q.arrived:
		return []*message{m}, nil
	case <-time.After(fetchWait):
		return nil, q.failed()
	case <-ctx.Done():
		return nil, nil
	}
}

func (q *topics) ack(_ context.Context, m *message) error { return q.answer(m, engine.Result{}) }

func (q *topics) answer(m *message, r engine.Result) error {
	m.ticket.Done(r)
	q.held.Add(-1)
	return nil
}

// keep does nothing: the instance keeps the partitions of a message.
func (q *topics) keep(context.Context, *message) error { return nil }
func (q *topics) every() time.Duration                 { return time.Hour }

func (q *topics) giveBack(_ context.Context, m *message) error {
	return q.answer(m, engine.Result{Err: errors.New("the source has ended"), Class: engine.Retryable})
}

// empty reports whether all messages of the partitions of this instance are
// acknowledged.
func (q *topics) empty(context.Context) bool { return q.result.Load() != nil && q.failed() == nil }

// failed returns the error of the pipeline if it has ended.
func (q *topics) failed() error {
	if err := q.result.Load(); err != nil {
		return *err
	}
	return nil
}

func (q *topics) health() error { return errors.Join(q.failed(), q.source.Health()) }

// close commits the offsets, and gives up the messages that are not acknowledged.
func (q *topics) close(context.Context) error {
	if q.stop == nil {
		return nil
	}
	q.stop()
	q.pipeline.HardStop()
	<-q.over
	if err := q.failed(); !errors.Is(err, engine.ErrDeadline) {
		return err
	}
	return nil
}

// A sink hands over messages.
type sink struct{ *topics }

func (sink) Open(context.Context) error  { return nil }
func (sink) Close(context.Context) error { return nil }
func (sink) Caps() engine.SinkCaps       { return engine.SinkCaps{} }

func (s sink) Submit(ctx context.Context, _ *engine.Batch, t engine.Ticket) error {
	m := &message{text: bytes.Clone(t.Stream().Bytes), ticket: t}
	s.held.Add(1)
	select {
	case s.arrived <- m:
		return nil
	case <-ctx.Done():
		return s.giveBack(ctx, m)
	}
}

// Barrier waits until all messages are acknowledged. It is called at the end of a run that
// ends with its input.
func (s sink) Barrier(ctx context.Context) error {
	for s.held.Load() > 0 && pause.For(ctx, endEvery) == nil {
	}
	return ctx.Err()
}

// verbatim is a codec that passes on messages, without empty ones, which name nothing.
type verbatim struct{}

func (v verbatim) Process(b *engine.Batch) {
	if v.Reject(b); len(b.In) > 0 {
		b.Out.Bytes = append(b.Out.Bytes, b.In...)
		b.Out.Recs = append(b.Out.Recs, engine.OutRec{Span: engine.Span{Len: uint32(len(b.In))}})
		b.Stats.Records++
		b.Stats.Emitted++
	}
}

func (verbatim) Reject(b *engine.Batch) { b.Next, b.NextMsg = len(b.In), len(b.Msgs) }
func (verbatim) Refuse(*engine.Batch)   {}

// A kafkaPublisher publishes to a topic.
type kafkaPublisher struct {
	client client.Client
	topic  string
	next   int // partition
}

// newKafkaPublisher returns the publisher to a topic of c, which may be empty if there is
// a single topic.
func newKafkaPublisher(c kafka.Config, topic string) (publisher, error) {
	if topic == "" && len(c.Topics) == 1 {
		topic = c.Topics[0]
	}
	if !slices.Contains(c.Topics, topic) {
		return nil, fmt.Errorf("the source reads the topics %q: name one of them with --subject", c.Topics)
	}
	p, err := client.New(c.Kafka, topic)
	return &kafkaPublisher{client: p, topic: topic}, err
}

// perBatch is the number of references in a record batch. Successive batches go
// to different partitions, so that all instances get some.
const perBatch = 50

func (p *kafkaPublisher) publish(ctx context.Context, refs []Reference) error {
	return sendAll(ctx, refs, perBatch, func(texts []string) error {
		var e client.Encoder
		for _, text := range texts {
			e.Append(&client.Record{Value: []byte(text), Millis: time.Now().UnixMilli()})
		}
		batch, err := e.Finish(client.NoProducer, 0, 0)
		if err != nil {
			return err
		}
		list, err := p.client.Topics(ctx, []string{p.topic}, false)
		if err == nil {
			err = list[0].Err
		}
		if err != nil {
			return fmt.Errorf("topic %s: %w", p.topic, err)
		}
		p.next = (p.next + 1) % list[0].Partitions
		if _, err = p.client.Produce(ctx, p.topic, p.next, batch); err != nil {
			p.client.Refresh()
		}
		return err
	})
}

func (p *kafkaPublisher) close(context.Context) error {
	p.client.Close()
	return nil
}
