package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/pipeline"
	sink "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// This file is the one-shot: from the flags to the exit code.
//
//	flags → settings → source → format → job → pipeline → output published → summary → report → exit code

// runOneShot reads the paths and writes what the flags ask for.
func runOneShot(cmd *cobra.Command, o *options, paths []string) error {
	set, err := o.resolve(paths)
	if err != nil {
		return err
	}
	sig := watchSignals()
	defer sig.stop()
	out := &outcome{set: set}
	run, err := prepare(sig.soft, cmd, set, out)
	if err != nil {
		return err
	}
	return run.finish(cmd.ErrOrStderr(), run.move(sig, cmd))
}

// A oneShot is a run that is ready to start.
type oneShot struct {
	set    *settings
	out    *outcome
	source *file.Source
	output *output
	pipe   *pipeline.Pipeline
}

// prepare opens what can fail because of a mistake of the user's, and makes the
// pipeline.
func prepare(ctx context.Context, cmd *cobra.Command, set *settings, out *outcome) (*oneShot, error) {
	r := &oneShot{set: set, out: out}
	framing := &lateFraming{}
	var err error
	if r.source, err = set.newSource(cmd.InOrStdin(), framing); err != nil {
		return nil, usage(err)
	}
	inputs, err := r.source.Paths()
	if err != nil {
		return nil, inputError(set.paths, err)
	}
	job, err := r.findJob(ctx)
	if err != nil {
		return nil, err
	}
	framing.Framing = job.Framing()
	if r.output, err = newOutput(set, cmd.OutOrStdout(), inputs); err != nil {
		return nil, err
	}
	opt := pipeline.Options{
		Sources:    []pipeline.Source{r.source},
		Sinks:      []pipeline.Sink{r.output.main},
		DeadLetter: r.output.deadLetter(),
		NewCodec:   pipeline.NewRecordCodec(job),
		Workers:    set.jobs,
		Ordering:   pipeline.OrderInput,
		Logger:     newLogger(cmd.ErrOrStderr(), set.logLevel),
	}
	if set.unordered {
		opt.Ordering = pipeline.OrderNone
	}
	r.pipe, err = pipeline.New(opt)
	return r, err
}

// A lateFraming is a framing that is known only after the source was looked
// into.
type lateFraming struct{ record.Framing }

// newSource returns the source of the inputs.
func (s *settings) newSource(stdin io.Reader, framing file.Framing) (*file.Source, error) {
	return file.New(file.Config{
		Paths:     s.paths,
		Stdin:     stdin,
		Framing:   framing,
		MaxRecord: s.maxRecord,
		Parallel:  max(2, s.jobs),
		Limits:    s.limits,
	})
}

// inputError tells that an argument is no file, and that it looks like a
// command, if it does.
func inputError(paths []string, err error) error {
	if len(paths) > 0 && errors.Is(err, file.ErrNoInput) {
		names := []string{"explain", "diff", "encode", "decode", "chart", "profiles", "flags", "version", "completion", "help"}
		if near := nearest(names, paths[0]); near != "" {
			err = fmt.Errorf("%w; did you mean the command %s?", err, near)
		}
	}
	return usage(err)
}

// peekBytes is how much of the input is looked at to find its format: fifty
// records, unless they are long.
const peekBytes = 64 << 10

// findJob makes the job, with the format that was given or that fits the first
// records.
func (r *oneShot) findJob(ctx context.Context) (*record.Job, error) {
	c := r.set.record
	if c.Format == "" {
		head, err := r.source.Peek(ctx, peekBytes)
		if err != nil {
			return nil, &exitError{code: exitCut, err: errors.New("interrupted while waiting for input")}
		}
		format, ok := "lines", true
		if len(head) > 0 {
			format, ok = record.Detect(head)
		}
		if !ok {
			return nil, usage(noFormat(head))
		}
		c.Format, r.out.found = format, len(head) > 0
	}
	r.out.format = c.Format
	job, err := record.New(c)
	switch {
	case err != nil && r.out.found:
		return nil, usage(fmt.Errorf("the input looks like %s: %w", c.Format, err))
	case err != nil:
		return nil, usage(err)
	}
	return job, nil
}

// move runs the pipeline, and shows how far it is. It returns its error.
func (r *oneShot) move(sig *signals, cmd *cobra.Command) error {
	go sig.onSecond(r.pipe.HardStop)
	stderr := cmd.ErrOrStderr()
	if !r.set.quiet && !r.set.noProgress && isTerminal(stderr) && (r.set.output != "" || !isTerminal(cmd.OutOrStdout())) {
		defer showProgress(stderr, r.source, r.pipe)()
	}
	start := time.Now()
	err := r.pipe.Run(sig.soft)
	r.out.elapsed = time.Since(start)
	return err
}

// finish publishes the output, tells how it went, and returns what the exit code
// is made of.
func (r *oneShot) finish(stderr io.Writer, err error) error {
	o := r.out
	switch {
	case errors.Is(err, sink.ErrClosedPipe) && r.output.stdout:
		r.output.leave()
		return nil // the reader has seen enough: what a filter does then is end
	case errors.Is(err, sink.ErrIsInput), errors.Is(err, sink.ErrLocked):
		return usage(err)
	}
	o.snap, o.reports = r.pipe.Snapshot(), r.source.Reports()
	o.interrupted = errors.Is(err, pipeline.ErrDeadline)
	for _, rep := range o.reports {
		o.interrupted = o.interrupted || rep.Stopped && err == nil
	}
	if !o.interrupted {
		o.err = err
	}
	if o.err == nil && !o.interrupted {
		o.err = r.output.publish()
	}
	if o.err != nil || o.interrupted {
		o.parts = r.output.leave()
	}
	code := o.exitCode()
	if bug := o.ledger(); bug != nil && o.err == nil {
		o.err, code = bug, exitFatal
	}
	if begun := o.err == nil || o.snap.Opened > 0; begun && !r.set.quiet {
		o.write(stderr, newStyle(stderr, os.Getenv))
	}
	if e := r.writeReport(code); e != nil {
		o.err = errors.Join(o.err, e)
		code = exitFatal
	}
	if code == exitDone {
		return nil
	}
	return &exitError{code: code, err: o.err}
}

// writeReport writes --report.
func (r *oneShot) writeReport(code int) error {
	if r.set.report == "" {
		return nil
	}
	text, err := r.out.json(code)
	if err == nil {
		err = writeFile(r.set.report, text)
	}
	if err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	return nil
}
