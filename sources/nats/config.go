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

// A JetStreamConfig says which stream to read, through which consumer.
type JetStreamConfig struct {
	connect.NATS

	// Stream is the name of the stream.
	Stream string `yaml:"stream,required"`
	// Durable is the name of the consumer. All instances that have the same one share
	// the messages of the stream.
	Durable string `yaml:"durable,required"`
	// Consumer says what the consumer is to be like.
	Consumer Consumer `yaml:"consumer"`
	// Start says where a consumer begins that is created, and where reading begins
	// in a stream that was deleted and created again: earliest, latest, or
	// timestamp:2026-11-01T00:00:00Z. A consumer that was deleted while this instance
	// ran is created again after the last message known to be acknowledged.
	Start Start `yaml:"start"`
	// Prefetch bounds what is asked for and not processed yet.
	Prefetch Prefetch `yaml:"prefetch"`
	// Batch bounds the messages of a batch.
	Batch Batch `yaml:"batch"`
	// Ack is sent (an acknowledgment is published, and may get lost with the
	// connection) or confirmed (the server confirms the last one of each batch).
	Ack string `yaml:"ack" enum:"sent,confirmed"`
	// NakDelay is when a message is delivered again that was given up.
	NakDelay time.Duration `yaml:"nak_delay" min:"0s"`
	// MaxProcessingTime is how long a message is reported as in progress. After that
	// and ack_wait another instance gets it too.
	MaxProcessingTime time.Duration `yaml:"max_processing_time" min:"1s"`
	// Poison says what becomes of messages that are delivered again and again.
	Poison Poison `yaml:"poison"`

	// UntilEOF ends a run when all messages of the consumer are acknowledged. Whoever
	// runs the pipeline sets it.
	UntilEOF bool `yaml:"-"`
}

// A Consumer says what the durable consumer is to be like. What is not written is as
// the consumer has it, or for one that is created the default that is given here.
type Consumer struct {
	// Create has the consumer created if there is none, at the start and later.
	// Default: true.
	Create bool `yaml:"create"`
	// FilterSubjects are the subjects to read. Default: all of the stream.
	FilterSubjects []string `yaml:"filter_subjects"`
	// AckWait is how long the server waits for an acknowledgment before it delivers a
	// message again. Default: 90s.
	AckWait time.Duration `yaml:"ack_wait" min:"100ms"`
	// MaxAckPending is how many messages may be delivered and not acknowledged, in
	// all instances together. Default: 20000.
	MaxAckPending int `yaml:"max_ack_pending" min:"1"`
	// MaxDeliver is how often a message is delivered at most, -1 for no limit. A
	// message that was delivered as often and not acknowledged is lost to this
	// consumer: poison.after should be less. Default: -1.
	MaxDeliver int `yaml:"max_deliver" min:"-1"`
}

// Prefetch bounds what is asked for and not processed yet, for each instance.
type Prefetch struct {
	// Messages is how many messages that are.
	Messages int `yaml:"messages" min:"4" max:"100000"`
	// Bytes is how many bytes, with subjects and headers. It is at least four times
	// the max_payload of the server, for a pull that cannot hold a message never gets
	// it.
	Bytes field.Size `yaml:"bytes" min:"64KiB"`
}

// Batch bounds the messages of a batch.
type Batch struct {
	// Messages is how many there are at most.
	Messages int `yaml:"messages" min:"1" max:"100000"`
	// Linger is how long the first message of a batch waits for others.
	Linger time.Duration `yaml:"linger" min:"0s"`
}

// Poison says what becomes of messages that are delivered again and again.
type Poison struct {
	// After is how many deliveries are processed. 0: all.
	After int `yaml:"after" min:"0"`
	// Action is terminate (the server does not deliver it again, and tells so in an
	// advisory) or publish (to subject, and then terminate).
	Action string `yaml:"action" enum:"terminate,publish"`
	// Subject is where such messages are published, to a stream, as they came.
	Subject string `yaml:"subject"`
}

// Values of Ack and Poison.Action.
const (
	ackSent         = "sent"
	ackConfirmed    = "confirmed"
	poisonTerminate = "terminate"
	poisonPublish   = "publish"
)

func defaultBatch() Batch { return Batch{Messages: 1000, Linger: 50 * time.Millisecond} }

// DefaultJetStream returns the defaults.
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

// wrong makes an error of a field.
func wrong(key, what string) error {
	return &field.Error{Field: key, Err: errors.New(what)}
}

// noFilter is what is wrong with an element of a list of subjects.
const noFilter = "is no subject: names with dots between them, * for any one, > at the end for any that follow"

