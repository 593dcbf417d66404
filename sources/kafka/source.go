package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A source reads topics as a member of a consumer group. It implements
// [engine.Source], [engine.Committer] and [engine.Healther].
type source struct {
	cfg    Config
	log    *slog.Logger
	client kafka.Client
	rt     engine.Runtime
	group  *kafka.Group
	leave  sync.Once
	left   sync.WaitGroup // goroutine that leaves the group
	faults faults
	limit  int                     // maximum size of a message; set by CheckConnect, 0 if unknown
	fail   context.CancelCauseFunc // ends Run

	mu    sync.Mutex
	parts map[*engine.Lane]*partition // of the current generation
	count counts
}

// New returns a source for cfg. The error joins everything that is wrong with
// cfg. A nil log discards events.
func New(cfg Config, log *slog.Logger) (engine.Source, error) {
	if cfg.BatchBytes == 0 {
		cfg.BatchBytes = 128 << 10
	}
	if cfg.BatchRecords == 0 {
		cfg.BatchRecords = 1000
	}
	if cfg.Linger == 0 {
		cfg.Linger = 50 * time.Millisecond
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("kafka source: %w", err)
	}
	return &source{cfg: cfg, log: log, parts: map[*engine.Lane]*partition{}, count: counts{gaps: map[string]int64{}, resets: map[reset]int64{}}}, nil
}

// Open implements [engine.Source]. It connects and checks the topics.
func (s *source) Open(ctx context.Context, rt engine.Runtime) error {
	s.rt = rt
	client, err := kafka.New(s.cfg.Kafka, s.cfg.Topics...)
	if err != nil {
		return fmt.Errorf("kafka source: %w", err)
	}
	s.client = client
	return s.check(ctx)
}

// CheckConnect checks that the brokers can be reached and the topics can be
// read. It must not be called on a source that was opened.
func (s *source) CheckConnect(ctx context.Context) error {
	client, err := kafka.New(s.cfg.Kafka, s.cfg.Topics...)
	if err != nil {
		return fmt.Errorf("kafka source: %w", err)
	}
	defer client.Close()
	err = (&source{cfg: s.cfg, client: client, log: s.log}).check(ctx)
	for _, topic := range s.cfg.Topics {
		limit, _ := kafka.MessageLimit(ctx, client, topic) // only for a warning
		s.limit = max(s.limit, limit)
	}
	return err
}

// MessageLimit returns the largest limit of the topics that CheckConnect has
// found, or 0.
func (s *source) MessageLimit() int { return s.limit }

// check checks the topics. It retries until the request timeout.
func (s *source) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.RequestTimeout)
	defer cancel()
	for try := 0; ; try++ {
		err := s.client.Check(ctx)
		if kafka.Misconfigured(err) {
			return fmt.Errorf("kafka source: %w", err)
		}
		topics, err := s.client.Topics(ctx, s.cfg.Topics, false)
		if err == nil {
			s.faults.clear(starting)
			var errs []error
			for _, t := range topics {
				if kafka.CodeOf(t.Err) == kafka.UnknownTopic {
					errs = append(errs, fmt.Errorf("kafka source: topic %s does not exist, or the user may not see it; create it, or correct topics: %w", t.Name, t.Err))
				} else if t.Err != nil && kafka.Blocked(t.Err) {
					errs = append(errs, fmt.Errorf("kafka source: topic %s: %w", t.Name, t.Err))
				}
			}
			return errors.Join(errs...)
		}
		if kafka.Blocked(err) || !kafka.Pause(ctx, try) {
			return fmt.Errorf("kafka source: %w", s.away(err))
		}
		s.faults.set(s.log, starting, s.away(err))
		s.client.Refresh()
	}
}

// starting is where an error occurs before the source has joined its group.
const starting = "brokers"

// away returns the error for brokers that do not answer.
func (s *source) away(err error) error {
	return fmt.Errorf("cannot reach brokers %s; check the addresses and whether the brokers are running: %w", strings.Join(s.cfg.Brokers, ", "), err)
}

