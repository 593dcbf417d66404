package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/pipeline"
)

// A jetStream is a sink that publishes to streams. Its methods are those of
// [pipeline.Sink], and some that tell how it is.
type jetStream struct {
	cfg   JetStreamConfig
	press press

	conn       atomic.Pointer[client.Conn]   // nil before Open; Health and Stats are asked meanwhile
	window     atomic.Pointer[client.Window] // likewise
	warnings   []string
	durability []string // what CheckConnect adds to warnings

	mu      sync.Mutex
	flights map[*flight]struct{}
}

// NewJetStream returns the sink that cfg asks for. The error tells all that is
// wrong with cfg, joined. It connects to nothing.
func NewJetStream(cfg JetStreamConfig) (pipeline.Sink, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("jetstream sink: %w", err)
	}
	t, err := parseTemplate(cfg.Subject)
	if err != nil {
		return nil, fmt.Errorf("jetstream sink: %w", err)
	}
	return &jetStream{
		cfg: cfg, flights: map[*flight]struct{}{},
		press: press{subject: t, headers: cfg.Headers, id: cfg.MsgID, expect: cfg.ExpectStream},
	}, nil
}

// NeedsFacts reports whether the codec is to collect facts for it.
func (s *jetStream) NeedsFacts() bool {
	return s.cfg.MsgID == idKey || s.press.subject.facts() || s.cfg.Headers.Flags && s.cfg.Framing == framingRecords
}

// Caps implements [pipeline.Sink].
func (s *jetStream) Caps() pipeline.SinkCaps {
	return pipeline.SinkCaps{Durable: true, Ordered: s.cfg.Publish.Ordered, Dedups: s.cfg.MsgID == idPosition || s.cfg.MsgID == idBatch}
}

// Open implements [pipeline.Sink].
func (s *jetStream) Open(ctx context.Context) error {
	conn, err := client.Connect(ctx, s.cfg.NATS)
	if err != nil {
		return err
	}
	s.conn.Store(conn)
	if s.cfg.CheckStreams {
		if s.warnings, err = s.check(ctx, conn); err != nil {
			return err
		}
		conn.Warn(s.warnings)
	}
	window, err := conn.NewWindow(s.cfg.Publish.MaxPending, s.cfg.Publish.AckTimeout)
	if err != nil {
		return err
	}
	s.window.Store(window)
	return nil
}

// CheckConnect connects, looks at the streams, and disconnects. The error tells
// what is wrong. It is for a sink that is not opened.
func (s *jetStream) CheckConnect(ctx context.Context) error {
	conn, err := client.Connect(ctx, s.cfg.NATS)
	if err != nil {
		return err
	}
	defer conn.Close()
	s.warnings, err = s.check(ctx, conn)
	s.warnings = append(s.warnings, s.durability...)
	return err
}

// Warnings returns what Open or CheckConnect found that works, but not as well as
// it could.
func (s *jetStream) Warnings() []string { return s.warnings }

// maxChecked is the number of shards up to which each is looked for in the streams.
const maxChecked = 4096

// check looks whether streams take all subjects.
func (s *jetStream) check(ctx context.Context, conn *client.Conn) (warnings []string, err error) {
	filter := s.press.subject.filter()
	if filter == "" {
		return nil, nil // anything, as it comes
	}
	if s.cfg.ExpectStream != "" {
		if _, err := conn.Stream(ctx, s.cfg.ExpectStream); err != nil {
			return nil, err
		}
	}
	info, whole, err := conn.StreamOf(ctx, filter)
	if err != nil {
		return nil, err
	}
	if e := s.cfg.ExpectStream; e != "" && e != info.Name {
		return nil, fmt.Errorf("the subject %q goes to the stream %q, not to %q as expect_stream says", filter, info.Name, e)
	}
	if err := info.Writable(); err != nil {
		return nil, err
	}
	warnings = append(s.checkWindow(&info), s.checkLimits(&info)...)
	s.durability = info.DurabilityWarnings()
	if whole {
		return warnings, nil
	}
	var missing error
	s.press.subject.shards(maxChecked, func(subject string) bool {
		if !covered(info.Subjects, subject) {
			var other client.StreamInfo
			if other, _, missing = conn.StreamOf(ctx, subject); missing == nil {
				s.durability = append(s.durability, other.DurabilityWarnings()...)
			}
		}
		return missing == nil
	})
	slices.Sort(s.durability)
	s.durability = slices.Compact(s.durability)
	return warnings, missing
}

