package main

import (
	"context"
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/pipeline"
	sinks "github.com/urlfold/urlfold/sinks/kafka"
	sources "github.com/urlfold/urlfold/sources/kafka"
)

// urlfold is the pipeline of "urlfold run" with default settings: the profile
// equiv, and the key of each URL as the key of its message, so that all records
// of a page go to one partition.
func urlfold(ctx context.Context, b *broker, group, out string) error {
	from := *sources.Default()
	from.Brokers, from.Topics, from.Group = []string{b.addr}, []string{b.in}, group
	source, err := sources.New(from, nil)
	if err != nil {
		return err
	}
	to := *sinks.Default()
	to.Brokers, to.Topic, to.Compression = []string{b.addr}, out, b.compression
	sink, err := sinks.New(to, nil)
	if err != nil {
		return err
	}
	profile, ok := codec.Lookup("equiv")
	if !ok {
		return fmt.Errorf("missing built-in profile equiv")
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
		Batches: 64, // pipeline.max_in_flight
	})
	if err != nil {
		return err
	}
	return p.Run(ctx)
}
