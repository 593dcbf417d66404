package main

import (
	"context"
	"errors"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/pipeline"
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
	profile, ok := codec.Lookup("equiv")
	if !ok {
		return errors.New("missing built-in profile equiv")
	}
	normalizer, err := codec.New(profile)
	if err != nil {
		return err
	}
	facts, ok := sink.(interface{ NeedsFacts() bool })
	job, err := record.New(record.Config{Format: "lines", Normalizer: normalizer, Level: profile.Key, Facts: ok && facts.NeedsFacts()})
	if err != nil {
		return err
	}
	p, err := pipeline.New(pipeline.Options{
		Sources: []pipeline.Source{source}, Sinks: []pipeline.Sink{sink}, NewCodec: pipeline.NewRecordCodec(job),
	})
	if err != nil {
		return err
	}
	return p.Run(ctx)
}
