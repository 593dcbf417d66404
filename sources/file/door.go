package file

import (
	"context"
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Read returns a source that reads files once, in any compression: for [pipeline.New].
// paths are files, globs and folders, as on the command line. If an archive is damaged,
// the source emits the records that can be read, and the error of Run names the damage
// and its position.
//
// Covered by the stability page.
func Read(paths ...string) pipeline.Source {
	return kinds.Outside.SourceOf(func(env kinds.SourceEnv) (engine.Source, error) {
		s, err := New(Config{Paths: paths, Framing: env.Framing, MaxRecord: env.MaxRecord})
		if err != nil {
			return nil, err
		}
		return strict{s}, nil
	}).(pipeline.Source)
}

// A strict is a Source whose Run fails if an input is damaged.
type strict struct{ *Source }

func (r strict) Run(ctx context.Context) error {
	errs := []error{r.Source.Run(ctx)}
	for _, rep := range r.Reports() {
		if rep.Verdict.Damage() || rep.Verdict.Refused() {
			errs = append(errs, fmt.Errorf("%s: %s", rep.Path, rep.Text()))
		}
	}
	return errors.Join(errs...)
}
