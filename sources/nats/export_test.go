package nats

import (
	"context"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

// Types that external tests need.
type (
	JetStream = jetStream
	Core      = core
)

// Check makes the guard check stream and consumer, and waits for it. The source
// must be open.
func (s *jetStream) Check() {
	for range 3 { // the second one is taken after the check for the first one
		s.alarm <- struct{}{}
	}
}

// CheckOnce checks stream and consumer once.
func (s *jetStream) CheckOnce(ctx context.Context) error {
	return s.inspectNow(ctx, s.conn.Load(), false)
}

// Conn returns the connection of an open source.
func (s *jetStream) Conn() *client.Conn { return s.conn.Load() }

// Conn returns the connection of an open source.
func (s *core) Conn() *client.Conn { return s.conn.Load() }
