package kafka

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/client/kafka"
)

// A Config configures a Kafka source.
type Config struct {
	connect.Kafka

	// The topics to read. All members of a group must list the same topics.
	Topics []string `yaml:"topics,required" min:"1"`
	// Name of the consumer group. Instances with the same group share the
	// partitions.
	Group string `yaml:"group,required" min:"1"`
	// Where to start in a partition without a usable committed offset:
	// earliest, latest, or timestamp:2026-11-01T00:00:00Z. This applies if the
	// group has not committed an offset, if the topic was deleted and created
	// again, or if the log ends before the committed offset. Default: earliest.
	Start Start `yaml:"start"`
	// Which records to read from topics with transactions. read_committed skips
	// the records of aborted transactions and waits for the end of open ones.
	// Without transactions, both values are equivalent.
	Isolation string `yaml:"isolation_level" enum:"read_committed,read_uncommitted"`
	// A member that sends no heartbeat for this long is removed from the group.
	SessionTimeout time.Duration `yaml:"session_timeout" min:"1s" max:"30m"`
	// HeartbeatInterval is the interval of the heartbeats of a member. Default: 3s,
	// and at most a third of session_timeout.
	HeartbeatInterval time.Duration `yaml:"-"`
	// RebalanceTimeout is how long a rebalance waits for members to rejoin.
	// Default: see rebalance.
	RebalanceTimeout time.Duration `yaml:"-"`
	// How long a rebalance waits for records in flight to become durable.
	// Records that are not durable by then are read again by another member. No
	// heartbeats are sent during the wait, so it is also limited to a third of
	// session_timeout.
	DrainTimeout time.Duration `yaml:"drain_timeout" min:"100ms" max:"10m"`
	// PartitionRefresh is how often to check whether the topics have new partitions.
	PartitionRefresh time.Duration `yaml:"-"`
	// How many bytes to request at a time for each partition. Up to two
	// responses are held in memory.
	FetchBytes field.Size `yaml:"fetch_size" min:"1KiB" max:"64MiB"`
	// FetchWait is how long a broker delays its response while there is nothing to read.
	FetchWait time.Duration `yaml:"-"`
	// Maximum decompressed size of a record batch. A partition stops at a
	// larger batch, and the instance is not ready until the limit is raised.
	MaxBatchBytes field.Size `yaml:"max_batch_size" min:"1MiB" max:"1GiB"`

	// BatchBytes, BatchRecords and Linger limit a batch of the pipeline: the
	// bytes of its keys and values, its messages, and how long its first
	// message waits. The owner of the pipeline sets them; 0 means 128 KiB, 1000
	// and 50 ms.
	BatchBytes   int           `yaml:"-"`
	BatchRecords int           `yaml:"-"`
	Linger       time.Duration `yaml:"-"`
	// UntilEOF ends a run when all assigned partitions have been read to their
	// ends.
	UntilEOF bool `yaml:"-"`
}

// Default returns a Config with the default values.
func Default() *Config {
	return &Config{
		Kafka:            connect.DefaultKafka(),
		Isolation:        "read_committed",
		SessionTimeout:   45 * time.Second,
		DrainTimeout:     15 * time.Second,
		PartitionRefresh: 30 * time.Second,
		FetchBytes:       field.MiB,
		FetchWait:        500 * time.Millisecond,
		MaxBatchBytes:    100 * field.MiB,
	}
}

// Validate returns all errors in c, joined. The tags of the fields hold the bounds of
// single values.
func (c *Config) Validate() error {
	errs := field.Errors{c.Kafka.Validate()}
	for i, t := range c.Topics {
		switch key, err := fmt.Sprintf("topics[%d]", i), connect.CheckTopic(t); {
		case err != nil:
			errs.Add(key, err)
		case slices.Contains(c.Topics[:i], t):
			errs.Wrong(key, "duplicate topic")
		}
	}
	if !c.Start.At.IsZero() && c.Start.At.UnixMilli() < 0 {
		errs.Wrong("start", "invalid timestamp: must not be before 1970")
	}
	return errors.Join(errs...)
}

// drain returns how long a generation may take to drain.
func (c *Config) drain() time.Duration {
	return min(c.SessionTimeout/3, c.rebalance()/2, c.DrainTimeout)
}

// rebalance returns how long a rebalance waits for members to rejoin: a third longer than
// a session, so that a member which has died is removed first, but at most a minute unless
// draining takes longer.
func (c *Config) rebalance() time.Duration {
	derived := max(min(time.Minute, c.SessionTimeout*4/3), 2*min(c.DrainTimeout, c.SessionTimeout/3))
	return cmp.Or(c.RebalanceTimeout, derived)
}

// heartbeat returns the interval of heartbeats.
func (c *Config) heartbeat() time.Duration {
	return cmp.Or(c.HeartbeatInterval, min(3*time.Second, c.SessionTimeout/3))
}

// A Start says where to start in a partition without a committed offset.
type Start = connect.Start

// startAt returns Start as an argument of [kafka.Client.Offset].
func (c *Config) startAt() int64 {
	switch {
	case c.Start.Latest:
		return kafka.Latest
	case c.Start.At.IsZero():
		return kafka.Earliest
	}
	return c.Start.At.UnixMilli()
}
