package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline/engine"
	sink "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// This file runs the one-shot, from the options to the exit code:
//
//	options → settings → source → format → job → pipeline → output published → summary → report → exit code

// runOneShot normalizes the inputs named by paths as the options in o say.
func runOneShot(cmd *cobra.Command, o *options, paths []string) error {
	set, err := o.resolve(paths)
	if err != nil {
		return err
	}
	if set.LockStep != "" {
		return runLockStep(cmd, set)
	}
	sig := command.Watch(cmd.Context())
	defer sig.Stop()
	out := &outcome{set: set}
	run, err := prepare(sig.Soft, cmd, set, out)
	if err != nil {
		return err
	}
	return run.finish(cmd, run.move(sig, cmd))
}

// A oneShot is a run that is ready to start.
type oneShot struct {
	set    *settings
	out    *outcome
	source *file.Source
	output *output
	pipe   *engine.Pipeline
}

// prepare finds the inputs and their formats and builds the pipeline. Every
// usage error that can be found before reading the input is found here.
func prepare(ctx context.Context, cmd *cobra.Command, set *settings, out *outcome) (*oneShot, error) {
	r := &oneShot{set: set, out: out}
	if set.asked != nil {
		if err := set.asked.check(set); err != nil {
			return nil, err
		}
	}
	var err error
	set.logTo(cmd.ErrOrStderr())
	set.copies = set.mayRewrite || set.record.Render == record.RenderRewrite || set.record.Render == record.RenderExtend
	parallel, err := set.parallelInputs(disk.MaxOpen(), set.log)
	if err != nil {
		return nil, err
	}
	if r.source, err = set.newSource(cmd.InOrStdin(), func() *formats { return out.formats }, parallel); err != nil {
		return nil, command.Usage(err)
	}
	if out.inputs, err = r.source.Paths(); err != nil {
		return nil, suggestCommand(set.paths, err)
	}
	if err := errors.Join(set.refusePipes(out.inputs), set.checkIndex(out.inputs)); err != nil {
		return nil, command.Usage(err)
	}
	set.tables.limits.Expands, set.tables.limits.Whole = !set.copies, set.copies
	if out.formats, err = findFormats(ctx, set, r.source); err != nil {
		return nil, err
	}
	if out.inputs, err = r.source.Paths(); err != nil { // findFormats has excluded some inputs
		return nil, err
	}
	if out.formats, err = set.chooseRewrite(out.formats); err != nil {
		return nil, err
	}
	if set.Resume {
		if err := r.resume(); err != nil {
			return nil, err
		}
	}
	if err := set.checkHeads(out.formats); err != nil {
		return nil, command.Usage(err)
	}
	if r.output, err = newOutput(set, streams{cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()}, r.source, out.formats); err != nil {
		return nil, err
	}
	if set.withdraws(out.inputs) {
		r.source.Hold()
	}
	opt := engine.Options{
		Sources:   []engine.Source{r.source},
		Sinks:     []engine.Sink{r.output.main},
		SinkNames: []string{"output"},
		NewCodec:  engine.NewRecordCodecs(out.formats.job),
		Workers:   set.Jobs,
		Ordering:  engine.OrderInput,
		Logger:    set.log,
	}
	if r.output.letters != nil {
		opt.DeadLetter = r.output.letters
	}
	if r.output.dead != nil { // a nil *Output would be a Sink that is not nil
		opt.DeadLetter = r.output.dead
	}
	if opt.Filter, err = r.newFilter(ctx); err != nil {
		return nil, err
	}
	switch set.Order {
	case "none":
		opt.Ordering = engine.OrderNone
	case "lane":
		opt.Ordering = engine.OrderPerLane
	}
	r.pipe, err = engine.New(opt)
	return r, err
}

// resume leaves out the inputs whose outputs are finished.
func (r *oneShot) resume() error {
	outputs, err := mirror(r.set, r.source)
	if err != nil {
		return command.Usage(err)
	}
	if r.set.resumed, err = newResumption(r.set, r.source, outputs); err != nil {
		return err
	}
	for _, input := range r.set.resumed.finished {
		r.source.Leave(input)
	}
	return nil
}