// covered reports whether one of filters takes subject.
func covered(filters []string, subject string) bool {
	for _, f := range filters {
		if client.Covers(f, subject) {
			return true
		}
	}
	return false
}

// leastWindow is what a duplicate window must last for ids to be of use after a
// restart: a shutdown, a start, and the time until a message is delivered again.
const leastWindow = 2 * time.Minute

// checkWindow warns of a duplicate window that is too short for what ids are for.
func (s *jetStream) checkWindow(info *client.StreamInfo) []string {
	if s.cfg.MsgID == idNone {
		return nil
	}
	least := max(leastWindow, 2*s.cfg.Publish.AckTimeout)
	if info.Duplicates >= least {
		return nil
	}
	return []string{fmt.Sprintf("stream %q forgets ids after %v: what is published again later is in it twice. Give it more than a restart and the ack_wait of the source take: nats stream edit %s --dupe-window %v",
		info.Name, info.Duplicates, info.Name, least)}
}

// checkLimits warns of a stream that forgets messages because others come.
func (s *jetStream) checkLimits(info *client.StreamInfo) []string {
	if info.PerSubject <= 0 {
		return nil
	}
	return []string{fmt.Sprintf("stream %q keeps %d messages of each subject, and removes or refuses others: nats stream edit %s --max-msgs-per-subject=-1",
		info.Name, info.PerSubject, info.Name)}
}

// Submit implements [pipeline.Sink].
func (s *jetStream) Submit(ctx context.Context, b *pipeline.Batch, t pipeline.Ticket) error {
	f := newFlight(s, b, t)
	s.add(f)
	publish := s.publish
	if f.inTurn {
		publish = s.publishInOrder
	}
	if err := publish(ctx, f); err != nil {
		s.remove(f)
		if f.giveUp() {
			return err
		}
		return nil // Close has answered the ticket
	}
	f.land()
	return nil
}

func (s *jetStream) publish(ctx context.Context, f *flight) error {
	return s.window.Load().Publish(ctx, f, 0, f.len())
}

// publishInOrder publishes runs of messages with different subjects, and waits for
// each run.
func (s *jetStream) publishInOrder(ctx context.Context, f *flight) error {
	wave := map[string]bool{}
	for i := 0; i < f.len(); {
		if f.ticket.Held() {
			f.leave(i)
			return nil
		}
		clear(wave)
		from := i
		for ; i < f.len(); i++ {
			name := s.subjectOf(f, i)
			if wave[name] {
				break
			}
			wave[name] = true
		}
		f.wave.Store(int32(i - from))
		if err := s.window.Load().Publish(ctx, f, from, i-from); err != nil {
			return err
		}
		select {
		case <-f.turn:
		case <-ctx.Done():
			s.window.Load().Forget(f)
			return ctx.Err()
		}
	}
	return nil
}

// subjectOf returns the subject of message i.
func (s *jetStream) subjectOf(f *flight, i int) string {
	if f.groups != nil {
		return s.cfg.Subject
	}
	return s.press.subjectOf(&f.page, i)
}

func (s *jetStream) add(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flights[f] = struct{}{}
}

func (s *jetStream) remove(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.flights, f)
}

// under returns the flights that are under way.
func (s *jetStream) under() []*flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*flight, 0, len(s.flights))
	for f := range s.flights {
		all = append(all, f)
	}
	return all
}

// Barrier implements [pipeline.Sink].
func (s *jetStream) Barrier(ctx context.Context) error {
	for _, f := range s.under() {
		select {
		case <-f.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Close implements [pipeline.Sink].
func (s *jetStream) Close(context.Context) error {
	conn := s.conn.Load()
	if conn == nil {
		return nil
	}
	var err error
	if w := s.window.Load(); w != nil {
		err = w.Close()
	}
	for _, f := range s.under() {
		f.answer(pipeline.Result{Err: client.ErrClosed, Class: pipeline.Retryable})
		<-f.done // it may have been answered at the same moment
	}
	conn.Close()
	if errors.Is(err, client.ErrClosed) || !conn.Up() {
		return nil
	}
	return err
}

// Health implements [pipeline.Healther].
func (s *jetStream) Health() error {
	w := s.window.Load()
	if w == nil {
		return client.ErrDown
	}
	if err := s.conn.Load().Health(); err != nil {
		return err
	}
	return w.Health()
}

// Interface guards.
var (
	_ pipeline.Sink     = (*jetStream)(nil)
	_ pipeline.Healther = (*jetStream)(nil)
	_ client.Load       = (*flight)(nil)
)
