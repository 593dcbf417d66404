package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/ground/logging"
)

// A BucketConfig describes a key-value bucket.
type BucketConfig struct {
	Name string
	// TTL reports whether single entries must be able to expire.
	TTL bool
	// Create reports whether to create the bucket, with Replicas replicas, if
	// it does not exist.
	Create   bool
	Replicas int
}

// A Bucket is a key-value bucket. Its methods make one request, wait for the
// response for at most bucketTimeout, and are safe for concurrent use.
type Bucket struct {
	nc      *client.Conn
	name    string // name of the stream
	stream  jetstream.Stream
	subject string // prefix of the subjects of keys
	publish string // the prefix for publishing
	ttl     bool

	// Set by Watch, otherwise nil:
	outage  *logging.Outage
	suspect chan struct{}
	stop    func()
}

// bucketTimeout limits one request.
const bucketTimeout = 5 * time.Second

// OpenBucket opens a bucket. It rejects a bucket that removes entries by
// itself, such as one with a TTL for all entries. If the bucket does not exist
// and is not to be created, the error is [ErrNoStream].
func (c *Conn) OpenBucket(ctx context.Context, cfg BucketConfig) (*Bucket, error) {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	name := "KV_" + cfg.Name
	s, err := c.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if !cfg.Create {
			return nil, fmt.Errorf("bucket %q: %w", cfg.Name, ErrNoStream)
		}
		if err = c.createBucket(ctx, &cfg); err == nil {
			s, err = c.js.Stream(ctx, name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("bucket %q: %w", cfg.Name, c.apiError(err))
	}
	if err := cfg.check(&s.CachedInfo().Config); err != nil {
		return nil, fmt.Errorf("bucket %q %w", cfg.Name, err)
	}
	b := &Bucket{nc: c.nc, name: name, stream: s, subject: "$KV." + cfg.Name + ".", ttl: s.CachedInfo().Config.AllowMsgTTL}
	b.publish = b.subject
	if c.api != "$JS.API." {
		b.publish = c.api + b.subject // the client library does the same for another domain
	}
	return b, nil
}

// createBucket creates a bucket. Several instances may create it at the same
// time.
func (c *Conn) createBucket(ctx context.Context, cfg *BucketConfig) error {
	kv := jetstream.KeyValueConfig{
		Bucket: cfg.Name, Description: "created by urlfold", History: 1, Storage: jetstream.FileStorage, Replicas: cfg.Replicas,
	}
	if cfg.TTL {
		kv.LimitMarkerTTL = time.Minute // permits entries with a TTL
	}
	_, err := c.js.CreateKeyValue(ctx, kv)
	if errors.Is(err, jetstream.ErrBucketExists) {
		return nil
	}
	return err
}

// check returns an error that says why the stream of a bucket cannot be used.
func (cfg *BucketConfig) check(s *jetstream.StreamConfig) error {
	limited := s.MaxBytes > 0 || s.MaxMsgs > 0
	switch {
	case s.MaxAge > 0:
		return fmt.Errorf("has a TTL of %v for all entries, so a claim could expire before its record is durable: create a bucket without --ttl", s.MaxAge)
	case limited && s.Discard != jetstream.DiscardNew:
		return errors.New("removes old entries when it is full (discard policy old), so claims could be lost: set the discard policy new")
	case s.Mirror != nil:
		return errors.New("is a mirror, which cannot be written: use the original")
	case len(s.Subjects) == 0:
		return errors.New("is not a key-value bucket")
	case !s.AllowRollup:
		return errors.New("does not permit rollups, which delete keys: create it as a key-value bucket")
	case cfg.TTL && !s.AllowMsgTTL:
		return fmt.Errorf("does not permit entries with a TTL, which dedupe.ttl requires: run nats stream edit %s --allow-msg-ttl (nats-server 2.11 or later), or create another bucket", s.Name)
	}
	return nil
}

// BucketEntry is the last change of a key.
type BucketEntry struct {
	Value    []byte // nil: the key does not exist
	Revision uint64 // 0: the key has never existed, or is forgotten
	Time     time.Time
}

// Get returns the entry of a key.
func (b *Bucket) Get(ctx context.Context, key string) (BucketEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, bucketTimeout)
	defer cancel()
	m, err := b.stream.GetLastMsgForSubject(ctx, b.subject+key)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return BucketEntry{}, nil
	case err != nil:
		b.failed()
		return BucketEntry{}, fmt.Errorf("read from bucket %s: %w", b.name[len("KV_"):], err)
	}
	e := BucketEntry{Value: m.Data, Revision: m.Sequence, Time: m.Time}
	if m.Header.Get("KV-Operation") != "" || m.Header.Get("Nats-Marker-Reason") != "" {
		e.Value = nil
	} else if e.Value == nil {
		e.Value = []byte{}
	}
	return e, nil
}

// Put stores a value if the revision of the key is last. If it is not, Put
// returns false. If ttl is not 0, the entry expires after that time.
func (b *Bucket) Put(ctx context.Context, key string, value []byte, last uint64, ttl time.Duration) (revision uint64, ok bool, err error) {
	m := client.NewMsg(b.publish + key)
	m.Data = value
	if ttl > 0 {
		m.Header.Set("Nats-TTL", ttl.String())
	}
	return b.send(ctx, m, last)
}

// markerTTL is how long the marker of a deleted key exists, if the bucket
// permits that.
const markerTTL = "1m"

// Delete deletes a key if its revision is last. If it is not, Delete returns
// false.
func (b *Bucket) Delete(ctx context.Context, key string, last uint64) (ok bool, err error) {
	m := client.NewMsg(b.publish + key)
	m.Header.Set("KV-Operation", "PURGE")
	m.Header.Set("Nats-Rollup", "sub")
	if b.ttl {
		m.Header.Set("Nats-TTL", markerTTL)
	}
	_, ok, err = b.send(ctx, m, last)
	return ok, err
}

// send publishes a change of a key if its revision is last. If it is not, send
// returns false.
func (b *Bucket) send(ctx context.Context, m *client.Msg, last uint64) (revision uint64, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, bucketTimeout)
	defer cancel()
	m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(last, 10))
	response, err := b.nc.RequestMsgWithContext(ctx, m)
	if err == nil {
		var s stored
		if s, err = readStored(response.Data); err == nil && string(s.stream) != b.name {
			err = errAnswer
		}
		revision = s.seq
	}
	var refused *jetstream.APIError
	switch {
	case err == nil:
		return revision, true, nil
	case errors.As(err, &refused) && (refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant):
		return 0, false, nil
	case errors.Is(err, client.ErrNoResponders):
		err = jetstream.ErrNoStreamResponse
	}
	b.failed()
	return 0, false, fmt.Errorf("write to bucket %s: %w", b.name[len("KV_"):], err)
}
