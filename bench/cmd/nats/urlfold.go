package main

import (
	"context"

	"github.com/urlfold/urlfold/bench"
	sinks "github.com/urlfold/urlfold/sinks/nats"
	sources "github.com/urlfold/urlfold/sources/nats"
)

// urlfold is the pipeline of "urlfold run" with default settings: the profile
// equiv, an id for each message, and headers with its origin.
func urlfold(ctx context.Context, s *server, consumer, subject string) error {
	from := sources.DefaultJetStream()
	from.Servers, from.Stream, from.Durable = []string{s.addr}, s.in.name, consumer
	source, err := sources.NewJetStream(from)
	if err != nil {
		return err
	}
	to := sinks.DefaultJetStream()
	to.Servers, to.Subject = []string{s.addr}, subject
	sink, err := sinks.NewJetStream(to)
	if err != nil {
		return err
	}
	return bench.RunPipeline(ctx, source, sink, 0)
}
