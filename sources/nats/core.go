package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/ground/pause"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A core is a source that reads the messages published while it is subscribed,
// at most once. It implements neither engine.Committer nor engine.Acker:
// there is nothing to acknowledge.
type core struct {
	cfg CoreConfig
	rt  engine.Runtime
	client.Link

	received atomic.Int64
	mu       sync.Mutex
	subs     []*client.Subscription
	gone     int64 // messages dropped by ended subscriptions
}

// NewCore returns a source for cfg. The error joins everything that is wrong
// with cfg. NewCore does not connect.
func NewCore(cfg CoreConfig) (engine.Source, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("nats source: %w", err)
	}
	s := &core{cfg: cfg, Link: client.Link{Config: cfg.NATS}}
	s.Config.Buffer = cfg.Pending.Messages
	return s, nil
}

// Open implements [engine.Source]. It subscribes: messages published from then on are
// read. If the connection is lost meanwhile, the library subscribes again with the next
// connection.
func (s *core) Open(ctx context.Context, rt engine.Runtime) error {
	s.rt = rt
	if err := s.Link.Open(ctx); err != nil {
		return err
	}
	conn := s.Conn()
	for _, subject := range s.cfg.Subjects {
		sub, err := conn.Subscribe(subject, s.cfg.Queue, s.cfg.Pending.Messages, int(s.cfg.Pending.Bytes))
		if err != nil {
			return fmt.Errorf("cannot subscribe to %q: %w", subject, err)
		}
		s.mu.Lock()
		s.subs = append(s.subs, sub)
		s.mu.Unlock()
	}
	if err := conn.Flush(ctx); err != nil && (ctx.Err() != nil || !client.Unreachable(err)) {
		return err
	}
	return nil
}

// Run implements [engine.Source].
func (s *core) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	errs := make([]error, len(s.subs))
	for i, sub := range s.subs {
		wg.Go(func() { errs[i] = s.read(ctx, sub) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// read reads one subscription until ctx is done, and then the messages that
// have already arrived.
func (s *core) read(ctx context.Context, sub *client.Subscription) error {
	lane := s.rt.NewLane("nats/"+sub.Subject(), engine.LaneLimits{})
	defer s.rt.End(lane)
	// Messages have no identity; they are counted from 1 in each run. Ids derived from
	// the count must not repeat in another run.
	lane.SetID("nats/" + sub.Subject() + "/" + client.Unique())
	counted, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		for pause.For(counted, countEvery) == nil {
			sub.Dropped() // for Stats, which must not wait for the library
		}
	}()
	w := coreReader{s: s, lane: lane}
	for {
		m, err := w.next(ctx, sub)
		switch {
		case err != nil || ctx.Err() != nil:
			return errors.Join(ignore(ctx, err), w.finish(m, sub))
		case m == nil:
			err = w.emit()
		default:
			err = w.take(ctx, m)
		}
		if err != nil {
			return ignore(ctx, err)
		}
	}
}

// countEvery is how often dropped messages are counted.
const countEvery = time.Second

// ignore returns nil for an error that only says that ctx is done.
func ignore(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// A coreReader makes batches from the messages of one subscription.
type coreReader struct {
	s     *core
	lane  *engine.Lane
	b     *engine.Batch
	limit int
	due   time.Time // latest time to emit b
	n     int64     // number of messages read
	add   adder
}

// next returns the next message, or nil without an error if the batch is due.
func (w *coreReader) next(ctx context.Context, sub *client.Subscription) (*client.Msg, error) {
	if w.b == nil {
		return sub.Next(ctx)
	}
	one, cancel := context.WithDeadline(ctx, w.due)
	defer cancel()
	m, err := sub.Next(one)
	if err != nil && one.Err() != nil {
		return nil, ctx.Err()
	}
	return m, err
}

// take adds m to a batch.
func (w *coreReader) take(ctx context.Context, m *client.Msg) error {
	if w.b != nil && len(w.b.In)+len(m.Data) > w.limit {
		if err := w.emit(); err != nil {
			return err
		}
	}
	if w.b == nil {
		b, err := w.s.rt.Get(ctx, w.lane)
		if err != nil {
			return err
		}
		w.b, w.limit, w.due = b, cap(b.In), time.Now().Add(w.s.cfg.Batch.Linger)
	}
	w.n++
	w.add.message(w.b, w.n, time.Now().UnixNano(), m)
	w.s.received.Add(1)
	if len(w.b.Msgs) >= w.s.cfg.Batch.Messages {
		return w.emit()
	}
	return nil
}

func (w *coreReader) emit() error {
	if w.b == nil {
		return nil
	}
	b := w.b
	w.b = nil
	return w.s.rt.Emit(context.Background(), b, engine.Position{A: w.n})
}

// finish ends the subscription and reads the messages that have arrived,
// because nobody redelivers them. A hard stop ends that.
func (w *coreReader) finish(m *client.Msg, sub *client.Subscription) error {
	rest := sub.End(stopTimeout)
	if m != nil {
		rest = append([]*client.Msg{m}, rest...)
	}
	w.s.ended(sub)
	for _, m := range rest {
		if err := w.take(context.Background(), m); err != nil {
			return nil // a hard stop
		}
	}
	return w.emit()
}

// ended adds the count of an ended subscription to gone.
func (s *core) ended(sub *client.Subscription) {
	dropped := sub.Dropped()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.subs {
		if other == sub {
			s.gone += dropped
			s.subs = append(s.subs[:i:i], s.subs[i+1:]...)
			return
		}
	}
}

// Interface guard.
var _ engine.Healther = (*core)(nil)
