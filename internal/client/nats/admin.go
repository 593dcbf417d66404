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

// adminTimeout bounds one question to the JetStream API.
const adminTimeout = 10 * time.Second

var (
	// ErrNoConsumer is in the error of Consumer if there is none.
	ErrNoConsumer = errors.New("there is no consumer")
	// ErrNoStream is in the error of Stream if there is none.
	ErrNoStream = errors.New("there is no stream")
)

// A StreamInfo is what a source or sink wants to know of a stream.
type StreamInfo struct {
	Name       string
	Subjects   []string
	Created    time.Time
	Duplicates time.Duration // its duplicate window
	MaxMsgSize int           // -1: any
	PerSubject int64         // messages of one subject that it keeps; 0 or less: any number
	Copy       bool          // it gets messages from other streams, with any subjects
	First      uint64        // sequence of the first message that it still has
	Last       uint64        // sequence of its last message; 0: there was none
	WorkQueue  bool          // a message is removed when it is acknowledged
	File       bool          // it is stored in files
	Async      bool          // persist_mode: async
	Replicas   int
	trouble    string // why nothing can be published to it
}

// Writable returns nil, or why nothing can be published to the stream, and what to do.
func (i *StreamInfo) Writable() error {
	if i.trouble == "" {
		return nil
	}
	return fmt.Errorf("stream %q %s", i.Name, i.trouble)
}

// Stream returns the stream with that name. The error says what to do if there is
// none.
func (c *Conn) Stream(ctx context.Context, name string) (StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	s, err := c.js.Stream(ctx, name)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return StreamInfo{}, fmt.Errorf("%w %q: create it, for example with nats stream add %s --subjects SUBJECT", ErrNoStream, name, name)
	case err != nil:
		return StreamInfo{}, fmt.Errorf("stream %q: %w", name, c.apiError(err))
	}
	return streamInfo(s.CachedInfo()), nil
}

func streamInfo(i *jetstream.StreamInfo) StreamInfo {
	info := StreamInfo{
		Name: i.Config.Name, Subjects: i.Config.Subjects, Created: i.Created,
		Duplicates: i.Config.Duplicates, MaxMsgSize: int(i.Config.MaxMsgSize), PerSubject: i.Config.MaxMsgsPerSubject,
		Copy:  i.Config.Mirror != nil || len(i.Config.Sources) > 0,
		First: i.State.FirstSeq, Last: i.State.LastSeq, WorkQueue: i.Config.Retention == jetstream.WorkQueuePolicy,
		File: i.Config.Storage == jetstream.FileStorage, Async: i.Config.PersistMode == jetstream.AsyncPersistMode,
		Replicas: i.Config.Replicas,
	}
	switch {
	case i.Config.Sealed:
		info.trouble = "is sealed: that cannot be undone, so publish to another one"
	case i.Config.NoAck:
		info.trouble = "does not acknowledge (no_ack), so nobody would know what it has stored: nats stream edit " + info.Name + " --ack"
	}
	return info
}

// StreamOf returns the stream that takes what is published to subject, which may
// hold wildcards: then all that it stands for must go to one stream, or the first
// one that takes any of it is returned and whole is false.
func (c *Conn) StreamOf(ctx context.Context, subject string) (info StreamInfo, whole bool, err error) {
	one, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	name, err := c.js.StreamNameBySubject(one, subject)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return StreamInfo{}, false, fmt.Errorf("no stream takes the subject %q: create one, for example with nats stream add NAME --subjects %q", subject, subject)
	case err != nil:
		return StreamInfo{}, false, fmt.Errorf("which stream takes the subject %q: %w", subject, c.apiError(err))
	}
	info, err = c.Stream(ctx, name)
	whole = slices.ContainsFunc(info.Subjects, func(f string) bool { return Covers(f, subject) })
	return info, whole, err
}

// apiError says more of errors that have more than one cause.
func (c *Conn) apiError(err error) error {
	complaint := c.Complaint()
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%w (start the server with -js, or enable it for the account)", err)
	case errors.Is(err, context.DeadlineExceeded) && complaint != nil:
		return fmt.Errorf("the JetStream API does not answer: %w (%w)", complaint, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the JetStream API does not answer: is the domain right, may this user publish to it? (%w)", err)
	}
	return err
}

// A Consumer says what a durable pull consumer must be like. Zero fields, and nil,
// are not asked for.
type Consumer struct {
	Stream, Durable string
	Filters         []string
	AckWait         time.Duration
	MaxAckPending   int
	MaxDeliver      int
	Start           Start // of one that is created
}

// A Start says where a consumer that is created begins. The zero Start is the
// beginning of the stream.
type Start struct {
	After uint64    // this sequence, if it is not 0
	Time  time.Time // at the first message of this time or later, if it is not zero
	New   bool      // at what is published from then on
}

// A ConsumerInfo is what there is.
type ConsumerInfo struct {
	AckWait       time.Duration
	MaxAckPending int
	MaxDeliver    int           // -1: no limit
	MaxBatch      int           // messages in one pull; 0: any
	MaxExpires    time.Duration // of one pull; 0: any
	MaxBytes      int           // in one pull; 0: any
	Inactive      time.Duration // unused for that long it is deleted; 0: never
	Paused        bool          // nothing is delivered until somebody resumes it
	Pending       uint64        // not delivered yet
	AckPending    int           // delivered and not acknowledged
	Delivered     SequencePair  // the last one that was delivered for the first time
	AckFloor      SequencePair  // all up to it are acknowledged
	Since         time.Time     // when it was created
	Created       bool          // by the call that has returned this
}

