package nats

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	client "github.com/nats-io/nats.go"
)

// Unique returns a text that no other call returns, in this process or another.
func Unique() string { return strings.TrimPrefix(client.NewInbox(), client.InboxPrefix) }

// Pause waits for d, or until ctx is done: then it returns its error.
func Pause(ctx context.Context, d time.Duration) error { return sleep(ctx, d) }

// IsOrder reports whether a header of that name says something to the server, or
// comes from it: it begins with Nats-, in any case.
func IsOrder(name string) bool {
	const own = "nats-"
	return len(name) >= len(own) && strings.EqualFold(name[:len(own)], own)
}

// Store publishes m to a stream and waits until it is stored.
func (c *Conn) Store(ctx context.Context, m *Msg) error {
	_, err := c.js.PublishMsg(ctx, m)
	return err
}

// A Subscription is one of core NATS.
type Subscription struct {
	sub     *client.Subscription
	dropped atomic.Int64 // as it was known last
}

// Subscribe listens to subject, as a member of a queue group unless that is empty.
// At most messages, and bytes of them, wait to be read; what goes beyond is dropped
// and counted. connect.NATS.Buffer must not be less than messages.
func (c *Conn) Subscribe(subject, queue string, messages, bytes int) (*Subscription, error) {
	sub, err := c.nc.QueueSubscribeSync(subject, queue)
	if err == nil {
		err = sub.SetPendingLimits(messages, bytes)
	}
	return &Subscription{sub: sub}, err
}

// Subject returns what is listened to.
func (s *Subscription) Subject() string { return s.sub.Subject }

// Next waits for the next message. The error is that of ctx, or that of a
// connection that is closed.
func (s *Subscription) Next(ctx context.Context) (*Msg, error) {
	for {
		m, err := s.sub.NextMsgWithContext(ctx)
		if !errors.Is(err, client.ErrSlowConsumer) { // told once after messages were dropped
			return m, err
		}
	}
}

// Dropped returns how many messages were dropped.
func (s *Subscription) Dropped() int64 {
	if n, err := s.sub.Dropped(); err == nil { // it has ended otherwise, and does not tell
		s.dropped.Store(int64(n))
	}
	return s.dropped.Load()
}

// End ends the subscription, and returns what has arrived and was not read. It waits
// for what is on its way no longer than patience.
func (s *Subscription) End(patience time.Duration) []*Msg {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if s.sub.Drain() != nil {
		return nil
	}
	var rest []*Msg
	for {
		s.Dropped() // nothing is dropped while the last message is read, and then it does not tell
		m, err := s.Next(ctx)
		if err != nil {
			return rest
		}
		rest = append(rest, m)
	}
}
