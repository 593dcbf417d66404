package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// adminTimeout limits one request to the JetStream API.
const adminTimeout = 10 * time.Second

var (
	// ErrNoConsumer means that the consumer does not exist.
	ErrNoConsumer = errors.New("consumer not found")
	// ErrNoStream means that the stream does not exist.
	ErrNoStream = errors.New("stream not found")
)

// A StreamInfo is the information about a stream that sources and sinks use.
type StreamInfo struct {
	Name       string
	Subjects   []string
	Created    time.Time
	Duplicates time.Duration // duplicate window
	MaxMsgSize int           // -1: no limit
	PerSubject int64         // limit of messages per subject; 0 or less: no limit
	KeepsFirst bool          // at that limit, it refuses a new message instead of removing the oldest
	Copy       bool          // gets messages from other streams, with any subjects
	First      uint64        // sequence of the first message it still has
	Last       uint64        // sequence of its last message; 0: none
	WorkQueue  bool          // retention: messages are removed when acknowledged
	Limits     bool          // retention: messages are removed only by limits
	Gaps       bool          // sequences between First and Last are missing
	Mirror     bool          // has the sequences of another stream
	limits     []string      // settings that delete messages
	File       bool          // stored in files
	Async      bool          // persist_mode: async
	Replicas   int
	trouble    string // why the stream does not accept messages
}

// Writable returns nil, or an error that says why the stream does not accept
// messages and what to do.
func (i *StreamInfo) Writable() error {
	if i.trouble == "" {
		return nil
	}
	return fmt.Errorf("stream %q %s", i.Name, i.trouble)
}

// Stream returns the stream with that name. If it does not exist, the error
// says how to create it.
func (c *Conn) Stream(ctx context.Context, name string) (StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	s, err := c.js.Stream(ctx, name)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return StreamInfo{}, fmt.Errorf("%w: %q (create it, for example with nats stream add %s --subjects SUBJECT)", ErrNoStream, name, name)
	case err != nil:
		return StreamInfo{}, fmt.Errorf("stream %q: %w", name, c.apiError(err))
	}
	return streamInfo(s.CachedInfo()), nil
}

func streamInfo(i *jetstream.StreamInfo) StreamInfo {
	info := StreamInfo{
		Name: i.Config.Name, Subjects: i.Config.Subjects, Created: i.Created,
		Duplicates: i.Config.Duplicates, MaxMsgSize: int(i.Config.MaxMsgSize), PerSubject: i.Config.MaxMsgsPerSubject,
		KeepsFirst: i.Config.Discard == jetstream.DiscardNew && i.Config.DiscardNewPerSubject,
		Copy:       i.Config.Mirror != nil || len(i.Config.Sources) > 0,
		First:      i.State.FirstSeq, Last: i.State.LastSeq, WorkQueue: i.Config.Retention == jetstream.WorkQueuePolicy,
		File: i.Config.Storage == jetstream.FileStorage, Async: i.Config.PersistMode == jetstream.AsyncPersistMode,
		Replicas: i.Config.Replicas,
		Limits:   i.Config.Retention == jetstream.LimitsPolicy, Gaps: i.State.NumDeleted > 0, Mirror: i.Config.Mirror != nil,
		limits: limitsOf(&i.Config),
	}
	switch {
	case i.Config.Sealed:
		info.trouble = "is sealed, which cannot be undone: publish to another stream"
	case i.Config.NoAck:
		info.trouble = "does not acknowledge messages (no_ack), so lost messages cannot be detected: run nats stream edit " + info.Name + " --ack"
	}
	return info
}

// StreamOf returns the stream that stores messages published to subject. whole
// is false if subject contains wildcards and the stream does not match all of
// its subjects; the result is then the first stream that matches some of them.
func (c *Conn) StreamOf(ctx context.Context, subject string) (info StreamInfo, whole bool, err error) {
	one, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	name, err := c.js.StreamNameBySubject(one, subject)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return StreamInfo{}, false, fmt.Errorf("no stream matches the subject %q (create one, for example with nats stream add NAME --subjects %q)", subject, subject)
	case err != nil:
		return StreamInfo{}, false, fmt.Errorf("find the stream for subject %q: %w", subject, c.apiError(err))
	}
	info, err = c.Stream(ctx, name)
	whole = slices.ContainsFunc(info.Subjects, func(f string) bool { return Covers(f, subject) })
	return info, whole, err
}

