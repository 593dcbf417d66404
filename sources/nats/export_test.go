package nats

import (
	"context"
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
	return s.inspectNow(ctx, s.Conn(), false)
}
