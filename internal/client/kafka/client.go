package kafka

import (
	"context"
	"strconv"
	"time"
)

// A Client communicates with a Kafka cluster. Its methods may be called from
// several goroutines. An error returned by a broker is or wraps a [Code]; any
// other error is a temporary network error.
type Client interface {
	// Check returns an error if a broker and the configuration disagree about
	// TLS or SASL; Misconfigured reports true for it. An unreachable broker is
	// not an error. Other methods return such an error too if it is the cause
	// of their failure.
	Check(ctx context.Context) error
	// Topics returns information about the named topics, in their order. With
	// create, brokers that support auto-creation create missing topics.
	Topics(ctx context.Context, names []string, create bool) ([]Topic, error)
	// Offset returns the offset of the first record at or after at, which is
	// Earliest, Latest or a time in Unix milliseconds. If there is no record
	// after that time, it returns the offset for Latest.
	Offset(ctx context.Context, topic string, partition int, at int64) (int64, error)
	// LogState returns the present state of the log of a partition. It is not Known if
	// the brokers have no topic ids.
	LogState(ctx context.Context, topic string, partition int) (Log, error)
	// EpochEnd returns the offset after the last record of an epoch. If a
	// consumer that has last read a record of this epoch is at a greater
	// offset, the log has lost records. It returns -1 if the leader has no
	// information about the epoch. current is the present epoch.
	EpochEnd(ctx context.Context, topic string, partition int, current, epoch int32) (int64, error)
	// Fetch reads record batches into f and reuses its memory. It waits for
	// records as r says; an empty result is not an error.
	Fetch(ctx context.Context, r *FetchRequest, f *Fetched) error
	// Produce appends one record batch, made by an Encoder, to a partition. It
	// returns when all in-sync replicas have it, with the offset of its first
	// record; -1 if the broker does not know the offset. If the broker refused
	// the batch because of some of its records, the error is a *RecordsError. If
	// ctx ends before the response, batch must not be modified any more.
	Produce(ctx context.Context, topic string, partition int, batch []byte) (int64, error)
	// NewProducer returns a producer identity for idempotent writes.
	NewProducer(ctx context.Context) (Producer, error)
	// CreateTopic creates a topic with the default number of replicas. It
	// returns TopicExists if there is one with that name. With dry, the brokers
	// only check whether they would create the topic.
	CreateTopic(ctx context.Context, name string, partitions int, settings map[string]string, dry bool) error
	// Setting returns a setting of a topic, such as cleanup.policy.
	Setting(ctx context.Context, topic, name string) (string, error)
	// Join joins a consumer group until the Group is closed.
	Join(g GroupConfig) (*Group, error)
	// Refresh discards the cached partition leaders. It does not block.
	Refresh()
	// Close closes idle connections.
	Close()
}

// MessageLimit returns the maximum size of a record batch of a topic, in bytes.
func MessageLimit(ctx context.Context, c Client, topic string) (int, error) {
	text, err := c.Setting(ctx, topic, "max.message.bytes")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

// A Topic describes a topic.
type Topic struct {
	Name       string
	Partitions int
	Err        error // a Code if the topic does not exist or is not visible
}

// Special values of at for Client.Offset.
const (
	Latest   = -1
	Earliest = -2
)

// A FetchRequest describes which records to fetch.
type FetchRequest struct {
	Topic     string
	Partition int
	Offset    int64
	MaxWait   time.Duration // maximum wait for the first record
	MaxBytes  int           // approximate limit; the first batch is always complete
	Committed bool          // stop before open transactions
	Log       Log           // the expected state of the log; the zero value means any
}

// A Producer is a producer identity for idempotent writes. ID -1 means plain
// writes.
type Producer struct {
	ID    int64
	Epoch int16
}

// NoProducer is the identity for plain writes.
var NoProducer = Producer{ID: -1, Epoch: -1}

// A GroupConfig describes the group to join.
type GroupConfig struct {
	Group            string
	Topics           []string
	Session          time.Duration // a member without heartbeats is removed after this time
	Rebalance        time.Duration // a member that does not rejoin within this time is removed
	Heartbeat        time.Duration
	RequestTimeout   time.Duration
	PartitionRefresh time.Duration // how often to check for new partitions
}

// An Assignment is a partition assigned to this member in a generation.
type Assignment struct {
	Topic     string
	Partition int
	Offset    int64  // committed offset; -1: none
	Epoch     int32  // leader epoch of the last record before the offset; -1: unknown
	Note      string // stored with the offset, where Group.Notes finds it
}
