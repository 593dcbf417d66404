package nats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/ground/pause"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A jetStream is a source that reads a stream. It implements [engine.Source]
// and [engine.Acker].
type jetStream struct {
	cfg JetStreamConfig
	log *slog.Logger
	rt  engine.Runtime
	client.Link

	epoch  atomic.Pointer[epoch]
	next   atomic.Pointer[epoch] // the stream that has taken the name, until Run has ended the lane
	info   atomic.Pointer[client.ConsumerInfo]
	gate   gate
	alarm  chan struct{} // wakes the guard
	outage *logging.Outage
	missed int // consecutive failed checks; used by the guard

	warnings   []string
	durability []string // additional warnings of CheckConnect
	pull       atomic.Pointer[client.Pull]
	nak        []byte
	later      []byte // requests a delayed message again
	quit       context.CancelFunc
	keepers    sync.WaitGroup
	confirm    sync.WaitGroup // pending confirmations

	mu     sync.Mutex
	flying map[*receipt]struct{}

	stats counters
}

// NewJetStream returns a source for cfg. The error joins everything that is
// wrong with cfg. NewJetStream does not connect.
func NewJetStream(cfg JetStreamConfig) (engine.Source, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("jetstream source: %w", err)
	}
	s := &jetStream{
		cfg: cfg, Link: client.Link{Config: cfg.NATS}, log: cfg.Logger, nak: client.NakDelay(cfg.NakDelay), later: client.NakDelay(max(cfg.NakDelay, leastDelay)), flying: map[*receipt]struct{}{}, alarm: make(chan struct{}, 1),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.outage = logging.NewOutage(s.log, "consumer unavailable, retrying", "consumer available again", "stream", cfg.Stream, "consumer", cfg.Durable)
	return s, nil
}

// leastDelay is the least delay of a message that waits for another process.
// Without one, it would be delivered again thousands of times.
const leastDelay = 250 * time.Millisecond

// Open implements [engine.Source].
func (s *jetStream) Open(ctx context.Context, rt engine.Runtime) error {
	s.rt = rt
	if err := s.Link.Open(ctx); err != nil {
		return err
	}
	conn := s.Conn()
	if err := s.look(ctx, conn, s.cfg.Consumer.Create); err != nil {
		return err
	}
	conn.Warn(s.warnings)
	keep, quit := context.WithCancel(context.Background())
	s.quit = quit
	s.keepers.Go(func() { client.Keep(keep, s.outage.Set, s.keep) })
	s.keepers.Go(func() { client.Keep(keep, s.outage.Set, s.guard) })
	return nil
}

// CheckConnect connects, checks the stream and the consumer, and disconnects.
// It creates nothing: a missing consumer is an error only if the source would
// not create it. It must not be called on a source that was opened.
func (s *jetStream) CheckConnect(ctx context.Context) error {
	conn, err := client.Connect(ctx, s.cfg.NATS)
	if err != nil {
		return err
	}
	defer conn.Close()
	err = s.look(ctx, conn, false)
	s.warnings = append(s.warnings, s.durability...)
	if errors.Is(err, client.ErrNoConsumer) && s.cfg.Consumer.Create {
		return nil
	}
	return err
}

// laneName returns "jetstream/<stream>/<consumer>".
func (s *jetStream) laneName() string { return "jetstream/" + s.cfg.Stream + "/" + s.cfg.Durable }

// Run implements [engine.Source]. It opens one lane for each stream that has
// the configured name while it runs.
func (s *jetStream) Run(ctx context.Context) error {
	for {
		err := s.session(ctx)
		if !errors.Is(err, errReplaced) {
			return err
		}
		s.epoch.Store(s.next.Load())
		s.next.Store(nil)
	}
}

// session reads one stream.
func (s *jetStream) session(ctx context.Context) error {
	pull, err := s.Conn().NewPull(client.PullConfig{
		Stream: s.cfg.Stream, Durable: s.cfg.Durable, Info: *s.info.Load(),
		Messages: s.cfg.Prefetch.Messages, Bytes: max(int(s.cfg.Prefetch.Bytes), 4*s.Conn().MaxPayload()),
		Expires: 30 * time.Second, Heartbeat: heartbeat, Gone: s.suspect,
	})
	if err != nil {
		return err
	}
	s.pull.Store(pull)
	lane := s.rt.NewLane(s.laneName(), engine.LaneLimits{})
	defer s.rt.End(lane)
	e := s.epoch.Load()
	lane.SetID(s.laneID(e))
	r := &reader{
		s: s, of: e, lane: lane, pull: pull, since: time.Now(), born: s.info.Load().Since,
		last:   s.info.Load().Delivered,
		linger: time.NewTimer(time.Hour), ticks: time.NewTicker(min(heartbeat/4, 100*time.Millisecond)),
	}
	r.linger.Stop()
	return r.run(ctx)
}

// heartbeat is how often the server signals that it is alive while no message
// comes.
const heartbeat = 5 * time.Second

