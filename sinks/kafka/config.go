package kafka

import (
	"errors"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Config configures the Kafka sink, which writes records to one topic.
type Config struct {
	connect.Kafka
	connect.Headers

	// Name of the topic. If the topic does not exist, it is created, provided
	// that the brokers create topics automatically.
	Topic string `yaml:"topic,required" min:"1"`
	// How to select the partition of a record. key: by the key of its first URL,
	// at the level of codec.key, so that records with the same key are in the
	// same partition. input: by the key of the message that contained the record,
	// or by the lane if there is no such key. none: in turn, batch by batch.
	PartitionBy string `yaml:"partition_by" enum:"key,input,none"`
	// What to use as the key of a message. key: the key of the record's first
	// URL as 32 hexadecimal digits; a record without a URL gets the key of the
	// message that contained the record. input: the key of that message for
	// every record. none: no key. Default: key with partition_by: key,
	// otherwise input.
	Key string `yaml:"message_key" enum:"key,input,none"`
	// How record batches are compressed.
	Compression string `yaml:"compress" enum:"none,gzip,snappy,lz4,zstd"`
	// Number record batches, so that the broker can detect duplicates. Disable
	// this for a broker that does not allow it.
	Idempotent bool `yaml:"idempotent"`
	// Maximum size of a record batch, before compression.
	BatchBytes field.Size `yaml:"batch_size" min:"1KiB" max:"64MiB"`
	// Write no record twice after a crash: each message gets the header
	// urlfold-id, and a restart reads back what the topic has received since the
	// last checkpoint. Requires idempotent: true and exactly one source, of type
	// file, s3 or objects, and implies order: lane.
	ExactlyOnce bool `yaml:"exactly_once"`

	// Name of the sink, a part of the ids of records. It is used only with ExactlyOnce.
	Name string
	// Resume holds the extents of this sink in the checkpoint from which the
	// source resumes. It is used only with ExactlyOnce.
	Resume []engine.Extent
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

// Validate returns all problems of c, joined. The tags of the fields hold the bounds of
// single values.
func (c *Config) Validate() error {
	errs := field.Errors{c.Kafka.Validate(), c.Headers.Validate()}
	errs.Add("topic", connect.CheckTopic(c.Topic))
	if c.ExactlyOnce && !c.Idempotent {
		errs.Add("idempotent", errors.New("must be true with exactly_once"))
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
