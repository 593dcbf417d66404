package file

import (
	"context"
	"crypto/rand"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// StdinSettings configure how a daemon reads its standard input: once, from
// beginning to end, compressed or not.
type StdinSettings struct {
	// The limits on the expansion of compressed input.
	Limits field.Limits `yaml:"limits"`
}

// DefaultStdin returns the defaults of [StdinSettings].
func DefaultStdin() StdinSettings {
	return StdinSettings{Limits: field.DefaultLimits()}
}

// A stdinSource is a [Source] that reads the standard input of a daemon. It
// stores no position: a pipe cannot be read twice, so data that was read but
// not delivered is lost when the process dies. A soft stop also loses what was
// read ahead, at most two buffers of 64 KiB.
type stdinSource struct {
	*Source
	onReport func(Report)
}

// NewStdin returns a source for stdin. It uses Stdin, Framing, MaxRecord and
// Linger of cfg, and passes the report on the input to onReport if that is not
// nil. NewStdin reads nothing.
func NewStdin(s StdinSettings, cfg Config, onReport func(Report)) (engine.Source, error) {
	cfg.Paths, cfg.Limits = []string{stdinPath}, s.Limits
	// The lane identity is random, because the inputs of different runs have the same
	// positions: a sink that derives ids from positions would take this input for an
	// earlier one.
	cfg.stdinID = "stdin-" + rand.Text()
	src, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return &stdinSource{Source: src, onReport: onReport}, nil
}

// Run implements [engine.Source]. It returns at the end of the input.
func (s *stdinSource) Run(ctx context.Context) error {
	err := s.Source.Run(ctx)
	if s.onReport == nil {
		return err
	}
	for _, r := range s.Reports() {
		s.onReport(r)
	}
	return err
}