// apiError adds an explanation to errors that have several possible causes.
func (c *Conn) apiError(err error) error {
	complaint := c.Complaint()
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%w (start the server with -js, or enable it for the account)", err)
	case errors.Is(err, context.DeadlineExceeded) && complaint != nil:
		return fmt.Errorf("no response from the JetStream API: %w (%w)", complaint, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no response from the JetStream API: %w (check the domain and the permissions of this user)", err)
	}
	return err
}

// A Consumer describes the required settings of a durable pull consumer. Zero
// fields are not checked.
type Consumer struct {
	Stream, Durable string
	Filters         []string
	AckWait         time.Duration
	MaxAckPending   int
	MaxDeliver      int
	Start           Start // for a newly created consumer
}

// A Start says where a newly created consumer starts. The zero Start is the
// beginning of the stream.
type Start struct {
	After uint64    // after this sequence, if not 0
	Time  time.Time // at the first message of this time or later, if not zero
	New   bool      // at messages published from now on
}

// A ConsumerInfo is the state of a consumer.
type ConsumerInfo struct {
	AckWait       time.Duration
	MaxAckPending int
	MaxDeliver    int           // -1: no limit
	MaxBatch      int           // maximum messages in one pull request; 0: no limit
	MaxExpires    time.Duration // maximum expiry of one pull request; 0: no limit
	MaxBytes      int           // maximum bytes in one pull request; 0: no limit
	Inactive      time.Duration // deleted after this time without use; 0: never
	Partial       bool          // does not get all messages of the stream
	Paused        bool          // delivers nothing until it is resumed
	Pending       uint64        // messages not delivered yet
	AckPending    int           // messages delivered and not acknowledged
	Delivered     SequencePair  // last message delivered for the first time
	AckFloor      SequencePair  // all messages up to it are acknowledged
	Since         time.Time     // creation time
	Created       bool          // created by the call that returned this
}

// A SequencePair is a position of a consumer: its number of deliveries, and the
// sequence in the stream.
type SequencePair struct{ Consumer, Stream uint64 }

// Defaults for settings of a newly created consumer.
const (
	defaultAckWait       = 90 * time.Second
	defaultMaxAckPending = 20000
)

// Consumer returns the consumer that want describes. It creates a missing
// consumer if create is set. The error lists everything that is wrong with the
// consumer and how to fix it.
func (c *Conn) Consumer(ctx context.Context, want Consumer, create bool) (ConsumerInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	got, err := c.js.Consumer(ctx, want.Stream, want.Durable)
	created := false
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound) && create:
		got, created, err = c.createConsumer(ctx, &want)
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		return ConsumerInfo{}, fmt.Errorf("%w: %q in stream %q (create it, or set consumer.create: true)", ErrNoConsumer, want.Durable, want.Stream)
	case errors.Is(err, jetstream.ErrNotPullConsumer):
		return ConsumerInfo{}, fmt.Errorf("consumer %q is a push consumer, but a pull consumer is required: choose another name for durable", want.Durable)
	}
	if err != nil {
		return ConsumerInfo{}, fmt.Errorf("consumer %q of stream %q: %w", want.Durable, want.Stream, c.apiError(err))
	}
	info := got.CachedInfo()
	if err := want.check(&info.Config); err != nil {
		return ConsumerInfo{}, err
	}
	i := consumerInfo(info)
	i.Created = created
	return i, nil
}

// createConsumer creates the consumer. Two instances may do so at the same time
// with different starts: the second one uses the consumer that the first has
// created.
func (c *Conn) createConsumer(ctx context.Context, want *Consumer) (jetstream.Consumer, bool, error) {
	got, err := c.js.CreateConsumer(ctx, want.Stream, want.config())
	if !errors.Is(err, jetstream.ErrConsumerExists) {
		return got, err == nil, err
	}
	got, err = c.js.Consumer(ctx, want.Stream, want.Durable)
	return got, false, err
}

