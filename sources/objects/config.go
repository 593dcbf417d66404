package objects

import (
	"errors"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
	sqsclient "github.com/urlfold/urlfold/internal/client/sqs"
	"github.com/urlfold/urlfold/internal/storage/objects/s3"
	"github.com/urlfold/urlfold/sources/file"
	"github.com/urlfold/urlfold/sources/kafka"
	"github.com/urlfold/urlfold/sources/nats"
)

// A Config configures a source that reads the objects that messages name. It
// requires exactly one queue.
type Config struct {
	connect.S3

	// A JetStream stream with references to objects.
	JetStream JetStream `yaml:"jetstream"`
	// A queue of Amazon SQS with references to objects. It is used with the
	// credentials for the store.
	SQS SQS `yaml:"sqs"`
	// The Kafka topics with references to objects. Instances with the same group share
	// the partitions.
	Kafka kafka.Config `yaml:"kafka"`

	// How to handle the records of a damaged compressed object: as on_damage of
	// the file source. In any case, a reference to the object becomes a dead letter.
	OnDamage string `yaml:"on_damage" enum:"emit-and-report,quarantine,skip-file,stop"`
	// RestartPointEvery is as in [file.Settings].
	RestartPointEvery field.Size `yaml:"-"`
	// The limits on the expansion of a compressed object.
	Limits field.Limits `yaml:"limits"`
	// How long to remember how much of an object was read. If a message is delivered
	// again after this time, the source reads the object again.
	ForgetAfter time.Duration `yaml:"forget_after" min:"0s"`
	// Number of objects to read at the same time. Each takes about 5 MiB.
	Readers int `yaml:"max_readers" min:"1" max:"256"`
	// Number of deliveries after which a message becomes a dead letter, because its
	// object probably crashes the process. 0: no limit. Kafka does not count them.
	MaxDeliveries int `yaml:"max_deliveries" min:"0"`

	// UntilEOF ends a run when the queue is empty. The owner of the pipeline sets
	// it.
	UntilEOF bool `yaml:"-"`
}

// A JetStream is a queue of references in a JetStream stream. All instances with
// the same consumer share the messages.
type JetStream struct {
	connect.NATS

	// Name of the stream.
	Stream string `yaml:"stream,required"`
	// Name of the consumer.
	Durable string `yaml:"durable,required"`
	// Settings of the consumer. ack_wait is the time after which another instance gets
	// the message of a crashed instance. The source extends this time while it reads an
	// object.
	Consumer nats.Consumer `yaml:"consumer"`
	// The JetStream domain. Default: the server's.
	Domain string `yaml:"domain"`
}

// An SQS is a queue of Amazon SQS.
type SQS struct {
	// URL of the queue, such as https://sqs.eu-west-1.amazonaws.com/111122223333/logs.
	URL string `yaml:"url,required"`
	// Time after which another instance gets the message of a crashed instance. The
	// source extends this time while it reads an object. SQS allows 12 hours in all:
	// an object that takes longer may be read by two instances.
	VisibilityTimeout time.Duration `yaml:"visibility_timeout" min:"3s" max:"12h"`

	wait time.Duration // how long SQS waits for a message; 0 in tests
}

// Validate returns the error in c, a [field.Error].
func (c *SQS) Validate() error {
	var errs field.Errors
	errs.Add("url", sqsclient.Check(c.URL))
	return errors.Join(errs...)
}

// Default returns the default values.
func Default() Config {
	f := file.DefaultSettings()
	return Config{
		OnDamage: f.OnDamage, RestartPointEvery: f.RestartPointEvery, Limits: f.Limits,
		ForgetAfter: 24 * time.Hour, Readers: f.Readers, MaxDeliveries: 10,
		Kafka:     *kafka.Default(),
		SQS:       SQS{VisibilityTimeout: 90 * time.Second, wait: pollWait},
		JetStream: JetStream{NATS: connect.DefaultNATS(), Consumer: nats.Consumer{Create: true}},
	}
}

// Validate returns the joined errors in c, each a [field.Error].
func (c *Config) Validate() error {
	var errs field.Errors
	queues := 0
	for _, set := range []bool{c.JetStream.Stream != "", c.SQS.URL != "", len(c.Kafka.Topics) > 0} {
		if set {
			queues++
		}
	}
	if queues != 1 {
		errs.Wrong("jetstream", "exactly one of jetstream, kafka and sqs must be set, as the queue", "kafka", "sqs")
	}
	_, err := s3.Of(c.S3, func(string) string { return "" })
	errs.Add("endpoint", err)
	return errors.Join(errs...)
}

// Validate returns the joined errors in c, each a [field.Error].
func (c *JetStream) Validate() error {
	j := nats.DefaultJetStream()
	j.NATS, j.Stream, j.Durable, j.Consumer = c.NATS, c.Stream, c.Durable, c.Consumer
	return j.Validate()
}

// files returns the settings of the watcher that reads the objects.
func (c *Config) files() file.Settings {
	s := file.DefaultSettings()
	s.Include = []string{"s3://"}
	s.OnDamage, s.RestartPointEvery, s.Limits = c.OnDamage, c.RestartPointEvery, c.Limits
	s.ForgetAfter, s.Readers = c.ForgetAfter, c.Readers
	return s
}
