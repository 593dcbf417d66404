package bench

import (
	"context"
	"errors"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// RunPipeline runs the pipeline of "urlfold run" from a source to a sink until
// ctx is done, with the format lines and the profile equiv. batches is the
// setting max_in_flight; 0 is its default.
func RunPipeline(ctx context.Context, source engine.Source, sink engine.Sink, batches int) error {
	return RunDeduped(ctx, source, sink, batches, nil)
}

// RunDeduped is RunPipeline with the deduplication d by the key of the profile, if d is
// not nil.
func RunDeduped(ctx context.Context, source engine.Source, sink engine.Sink, batches int, d *engine.Dedupe) error {
	profile, err := codec.Lookup("equiv")
	if err != nil {
		return errors.New("missing built-in profile equiv")
	}
	normalizer, err := codec.New(profile)
	if err != nil {
		return err
	}
	var identity record.Identity
	if d != nil {
		identity.By = "key"
	}
	facts, ok := sink.(interface{ NeedsFacts() bool })
	job, err := record.New(record.Config{
		Format: "lines", Normalizer: normalizer, Level: profile.Key,
		Facts: ok && facts.NeedsFacts(), Identity: identity,
	})
	if err != nil {
		return err
	}
	p, err := engine.New(engine.Options{
		Sources: []engine.Source{source}, Sinks: []engine.Sink{sink},
		NewCodec: engine.NewRecordCodec(job), Batches: batches, Dedupe: d,
	})
	if err != nil {
		return err
	}
	return p.Run(ctx)
}