// newSource returns a source that reads up to parallel inputs concurrently. The
// source calls formats only while it runs.
func (s *settings) newSource(stdin io.Reader, formats func() *formats, parallel int) (*file.Source, error) {
	c := file.Config{
		Paths:   s.paths,
		Exclude: s.Exclude, AllowEmpty: s.AllowEmpty,
		Stdin: stdin, Objects: s.objects,
		FramingOf: func(path string) file.Framing { return formats().job(path).Framing() },
		FitOf: func(path string, head []byte) func([]byte) bool {
			return formats().job(path).NewFit(head)
		},
		MaxRecord: int(s.MaxRecord),
		Parallel:  parallel,
		Limits:    s.Limits,
		OnDamage:  s.OnDamage,
		Index:     s.Index,
		Logger:    s.log,
		Exact:     s.exact,
		OpenTable: s.tables.open,
		IsText:    func(_ string, head []byte) bool { return isText(head, s.record) },
		Encodings: s.encodings(),
	}
	if c.Limit = s.Limit; s.sample != nil {
		s.sample.MaxBytes = int64(s.MaxMemory)
		c.Sample = s.sample
	}
	if s.share.by == byPath { // any other field distributes the records of each input
		c.Select = s.share.owns
	}
	if s.LineBuffered { // a record from a pipe must not wait for other records
		c.Linger = time.Nanosecond
	}
	return file.New(c)
}

// openSource is like newSource, but also returns an error if an input path matches
// no file.
func (s *settings) openSource(stdin io.Reader, formats func() *formats, parallel int) (*file.Source, error) {
	source, err := s.newSource(stdin, formats, parallel)
	if err != nil {
		return nil, command.Usage(err)
	}
	if _, err := source.Paths(); err != nil {
		return nil, inputError(err)
	}
	return source, nil
}

// encodings returns how to read texts that are not UTF-8, or whose lines do not end in
// LF. Such texts are converted, unless the output copies bytes of the input.
func (s *settings) encodings() compress.Encodings {
	switch {
	case s.From == "msgpack" || s.From == "protobuf": // the records are not text
		return compress.EncodingsAsIs
	case s.copies:
		return compress.EncodingsRefuse
	}
	return compress.EncodingsConvert
}

// inputError returns err, about inputs that cannot be found, with exit code 2.
func inputError(err error) error {
	if errors.Is(err, file.ErrNoInput) {
		return command.BadInput(err)
	}
	return command.Usage(err)
}

// suggestCommand is like inputError, for a command line without a command. If the
// first argument resembles the name of a command, the error suggests that command.
func suggestCommand(paths []string, err error) error {
	if len(paths) > 0 && errors.Is(err, file.ErrNoInput) {
		if near := suggest.Nearest(rootNames(), paths[0]); near != "" {
			return command.Usagef("%w (did you mean the command %q?)", err, near)
		}
	}
	return inputError(err)
}

// move runs the pipeline, with a progress bar if stderr is a terminal, and
// returns the pipeline's error.
func (r *oneShot) move(sig *command.Signals, cmd *cobra.Command) error {
	go sig.OnSecond(r.pipe.HardStop)
	stderr := cmd.ErrOrStderr()
	if !r.set.Quiet && r.set.Progress != progressNever && terminal.Is(stderr) && (!r.output.stdout || !terminal.Is(cmd.OutOrStdout())) {
		defer showProgress(stderr, r.source, r.pipe)()
	}
	start := time.Now()
	err := r.pipe.Run(sig.Soft)
	r.out.elapsed = time.Since(start)
	return err
}

