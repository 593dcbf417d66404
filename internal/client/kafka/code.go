package kafka

import (
	"errors"
	"fmt"
	"slices"

	kgo "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/produce"
)

// A Code is an error code of the Kafka protocol, returned by a broker.
type Code int16

// The codes that this project distinguishes.
const (
	OffsetOutOfRange      Code = 1
	UnknownTopic          Code = 3
	NotLeader             Code = 6
	RequestTimedOut       Code = 7
	MessageTooLarge       Code = 10
	InvalidTopic          Code = 17
	RecordListTooLarge    Code = 18
	IllegalGeneration     Code = 22
	UnknownMember         Code = 25
	RebalanceInProgress   Code = 27
	TopicUnauthorized     Code = 29
	GroupUnauthorized     Code = 30
	ClusterUnauthorized   Code = 31
	InvalidTimestamp      Code = 32
	UnsupportedSASL       Code = 33
	UnsupportedVersion    Code = 35
	TopicExists           Code = 36
	OutOfOrderSequence    Code = 45
	DuplicateSequence     Code = 46
	InvalidProducerEpoch  Code = 47
	InvalidProducerID     Code = 49
	SASLFailed            Code = 58
	UnknownProducer       Code = 59
	FencedLeaderEpoch     Code = 74
	UnknownLeaderEpoch    Code = 75
	UnsupportedCompressed Code = 76
	InvalidRecord         Code = 87
	FencedInstance        Code = 82
	FencedProducer        Code = 90
	UnknownTopicID        Code = 100
	InconsistentTopicID   Code = 103
)

// Error returns the name of the code and its number.
func (c Code) Error() string { return fmt.Sprintf("%s (code %d)", kgo.Error(c).Title(), int(c)) }

// Name returns the protocol's name for a code that refuses records, and the
// result of Error for any other code.
func (c Code) Name() string {
	switch c {
	case MessageTooLarge:
		return "MESSAGE_TOO_LARGE"
	case RecordListTooLarge:
		return "RECORD_LIST_TOO_LARGE"
	case InvalidRecord:
		return "INVALID_RECORD"
	case InvalidTimestamp:
		return "INVALID_TIMESTAMP"
	}
	return c.Error()
}

// CodeOf returns the code in err, or 0 if err does not come from a broker.
func CodeOf(err error) Code {
	var c Code
	if errors.As(err, &c) {
		return c
	}
	var k kgo.Error
	if errors.As(err, &k) {
		return Code(k)
	}
	return 0
}

// Blocked reports whether err persists until somebody changes a permission, a
// password, a topic or a configuration.
func Blocked(err error) bool {
	if Misconfigured(err) {
		return true
	}
	return slices.Contains([]Code{
		UnknownTopic, InvalidTopic, TopicUnauthorized, GroupUnauthorized, ClusterUnauthorized,
		UnsupportedSASL, UnsupportedVersion, SASLFailed, UnsupportedCompressed,
	}, CodeOf(err))
}

// Moved reports whether err means that a partition has a new leader.
func Moved(err error) bool {
	return slices.Contains([]Code{UnknownTopic, NotLeader, FencedLeaderEpoch, UnknownLeaderEpoch, UnknownTopicID, InconsistentTopicID}, CodeOf(err))
}

// Stale reports whether err means that the generation is over.
func Stale(err error) bool {
	return slices.Contains([]Code{IllegalGeneration, UnknownMember, FencedInstance}, CodeOf(err))
}

// The classes of retried errors, for metrics.
const (
	ClassNetwork = "network" // no response
	ClassMoved   = "moved"   // the partition has a new leader
	ClassTimeout = "timeout" // the broker timed out
	ClassBlocked = "blocked" // persists until somebody changes the broker or the configuration
	ClassDamaged = "damaged" // unreadable record batch
	ClassBroker  = "broker"  // any other error code of a broker
)

// Classes returns all classes.
func Classes() []string {
	return []string{ClassNetwork, ClassMoved, ClassTimeout, ClassBlocked, ClassDamaged, ClassBroker}
}

// ClassOf returns the class of err.
func ClassOf(err error) string {
	switch c := CodeOf(err); {
	case errors.Is(err, ErrCorrupt), errors.Is(err, ErrTooLong), errors.Is(err, ErrOldFormat):
		return ClassDamaged
	case Misconfigured(err):
		return ClassBlocked
	case c == 0:
		return ClassNetwork
	case Moved(err): // including an unknown topic: usually it has moved or is just being created
		return ClassMoved
	case Blocked(err):
		return ClassBlocked
	case c == RequestTimedOut:
		return ClassTimeout
	}
	return ClassBroker
}

// A RecordsError means that a batch was refused because of some of its records.
// No record of the batch was appended.
type RecordsError struct {
	Code    Code
	Records []int // ascending indexes in the batch; nil if the broker did not name them
}

// Error returns the text of the code.
func (e *RecordsError) Error() string { return e.Code.Error() }

// Unwrap returns the code.
func (e *RecordsError) Unwrap() error { return e.Code }

// recordsError converts the response to a produce request into an error. It
// omits the texts of the broker, which may contain data from a record.
func recordsError(code Code, records []produce.ResponseError) error {
	switch code {
	case 0:
		return nil
	case MessageTooLarge, RecordListTooLarge, InvalidRecord, InvalidTimestamp:
	default:
		return code
	}
	e := &RecordsError{Code: code}
	for _, r := range records {
		e.Records = append(e.Records, int(r.BatchIndex))
	}
	slices.Sort(e.Records)
	e.Records = slices.Compact(e.Records)
	if len(e.Records) > 0 && e.Records[0] < 0 {
		e.Records = nil
	}
	return e
}
