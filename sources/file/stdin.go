package file

import (
	"context"
	"crypto/rand"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/pipeline"
)

// StdinSettings say how a daemon reads its standard input: once, from its beginning
// to its end, compressed or not.
type StdinSettings struct {
	// What a compressed input may cost.
	Limits field.Limits `yaml:"limits"`
}

// DefaultStdin returns the defaults of [StdinSettings].
func DefaultStdin() StdinSettings {
	return StdinSettings{Limits: field.DefaultLimits()}
}

// A stdinSource is a [Source] of the standard input for a daemon. It stores no position: a
// pipe cannot be read a second time, and what a process has read from it and not
// delivered when it dies is gone with the process. At a soft stop the same holds for what
// was read ahead, at most two buffers of 64 KiB.
type stdinSource struct {
	*Source
	onReport func(Report)
}

// NewStdin returns the source. Stdin, Framing, MaxRecord and Linger of cfg count; what
// becomes of the input is reported to onReport, if that is set. It reads nothing.
func NewStdin(s StdinSettings, cfg Config, onReport func(Report)) (pipeline.Source, error) {
	cfg.Paths, cfg.Limits = []string{stdinPath}, s.Limits
	// A sink that makes ids of positions must not take this input for that of a run
	// before, which had the same positions.
	cfg.stdinID = "stdin-" + rand.Text()
	src, err := New(cfg)
	if err != nil {
		return nil, err
	}
	return &stdinSource{Source: src, onReport: onReport}, nil
}

// Run implements [pipeline.Source]. It returns at the end of the input.
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

// Interface guard.
var _ pipeline.Source = (*stdinSource)(nil)