// isName reports whether s can be the name of a stream or a consumer.
func isName(s string) bool { return client.IsSubject(s) && !strings.ContainsAny(s, `./\`) }

// Validate tells all that is wrong with c, joined.
func (c *JetStreamConfig) Validate() error {
	errs := []error{c.NATS.Validate()}
	check := func(ok bool, key, what string) {
		if !ok {
			errs = append(errs, wrong(key, what))
		}
	}
	check(isName(c.Stream), "stream", "is no name: no spaces, dots, slashes or wildcards")
	check(isName(c.Durable), "durable", "is no name: no spaces, dots, slashes or wildcards")
	for i, f := range c.Consumer.FilterSubjects {
		check(client.IsFilter(f), fmt.Sprintf("consumer.filter_subjects[%d]", i), noFilter)
	}
	check(c.Consumer.AckWait == 0 || c.Consumer.AckWait >= 100*time.Millisecond, "consumer.ack_wait", "is less than 100ms")
	check(c.Consumer.MaxAckPending >= 0, "consumer.max_ack_pending", "is not positive")
	check(c.Consumer.MaxDeliver >= -1, "consumer.max_deliver", "is neither -1 nor positive")
	check(c.Prefetch.Messages >= 4 && c.Prefetch.Messages <= 100000, "prefetch.messages", "is not between 4 and 100000")
	check(c.Prefetch.Bytes >= 64*field.KiB, "prefetch.bytes", "is less than 64KiB")
	check(c.Ack == ackSent || c.Ack == ackConfirmed, "ack", "is sent or confirmed")
	check(c.NakDelay >= 0, "nak_delay", "is negative")
	check(c.MaxProcessingTime > 0, "max_processing_time", "is not positive")
	errs = append(errs, c.Batch.validate(), c.Poison.validate(c.Consumer.MaxDeliver))
	return errors.Join(errs...)
}

func (b *Batch) validate() error {
	switch {
	case b.Messages < 1 || b.Messages > 100000:
		return wrong("batch.messages", "is not between 1 and 100000")
	case b.Linger < 0:
		return wrong("batch.linger", "is negative")
	}
	return nil
}

func (p *Poison) validate(maxDeliver int) error {
	var errs []error
	check := func(ok bool, key, what string) {
		if !ok {
			errs = append(errs, wrong(key, what))
		}
	}
	check(p.After >= 0, "poison.after", "is negative")
	check(p.Action == poisonTerminate || p.Action == poisonPublish, "poison.action", "is terminate or publish")
	check(p.Action != poisonPublish || client.IsSubject(p.Subject), "poison.subject", "is no subject to publish to")
	check(maxDeliver <= 0 || p.After < maxDeliver, "poison.after", "must be less than consumer.max_deliver, or the server gives the message up first")
	return errors.Join(errs...)
}

// A CoreConfig says what to listen to. Nothing is acknowledged: a message is
// processed at most once.
type CoreConfig struct {
	connect.NATS

	// Subjects are what to listen to. They may hold wildcards.
	Subjects []string `yaml:"subjects,required" min:"1"`
	// Queue is the name of a queue group: each message goes to one of its members.
	Queue string `yaml:"queue"`
	// Pending bounds what has arrived and is not processed yet, for each subject.
	// What goes beyond is dropped, and counted.
	Pending Pending `yaml:"pending"`
	// Batch bounds the messages of a batch.
	Batch Batch `yaml:"batch"`
}

// Pending bounds what has arrived and is not processed yet.
type Pending struct {
	// Messages is how many messages that are.
	Messages int `yaml:"messages" min:"1"`
	// Bytes is how many bytes.
	Bytes field.Size `yaml:"bytes" min:"1KiB"`
}

// DefaultCore returns the defaults.
func DefaultCore() CoreConfig {
	return CoreConfig{
		NATS: connect.DefaultNATS(), Pending: Pending{Messages: 500000, Bytes: 64 * field.MiB}, Batch: defaultBatch(),
	}
}

// Validate tells all that is wrong with c, joined.
func (c *CoreConfig) Validate() error {
	errs := []error{c.NATS.Validate(), c.Batch.validate()}
	if len(c.Subjects) == 0 {
		errs = append(errs, wrong("subjects", "there is none"))
	}
	for i, s := range c.Subjects {
		if !client.IsFilter(s) {
			errs = append(errs, wrong(fmt.Sprintf("subjects[%d]", i), noFilter))
		}
	}
	if c.Queue != "" && !client.IsSubject(c.Queue) {
		errs = append(errs, wrong("queue", "is no name: no spaces and wildcards"))
	}
	if c.Pending.Messages < 1 || c.Pending.Bytes < field.KiB {
		errs = append(errs, wrong("pending", "needs at least one message and 1KiB"))
	}
	return errors.Join(errs...)
}
