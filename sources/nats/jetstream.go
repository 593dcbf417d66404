package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/urlfold/urlfold/internal/nats"
	"github.com/urlfold/urlfold/pipeline"
)

// A JetStream is a source that reads a stream. Its methods are those of
// [pipeline.Source] and [pipeline.Acker], and some that tell how it is.
type JetStream struct {
	cfg    JetStreamConfig
	rt     pipeline.Runtime
	conn   atomic.Pointer[client.Conn] // nil before Open; Health and Stats are asked meanwhile
	stream client.StreamInfo
	info   client.ConsumerInfo

	warnings []string
	pull     atomic.Pointer[client.Pull]
	nak      []byte
	quit     context.CancelFunc
	keepers  sync.WaitGroup
	confirm  sync.WaitGroup // confirmations that are waited for

	mu     sync.Mutex
	flying map[*receipt]struct{}

	stats counters
}

// NewJetStream returns the source that cfg asks for. The error tells all that is
// wrong with cfg, joined. It connects to nothing.
func NewJetStream(cfg JetStreamConfig) (*JetStream, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("jetstream source: %w", err)
	}
	return &JetStream{cfg: cfg, nak: client.NakDelay(cfg.NakDelay), flying: map[*receipt]struct{}{}}, nil
}

// Open implements [pipeline.Source].
func (s *JetStream) Open(ctx context.Context, rt pipeline.Runtime) error {
	conn, err := client.Connect(ctx, s.cfg.Config)
	if err != nil {
		return err
	}
	s.rt = rt
	s.conn.Store(conn)
	if err := s.look(ctx, conn, s.cfg.Consumer.Create); err != nil {
		return err
	}
	conn.Warn(s.warnings)
	keep, quit := context.WithCancel(context.Background())
	s.quit = quit
	s.keepers.Go(func() { s.keep(keep) })
	s.keepers.Go(func() { s.watchLag(keep) })
	return nil
}

// CheckConnect connects, looks at the stream and the consumer, and disconnects. It
// creates nothing: a consumer that is not there is an error only if it is not to be
// created. It is for a source that is not opened.
func (s *JetStream) CheckConnect(ctx context.Context) error {
	conn, err := client.Connect(ctx, s.cfg.Config)
	if err != nil {
		return err
	}
	defer conn.Close()
	err = s.look(ctx, conn, false)
	if errors.Is(err, client.ErrNoConsumer) && s.cfg.Consumer.Create {
		return nil
	}
	return err
}

// look looks at the stream and the consumer.
func (s *JetStream) look(ctx context.Context, conn *client.Conn, create bool) (err error) {
	if s.stream, err = conn.Stream(ctx, s.cfg.Stream); err != nil {
		return err
	}
	c := &s.cfg.Consumer
	if err := checkFilters(&s.stream, c.FilterSubjects); err != nil {
		return err
	}
	s.info, err = conn.Consumer(ctx, client.Consumer{
		Stream: s.cfg.Stream, Durable: s.cfg.Durable, Filters: c.FilterSubjects,
		AckWait: c.AckWait, MaxAckPending: c.MaxAckPending, MaxDeliver: c.MaxDeliver,
	}, create)
	if err != nil {
		return err
	}
	s.stats.pending.Store(s.info.Pending)
	s.stats.ackPending.Store(uint64(s.info.AckPending))
	s.warnings = s.warn()
	return s.cfg.Poison.validate(s.info.MaxDeliver)
}

// laneName names the lane: "jetstream/<stream>/<consumer>".
func (s *JetStream) laneName() string { return "jetstream/" + s.cfg.Stream + "/" + s.cfg.Durable }

// Run implements [pipeline.Source].
func (s *JetStream) Run(ctx context.Context) error {
	pull, err := s.conn.Load().NewPull(client.PullConfig{
		Stream: s.cfg.Stream, Durable: s.cfg.Durable, Info: s.info,
		Messages: s.cfg.Prefetch.Messages, Bytes: int(s.cfg.Prefetch.Bytes),
		Expires: 30 * time.Second, Heartbeat: heartbeat,
	})
	if err != nil {
		return err
	}
	s.pull.Store(pull)
	lane := s.rt.NewLane(s.laneName(), pipeline.LaneLimits{})
	defer s.rt.End(lane)
	// A stream that is deleted and created again counts from 1 again. Its records are
	// others, so their ids must be.
	lane.SetID(s.laneName() + "/" + strconv.FormatInt(s.stream.Created.UnixNano(), 36))
	r := newReader(s, lane, pull)
	return r.run(ctx)
}

