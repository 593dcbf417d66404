package kafka

import (
	"errors"
	"fmt"
	"sort"

	kgo "github.com/segmentio/kafka-go"
)

// A Code is an error that a broker has answered with, numbered as in the
// protocol.
type Code int16

// The codes that are told apart.
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
)

// Error returns the name that the protocol gives to c, and its number.
func (c Code) Error() string { return fmt.Sprintf("%s (code %d)", kgo.Error(c).Title(), int(c)) }

// Name returns the name of a code that refuses records as the protocol spells it;
// of others, what Error returns.
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

// CodeOf returns the code in err, 0 if a broker has not answered with one.
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

// Blocked reports whether err does not go away by itself: somebody must change a
// permission, a password, a topic or a configuration.
func Blocked(err error) bool {
	if Misconfigured(err) {
		return true
	}
	switch CodeOf(err) {
	case UnknownTopic, InvalidTopic, TopicUnauthorized, GroupUnauthorized, ClusterUnauthorized,
		UnsupportedSASL, UnsupportedVersion, SASLFailed, UnsupportedCompressed:
		return true
	}
	return false
}

// Moved reports whether err says that a partition is elsewhere now.
func Moved(err error) bool {
	switch CodeOf(err) {
	case UnknownTopic, NotLeader, FencedLeaderEpoch, UnknownLeaderEpoch:
		return true
	}
	return false
}

// Stale reports whether err says that a generation is over.
func Stale(err error) bool {
	switch CodeOf(err) {
	case IllegalGeneration, UnknownMember, FencedInstance:
		return true
	}
	return false
}

// The classes of what is tried again, for figures.
const (
	ClassNetwork = "network" // no answer
	ClassMoved   = "moved"   // the partition is elsewhere
	ClassTimeout = "timeout" // the broker could not tell in time
	ClassBlocked = "blocked" // somebody must change something
	ClassDamaged = "damaged" // a record batch cannot be read
	ClassBroker  = "broker"  // all else that a broker answers
)

// Classes returns all classes.
func Classes() []string {
	return []string{ClassNetwork, ClassMoved, ClassTimeout, ClassBlocked, ClassDamaged, ClassBroker}
}

// ClassOf returns the class of an error.
func ClassOf(err error) string {
	switch c := CodeOf(err); {
	case errors.Is(err, ErrCorrupt), errors.Is(err, ErrTooLong), errors.Is(err, ErrOldFormat):
		return ClassDamaged
	case Misconfigured(err):
		return ClassBlocked
	case c == 0:
		return ClassNetwork
	case Moved(err): // an unknown topic too: most often it is elsewhere, or not yet there
		return ClassMoved
	case Blocked(err):
		return ClassBlocked
	case c == RequestTimedOut:
		return ClassTimeout
	}
	return ClassBroker
}

// A RecordsError tells which records of a batch were refused. None of the batch
// was appended.
type RecordsError struct {
	Code    Code
	Records []int // indexes in the batch, ascending; nil if the broker did not say
}

// Error returns the error of the code.
func (e *RecordsError) Error() string { return e.Code.Error() }

// Unwrap returns the code.
func (e *RecordsError) Unwrap() error { return e.Code }

// recordsError returns the answer to a produce request as an error. The texts of
// the broker are left out: they may repeat what is in a record.
func recordsError(code Code, records map[int]error) error {
	switch code {
	case 0:
		return nil
	case MessageTooLarge, RecordListTooLarge, InvalidRecord, InvalidTimestamp:
	default:
		return code
	}
	e := &RecordsError{Code: code}
	for i := range records {
		e.Records = append(e.Records, i)
	}
	sort.Ints(e.Records)
	return e
}