// Resolved implements [engine.Acker].
func (s *jetStream) Resolved(b *engine.Batch) {
	x := s.resolve(b)
	if x == nil || len(x.refs) == 0 {
		return
	}
	s.answer(x.split(b.Delayed), s.later, &s.stats.naked)
	if len(x.refs) == 0 {
		return
	}
	x.of.floor.acked(x.dels)
	if shut, _ := s.gate.state(); shut || s.cfg.Ack == ackConfirmed {
		refs, of := slices.Clone(x.refs), x.of // the batch is reused
		ack := heldAck{of: of, send: func() { s.ack(of, refs) }, drop: func() { s.lose(refs) }}
		if s.gate.pass(ack) {
			ack.send()
		}
		return
	}
	s.ack(x.of, x.refs)
}

// ack acknowledges messages of an epoch. With ack: sent it does not retain
// refs.
func (s *jetStream) ack(of *epoch, refs []string) {
	switch {
	case of != s.epoch.Load():
		s.lose(refs)
	case s.cfg.Ack == ackConfirmed:
		s.confirm.Go(func() { s.ackConfirmed(of, refs) })
	default:
		s.answer(refs, client.Ack, &s.stats.acked)
	}
}

// lose counts acknowledgments that are not sent.
func (s *jetStream) lose(refs []string) { s.stats.unconfirmed.Add(int64(len(refs))) }

// Abandoned implements [engine.Acker].
func (s *jetStream) Abandoned(b *engine.Batch, _ error) {
	if x := s.resolve(b); x != nil {
		s.answer(x.refs, s.nak, &s.stats.naked)
	}
}

// Split implements [engine.Splitter]. It gives the messages from number msg on
// back to the server.
func (s *jetStream) Split(b *engine.Batch, _, msg int) (end engine.Position, ok bool) {
	x, ok := b.Ext.(*receipt)
	if !ok || x.owner != s || msg == 0 {
		return end, false
	}
	s.answer(x.cut(msg), s.nak, &s.stats.naked)
	return engine.Position{A: b.Msgs[msg-1].Pos}, true
}

// resolve removes b from the batches in progress and returns its receipt, which
// still belongs to b, or nil.
func (s *jetStream) resolve(b *engine.Batch) *receipt {
	x, ok := b.Ext.(*receipt)
	if !ok || x.owner != s {
		return nil
	}
	s.forget(x)
	return x
}

// answer sends a reply to each message and adds the number sent to sent.
func (s *jetStream) answer(refs []string, text []byte, sent *atomic.Int64) {
	n, conn := 0, s.Conn()
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

// confirmTimeout is how long to wait for a confirmation.
const confirmTimeout = 5 * time.Second

// ackConfirmed acknowledges messages until the server confirms the last
// acknowledgment. This confirms the others, too, because the server processes
// them in order. ackConfirmed gives up after ack_wait, when the messages are
// redelivered anyway.
func (s *jetStream) ackConfirmed(of *epoch, refs []string) {
	ctx, cancel := context.WithTimeout(context.Background(), s.info.Load().AckWait)
	defer cancel()
	last := len(refs) - 1
	for try := 0; ; try++ {
		for shut, _ := s.gate.state(); shut && pause.For(ctx, 100*time.Millisecond) == nil; {
			shut, _ = s.gate.state()
		}
		if of != s.epoch.Load() {
			s.lose(refs)
			return
		}
		var lost counters
		s.answer(refs[:last], client.Ack, &lost.acked)
		one, stop := context.WithTimeout(ctx, confirmTimeout)
		err := s.Conn().Request(one, refs[last], client.Ack)
		stop()
		if err == nil {
			s.stats.acked.Add(int64(len(refs)))
			return
		}
		if ctx.Err() != nil || try > 0 && errors.Is(err, client.ErrClosed) || pause.For(ctx, 100*time.Millisecond) != nil {
			s.lose(refs)
			return
		}
	}
}

// flushTimeout is how long to wait for the last acknowledgments. It gives a
// busy server time, because the server redelivers messages whose
// acknowledgments it does not receive.
const flushTimeout = 30 * time.Second

// Close implements [engine.Source].
func (s *jetStream) Close(ctx context.Context) error {
	conn := s.Conn()
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
		return nil // the messages are redelivered
	}
	one, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := conn.Flush(one); err != nil {
		return fmt.Errorf("flush acknowledgments: %w (some messages may be redelivered)", err)
	}
	return nil
}

// Health implements [engine.Healther].
func (s *jetStream) Health() error {
	if err := s.Link.Health(); err != nil {
		return err
	}
	if err := s.outage.Err(); err != nil {
		return err
	}
	if p := s.pull.Load(); p != nil {
		return p.Health()
	}
	return nil
}

// Interface guards.
var (
	_ engine.Acker    = (*jetStream)(nil)
	_ engine.Splitter = (*jetStream)(nil)
	_ engine.Healther = (*jetStream)(nil)
)
