package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/ground/pause"
)

// bucketEvery is how often a bucket is checked. A failed request causes an
// immediate check.
const bucketEvery = 10 * time.Second

// Watch checks the bucket until Close. It creates a deleted bucket again, if
// cfg permits that. If the settings of the bucket were changed so that it
// cannot be used any more, Health returns an error.
func (b *Bucket) Watch(c *Conn, cfg BucketConfig) {
	ctx, stop := context.WithCancel(context.Background())
	b.outage = logging.NewOutage(c.log, "bucket unusable", "bucket usable again", "bucket", cfg.Name)
	b.suspect = make(chan struct{}, 1)
	done := make(chan struct{})
	b.stop = func() { stop(); <-done }
	watch := func(ctx context.Context) {
		t := time.NewTicker(bucketEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			case <-b.suspect:
			}
			switch err := b.inspect(ctx, c, &cfg); {
			case err == nil:
				b.outage.Clear()
			case ctx.Err() == nil:
				b.outage.Set(err)
			}
			_ = pause.For(ctx, 100*time.Millisecond) // spread the retries: many requests may fail together
		}
	}
	go func() {
		defer close(done)
		Keep(ctx, b.outage.Set, watch)
	}()
}

// inspect checks the bucket once.
func (b *Bucket) inspect(ctx context.Context, c *Conn, cfg *BucketConfig) error {
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	s, err := c.js.Stream(ctx, b.name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if !cfg.Create {
			return fmt.Errorf("bucket %q was deleted: create it, for example with nats kv add %[1]s", cfg.Name)
		}
		if err = c.createBucket(ctx, cfg); err == nil {
			c.log.Error("bucket recreated, its keys are lost", "bucket", cfg.Name)
			return nil
		}
	}
	if err == nil {
		err = cfg.check(&s.CachedInfo().Config)
	}
	if err != nil {
		return fmt.Errorf("bucket %q %w", cfg.Name, err)
	}
	return nil
}

// Health returns nil, or why the bucket cannot be used. It does not block.
func (b *Bucket) Health() error {
	if b.outage == nil {
		return nil
	}
	return b.outage.Err()
}

// failed makes Watch check the bucket.
func (b *Bucket) failed() {
	select {
	case b.suspect <- struct{}{}:
	default:
	}
}

// Close ends Watch.
func (b *Bucket) Close() {
	if b.stop != nil {
		b.stop()
	}
}