// DeleteConsumer deletes a consumer.
func (c *Conn) DeleteConsumer(ctx context.Context, stream, durable string) error {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	err := c.js.DeleteConsumer(ctx, stream, durable)
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound), errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("%w: %q in stream %q", ErrNoConsumer, durable, stream)
	case err != nil:
		return fmt.Errorf("consumer %q of stream %q: %w", durable, stream, c.apiError(err))
	}
	return nil
}

// ConsumerState requests the current state of a consumer.
func (c *Conn) ConsumerState(ctx context.Context, stream, durable string) (ConsumerInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	got, err := c.js.Consumer(ctx, stream, durable)
	if err != nil {
		return ConsumerInfo{}, fmt.Errorf("consumer %q of stream %q: %w", durable, stream, c.apiError(err))
	}
	return consumerInfo(got.CachedInfo()), nil
}

func consumerInfo(i *jetstream.ConsumerInfo) ConsumerInfo {
	return ConsumerInfo{
		AckWait: i.Config.AckWait, MaxAckPending: i.Config.MaxAckPending, MaxDeliver: i.Config.MaxDeliver,
		MaxBatch: i.Config.MaxRequestBatch, MaxExpires: i.Config.MaxRequestExpires, MaxBytes: i.Config.MaxRequestMaxBytes,
		Inactive: i.Config.InactiveThreshold, Paused: i.Paused, Pending: i.NumPending, AckPending: i.NumAckPending,
		Since:     i.Created,
		Partial:   len(filtersOf(&i.Config)) > 0 || i.Config.DeliverPolicy == jetstream.DeliverLastPerSubjectPolicy,
		Delivered: SequencePair{i.Delivered.Consumer, i.Delivered.Stream},
		AckFloor:  SequencePair{i.AckFloor.Consumer, i.AckFloor.Stream},
	}
}

// config returns the configuration of a new consumer.
func (want *Consumer) config() jetstream.ConsumerConfig {
	c := jetstream.ConsumerConfig{
		Durable: want.Durable, AckPolicy: jetstream.AckExplicitPolicy, DeliverPolicy: jetstream.DeliverAllPolicy,
		AckWait: want.AckWait, MaxAckPending: want.MaxAckPending, MaxDeliver: want.MaxDeliver,
		Description: "created by urlfold",
	}
	if len(want.Filters) == 1 {
		c.FilterSubject = want.Filters[0]
	} else {
		c.FilterSubjects = want.Filters
	}
	switch s := &want.Start; {
	case s.After > 0:
		c.DeliverPolicy, c.OptStartSeq = jetstream.DeliverByStartSequencePolicy, s.After+1
	case s.New:
		c.DeliverPolicy = jetstream.DeliverNewPolicy
	case !s.Time.IsZero():
		c.DeliverPolicy, c.OptStartTime = jetstream.DeliverByStartTimePolicy, &s.Time
	}
	if c.AckWait == 0 {
		c.AckWait = defaultAckWait
	}
	if c.MaxAckPending == 0 {
		c.MaxAckPending = defaultMaxAckPending
	}
	if c.MaxDeliver == 0 {
		c.MaxDeliver = -1
	}
	return c
}

