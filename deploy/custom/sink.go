package main

import (
	"context"
	"fmt"

	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sinks"
)

// A taggedConfig configures a sink that writes a tag and the record to stdout.
type taggedConfig struct {
	Tag string `yaml:"tag"`
}

func defaultTagged() *taggedConfig { return &taggedConfig{Tag: "> "} }

func newTagged(c taggedConfig, env *sinks.Env) (pipeline.Sink, error) {
	return pipeline.SinkFunc(func(_ context.Context, t pipeline.Ticket) error {
		for _, r := range t.Records() {
			if _, err := fmt.Fprintf(env.Stdout, "%s%s", c.Tag, r.Bytes); err != nil {
				return err // ends the run
			}
		}
		return nil // the records have been written
	}), nil
}
