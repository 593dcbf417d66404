package main

import (
	"context"

	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sources"
)

// A listConfig configures a source whose records are in the configuration.
type listConfig struct {
	Records []string `yaml:"records,required" min:"1"`
}

// newList returns a source that emits the records of its configuration. It stores no
// position, so the next process emits them again, as new records.
func newList(c listConfig, _ *sources.Env) (pipeline.Source, error) {
	return pipeline.SourceFunc(func(_ context.Context, emit func(rec []byte) error) error {
		for _, r := range c.Records {
			if err := emit([]byte(r)); err != nil {
				return err // the run is over
			}
		}
		return nil
	}), nil
}
