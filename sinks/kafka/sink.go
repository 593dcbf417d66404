package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/ground/metric"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A sink writes to one topic. It implements [engine.Sink], [engine.Healther] and
// [engine.ExtentReporter].
type sink struct {
	cfg    Config
	codec  kafka.Codec
	log    *slog.Logger
	client kafka.Client
	format format
	limit  int // maximum size of a message; set by CheckConnect, 0 if unknown

	ctx     context.Context // context of the writers
	stop    context.CancelFunc
	wg      sync.WaitGroup
	writers []*writer
	found   *found       // records that must not be written again; nil without ExactlyOnce
	jobs    chan *job    // free jobs
	splits  atomic.Int64 // record batches that were resent in parts

	mu       sync.Mutex
	turn     int // counter for partition_by: none
	waiting  int // unanswered jobs
	resolved chan struct{}
	faults   map[int]error // by partition
	outage   *logging.Outage
	plain    bool             // idempotent writes are not allowed; logged only once
	retries  map[string]int64 // by error class
}

// New returns a sink with the given configuration. The error joins all problems
// of cfg. A nil logger discards all messages.
func New(cfg Config, log *slog.Logger) (engine.Sink, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("kafka sink: %w", err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	codec, err := kafka.CodecByName(cfg.Compression)
	if err != nil {
		return nil, fmt.Errorf("kafka sink: %w", err)
	}
	return &sink{
		cfg: cfg, codec: codec, log: log, format: newFormat(&cfg),
		jobs: make(chan *job, freeJobs), faults: map[int]error{}, retries: map[string]int64{},
		outage: logging.NewOutage(log, "write failed, retrying", "write recovered", "topic", cfg.Topic),
	}, nil
}

// freeJobs is the maximum number of free jobs kept for reuse.
const freeJobs = 64

// NeedsFacts reports whether the codec must collect record.Facts: keys and
// flags.
func (s *sink) NeedsFacts() bool {
	return s.cfg.PartitionBy == byKey || s.cfg.key() == byKey || s.cfg.Has("flags")
}

// Caps implements [engine.Sink].
func (s *sink) Caps() engine.SinkCaps { return engine.SinkCaps{Ordered: true} }

// Open implements [engine.Sink]. It connects and checks the topic.
func (s *sink) Open(ctx context.Context) error {
	client, err := kafka.New(s.cfg.Kafka, s.cfg.Topic)
	if err != nil {
		return fmt.Errorf("kafka sink: %w", err)
	}
	s.client = client
	n, err := s.find(ctx, true)
	if err != nil {
		return err
	}
	switch limit, err := kafka.MessageLimit(ctx, s.client, s.cfg.Topic); {
	case err != nil:
		s.log.Info("cannot read topic limits", "topic", s.cfg.Topic, "error", err)
	case limit < int(s.cfg.BatchBytes)+batchOverhead:
		s.log.Warn("batch_size exceeds the topic limit, larger batches are split",
			"topic", s.cfg.Topic, "topic_max_bytes", limit, "batch_size", s.cfg.BatchBytes.String())
	}
	s.ctx, s.stop = context.WithCancel(ctx)
	for i := range n {
		s.writers = append(s.writers, &writer{s: s, id: i, wake: make(chan struct{}, 1), producer: kafka.NoProducer, known: !s.cfg.Idempotent})
	}
	if err := s.resume(ctx); err != nil {
		return err
	}
	for _, w := range s.writers {
		s.wg.Go(w.run)
	}
	return nil
}

// CheckConnect checks whether the brokers are reachable and the topic exists.
// It does not require Open, and creates nothing.
func (s *sink) CheckConnect(ctx context.Context) error {
	client, err := kafka.New(s.cfg.Kafka, s.cfg.Topic)
	if err != nil {
		return fmt.Errorf("kafka sink: %w", err)
	}
	defer client.Close()
	if _, err = (&sink{cfg: s.cfg, client: client}).find(ctx, false); err == nil {
		s.limit, _ = kafka.MessageLimit(ctx, client, s.cfg.Topic) // only for a warning
	}
	return err
}

// MessageLimit returns the limit of the topic that CheckConnect has found, or 0.
func (s *sink) MessageLimit() int { return s.limit }

// find returns the number of partitions of the topic. It waits for the brokers
// for at most RequestTimeout. If create is set, the brokers may create the
// topic.
func (s *sink) find(ctx context.Context, create bool) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.RequestTimeout)
	defer cancel()
	for try := 0; ; try++ {
		if err := s.client.Check(ctx); err != nil {
			return 0, fmt.Errorf("kafka sink: %w", err)
		}
		topics, err := s.client.Topics(ctx, []string{s.cfg.Topic}, create)
		if err == nil {
			err = topics[0].Err
		}
		if err == nil {
			return topics[0].Partitions, nil
		}
		made := create && try < 5 && kafka.CodeOf(err) == kafka.UnknownTopic // the topic may be in the process of being created
		if kafka.Blocked(err) && !made {
			return 0, fmt.Errorf("kafka sink: topic %s: %w", s.cfg.Topic, err)
		}
		if !kafka.Pause(ctx, try) {
			return 0, fmt.Errorf("kafka sink: topic %s: no answer from %s: %w", s.cfg.Topic, strings.Join(s.cfg.Brokers, ", "), err)
		}
		s.client.Refresh()
	}
}