// check returns an error that lists all settings of got that differ from want,
// and how to change them.
func (want *Consumer) check(got *jetstream.ConsumerConfig) error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("consumer %q of stream %q: "+format, append([]any{want.Durable, want.Stream}, args...)...))
	}
	edit := fmt.Sprintf("nats consumer edit %s %s", want.Stream, want.Durable)
	if got.AckPolicy != jetstream.AckExplicitPolicy {
		wrong("ack policy is %v but must be explicit; it cannot be changed, so choose another name for durable", got.AckPolicy)
	}
	if len(got.BackOff) > 0 {
		wrong("has a backoff, which overrides ack_wait: remove it, or choose another name for durable")
	}
	if got.HeadersOnly {
		wrong("delivers headers only: run %s --no-headers-only", edit)
	}
	if len(want.Filters) > 0 && !slices.Equal(slices.Sorted(slices.Values(want.Filters)), slices.Sorted(slices.Values(filtersOf(got)))) {
		wrong("filter_subjects are [%s] but the configuration has [%s]: change the configuration, or run %s --filter ...",
			strings.Join(filtersOf(got), " "), strings.Join(want.Filters, " "), edit)
	}
	if want.AckWait > 0 && want.AckWait != got.AckWait {
		wrong("ack_wait is %v but the configuration has %v: change the configuration, or run %s --wait %v", got.AckWait, want.AckWait, edit, want.AckWait)
	}
	if want.MaxAckPending > 0 && want.MaxAckPending != got.MaxAckPending {
		wrong("max_ack_pending is %d but the configuration has %d: change the configuration, or run %s --max-pending %d", got.MaxAckPending, want.MaxAckPending, edit, want.MaxAckPending)
	}
	if want.MaxDeliver != 0 && want.MaxDeliver != got.MaxDeliver {
		wrong("max_deliver is %d but the configuration has %d: change the configuration, or run %s --max-deliver %d", got.MaxDeliver, want.MaxDeliver, edit, want.MaxDeliver)
	}
	return errors.Join(errs...)
}

func filtersOf(c *jetstream.ConsumerConfig) []string {
	if c.FilterSubject != "" {
		return []string{c.FilterSubject}
	}
	return c.FilterSubjects
}

// DurabilityWarnings describes how acknowledged messages of the stream could be
// lost in a power failure. A client cannot read the sync_interval of a server,
// so every stream in files has a warning.
func (i *StreamInfo) DurabilityWarnings() []string {
	if !i.File {
		return nil
	}
	const setting = "set sync_interval: always in the jetstream block of each server"
	var list []string
	if i.Async {
		list = append(list, fmt.Sprintf("stream %q: persist_mode is async: the server acknowledges messages before it has written them, so a crash of the server loses them; run nats stream edit %s --persist-mode default",
			i.Name, i.Name))
	}
	if i.Replicas <= 1 {
		return append(list, fmt.Sprintf("stream %q: one replica in files, so there is no other copy: unless sync_interval of the server is always (default: 2m; clients cannot read it), a power failure loses the messages acknowledged in that time; %s, or use three replicas",
			i.Name, setting))
	}
	return append(list, fmt.Sprintf("stream %q: %d replicas in files: unless sync_interval of the servers is always (default: 2m; clients cannot read it), a simultaneous power failure of several servers can lose acknowledged messages; %s",
		i.Name, i.Replicas, setting))
}

// limitsOf returns the settings of a stream that delete messages.
func limitsOf(c *jetstream.StreamConfig) (list []string) {
	if c.MaxAge > 0 {
		list = append(list, fmt.Sprint("max_age ", c.MaxAge))
	}
	old := c.Discard == jetstream.DiscardOld
	for _, l := range []struct {
		name    string
		value   int64
		deletes bool
	}{{"max_msgs", c.MaxMsgs, old}, {"max_bytes", c.MaxBytes, old}, {"max_msgs_per_subject", c.MaxMsgsPerSubject, old || !c.DiscardNewPerSubject}} {
		if l.value > 0 && l.deletes {
			list = append(list, fmt.Sprint(l.name, " ", l.value))
		}
	}
	return list
}

// LimitWarnings describes how the stream could delete messages before they are
// read.
func (i *StreamInfo) LimitWarnings() (list []string) {
	if len(i.limits) > 0 {
		list = append(list, fmt.Sprintf("stream %q: deletes messages by its limits (%s) even if they are not read: raise the limits above the longest outage, or set the discard policy new",
			i.Name, strings.Join(i.limits, ", ")))
	}
	if !i.Limits && !i.WorkQueue {
		list = append(list, fmt.Sprintf("stream %q: retention is interest: it drops messages that are published while the consumer does not exist", i.Name))
	}
	return list
}
