package nats

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
	client "github.com/urlfold/urlfold/internal/client/nats"
)

// A JetStreamConfig configures a source that reads a JetStream stream through a
// durable consumer.
type JetStreamConfig struct {
	connect.NATS

	// Name of the stream.
	Stream string `yaml:"stream,required"`
	// Name of the consumer. All instances with the same name share the messages
	// of the stream.
	Durable string `yaml:"durable,required"`
	// Settings of the consumer.
	Consumer Consumer `yaml:"consumer"`
	// Where a newly created consumer starts, and where reading starts in a
	// stream that was deleted and recreated: earliest, latest, or
	// timestamp:2026-11-01T00:00:00Z. A consumer that was deleted while this
	// instance ran is recreated after the last message known to be
	// acknowledged.
	Start Start `yaml:"start"`
	// The JetStream domain. Default: the server's.
	Domain string `yaml:"domain"`
	// sent: publish acknowledgments; they may get lost with the connection.
	// confirmed: wait until the server confirms the last acknowledgment of each
	// batch.
	Ack string `yaml:"ack" enum:"sent,confirmed"`
	// How long a message is reported as in progress. After that and ack_wait,
	// another instance receives it too.
	MaxProcessingTime time.Duration `yaml:"max_processing_time" min:"1s"`
	// How to handle messages that are delivered again and again.
	Poison Poison `yaml:"poison"`

	// Prefetch limits the messages that were requested but not processed yet.
	Prefetch Prefetch `yaml:"-"`
	// Batch limits a batch. The owner of the pipeline sets it.
	Batch Batch `yaml:"-"`
	// NakDelay is the delay before the server redelivers a message that was given up.
	NakDelay time.Duration `yaml:"-"`
	// UntilEOF ends a run when all messages of the consumer are acknowledged.
	// The owner of the pipeline sets it.
	UntilEOF bool `yaml:"-"`
	// Delays reports that the pipeline may request a message any number of
	// times, so the consumer must not set max_deliver. The owner of the pipeline
	// sets it.
	Delays bool `yaml:"-"`
}

// A Start says where a new consumer starts.
type Start = connect.Start

// A Consumer holds the settings of the durable consumer. An existing consumer
// keeps the settings that are not set here; a new one gets the defaults given
// here.
type Consumer struct {
	// Whether to create the consumer if it does not exist, at the start and
	// later. Default: true.
	Create bool `yaml:"create"`
	// Subjects to read. Default: all subjects of the stream.
	FilterSubjects []string `yaml:"filter_subjects"`
	// How long the server waits for an acknowledgment before redelivering a
	// message. Default: 90s.
	AckWait time.Duration `yaml:"ack_wait" min:"100ms"`
	// Maximum number of messages that are delivered but not acknowledged, in
	// all instances together. Default: 20000.
	MaxAckPending int `yaml:"max_ack_pending" min:"1"`
}

// Prefetch limits the messages that were requested but not processed yet, for
// each instance.
type Prefetch struct {
	Messages int
	// Bytes includes subjects and headers. Four times the max_payload of the server
	// replaces a smaller value, because a pull request that is too small for a message
	// never receives it.
	Bytes field.Size
}

// Batch limits the messages of a batch.
type Batch struct {
	Messages int
	Linger   time.Duration // how long the first message of a batch waits for more
}

// Poison says how to handle messages that are delivered again and again.
type Poison struct {
	// Number of deliveries after which a message is no longer processed. 0: no
	// limit.
	After int `yaml:"after" min:"0"`
	// terminate: the server stops delivering the message and publishes an
	// advisory. publish: publish the message to subject, then terminate it.
	Action string `yaml:"action" enum:"terminate,publish"`
	// The subject to publish such messages to, unchanged. A stream must store it.
	Subject string `yaml:"subject"`
}

// The values of Ack and Poison.Action.
const (
	ackSent         = "sent"
	ackConfirmed    = "confirmed"
	poisonTerminate = "terminate"
	poisonPublish   = "publish"
)