// batchOverhead is the maximum overhead in bytes of a record batch over its
// records.
const batchOverhead = 1 << 10

// Submit implements [engine.Sink].
func (s *sink) Submit(_ context.Context, b *engine.Batch, t engine.Ticket) error {
	if s.ctx.Err() != nil {
		return errStopped
	}
	var j *job // reuse a job, if one is free
	select {
	case j = <-s.jobs:
	default:
		j = new(job)
	}
	j.b, j.t = b, t
	j.left.Store(int32(len(t.Stream().Recs)) + 1)
	j.failed = failures{records: j.failed.records[:0], untried: j.failed.untried[:0]}
	s.partition(j)
	s.mu.Lock()
	s.waiting++
	s.mu.Unlock()
	for i, w := range s.writers {
		if lo, hi := j.start[i], j.start[i+1]; lo < hi {
			w.put(piece{j, j.order[lo:hi]})
		}
	}
	s.done(j, 1)
	return nil
}

var errStopped = errors.New("kafka sink: stopped")

// Barrier implements [engine.Sink].
func (s *sink) Barrier(ctx context.Context) error {
	for {
		s.mu.Lock()
		if s.waiting == 0 {
			s.mu.Unlock()
			return nil
		}
		if s.resolved == nil {
			s.resolved = make(chan struct{})
		}
		resolved := s.resolved
		s.mu.Unlock()
		select {
		case <-resolved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close implements [engine.Sink].
func (s *sink) Close(context.Context) error {
	if s.stop != nil {
		s.stop()
	}
	s.wg.Wait()
	for _, w := range s.writers {
		// run has returned. Answer all queued records, and make put answer
		// later ones.
		w.mu.Lock()
		queue := w.queue
		w.queue, w.over = nil, true
		w.mu.Unlock()
		for _, p := range queue {
			w.drop(p)
		}
	}
	if s.client != nil {
		s.client.Close()
	}
	return nil
}

// Health implements [engine.Healther].
func (s *sink) Health() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, err := range s.faults {
		return fmt.Errorf("kafka sink: %s[%d]: %w", s.cfg.Topic, i, err)
	}
	return nil
}

// Metrics calls emit for each metric of the sink that the pipeline cannot
// collect, because retries happen within the sink.
func (s *sink) Metrics(emit metric.Emit) {
	count, gauge := metric.Of(emit)
	s.mu.Lock()
	retries, failing := maps.Clone(s.retries), len(s.faults)
	s.mu.Unlock()
	for _, class := range kafka.Classes() {
		count("sink_retries_total", "Record batches that were retried, by error class.", retries[class], "class", class)
	}
	count("sink_splits_total", "Record batches that were resent in halves or without some records because a broker refused records.", s.splits.Load(), "topic", s.cfg.Topic)
	gauge("sink_partitions_failing", "Partitions whose writes are currently failing.", int64(failing), "topic", s.cfg.Topic)
}

// fault registers why writes to a partition currently fail, or nil if they do
// not.
func (s *sink) fault(partition int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		if delete(s.faults, partition); len(s.faults) == 0 {
			s.outage.Clear()
		}
		return
	}
	s.faults[partition] = err
	s.retries[kafka.ClassOf(err)]++
	s.outage.Set(fmt.Errorf("%s[%d]: %w", s.cfg.Topic, partition, err))
}
