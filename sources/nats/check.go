package nats

import (
	"errors"
	"fmt"
	"strings"
	"time"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

// checkFilters fails if the stream never has a message for one of filters. A stream
// that gets its messages from others has any.
func checkFilters(stream *client.StreamInfo, filters []string) error {
	if stream.Copy {
		return nil
	}
	var errs []error
	for _, f := range filters {
		if !overlap(stream.Subjects, f) {
			errs = append(errs, fmt.Errorf("stream %q takes the subjects [%s]: %q of consumer.filter_subjects would never come",
				stream.Name, strings.Join(stream.Subjects, " "), f))
		}
	}
	return errors.Join(errs...)
}

func overlap(subjects []string, filter string) bool {
	for _, s := range subjects {
		if client.Overlap(s, filter) {
			return true
		}
	}
	return false
}

// leastAckWait is what ack_wait should last: a pause of the machine or the network
// that is longer than half of it delivers messages twice.
const leastAckWait = 10 * time.Second

// Warnings returns what Open or CheckConnect found that works, but not as well as it
// could.
func (s *jetStream) Warnings() []string { return s.warnings }

// warn tells in which way the consumer is not as it should be.
func (s *jetStream) warn(i *client.ConsumerInfo) (list []string) {
	edit := fmt.Sprintf("nats consumer edit %s %s", s.cfg.Stream, s.cfg.Durable)
	add := func(format string, args ...any) {
		list = append(list, fmt.Sprintf("consumer %q of stream %q: ", s.cfg.Durable, s.cfg.Stream)+fmt.Sprintf(format, args...))
	}
	if i.AckWait < leastAckWait {
		add("ack_wait is %v: a pause of half of it delivers messages twice. Give it %v or more: %s --wait %[2]v", i.AckWait, leastAckWait, edit)
	}
	if i.MaxAckPending > 0 && i.MaxAckPending < s.cfg.Prefetch.Messages {
		add("max_ack_pending is %d, for all instances together, and less than prefetch.messages, %d: more are never delivered. Raise it (%s --max-pending ...), or lower prefetch.messages",
			i.MaxAckPending, s.cfg.Prefetch.Messages, edit)
	}
	if i.MaxDeliver > 0 && s.cfg.Poison.After == 0 {
		add("max_deliver is %d: a message that is not acknowledged as often is lost to this consumer, and nobody is told. Set poison.after to less, or: %s --max-deliver=-1",
			i.MaxDeliver, edit)
	}
	if i.Inactive > 0 {
		add("the server deletes it, and where it stood, when nobody has used it for %v: %s --inactive-threshold 0s", i.Inactive, edit)
	}
	if i.Paused {
		add("it is paused, so nothing is delivered: nats consumer resume %s %s", s.cfg.Stream, s.cfg.Durable)
	}
	return list
}
