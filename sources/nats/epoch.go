package nats

import (
	"strconv"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

// An epoch is the life of one stream. Sequences name the same messages throughout
// it; in the next one, of a stream with the same name, they name others.
type epoch struct {
	stream client.StreamInfo // as it was found first
	floor  floor
}

// laneID returns the identity of the lane in this epoch. Ids of records are made of
// it, so that two streams with one name have no id in common.
func (s *jetStream) laneID(e *epoch) string {
	return s.laneName() + "/" + strconv.FormatInt(e.stream.Created.UnixNano(), 36)
}
