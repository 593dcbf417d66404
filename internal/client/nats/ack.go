package nats

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// A Meta holds the metadata in the reply subject of a consumer's message.
type Meta struct {
	Stream    uint64 // sequence in the stream
	Consumer  uint64 // number of deliveries by the consumer, including this one
	Delivered uint64 // number of deliveries of this message, including this one
	Pending   uint64 // later messages that are not delivered yet
	Time      int64  // storage time, Unix nanoseconds
}

var errReply = errors.New("reply subject does not belong to a JetStream consumer")

// ParseReply parses the reply subject of a consumer's message:
//
//	$JS.ACK.<stream>.<consumer>.<delivered>.<sseq>.<cseq>.<time>.<pending>
//	$JS.ACK.<domain>.<account>.<stream>.<consumer>.<delivered>.<sseq>.<cseq>.<time>.<pending>[.<random>]
func ParseReply(reply string) (Meta, error) {
	rest, ok := strings.CutPrefix(reply, "$JS.ACK.")
	if !ok {
		return Meta{}, errReply
	}
	skip := 2 // stream and consumer
	if n := strings.Count(rest, "."); n == 8 || n == 9 {
		skip = 4
	} else if n != 6 {
		return Meta{}, errReply
	}
	for range skip {
		_, rest, _ = strings.Cut(rest, ".")
	}
	var nums [5]uint64
	for i := range nums {
		var token string
		token, rest, _ = strings.Cut(rest, ".")
		n, err := strconv.ParseUint(token, 10, 64)
		if err != nil {
			return Meta{}, errReply
		}
		nums[i] = n
	}
	return Meta{Delivered: nums[0], Stream: nums[1], Consumer: nums[2], Time: int64(nums[3]), Pending: nums[4]}, nil
}

// Acknowledgments, to be published to the reply subject of a message.
var (
	// Ack acknowledges the message.
	Ack = []byte("+ACK")
	// InProgress restarts the ack_wait of the message.
	InProgress = []byte("+WPI")
	// Nak requests immediate redelivery.
	Nak = []byte("-NAK")
)

// NakDelay returns an acknowledgment that requests redelivery after d.
func NakDelay(d time.Duration) []byte {
	if d <= 0 {
		return Nak
	}
	return append(strconv.AppendInt([]byte(`-NAK {"delay": `), int64(d), 10), '}')
}

// Term returns an acknowledgment that prevents redelivery. The server includes
// reason in its advisory.
func Term(reason string) []byte { return []byte("+TERM " + reason) }
