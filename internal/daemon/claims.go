package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/urlfold/urlfold/config"
	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/unique"
	"github.com/urlfold/urlfold/sources/nats"
)

// inBucket reports whether the keys of dedupe are in a bucket.
func (p *plan) inBucket() bool { return p.file.Dedupe != nil && p.file.Dedupe.Bucket != "" }

// sameBucket reports whether two configurations keep their keys in the same
// way.
func sameBucket(a, b *config.Dedupe) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Bucket == b.Bucket && a.TakeOver == b.TakeOver && a.Remember == b.Remember
}

// openClaims connects to the bucket of a run, which is on the servers of its
// source.
func (p *plan) openClaims(ctx context.Context, c *parts, log *slog.Logger) error {
	if !p.inBucket() {
		return nil
	}
	d := p.file.Dedupe
	src, ok := p.file.Sources[0].Config.(*nats.JetStreamConfig)
	if !ok {
		return errors.New("dedupe.bucket requires a jetstream source")
	}
	settings := src.NATS
	settings.Logger = log
	conn, err := client.Connect(ctx, settings)
	if err != nil {
		return fmt.Errorf("dedupe: %w", err)
	}
	stream, err := conn.Stream(ctx, src.Stream)
	if err != nil {
		conn.Close()
		return fmt.Errorf("dedupe: %w", err)
	}
	bucket, err := conn.OpenBucket(ctx, client.BucketConfig{Name: d.Bucket, TTL: d.Remember > 0, Replicas: stream.Replicas})
	if err != nil {
		conn.Close()
		return p.file.ErrorAt("dedupe.bucket", err)
	}
	c.claims = unique.NewClaims(claimBucket{bucket, conn}, unique.ClaimOptions{
		Identity: p.identity, TakeOver: d.TakeOver, Remember: d.Remember, Logger: log,
	})
	return nil
}

// A claimBucket adapts a bucket of the client to package unique.
type claimBucket struct {
	*client.Bucket
	conn *client.Conn
}

// Get implements [unique.Bucket].
func (b claimBucket) Get(ctx context.Context, key string) (unique.Entry, error) {
	e, err := b.Bucket.Get(ctx, key)
	return unique.Entry(e), err
}

// Close implements [unique.Bucket].
func (b claimBucket) Close() { b.conn.Close() }
