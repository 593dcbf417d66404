package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/urlfold/urlfold/bench"
	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/unique"
	"github.com/urlfold/urlfold/pipeline/engine"
	sinks "github.com/urlfold/urlfold/sinks/nats"
	sources "github.com/urlfold/urlfold/sources/nats"
)

// urlfold is the pipeline of "urlfold run" with default settings: the profile
// equiv, an id for each message, and headers with its origin.
func urlfold(ctx context.Context, s *server, consumer, subject string) error {
	to := sinks.DefaultJetStream()
	to.Subject = subject
	return s.run(ctx, consumer, to, nil)
}

// subjects is urlfold with a subject for each key, of which the stream keeps one message.
func subjects(ctx context.Context, s *server, consumer, subject string) error {
	to := sinks.DefaultJetStream()
	to.Subject, to.MsgID = strings.TrimSuffix(subject, "x")+"{key}", "subject"
	return s.run(ctx, consumer, to, nil)
}

// deduped is urlfold with dedupe in a bucket. Each URL is the first of its key, which
// takes two requests.
func deduped(ctx context.Context, s *server, consumer, subject string) error {
	settings := sources.DefaultJetStream().NATS
	settings.Servers, settings.Logger = []string{s.addr}, slog.New(slog.DiscardHandler)
	conn, err := client.Connect(ctx, settings)
	if err != nil {
		return err
	}
	b, err := conn.OpenBucket(ctx, client.BucketConfig{Name: consumer, Create: true, Replicas: 1})
	if err != nil {
		conn.Close()
		return err
	}
	claims := unique.NewClaims(bucket{b, conn}, unique.ClaimOptions{Identity: keyset.Identity{}, TakeOver: time.Minute, Logger: slog.New(slog.DiscardHandler)})
	to := sinks.DefaultJetStream()
	to.Subject = subject
	err = s.run(ctx, consumer, to, &engine.Dedupe{Claims: claims})
	return errors.Join(err, claims.Close(), s.js.DeleteKeyValue(context.WithoutCancel(ctx), consumer))
}

// A bucket adapts a bucket of the client to package unique.
type bucket struct {
	*client.Bucket
	conn *client.Conn
}

// Get implements [unique.Bucket].
func (b bucket) Get(ctx context.Context, key string) (unique.Entry, error) {
	e, err := b.Bucket.Get(ctx, key)
	return unique.Entry(e), err
}

// Close implements [unique.Bucket].
func (b bucket) Close() { b.conn.Close() }

// run runs the pipeline to a sink with the deduplication d, or without any.
func (s *server) run(ctx context.Context, consumer string, to sinks.JetStreamConfig, d *engine.Dedupe) error {
	from := sources.DefaultJetStream()
	from.Servers, from.Stream, from.Durable = []string{s.addr}, s.in.name, consumer
	source, err := sources.NewJetStream(from)
	if err != nil {
		return err
	}
	to.Servers = []string{s.addr}
	sink, err := sinks.NewJetStream(to)
	if err != nil {
		return err
	}
	return bench.RunDeduped(ctx, source, sink, 0, d)
}
