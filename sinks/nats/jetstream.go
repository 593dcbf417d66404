package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/config/field"
	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A jetStream is a sink that publishes to streams. It implements
// [engine.Sink] and [engine.Healther].
type jetStream struct {
	cfg   JetStreamConfig
	press press

	client.Link
	window     atomic.Pointer[client.Window] // nil before Open
	warnings   []string
	durability []string // added to warnings by CheckConnect

	mu      sync.Mutex
	flights map[*flight]struct{}

	closing chan struct{} // closed by Close
	once    sync.Once     // for closing
}

// NewJetStream returns a sink with the given configuration. The error joins all
// problems of cfg. NewJetStream does not open a connection.
func NewJetStream(cfg JetStreamConfig) (engine.Sink, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("jetstream sink: %w", err)
	}
	t, err := parseTemplate(cfg.Subject)
	if err != nil {
		return nil, fmt.Errorf("jetstream sink: %w", err)
	}
	return &jetStream{
		cfg: cfg, Link: client.Link{Config: cfg.NATS}, flights: map[*flight]struct{}{}, closing: make(chan struct{}),
		press: press{subject: t, headers: cfg.Headers, id: cfg.MsgID, expect: cfg.ExpectStream},
	}, nil
}

// NeedsFacts reports whether the codec must collect facts for the sink.
func (s *jetStream) NeedsFacts() bool {
	return s.cfg.MsgID == idKey || s.press.subject.facts() || s.cfg.Has("flags") && s.cfg.Framing == framingRecords
}

// NeedsLines returns an error if messages hold several records.
func (s *jetStream) NeedsLines() error {
	if s.cfg.Framing == framingLines {
		return field.Wrong("framing", "must be records: line ends do not separate binary records")
	}
	return nil
}

// Caps implements [engine.Sink].
func (s *jetStream) Caps() engine.SinkCaps {
	return engine.SinkCaps{Ordered: s.cfg.Publish.Ordered}
}

// Open implements [engine.Sink].
func (s *jetStream) Open(ctx context.Context) (err error) {
	if err := s.Link.Open(ctx); err != nil {
		return err
	}
	conn := s.Conn()
	if s.cfg.CheckStreams {
		if s.warnings, err = s.check(ctx, conn); err != nil {
			return err
		}
		conn.Warn(s.warnings)
	}
	window, err := conn.NewWindow(s.cfg.Publish.MaxPending, s.cfg.Publish.AckTimeout, client.Accept{Only: s.cfg.ExpectStream, Any: !s.cfg.CheckStreams, OnePerSubject: s.cfg.MsgID == idSubject})
	if err != nil {
		return err
	}
	s.window.Store(window)
	return nil
}

// CheckConnect connects, checks the streams, and disconnects. It does not
// require Open.
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

// Warnings returns the problems found by Open or CheckConnect that do not
// prevent the sink from working.
func (s *jetStream) Warnings() []string { return s.warnings }

// maxChecked is the maximum number of shards for which check looks up each
// subject.
const maxChecked = 4096

// check checks whether streams accept all subjects.
func (s *jetStream) check(ctx context.Context, conn *client.Conn) (warnings []string, err error) {
	filter := s.press.subject.filter()
	if filter == "" {
		return nil, nil // the subjects depend on the input
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
		return nil, fmt.Errorf("subject %q belongs to stream %q, but expect_stream is %q", filter, info.Name, e)
	}
	if err := info.Writable(); err != nil {
		return nil, err
	}
	s.Limit = conn.MessageLimit(&info)
	if s.cfg.MsgID == idSubject {
		return nil, keepsSubjects(&info, filter, whole)
	}
	if least := max(leastWindow, 2*s.cfg.Publish.AckTimeout); s.cfg.MsgID != idNone && info.Duplicates < least {
		warnings = append(warnings, fmt.Sprintf("stream %q forgets message ids after %v, and stores messages twice that are published again later; make the duplicate window longer than a restart and the source's ack_wait: nats stream edit %s --dupe-window %v",
			info.Name, info.Duplicates, info.Name, least))
	}
	if info.PerSubject > 0 {
		warnings = append(warnings, fmt.Sprintf("stream %q keeps only %d messages per subject, and removes or refuses others; to keep all: nats stream edit %s --max-msgs-per-subject=-1",
			info.Name, info.PerSubject, info.Name))
	}
	s.durability = info.DurabilityWarnings()
	if whole {
		return warnings, nil
	}
	var missing error
	s.press.subject.shards(maxChecked, func(subject string) bool {
		if !slices.ContainsFunc(info.Subjects, func(filter string) bool { return client.Covers(filter, subject) }) {
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

// keepsSubjects checks whether a stream keeps the first message of each subject and
// refuses others. whole reports whether the stream matches the whole filter.
func keepsSubjects(info *client.StreamInfo, filter string, whole bool) error {
	switch {
	case !whole:
		return fmt.Errorf("stream %q does not match all subjects with {key}, as msg_id: subject requires: its subjects must include %q", info.Name, filter)
	case info.PerSubject != 1 || !info.KeepsFirst:
		return fmt.Errorf("stream %q does not refuse a second message of a subject, as msg_id: subject requires: create it with nats stream add %s --max-msgs-per-subject=1 --discard=new --discard-per-subject",
			info.Name, info.Name)
	case !info.Limits:
		return fmt.Errorf("stream %q forgets a subject when its message is acknowledged, so msg_id: subject requires retention: limits", info.Name)
	}
	return nil
}

// leastWindow is the minimum duplicate window for which ids work across a
// restart: it covers a shutdown, a start, and the time until a message is
// delivered again.
const leastWindow = 2 * time.Minute

// Submit implements [engine.Sink].
func (s *jetStream) Submit(ctx context.Context, b *engine.Batch, t engine.Ticket) error {
	f := newFlight(s, b, t)
	s.add(f)
	publish := s.publish
	if f.inTurn {
		publish = s.publishInOrder
	}
	err := publish(ctx, f)
	close(f.submitted)
	if err != nil {
		s.remove(f)
		if !f.answered.Swap(true) {
			close(f.done)
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

// publishInOrder publishes runs of messages with different subjects, one run
// after the other.
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
		case <-s.closing:
			return client.ErrClosed
		}
	}
	return nil
}

// subjectOf returns the subject of message i. With framing: lines, the subject has no
// variables, so all messages have the same subject.
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

// under returns the flights in progress.
func (s *jetStream) under() []*flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*flight, 0, len(s.flights))
	for f := range s.flights {
		all = append(all, f)
	}
	return all
}

// Barrier implements [engine.Sink].
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

// Close implements [engine.Sink]. It answers the tickets that are left, but not before
// Submit has read their batches.
func (s *jetStream) Close(context.Context) error {
	s.once.Do(func() { close(s.closing) })
	conn := s.Conn()
	if conn == nil {
		return nil
	}
	var err error
	if w := s.window.Load(); w != nil {
		err = w.Close()
	}
	for _, f := range s.under() {
		<-f.submitted
		f.answer(engine.Result{Err: client.ErrClosed, Class: engine.Retryable})
		<-f.done // another goroutine may answer it
	}
	conn.Close()
	if errors.Is(err, client.ErrClosed) || !conn.Up() {
		return nil
	}
	return err
}

// Health implements [engine.Healther].
func (s *jetStream) Health() error {
	w := s.window.Load()
	if w == nil {
		return client.ErrDown
	}
	if err := s.Conn().Health(); err != nil {
		return err
	}
	return w.Health()
}

// Interface guard.
var _ engine.Healther = (*jetStream)(nil)
