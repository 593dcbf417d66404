package nats

import (
	"strconv"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

// An epoch is the lifetime of one stream. Sequences identify messages only
// within it; a recreated stream of the same name reuses them for other
// messages.
type epoch struct {
	stream client.StreamInfo // the stream that was found first
	floor  floor
	unread unread
}

// laneID returns the identity of the lane in this epoch. Record ids derive from
// it, so that two streams with the same name share no ids.
func (s *jetStream) laneID(e *epoch) string {
	return s.laneName() + "/" + strconv.FormatInt(e.stream.Created.UnixNano(), 36)
}
