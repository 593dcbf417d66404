package kafka

import (
	"errors"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/client/kafka"
)

// A Config configures the Kafka sink, which writes records to one topic.
type Config struct {
	connect.Kafka
	connect.Headers

	// Name of the topic. If the topic does not exist, it is created, provided
	// that the brokers create topics automatically.
	Topic string `yaml:"topic,required" min:"1"`
	// How to select the partition of a record. key: by the equivalence key of
	// its first URL, so that each page is always in the same partition. input:
	// by the key of the message that contained the record, or by the lane if
	// there is no such key. none: in turn, batch by batch.
	PartitionBy string `yaml:"partition_by" enum:"key,input,none"`
	// What to use as the key of a message. key: the equivalence key as
	// 32 hexadecimal digits, or the input key for a record without a URL.
	// input: the key of the message that contained the record. none: no key.
	// Default: key with partition_by: key, otherwise input.
	Key string `yaml:"message_key" enum:"key,input,none"`
	// Codec for record batches.
	Compression string `yaml:"compress" enum:"none,gzip,snappy,lz4,zstd"`
	// Number record batches, so that the broker can detect duplicates. Disable
	// this for a broker that does not allow it.
	Idempotent bool `yaml:"idempotent"`
	// Maximum size of a record batch, before compression.
	BatchBytes field.Size `yaml:"batch_size" min:"1KiB" max:"64MiB"`
}

// Default returns a Config with the default values.
func Default() *Config {
	return &Config{
		Kafka:       connect.DefaultKafka(),
		PartitionBy: "key",
		Compression: "zstd",
		Headers:     connect.DefaultHeaders(),
		Idempotent:  true,
		BatchBytes:  900 * field.KiB,
	}
}

// Target returns the topic.
func (c *Config) Target() string { return c.Topic }

// Validate returns all problems of c, joined.
func (c *Config) Validate() error {
	errs := []error{c.Kafka.Validate(), c.Headers.Validate()}
	check := func(ok bool, key, text string) {
		if !ok {
			errs = append(errs, &field.Error{Field: key, Err: errors.New(text)})
		}
	}
	if err := connect.CheckTopic(c.Topic); err != nil {
		errs = append(errs, &field.Error{Field: "topic", Err: err})
	}
	check(c.PartitionBy == byKey || c.PartitionBy == byInput || c.PartitionBy == byNone, "partition_by", `must be "key", "input" or "none"`)
	check(c.Key == "" || c.Key == byKey || c.Key == byInput || c.Key == byNone, "message_key", `must be "key", "input" or "none"`)
	check(c.BatchBytes > 0, "batch_size", "must be positive")
	if _, err := kafka.CodecByName(c.Compression); err != nil {
		errs = append(errs, &field.Error{Field: "compression", Err: err})
	}
	return errors.Join(errs...)
}

// The values of PartitionBy and Key.
const (
	byKey   = "key"
	byInput = "input"
	byNone  = "none"
)

// key returns the effective value of Key.
func (c *Config) key() string {
	switch {
	case c.Key != "":
		return c.Key
	case c.PartitionBy == byKey:
		return byKey
	}
	return byInput
}
