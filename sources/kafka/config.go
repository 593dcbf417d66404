package kafka

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/client/kafka"
)

// A Config says what to read, and how.
type Config struct {
	connect.Kafka

	// Topics to read. All members of a group name the same ones.
	Topics []string `yaml:"topics,required" min:"1"`
	// Name of the consumer group. Instances that share it share the partitions.
	Group string `yaml:"group,required" min:"1"`
	// Where to begin in a partition of which the group has committed nothing, or
	// whose log ends before what it has committed: earliest, latest, or
	// timestamp:2026-11-01T00:00:00Z.
	Start Start `yaml:"start"`
	// Which records to read where producers use transactions. With read_committed
	// those that were aborted are left out, and none is read before its transaction
	// ends. Both are the same where there are no transactions.
	Isolation string `yaml:"isolation_level" enum:"read_committed,read_uncommitted"`
	// A member that is silent for longer is out of the group.
	SessionTimeout time.Duration `yaml:"session_timeout" min:"1s" max:"30m"`
	// How often a member says that it is there. At most a third of session_timeout.
	HeartbeatInterval time.Duration `yaml:"heartbeat_interval" min:"100ms" max:"1m"`
	// How long a rebalance waits for members to come back to it.
	RebalanceTimeout time.Duration `yaml:"rebalance_timeout" min:"1s" max:"30m"`
	// How long a rebalance waits for what is under way to become durable. What is
	// not by then is read again by another member. No heartbeats go out meanwhile,
	// so a third of session_timeout and half of rebalance_timeout are bounds too.
	DrainTimeout time.Duration `yaml:"drain_timeout" min:"100ms" max:"10m"`
	// How often to look whether the topics have got more partitions.
	PartitionRefresh time.Duration `yaml:"partition_refresh" min:"1s" max:"1h"`
	// How much to ask for at a time, for each partition. Two such answers are held.
	FetchBytes field.Size `yaml:"fetch_bytes" min:"1KiB" max:"64MiB"`
	// How long a broker holds back an answer while there is nothing to read.
	FetchWait time.Duration `yaml:"fetch_wait" min:"10ms" max:"30s"`
	// What one record batch may decompress to. A partition stops before one that is
	// larger, and the instance is not ready until the limit is raised.
	MaxBatchBytes field.Size `yaml:"max_batch_bytes" min:"1MiB" max:"1GiB"`

	// BatchBytes, BatchRecords and Linger bound a batch of the pipeline: its values
	// and keys, its messages, and how long its first one waits. Whoever runs the
	// pipeline sets them; 0 means 128 KiB, 1000 and 50 ms.
	BatchBytes   int           `yaml:"-"`
	BatchRecords int           `yaml:"-"`
	Linger       time.Duration `yaml:"-"`
	// UntilEOF ends a run when all partitions that it has are read to their ends.
	UntilEOF bool `yaml:"-"`
}

// Default returns a Config with the values of what is not configured.
func Default() *Config {
	return &Config{
		Kafka:             connect.DefaultKafka(),
		Start:             Start{At: kafka.Earliest},
		Isolation:         "read_committed",
		SessionTimeout:    45 * time.Second,
		HeartbeatInterval: 3 * time.Second,
		RebalanceTimeout:  time.Minute,
		DrainTimeout:      15 * time.Second,
		PartitionRefresh:  30 * time.Second,
		FetchBytes:        field.MiB,
		FetchWait:         500 * time.Millisecond,
		MaxBatchBytes:     100 * field.MiB,
	}
}

// Validate returns all that is wrong with c, joined.
func (c *Config) Validate() error {
	errs := []error{c.Kafka.Validate()}
	fail := func(key, text string) {
		errs = append(errs, &field.Error{Field: key, Err: errors.New(text)})
	}
	if len(c.Topics) == 0 {
		fail("topics", "there is none")
	}
	for i, t := range c.Topics {
		switch key := fmt.Sprintf("topics[%d]", i); {
		case t == "":
			fail(key, "is empty")
		case slices.Contains(c.Topics[:i], t):
			fail(key, "is there twice")
		}
	}
	if c.Group == "" {
		fail("group", "is missing")
	}
	if c.Isolation != "read_committed" && c.Isolation != "read_uncommitted" {
		fail("isolation_level", "is neither read_committed nor read_uncommitted")
	}
	if c.HeartbeatInterval <= 0 || c.HeartbeatInterval > c.SessionTimeout/3 {
		errs = append(errs, &field.Error{
			Field: "heartbeat_interval", With: []string{"session_timeout"}, Err: errors.New("is not between 0 and a third of session_timeout"),
		})
	}
	if c.RebalanceTimeout <= 0 || c.DrainTimeout <= 0 || c.PartitionRefresh <= 0 || c.FetchWait <= 0 {
		fail("rebalance_timeout", "this, drain_timeout, partition_refresh and fetch_wait are positive")
	}
	if c.FetchBytes <= 0 || c.MaxBatchBytes <= 0 {
		fail("fetch_bytes", "this and max_batch_bytes are positive")
	}
	return errors.Join(errs...)
}

// drain returns how long a generation may drain.
func (c *Config) drain() time.Duration {
	return min(c.SessionTimeout/3, c.RebalanceTimeout/2, c.DrainTimeout)
}

// Start says where to begin where nothing is committed.
type Start struct {
	At int64 // kafka.Earliest, kafka.Latest, or Unix milliseconds
}

const timestampPrefix = "timestamp:"

// UnmarshalText reads earliest, latest and timestamp:RFC3339.
func (s *Start) UnmarshalText(text []byte) error {
	switch t := string(text); {
	case t == "earliest":
		s.At = kafka.Earliest
	case t == "latest":
		s.At = kafka.Latest
	case strings.HasPrefix(t, timestampPrefix):
		at, err := time.Parse(time.RFC3339, t[len(timestampPrefix):])
		if err != nil || at.UnixMilli() < 0 {
			return errors.New("the timestamp is not of the form 2026-11-01T00:00:00Z")
		}
		s.At = at.UnixMilli()
	default:
		return errors.New("is none of earliest, latest, timestamp:2026-11-01T00:00:00Z")
	}
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (s Start) MarshalText() ([]byte, error) {
	switch s.At {
	case kafka.Earliest:
		return []byte("earliest"), nil
	case kafka.Latest:
		return []byte("latest"), nil
	}
	return []byte(timestampPrefix + time.UnixMilli(s.At).UTC().Format(time.RFC3339Nano)), nil
}
