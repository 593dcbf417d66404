package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/urlfold/urlfold/config"
	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/ground/pause"
	"github.com/urlfold/urlfold/internal/storage/unique"
	"github.com/urlfold/urlfold/internal/storage/unique/changelog"
	"github.com/urlfold/urlfold/sources/nats"
)

// inBucket reports whether the dedupe keys are in a bucket.
func (p *plan) inBucket() bool { return p.file.Dedupe != nil && p.file.Dedupe.Bucket != "" }

// remember returns how long the bucket remembers a key, 0 for ever. With
// windows, that is the size of a window plus its lateness, because records of a
// window may arrive that late.
func (p *plan) remember() time.Duration {
	d := p.file.Dedupe
	if d.Window != nil {
		return d.Window.Size + d.Window.Lateness
	}
	return d.TTL
}

// sameBucket reports whether two configurations keep their keys in the same
// way.
func sameBucket(a, b *config.Dedupe) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Bucket == b.Bucket && a.ClaimTimeout == b.ClaimTimeout && a.TTL == b.TTL
}

// openDedupe opens the keys of a run. While no server answers, openDedupe
// waits, because a restart would not help; /readyz gives the reason.
func (d *Daemon) openDedupe(ctx context.Context, p *plan, c *parts) error {
	outage := logging.NewOutage(d.events, "keys of dedupe unavailable, waiting", "keys of dedupe available")
	for {
		err := p.openKeys(ctx, c, d.store, p.file.DataDir, d.events)
		if err == nil {
			err = p.openClaims(ctx, c, d.log)
		}
		wait := err != nil && (client.Unreachable(err) || errors.Is(err, changelog.ErrUnreachable))
		d.mu.Lock()
		d.dedupeErr = nil
		if wait {
			d.dedupeErr = err
		}
		d.mu.Unlock()
		if !wait {
			outage.Clear()
			return err
		}
		outage.Set(err)
		if pause.For(ctx, time.Second) != nil {
			return err
		}
	}
}

// openClaims opens the bucket of a run.
func (p *plan) openClaims(ctx context.Context, c *parts, log *slog.Logger) error {
	if !p.inBucket() {
		return nil
	}
	bucket, err := p.bucket(ctx, true, log)
	if err != nil {
		return p.file.ErrorAt("dedupe.bucket", err)
	}
	bucket.Watch()
	d := p.file.Dedupe
	c.claims = unique.NewClaims(bucket, unique.ClaimOptions{Identity: p.identity, TakeOver: d.ClaimTimeout, Remember: p.remember(), Logger: log})
	if err := c.claims.Announce(ctx); err != nil {
		return p.file.ErrorAt("dedupe.bucket", errors.Join(fmt.Errorf("bucket %q: %w", d.Bucket, err), c.closeKeys()))
	}
	return nil
}

// checkBucket checks the bucket if it exists.
func (p *plan) checkBucket(ctx context.Context) error {
	if !p.inBucket() {
		return nil
	}
	bucket, err := p.bucket(ctx, false, discardLog)
	switch {
	case errors.Is(err, client.ErrNoStream):
		return nil
	case err != nil:
		return p.file.ErrorAt("dedupe.bucket", err)
	}
	bucket.Close()
	return nil
}

// bucket connects to the bucket, which is on the servers of the source.
func (p *plan) bucket(ctx context.Context, create bool, log *slog.Logger) (b claimBucket, err error) {
	src, ok := p.file.Sources[0].Config.(*nats.JetStreamConfig)
	if !ok {
		return b, errors.New("requires a jetstream source")
	}
	settings := src.NATS
	settings.Domain = src.Domain
	settings.Logger = log
	if b.conn, err = client.Connect(ctx, settings); err != nil {
		return b, err
	}
	stream, err := b.conn.Stream(ctx, src.Stream)
	if err == nil {
		b.cfg = client.BucketConfig{Name: p.file.Dedupe.Bucket, TTL: p.remember() > 0, Create: create, Replicas: stream.Replicas}
		b.Bucket, err = b.conn.OpenBucket(ctx, b.cfg)
	}
	if err != nil {
		b.conn.Close()
	}
	return b, err
}

// A claimBucket adapts a bucket of the client to package unique.
type claimBucket struct {
	*client.Bucket
	conn *client.Conn
	cfg  client.BucketConfig
}

// Watch checks the bucket until Close.
func (b claimBucket) Watch() { b.Bucket.Watch(b.conn, b.cfg) }

// Get implements [unique.Bucket].
func (b claimBucket) Get(ctx context.Context, key string) (unique.Entry, error) {
	e, err := b.Bucket.Get(ctx, key)
	return unique.Entry(e), err
}

// Close implements [unique.Bucket].
func (b claimBucket) Close() {
	b.Bucket.Close()
	b.conn.Close()
}