func defaultBatch() Batch { return Batch{Messages: 1000, Linger: 50 * time.Millisecond} }

// DefaultJetStream returns the default values.
func DefaultJetStream() JetStreamConfig {
	return JetStreamConfig{
		NATS:     connect.DefaultNATS(),
		Consumer: Consumer{Create: true},
		Prefetch: Prefetch{Messages: 2000, Bytes: 8 * field.MiB},
		Batch:    defaultBatch(),
		Ack:      ackSent, NakDelay: 5 * time.Second, MaxProcessingTime: 30 * time.Minute,
		Poison: Poison{Action: poisonTerminate},
	}
}

// isName reports whether s can be the name of a stream or a consumer.
func isName(s string) bool { return client.IsSubject(s) && !strings.ContainsAny(s, `./\`) }

// Validate returns all errors in c, joined. The tags of the fields hold the bounds of
// single values.
func (c *JetStreamConfig) Validate() error {
	errs := field.Errors{c.NATS.Validate()}
	for _, n := range [][2]string{{"stream", c.Stream}, {"durable", c.Durable}} {
		if !isName(n[1]) {
			errs.Wrong(n[0], "invalid name: must not be empty or contain spaces, dots, slashes or wildcards")
		}
	}
	checkSubjects(&errs, "consumer.filter_subjects", c.Consumer.FilterSubjects)
	if c.Delays && c.Poison.After != 0 {
		errs.Wrong("poison.after", "must be 0 with dedupe.bucket: a message whose key another process has claimed is delivered again, which counts as a delivery")
	}
	if c.Poison.Action == poisonPublish && !client.IsSubject(c.Poison.Subject) {
		errs.Wrong("poison.subject", "invalid subject: must be names separated by dots, without wildcards")
	}
	return errors.Join(errs...)
}

// checkSubjects adds the errors in a list of subjects.
func checkSubjects(errs *field.Errors, key string, subjects []string) {
	for i, s := range subjects {
		if !client.IsFilter(s) {
			errs.Wrong(fmt.Sprintf("%s[%d]", key, i), "invalid subject: must be names separated by dots, * for any one name, > at the end for all that follow")
		}
	}
}

// A CoreConfig configures a source that subscribes to core NATS subjects.
// Messages are not acknowledged: each is processed at most once.
type CoreConfig struct {
	connect.NATS

	// The subjects to subscribe to. They may contain wildcards.
	Subjects []string `yaml:"subjects,required" min:"1"`
	// Name of a queue group: each message goes to one of its members.
	Queue string `yaml:"queue"`
	// Limits for messages that have arrived but are not processed yet, for each
	// subject. Messages beyond these limits are dropped and counted.
	Pending Pending `yaml:"pending"`
	// Batch limits a batch. The owner of the pipeline sets it.
	Batch Batch `yaml:"-"`
}

// Pending limits the messages that have arrived but are not processed yet.
type Pending struct {
	// Maximum number of messages.
	Messages int `yaml:"messages" min:"1"`
	// Maximum number of bytes.
	Bytes field.Size `yaml:"bytes" min:"1KiB"`
}

// DefaultCore returns the default values.
func DefaultCore() CoreConfig {
	return CoreConfig{
		NATS: connect.DefaultNATS(), Pending: Pending{Messages: 500000, Bytes: 64 * field.MiB}, Batch: defaultBatch(),
	}
}

// Validate returns all errors in c, joined. The tags of the fields hold the bounds of
// single values.
func (c *CoreConfig) Validate() error {
	errs := field.Errors{c.NATS.Validate()}
	checkSubjects(&errs, "subjects", c.Subjects)
	if c.Queue != "" && !client.IsSubject(c.Queue) {
		errs.Wrong("queue", "invalid name: must not contain spaces or wildcards")
	}
	return errors.Join(errs...)
}
