package kafka

import (
	"context"
	"time"
)

// A Client talks to a cluster. Its methods may be called from many goroutines.
// Errors that a broker has answered with are a [Code], or wrap one; all others
// are of the network, and of the moment.
type Client interface {
	// Check returns an error if a broker and the configuration do not agree about TLS
	// or SASL: then Misconfigured reports true of it. A broker that is away is no
	// error. Other methods return such an error too, when they fail for it.
	Check(ctx context.Context) error
	// Topics returns what there is of the topics that are named, in their order.
	// With create, brokers that do so make those that are missing.
	Topics(ctx context.Context, names []string, create bool) ([]Topic, error)
	// Offset returns the offset of the first record at or after a time: Earliest,
	// Latest, or Unix milliseconds. If there is none after a time, that is Latest.
	Offset(ctx context.Context, topic string, partition int, at int64) (int64, error)
	// Fetch reads record batches into f, whose memory it reuses. It waits for them
	// as r says; none is no error.
	Fetch(ctx context.Context, r *FetchRequest, f *Fetched) error
	// Produce appends one record batch, made by an Encoder, to a partition, and
	// returns nil when all replicas in sync have it. The error of a batch that was
	// refused for some records is a *RecordsError. If ctx ends before the answer,
	// batch must not be written to any more.
	Produce(ctx context.Context, topic string, partition int, batch []byte) error
	// NewProducer returns an identity for idempotent writes.
	NewProducer(ctx context.Context) (Producer, error)
	// MaxMessageBytes returns the longest record batch that a topic takes, in bytes.
	MaxMessageBytes(ctx context.Context, topic string) (int64, error)
	// Join becomes a member of a consumer group, for ever: see Group.
	Join(g GroupConfig) (Group, error)
	// Refresh forgets what is known of where partitions are. It does not block.
	Refresh()
	// Close closes idle connections.
	Close()
}

// A Topic is what is known of a topic.
type Topic struct {
	Name       string
	Partitions int
	Err        error // a Code: it is not there, or not to be seen
}

// Times for Client.Offset.
const (
	Latest   = -1
	Earliest = -2
)

// A FetchRequest says what to read.
type FetchRequest struct {
	Topic     string
	Partition int
	Offset    int64
	MaxWait   time.Duration // for the first record
	MaxBytes  int           // roughly; the first batch comes whole
	Committed bool          // not beyond transactions that are open
}

// A Producer is an identity for idempotent writes. The zero Producer of ID -1
// makes plain writes.
type Producer struct {
	ID    int64
	Epoch int16
}

// NoProducer is the identity of plain writes.
var NoProducer = Producer{ID: -1, Epoch: -1}

// A GroupConfig says which group to join, and how.
type GroupConfig struct {
	Group            string
	Topics           []string
	Session          time.Duration // without heartbeats, a member is out after this
	Rebalance        time.Duration // members that do not rejoin in this time are out
	Heartbeat        time.Duration
	RequestTimeout   time.Duration
	PartitionRefresh time.Duration // how often to look for new partitions
}

// A Group is a member of a consumer group. It rejoins by itself after each
// rebalance.
type Group interface {
	// Next returns the next generation, or an error that does not end the
	// membership: call it again.
	Next(ctx context.Context) (Generation, error)
	// Close leaves the group, once the function of the generation has returned. At
	// the end of ctx its connections are cut.
	Close(ctx context.Context)
}

// An Assignment is a partition of this member in a generation.
type Assignment struct {
	Topic     string
	Partition int
	Offset    int64 // committed; -1 if there is none
}

// A Generation is what the group has agreed on until the next rebalance.
type Generation interface {
	ID() int32
	Assignments() []Assignment
	// Start runs f, once. The context of f ends with the generation; the member
	// rejoins when f returns, and no heartbeats go out in between. f does not return
	// before its context ends.
	Start(f func(ctx context.Context))
	// Commit stores the next offsets to read.
	Commit(offsets []Assignment) error
}
