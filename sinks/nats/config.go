package nats

import (
	"errors"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
)

// A JetStreamConfig says to which streams to publish, and how.
type JetStreamConfig struct {
	connect.NATS

	// Subject is a template: text, {host_key%64} (the shard of the host of the
	// record's first URL), {key%64} (that of its equivalence key), {key} (the key in
	// hex) and {subject} (the subject of the message that the record came in).
	Subject string `yaml:"subject,required"`
	// MsgID is what the stream recognizes a message by inside its duplicate window.
	// position: where the record stood, so that one that is read again is dropped.
	// key: the equivalence key, so that a page is taken once in a window. batch, with
	// framing: lines: which part of the input the message holds; all sources must be
	// files with mode: batch, whose batches then end at fixed positions, about 128 KiB
	// apart. none: no id.
	MsgID string `yaml:"msg_id" enum:"position,key,batch,none"`
	// Framing is records (a message for each record) or lines (a message for each
	// batch, a line for each record, split at the server's max_payload). Lines are
	// many times cheaper, and so are their ids to the server; but only batches that
	// end at fixed positions are the same when they are read again: msg_id must be batch
	// or none.
	Framing string `yaml:"framing" enum:"records,lines"`
	// Publish bounds what is under way.
	Publish Publish `yaml:"publish"`
	// ExpectStream is the name of the stream that must take the messages. Another
	// one that listens to the same subject, after a mistake, then refuses them.
	ExpectStream string `yaml:"expect_stream"`
	// CheckStreams makes the start fail if no stream takes the subject. Say false
	// where this user may not use the JetStream API.
	CheckStreams bool `yaml:"check_streams"`
	// Headers says what is told beside the records.
	Headers Headers `yaml:"headers"`
}

// Publish bounds what is under way.
type Publish struct {
	// MaxPending is how many messages may wait for their acknowledgment.
	MaxPending int `yaml:"max_pending" min:"1" max:"1000000"`
	// AckTimeout is how long an acknowledgment may take before a message is
	// published again.
	AckTimeout time.Duration `yaml:"ack_timeout" min:"10ms"`
	// Ordered keeps the order of a lane in each subject: one message of both is
	// under way at a time. Pipeline.ordering: per_lane needs it.
	Ordered bool `yaml:"ordered"`
}

// Headers says what is told beside a record, in the headers of its message.
type Headers struct {
	// Input passes on the headers of the message that the record came in.
	Input bool `yaml:"input"`
	// Flags adds urlfold-flags, the names of the flags of the record's URLs, if
	// there are any.
	Flags bool `yaml:"flags"`
	// Source adds urlfold-source, the name of the lane and the position in it.
	Source bool `yaml:"source"`
}

// DefaultJetStream returns the defaults.
func DefaultJetStream() JetStreamConfig {
	return JetStreamConfig{
		NATS: connect.DefaultNATS(), MsgID: idPosition, Framing: framingRecords, CheckStreams: true,
		Publish: Publish{MaxPending: 4000, AckTimeout: 30 * time.Second},
		Headers: Headers{Input: true, Flags: true, Source: true},
	}
}

const (
	idPosition = "position"
	idKey      = "key"
	idBatch    = "batch"
	idNone     = "none"

	framingRecords = "records"
	framingLines   = "lines"
)

// wrong makes an error of a field.
func wrong(key, what string) error {
	return &field.Error{Field: key, Err: errors.New(what)}
}

// Validate tells all that is wrong with c, joined.
func (c *JetStreamConfig) Validate() error {
	errs := []error{c.NATS.Validate()}
	t, err := parseTemplate(c.Subject)
	if err != nil {
		errs = append(errs, &field.Error{Field: "subject", Err: err})
	}
	switch {
	case c.MsgID != idPosition && c.MsgID != idKey && c.MsgID != idBatch && c.MsgID != idNone:
		errs = append(errs, wrong("msg_id", `must be "position", "key", "batch" or "none"`))
	case c.Framing == framingLines && c.MsgID != idNone && c.MsgID != idBatch:
		errs = append(errs, wrong("msg_id", "framing: lines has no id for each record: set msg_id: batch (files with mode: batch only), or msg_id: none, and expect duplicates after a restart"))
	case c.Framing == framingRecords && c.MsgID == idBatch:
		errs = append(errs, wrong("msg_id", "msg_id: batch is for messages of many records: set framing: lines"))
	}
	switch {
	case c.Framing != framingRecords && c.Framing != framingLines:
		errs = append(errs, wrong("framing", "is records or lines"))
	case c.Framing == framingLines && err == nil && t.perRecord():
		errs = append(errs, wrong("subject", "framing: lines has one subject for many records: take the {...} out"))
	}
	if c.Publish.MaxPending < 1 || c.Publish.MaxPending > 1000000 {
		errs = append(errs, wrong("publish.max_pending", "is not between 1 and 1000000"))
	}
	if c.Publish.AckTimeout < 10*time.Millisecond {
		errs = append(errs, wrong("publish.ack_timeout", "is less than 10ms"))
	}
	return errors.Join(errs...)
}

// FixedBatches reports whether the sink takes batches only that are the same when
// they are read again.
func (c *JetStreamConfig) FixedBatches() bool { return c.MsgID == idBatch }

// A CoreConfig says where to publish to whoever listens. Nothing keeps the
// messages: who does not listen does not get them.
type CoreConfig struct {
	connect.NATS

	// Subject is a template as that of the sink jetstream.
	Subject string `yaml:"subject,required"`
	// Headers says what is told beside the records.
	Headers Headers `yaml:"headers"`
}

// DefaultCore returns the defaults.
func DefaultCore() CoreConfig {
	return CoreConfig{NATS: connect.DefaultNATS(), Headers: Headers{Input: true, Flags: true, Source: true}}
}

// Validate tells all that is wrong with c, joined.
func (c *CoreConfig) Validate() error {
	errs := []error{c.NATS.Validate()}
	if _, err := parseTemplate(c.Subject); err != nil {
		errs = append(errs, &field.Error{Field: "subject", Err: err})
	}
	return errors.Join(errs...)
}
