package nats

import (
	"errors"
	"strings"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
)

// A JetStreamConfig configures the JetStream sink, which publishes records to
// streams and waits for the acknowledgments.
type JetStreamConfig struct {
	connect.NATS
	connect.Headers

	// Template for the subject of a message. The variables are {host_key%64},
	// the shard of the host of the record's first URL; {key%64}, the shard of
	// the key of that URL, at the level of codec.key; {key}, the same key in
	// hexadecimal; and {subject}, the subject of the message that contained the
	// record.
	Subject string `yaml:"subject,required"`
	// Id by which the stream detects a duplicate message within its duplicate
	// window. position: the position of the record, so that a record that is
	// read again is dropped. key: the key of the record's first URL, so that
	// the stream stores each key once per window. subject: the subject, which
	// must contain {key}; the stream refuses a second message of a subject, so
	// that it stores each key once for as long as it keeps the message. This
	// requires a stream with max_msgs_per_subject: 1, discard: new and
	// discard_new_per_subject. batch, with framing: lines: the part of the
	// input that the message holds; this requires that all sources are files
	// with mode: batch, whose batches then end at fixed positions about 128 KiB
	// apart. none: no id.
	MsgID string `yaml:"msg_id" enum:"position,key,subject,batch,none"`
	// records: one message per record. lines: one message per batch with one
	// line per record, split at the server's max_payload. Lines are many times
	// cheaper, also for the server's duplicate detection, but only batches that
	// end at fixed positions are the same when they are read again, so msg_id
	// must be batch or none.
	Framing string `yaml:"framing" enum:"records,lines"`
	// The JetStream domain. Default: the server's.
	Domain string `yaml:"domain"`
	// Limits for messages in flight.
	Publish Publish `yaml:"publish"`
	// Name of the stream that must store the messages. Another stream that
	// captures the same subject by mistake then refuses them.
	ExpectStream string `yaml:"expect_stream"`
	// Fail at startup if no stream captures the subject. Set this to false if
	// the user may not use the JetStream API.
	CheckStreams bool `yaml:"check_streams"`
}

// Publish limits the messages in flight.
type Publish struct {
	// Maximum number of unacknowledged messages.
	MaxPending int `yaml:"max_pending" min:"1" max:"1000000"`
	// Time to wait for an acknowledgment before a message is published again.
	AckTimeout time.Duration `yaml:"ack_timeout" min:"10ms"`
	// Ordered keeps the order of each lane within each subject, with one message in
	// flight for each lane and subject. The owner of the pipeline sets it.
	Ordered bool `yaml:"-"`
}

// DefaultJetStream returns a [JetStreamConfig] with the default values.
func DefaultJetStream() JetStreamConfig {
	return JetStreamConfig{
		NATS: connect.DefaultNATS(), MsgID: idPosition, Framing: framingRecords, CheckStreams: true,
		Publish: Publish{MaxPending: 4000, AckTimeout: 30 * time.Second},
		Headers: connect.DefaultHeaders(),
	}
}

// checkHeaders checks added headers, which must be lines of text.
func checkHeaders(headers map[string]string) error {
	var errs field.Errors
	for name, value := range headers {
		if name == "" || !passes([]byte(name)) || strings.ContainsAny(value, "\r\n") {
			errs.Wrong("add_headers."+name, "must be a header name without spaces and colons that does not begin with Nats-, and a value of one line")
		}
	}
	return errors.Join(errs...)
}

const (
	idPosition = "position"
	idKey      = "key"
	idSubject  = "subject"
	idBatch    = "batch"
	idNone     = "none"

	framingRecords = "records"
	framingLines   = "lines"
)

// Validate returns all problems of c, joined. The tags of the fields hold the bounds of
// single values.
func (c *JetStreamConfig) Validate() error {
	errs := field.Errors{c.NATS.Validate(), checkHeaders(c.AddHeaders)}
	t, err := parseTemplate(c.Subject)
	errs.Add("subject", err)
	switch {
	case c.Framing == framingLines && c.MsgID != idNone && c.MsgID != idBatch:
		errs.Wrong("msg_id", "framing: lines requires msg_id: batch (only for files with mode: batch) or msg_id: none (a restart can duplicate records)")
	case c.Framing == framingRecords && c.MsgID == idBatch:
		errs.Wrong("msg_id", "msg_id: batch requires framing: lines")
	case c.MsgID == idSubject && err == nil && (!t.holdsKey() || t.takes(subject)):
		errs.Wrong("subject", "msg_id: subject requires {key} in the subject, as in pages.{key}, and no {subject}")
	case c.MsgID == idSubject && !c.CheckStreams:
		errs.Wrong("check_streams", "msg_id: subject requires check_streams: another stream would store each message, or only the last one")
	}
	if c.Framing == framingLines && err == nil && (t.takes(hostKey) || t.takes(urlKey) || t.takes(subject)) {
		errs.Wrong("subject", "framing: lines requires the same subject for all records: remove the {...} variables")
	}
	return errors.Join(errs...)
}

// Target returns the subject.
func (c *JetStreamConfig) Target() string { return c.Subject }

// FixedBatches reports whether the sink requires batches that are the same each
// time they are read.
func (c *JetStreamConfig) FixedBatches() bool { return c.MsgID == idBatch }

// A CoreConfig configures the NATS sink, which publishes records with core NATS.
// The server does not store the messages; only current subscribers receive
// them.
type CoreConfig struct {
	connect.NATS
	connect.Headers

	// Template for the subject of a message, as for the jetstream sink.
	Subject string `yaml:"subject,required"`
}

// DefaultCore returns a [CoreConfig] with the default values.
func DefaultCore() CoreConfig {
	return CoreConfig{NATS: connect.DefaultNATS(), Headers: connect.DefaultHeaders()}
}

// Validate returns all problems of c, joined.
func (c *CoreConfig) Validate() error {
	errs := field.Errors{c.NATS.Validate(), checkHeaders(c.AddHeaders)}
	_, err := parseTemplate(c.Subject)
	errs.Add("subject", err)
	return errors.Join(errs...)
}
