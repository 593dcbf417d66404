package nats

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

// checkFilters returns an error if the stream cannot hold messages for one of
// filters. It accepts any filter for a stream that copies other streams.
func checkFilters(stream *client.StreamInfo, filters []string) error {
	if stream.Copy {
		return nil
	}
	var errs []error
	for _, f := range filters {
		if !slices.ContainsFunc(stream.Subjects, func(s string) bool { return client.Overlap(s, f) }) {
			errs = append(errs, fmt.Errorf("stream %q has the subjects [%s]: consumer.filter_subjects entry %q can never match",
				stream.Name, strings.Join(stream.Subjects, " "), f))
		}
	}
	return errors.Join(errs...)
}

// leastAckWait is the recommended minimum of ack_wait: if the machine or the
// network pauses for longer than half of ack_wait, messages are delivered
// twice.
const leastAckWait = 10 * time.Second

// Warnings returns suboptimal settings that Open or CheckConnect found.
func (s *jetStream) Warnings() []string { return s.warnings }

// warn returns the suboptimal settings of the consumer.
func (s *jetStream) warn(i *client.ConsumerInfo) (list []string) {
	edit := fmt.Sprintf("nats consumer edit %s %s", s.cfg.Stream, s.cfg.Durable)
	add := func(format string, args ...any) {
		list = append(list, fmt.Sprintf("consumer %q of stream %q: ", s.cfg.Durable, s.cfg.Stream)+fmt.Sprintf(format, args...))
	}
	if i.AckWait < leastAckWait {
		add("ack_wait is %v; a pause of half that time delivers messages twice. Set it to at least %v: %s --wait %[2]v", i.AckWait, leastAckWait, edit)
	}
	if i.MaxAckPending > 0 && i.MaxAckPending < s.cfg.Prefetch.Messages {
		add("max_ack_pending (%d for all instances together) is less than the %d that one instance requests, and limits what is delivered. Raise it: %s --max-pending ...",
			i.MaxAckPending, s.cfg.Prefetch.Messages, edit)
	}
	if i.MaxDeliver > 0 && s.cfg.Poison.After == 0 {
		add("max_deliver is %d; a message that was delivered that often without an acknowledgment is lost without notice. Set poison.after to a lower value, or run: %s --max-deliver=-1",
			i.MaxDeliver, edit)
	}
	if i.Inactive > 0 {
		add("the server deletes it, with its position, after %v without use. To keep it: %s --inactive-threshold 0s", i.Inactive, edit)
	}
	if i.Paused {
		add("it is paused and delivers nothing. To resume it: nats consumer resume %s %s", s.cfg.Stream, s.cfg.Durable)
	}
	return list
}