// finish publishes the output and writes the summary and the report. err is the
// error of the pipeline. The result is nil or a *command.Error.
func (r *oneShot) finish(cmd *cobra.Command, err error) error {
	stdout, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
	o := r.out
	switch {
	case errors.Is(err, sink.ErrClosedPipe) && r.output.stdout:
		r.output.leave()
		return nil // the reader of stdout has gone, as in "urlfold … | head"
	case errors.Is(err, sink.ErrIsInput), errors.Is(err, sink.ErrLocked), errors.Is(err, sink.ErrExists) && r.output.tree == nil:
		return command.Usage(err)
	}
	if r.output.dry {
		o.plan = r.output.paths
	}
	o.snap, o.reports, o.skipped = r.pipe.Snapshot(), r.source.Reports(), r.source.Skipped()
	if o.unique != nil {
		err = errors.Join(err, o.unique.Close())
	}
	o.interrupted = errors.Is(err, engine.ErrDeadline)
	for _, rep := range o.reports {
		o.interrupted = o.interrupted || rep.Stopped && err == nil
	}
	if !o.interrupted {
		o.err = err
		if err == nil {
			o.err = o.verifyTwice()
		}
	}
	// If no input could be read, the output would be empty. Do not let it replace the
	// output of an earlier run that could read them.
	giveUp := o.interrupted || len(o.reports) > 0 && !slices.ContainsFunc(o.reports, func(r file.Report) bool { return readable(r.Verdict) })
	if o.err == nil && !giveUp {
		o.err = r.output.publish(o.reports)
	}
	if o.err != nil || giveUp {
		o.parts = r.output.leave()
	}
	o.count()
	o.err = errors.Join(o.err, o.merge())
	code := o.exitCode()
	if bug := o.ledger(); bug != nil && o.err == nil {
		o.err, code = bug, command.ExitFatal
	}
	switch begun := o.err == nil || o.snap.Opened > 0; {
	case r.set.Quiet:
		o.writeDamage(stderr)
		if o.interrupted {
			o.err = errors.New("interrupted before all output was written")
		}
	case begun:
		o.write(stderr, command.Style(cmd, stderr))
	}
	if e := r.writeReport(stdout, code); e != nil {
		o.err = errors.Join(o.err, e)
		code = command.ExitFatal
	}
	if code == command.ExitDone {
		return nil
	}
	return &command.Error{Code: code, Err: o.err}
}

// writeReport writes --report.
func (r *oneShot) writeReport(stdout io.Writer, code int) error {
	if r.set.Report == "" {
		return nil
	}
	text, err := r.out.json(code)
	switch {
	case err != nil:
	case r.set.Report == stdoutPath:
		_, err = stdout.Write(text)
	default:
		inputs, _ := r.source.Paths() // prepare has reported the error
		err = writeResult(r.set.objects, r.set.Report, "none", text, inputs)
	}
	if err != nil {
		return fmt.Errorf("--summary: %w", err)
	}
	return nil
}

// fileReserve is the number of descriptors that the one-shot needs in addition
// to its inputs: standard streams, the runtime's poller, outputs and reports.
const fileReserve = 16

// objectsAtOnce is the least number of inputs that are read concurrently if
// some are objects.
const objectsAtOnce = 8

// parallelInputs returns how many inputs to read concurrently: one per worker,
// at least 2, and no more than the descriptor limit of the process allows. A
// limit of 0 means no limit.
func (s *settings) parallelInputs(limit int64, log *slog.Logger) (int, error) {
	n := max(2, s.Jobs)
	if s.objects != nil { // reads of objects wait for the store
		n = max(n, objectsAtOnce)
	}
	room := limit - fileReserve
	switch {
	case limit == 0 || int64(n) <= room:
		return n, nil
	case room < 1:
		return 0, command.Usagef("descriptor limit too low: need at least %d, have %d; raise it with ulimit -n", fileReserve+1, limit)
	}
	log.Warn("number of parallel inputs reduced to fit the descriptor limit", "configured", n, "granted", room, "descriptor_limit", limit)
	return int(room), nil
}

// newLogger returns a logger that writes messages of at least level to w,
// except the message about the end of the run, because the command reports the
// error of the run itself.
func newLogger(w io.Writer, level slog.Level) *slog.Logger {
	text := slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})
	return slog.New(logging.Except(text, func(r slog.Record) bool { return r.Message == engine.RunFailed }))
}
