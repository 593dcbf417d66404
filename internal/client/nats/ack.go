package nats

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// A Meta is what the reply subject of a message of a consumer says of it.
type Meta struct {
	Stream    uint64 // sequence in the stream
	Consumer  uint64 // deliveries of the consumer, this one included
	Delivered uint64 // how often it was delivered, this time included
	Pending   uint64 // messages behind it that were not delivered yet
	Time      int64  // when it was stored, Unix nanoseconds
}

var errReply = errors.New("the reply subject is none of a JetStream consumer")

// ParseReply reads the reply subject of a message of a consumer:
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

// Answers to a consumer, published to the reply subject of a message.
var (
	// Ack says that the message is done with.
	Ack = []byte("+ACK")
	// InProgress starts the ack_wait of the message again.
	InProgress = []byte("+WPI")
	// Nak asks for the message again at once.
	Nak = []byte("-NAK")
)

// NakDelay asks for the message again, after d.
func NakDelay(d time.Duration) []byte {
	if d <= 0 {
		return Nak
	}
	return append(strconv.AppendInt([]byte(`-NAK {"delay": `), int64(d), 10), '}')
}

// Term says that the message is never to be delivered again. The reason is put
// into the advisory of the server.
func Term(reason string) []byte { return []byte("+TERM " + reason) }
