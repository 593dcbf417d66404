package nats

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/urlfold/urlfold/config/connect"
)

// Unique returns a globally unique string.
func Unique() string { return strings.TrimPrefix(client.NewInbox(), client.InboxPrefix) }

// IsOrder reports whether a header name is reserved for the server: it starts
// with Nats-, in any case.
func IsOrder(name string) bool {
	const own = "nats-"
	return len(name) >= len(own) && strings.EqualFold(name[:len(own)], own)
}

// Store publishes m to a stream and waits until it is stored.
func (c *Conn) Store(ctx context.Context, m *Msg) error {
	ack, err := c.js.PublishMsg(ctx, m)
	if err == nil && ack.Sequence == 0 {
		err = errAnswer
	}
	return err
}

// A Link is the connection of a source or a sink. All its methods may also be
// called before Open.
type Link struct {
	Config connect.NATS
	conn   atomic.Pointer[Conn] // nil before Open
	Limit  int                  // maximum size of a message; 0: unknown
}

// Open connects.
func (l *Link) Open(ctx context.Context) error {
	conn, err := Connect(ctx, l.Config)
	if err == nil {
		l.conn.Store(conn)
	}
	return err
}

// Conn returns the connection, or nil before Open.
func (l *Link) Conn() *Conn { return l.conn.Load() }

// CheckConnect connects and disconnects. It does not require Open.
func (l *Link) CheckConnect(ctx context.Context) error {
	conn, err := Connect(ctx, l.Config)
	if err == nil {
		l.Limit = conn.MaxPayload()
		conn.Close()
	}
	return err
}

// MessageLimit returns Limit.
func (l *Link) MessageLimit() int { return l.Limit }

// Health returns nil, or why there is no connection, or what the server has refused.
func (l *Link) Health() error {
	if conn := l.Conn(); conn != nil {
		return conn.Health()
	}
	return ErrDown
}

// Reconnects returns how often the connection was restored.
func (l *Link) Reconnects() int64 {
	if conn := l.Conn(); conn != nil {
		return conn.Reconnects()
	}
	return 0
}

// Close disconnects.
func (l *Link) Close(context.Context) error {
	if conn := l.Conn(); conn != nil {
		conn.Close()
	}
	return nil
}

// A Subscription is a core NATS subscription.
type Subscription struct {
	sub     *client.Subscription
	log     *slog.Logger
	mu      sync.Mutex   // one call of Dropped at a time
	dropped atomic.Int64 // last known count
}

// Subscribe subscribes to subject, as a member of the queue group if queue is
// not empty. At most messages messages and bytes bytes wait to be read; more
// are dropped and counted. connect.NATS.Buffer must be at least messages.
func (c *Conn) Subscribe(subject, queue string, messages, bytes int) (*Subscription, error) {
	sub, err := c.nc.QueueSubscribeSync(subject, queue)
	if err == nil {
		err = sub.SetPendingLimits(messages, bytes)
	}
	return &Subscription{sub: sub, log: c.log}, err
}

// Subject returns the subject of the subscription.
func (s *Subscription) Subject() string { return s.sub.Subject }

// Next waits for the next message. Its error comes from ctx or a closed
// connection.
func (s *Subscription) Next(ctx context.Context) (*Msg, error) {
	for {
		m, err := s.sub.NextMsgWithContext(ctx)
		if !errors.Is(err, client.ErrSlowConsumer) { // the library returns this error once after it has dropped messages
			return m, err
		}
	}
}

// Known returns the result of the last call of Dropped. It does not block.
func (s *Subscription) Known() int64 { return s.dropped.Load() }

// Dropped returns the number of dropped messages, and logs how many of them are
// new since its last call.
func (s *Subscription) Dropped() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.sub.Dropped() // fails after the subscription has ended
	if lost := int64(n) - s.dropped.Load(); err == nil && lost > 0 {
		s.log.Error("messages dropped, slow consumer", "subject", s.sub.Subject, "lost_messages", lost)
		s.dropped.Store(int64(n))
	}
	return s.dropped.Load()
}

// End ends the subscription and returns the messages that arrived but were not
// read. It waits at most patience for messages in transit.
func (s *Subscription) End(patience time.Duration) []*Msg {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if s.sub.Drain() != nil {
		return nil
	}
	var rest []*Msg
	for {
		s.Dropped() // update the count now: it is not available after the last message, and no message is dropped in between
		m, err := s.Next(ctx)
		if err != nil {
			return rest
		}
		rest = append(rest, m)
	}
}
