package kafka

import (
	"errors"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/client/kafka"
)

// A Config says what to write where.
type Config struct {
	connect.Kafka

	// Topic to write to. If it is not there, brokers that create topics do so.
	Topic string `yaml:"topic,required" min:"1"`
	// What decides the partition of a record. key: the equivalence key of its first
	// URL, so that one page is always in one partition. input: the key of the message
	// that it came in, or without one the lane. none: one partition after the other,
	// batch by batch.
	PartitionBy string `yaml:"partition_by" enum:"key,input,none"`
	// What the key of a message is. equivalence: the equivalence key as 32 hex
	// digits, and for a record without a URL the key of its input. input: the key of
	// the message that the record came in. none. Not set: equivalence with
	// partition_by: key, else input.
	Key string `yaml:"key" enum:"equivalence,input,none"`
	// Compression of record batches.
	Compression string `yaml:"compression" enum:"none,gzip,snappy,lz4,zstd"`
	// Headers of messages.
	Headers Headers `yaml:"headers"`
	// Number record batches, so that a broker knows one that it has already. Turn
	// it off for a broker that does not allow it.
	Idempotent bool `yaml:"idempotent"`
	// How many bytes, not compressed, go into one record batch.
	BatchBytes field.Size `yaml:"batch_bytes" min:"1KiB" max:"64MiB"`
}

// Headers says which headers a message has.
type Headers struct {
	// Those of the message that the record came in.
	Input bool `yaml:"input"`
	// urlfold-flags: the flags of the record's URLs, if there are any.
	Flags bool `yaml:"flags"`
	// urlfold-source: where the record came from, LANE/POSITION: topic/partition/offset, or file:offset.
	Source bool `yaml:"source"`
	// More headers, the same for all messages: "urlfold-profile: analytics".
	Add map[string]string `yaml:"add"`
}

// Default returns a Config with the values of what is not configured.
func Default() *Config {
	return &Config{
		Kafka:       connect.DefaultKafka(),
		PartitionBy: "key",
		Compression: "zstd",
		Headers:     Headers{Input: true},
		Idempotent:  true,
		BatchBytes:  900 * field.KiB,
	}
}

// Validate returns all that is wrong with c, joined.
func (c *Config) Validate() error {
	errs := []error{c.Kafka.Validate()}
	check := func(ok bool, key, text string) {
		if !ok {
			errs = append(errs, &field.Error{Field: key, Err: errors.New(text)})
		}
	}
	check(c.Topic != "", "topic", "is missing")
	check(c.PartitionBy == byKey || c.PartitionBy == byInput || c.PartitionBy == byNone, "partition_by", "is none of key, input, none")
	check(c.Key == "" || c.Key == keyEquivalence || c.Key == byInput || c.Key == byNone, "key", "is none of equivalence, input, none")
	check(c.BatchBytes > 0, "batch_bytes", "is not positive")
	if _, err := kafka.CodecByName(c.Compression); err != nil {
		errs = append(errs, &field.Error{Field: "compression", Err: err})
	}
	for name := range c.Headers.Add {
		check(name != "", "headers.add."+name, "its name is empty")
	}
	return errors.Join(errs...)
}

// The values of PartitionBy and Key.
const (
	byKey          = "key"
	byInput        = "input"
	byNone         = "none"
	keyEquivalence = "equivalence"
)

// key returns what the key of a message is.
func (c *Config) key() string {
	switch {
	case c.Key != "":
		return c.Key
	case c.PartitionBy == byKey:
		return keyEquivalence
	}
	return byInput
}