// Run implements [engine.Source]. The member stays in its group after Run
// returns, until Close.
func (s *source) Run(ctx context.Context) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s.fail = fail
	var err error
	s.group, err = s.client.Join(kafka.GroupConfig{
		Group:            s.cfg.Group,
		Topics:           s.cfg.Topics,
		Session:          s.cfg.SessionTimeout,
		Rebalance:        s.cfg.rebalance(),
		Heartbeat:        s.cfg.heartbeat(),
		RequestTimeout:   s.cfg.RequestTimeout,
		PartitionRefresh: s.cfg.PartitionRefresh,
	})
	if err != nil {
		return fmt.Errorf("kafka source: %w", err)
	}
	for try := 0; ctx.Err() == nil; {
		gen, err := s.group.Next(ctx)
		switch {
		case gen != nil:
			began := time.Now()
			// Read until the generation is over or ctx is done, and all readers have
			// ended. If ctx is done, the member stays in the generation.
			m := &member{s: s, gen: gen, idle: make(chan struct{}), over: make(chan struct{})}
			s.mu.Lock()
			s.count.generations++
			s.mu.Unlock()
			s.faults.clear("group")
			s.log.Info("kafka generation started", "group", s.cfg.Group, "generation", gen.ID(), "partitions", len(gen.Assignments()))
			gen.Start(func(gctx context.Context) { m.run(gctx, ctx, fail) })
			<-m.idle
			select {
			case <-m.over:
			case <-ctx.Done():
			}
			if time.Since(began) > time.Second {
				try = 0
			}
		case ctx.Err() != nil:
		case kafka.CodeOf(err) == kafka.RebalanceInProgress:
			continue
		default:
			s.faults.set(s.log, "group", fmt.Errorf("consumer group %s: %w", s.cfg.Group, err))
			s.client.Refresh()
		}
		if try++; try > 1 {
			kafka.Pause(ctx, min(try, 6))
		}
	}
	if err := context.Cause(ctx); errors.Is(err, engine.ErrStopped) || errors.Is(err, errBroken) || errors.As(err, new(*kafka.PanicError)) {
		return err
	}
	return nil
}

// guard turns a panic of the goroutine that has deferred it into the error
// of Run.
func (s *source) guard() {
	if err := kafka.Caught(recover()); err != nil {
		s.fail(fmt.Errorf("kafka source: %w", err))
	}
}

// errBroken marks an error that ends the run.
var errBroken = errors.New("pipeline accepts no more batches")

// Commit implements [engine.Committer].
func (s *source) Commit(ctx context.Context, ups []engine.LanePos) error {
	s.mu.Lock()
	of := map[*member][]commitment{}
	for _, up := range ups {
		if p := s.parts[up.Lane]; p != nil {
			of[p.m] = append(of[p.m], commitment{p, up.Lane, up.Pos.A, up.Note})
		}
	}
	s.mu.Unlock()
	over := map[*engine.Lane]bool{}
	var errs []error
	for m, list := range of {
		ended, err := m.commit(ctx, list)
		errs = append(errs, err)
		for _, u := range list {
			over[u.lane] = ended
		}
	}
	for i := range ups {
		ended, known := over[ups[i].Lane]
		ups[i].Refused = ended || !known
	}
	return errors.Join(errs...)
}

// Split implements [engine.Splitter]. The position is the offset of the first
// message that is split off.
func (s *source) Split(b *engine.Batch, _, msg int) (end engine.Position, ok bool) {
	return engine.Position{A: b.Msgs[msg].Pos, B: b.End.B}, true
}

// Health implements [engine.Healther].
func (s *source) Health() error { return s.faults.first() }

// Close implements [engine.Source]. It leaves the group.
func (s *source) Close(context.Context) error {
	s.quit()
	s.left.Wait()
	if s.client != nil {
		s.client.Close()
	}
	return nil
}

// leaveTimeout limits how long leaving the group takes, in addition to
// draining.
const leaveTimeout = 5 * time.Second

// quit starts to leave the group.
func (s *source) quit() {
	if s.group == nil {
		return
	}
	s.leave.Do(func() {
		s.left.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), s.cfg.drain()+leaveTimeout)
			defer cancel()
			s.group.Close(ctx)
		})
	})
}
