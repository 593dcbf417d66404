package main

import (
	"context"

	"github.com/urlfold/urlfold/bench"
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
	return bench.RunPipeline(ctx, source, sink, 64)
}