// A SequencePair is a position in a consumer: deliveries counted by the consumer, and
// the sequence in the stream.
type SequencePair struct{ Consumer, Stream uint64 }

// Values of a consumer that is created here and does not say better.
const (
	defaultAckWait       = 90 * time.Second
	defaultMaxAckPending = 20000
)

// Consumer returns the consumer that want describes. If there is none, it is
// created, if create says so. The error tells all that is wrong with it, and how to
// set it right.
func (c *Conn) Consumer(ctx context.Context, want Consumer, create bool) (ConsumerInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	got, err := c.js.Consumer(ctx, want.Stream, want.Durable)
	created := false
	switch {
	case errors.Is(err, jetstream.ErrConsumerNotFound) && create:
		got, created, err = c.createConsumer(ctx, &want)
	case errors.Is(err, jetstream.ErrConsumerNotFound):
		return ConsumerInfo{}, fmt.Errorf("%w %q: stream %q has none of that name; create it, or say create: true", ErrNoConsumer, want.Durable, want.Stream)
	case errors.Is(err, jetstream.ErrNotPullConsumer):
		return ConsumerInfo{}, fmt.Errorf("consumer %q pushes: a pull consumer is needed, so choose another name for durable", want.Durable)
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

// createConsumer creates the consumer. Two instances may do so at once, and know
// different starts: the one that comes late takes what the other has created.
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
		return fmt.Errorf("%w %q in stream %q", ErrNoConsumer, durable, stream)
	case err != nil:
		return fmt.Errorf("consumer %q of stream %q: %w", durable, stream, c.apiError(err))
	}
	return nil
}

// ConsumerState asks for the consumer as it is now.
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
		Delivered: SequencePair{i.Delivered.Consumer, i.Delivered.Stream},
		AckFloor:  SequencePair{i.AckFloor.Consumer, i.AckFloor.Stream},
	}
}

// config returns what is created.
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

// check tells all in which got is not what is wanted, and how to change it.
func (want *Consumer) check(got *jetstream.ConsumerConfig) error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("consumer %q of stream %q: "+format, append([]any{want.Durable, want.Stream}, args...)...))
	}
	edit := fmt.Sprintf("nats consumer edit %s %s", want.Stream, want.Durable)
	if got.AckPolicy != jetstream.AckExplicitPolicy {
		wrong("ack policy is %v, and must be explicit: that cannot be edited, so choose another name for durable", got.AckPolicy)
	}
	if len(got.BackOff) > 0 {
		wrong("has a backoff, which overrides ack_wait: take it off, or choose another name for durable")
	}
	if got.HeadersOnly {
		wrong("delivers headers only: %s --no-headers-only", edit)
	}
	if len(want.Filters) > 0 && !sameFilters(want.Filters, got) {
		wrong("filter_subjects are [%s], not [%s]: change them here, or with %s --filter ...",
			strings.Join(filtersOf(got), " "), strings.Join(want.Filters, " "), edit)
	}
	if want.AckWait > 0 && want.AckWait != got.AckWait {
		wrong("ack_wait is %v, not %v: change it here, or with %s --wait %v", got.AckWait, want.AckWait, edit, want.AckWait)
	}
	if want.MaxAckPending > 0 && want.MaxAckPending != got.MaxAckPending {
		wrong("max_ack_pending is %d, not %d: change it here, or with %s --max-pending %d", got.MaxAckPending, want.MaxAckPending, edit, want.MaxAckPending)
	}
	if want.MaxDeliver != 0 && want.MaxDeliver != got.MaxDeliver {
		wrong("max_deliver is %d, not %d: change it here, or with %s --max-deliver %d", got.MaxDeliver, want.MaxDeliver, edit, want.MaxDeliver)
	}
	return errors.Join(errs...)
}

func filtersOf(c *jetstream.ConsumerConfig) []string {
	if c.FilterSubject != "" {
		return []string{c.FilterSubject}
	}
	return c.FilterSubjects
}

// sameFilters reports whether got filters by want, in any order.
func sameFilters(want []string, got *jetstream.ConsumerConfig) bool {
	return slices.Equal(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(filtersOf(got))))
}

// DurabilityWarnings says what a machine that loses its power could take from the
// stream although it was acknowledged. A client cannot read the sync_interval of a
// server, so every stream in files has one.
func (i *StreamInfo) DurabilityWarnings() []string {
	if !i.File {
		return nil
	}
	const setting = "set sync_interval: always in the jetstream block of each server"
	var list []string
	if i.Async {
		list = append(list, fmt.Sprintf("stream %q: persist_mode is async: the server acknowledges messages that it has not written yet, and a crash of the server alone loses them: nats stream edit %s --persist-mode default",
			i.Name, i.Name))
	}
	if i.Replicas <= 1 {
		return append(list, fmt.Sprintf("stream %q: one replica in files, and this client cannot read the server's sync_interval (default: 2m): unless it is always, a power failure loses what was acknowledged in that time, with no other copy: %s, or use three replicas",
			i.Name, setting))
	}
	return append(list, fmt.Sprintf("stream %q: %d replicas in files, and this client cannot read the servers' sync_interval (default: 2m): unless it is always, a power failure of several servers at once can lose acknowledged messages: %s",
		i.Name, i.Replicas, setting))
}
