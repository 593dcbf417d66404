package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sinks/discard"
	"github.com/urlfold/urlfold/sources/file"
)

// A scan reads files for a report about them, and writes no records.
type scan struct {
	set      *settings
	source   *file.Source
	formats  *formats
	progress io.Writer         // a terminal for a progress bar; nil: none
	filter   pipeline.Filter   // may be nil
	snap     pipeline.Snapshot // after read
}

// read reads the whole input. codecs returns the function that creates the codec
// of a worker; it is called when the formats are known.
func (s *scan) read(sig *signals, stdin io.Reader, codecs func() (func() pipeline.Codec, error)) error {
	parallel, err := s.set.parallelInputs(disk.MaxOpen(), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if s.source, err = s.set.newSource(stdin, func() *formats { return s.formats }, parallel); err != nil {
		return usage(err)
	}
	if _, err := s.source.Paths(); err != nil {
		return inputError(err)
	}
	if s.formats, err = findFormats(sig.soft, s.set, s.source); err != nil {
		return err
	}
	newCodecs, err := codecs()
	if err != nil {
		return err
	}
	p, err := s.set.drain(s.source, pipeline.Options{NewCodec: newCodecs, Filter: s.filter})
	if err != nil {
		return err
	}
	go sig.onSecond(p.HardStop)
	if s.progress != nil {
		defer showProgress(s.progress, s.source, p)()
	}
	err = p.Run(sig.soft)
	s.snap = p.Snapshot()
	if err == nil && sig.soft.Err() != nil || errors.Is(err, pipeline.ErrDeadline) {
		return &exitError{code: exitCut, err: errors.New("interrupted before the whole input was read")}
	}
	return err
}

// drain returns a pipeline with more options that reads source and writes nothing.
func (s *settings) drain(source *file.Source, opt pipeline.Options) (*pipeline.Pipeline, error) {
	opt.Sources, opt.Sinks, opt.Workers = []pipeline.Source{source}, []pipeline.Sink{discard.New(discard.Config{})}, s.Jobs
	return pipeline.New(opt)
}

// report reads the whole input, writes a line for each damaged one, and calls write. The
// command fails if an input is damaged, or if write says so.
func (s *scan) report(cmd *cobra.Command, codecs func() (func() pipeline.Codec, error), write func() (failed bool, err error)) error {
	sig := watchSignals()
	defer sig.stop()
	if err := s.read(sig, cmd.InOrStdin(), codecs); err != nil {
		return err
	}
	out := outcome{reports: s.source.Reports()}
	damaged := out.writeDamage(cmd.ErrOrStderr())
	failed, err := write()
	if err == nil && (failed || damaged) {
		return &exitError{code: exitFailOn}
	}
	return err
}

// writeDamage writes a line for each damaged input, and reports whether there
// is one.
func (o *outcome) writeDamage(stderr io.Writer) bool {
	damaged := o.damaged()
	for i := range damaged {
		_, _ = fmt.Fprintf(stderr, "urlfold: %s: %s\n", shownPath(damaged[i].Path), terminal.Printable(damaged[i].Verdict.String())) // stderr is the last resort
	}
	return len(damaged) > 0
}