// heartbeat is how often the server gives a sign of life while it has no message.
const heartbeat = 5 * time.Second

// Resolved implements [pipeline.Acker].
func (s *JetStream) Resolved(b *pipeline.Batch) {
	refs := s.settle(b)
	if s.cfg.Ack == ackConfirmed && len(refs) > 0 {
		refs := append([]string(nil), refs...)
		s.confirm.Go(func() { s.ackConfirmed(refs) })
		return
	}
	s.answer(refs, client.Ack, &s.stats.acked)
}

// Abandoned implements [pipeline.Acker].
func (s *JetStream) Abandoned(b *pipeline.Batch, _ error) {
	s.answer(s.settle(b), s.nak, &s.stats.naked)
}

// Split implements [pipeline.Splitter]: the messages behind are given back.
func (s *JetStream) Split(b *pipeline.Batch, _, msg int) (end pipeline.Position, ok bool) {
	x, ok := b.Ext.(*receipt)
	if !ok || x.owner != s || msg == 0 {
		return end, false
	}
	s.answer(x.cut(msg), s.nak, &s.stats.naked)
	return pipeline.Position{A: b.Msgs[msg-1].Pos}, true
}

// settle takes b off the list of what is in progress and returns the reply subjects
// of its messages, which belong to the batch.
func (s *JetStream) settle(b *pipeline.Batch) []string {
	x, ok := b.Ext.(*receipt)
	if !ok || x.owner != s {
		return nil
	}
	s.forget(x)
	return x.refs
}

// answer sends an answer to messages, and counts those that could be sent.
func (s *JetStream) answer(refs []string, text []byte, sent *atomic.Int64) {
	n, conn := 0, s.conn.Load()
	for _, ref := range refs {
		if conn.Publish(ref, text) == nil {
			n++
		}
	}
	sent.Add(int64(n))
	if n < len(refs) {
		s.stats.unconfirmed.Add(int64(len(refs) - n))
	}
}

// confirmTimeout is how long a confirmation is waited for.
const confirmTimeout = 5 * time.Second

// ackConfirmed acknowledges messages until the server confirms the last one: it
// reads them in order. After ack_wait they are delivered again anyway.
func (s *JetStream) ackConfirmed(refs []string) {
	ctx, cancel := context.WithTimeout(context.Background(), s.info.AckWait)
	defer cancel()
	last := len(refs) - 1
	for try := 0; ; try++ {
		var lost counters
		s.answer(refs[:last], client.Ack, &lost.acked)
		one, stop := context.WithTimeout(ctx, confirmTimeout)
		err := s.conn.Load().Request(one, refs[last], client.Ack)
		stop()
		if err == nil {
			s.stats.acked.Add(int64(len(refs)))
			return
		}
		if ctx.Err() != nil || try > 0 && errors.Is(err, client.ErrClosed) || client.Pause(ctx, 100*time.Millisecond) != nil {
			s.stats.unconfirmed.Add(int64(len(refs)))
			return
		}
	}
}

// flushTimeout is how long the last acknowledgments are waited for: a busy server is
// given time, for what it does not get it delivers again.
const flushTimeout = 30 * time.Second

// Close implements [pipeline.Source].
func (s *JetStream) Close(ctx context.Context) error {
	conn := s.conn.Load()
	if conn == nil {
		return nil
	}
	if s.quit != nil {
		s.quit()
		s.keepers.Wait()
	}
	defer conn.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.confirm.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	if !conn.Up() || ctx.Err() != nil {
		return nil // the messages are delivered again
	}
	one, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := conn.Flush(one); err != nil {
		return fmt.Errorf("the last acknowledgments may be lost: %w", err)
	}
	return nil
}

// Health implements [pipeline.Healther].
func (s *JetStream) Health() error {
	conn := s.conn.Load()
	if conn == nil {
		return client.ErrDown
	}
	if err := conn.Health(); err != nil {
		return err
	}
	if p := s.pull.Load(); p != nil {
		return p.Health()
	}
	return nil
}

// Interface guards.
var (
	_ pipeline.Source   = (*JetStream)(nil)
	_ pipeline.Acker    = (*JetStream)(nil)
	_ pipeline.Splitter = (*JetStream)(nil)
	_ pipeline.Healther = (*JetStream)(nil)
)
