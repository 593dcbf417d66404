package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/errlist"
	"github.com/urlfold/urlfold/internal/observe/memory"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sinks"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources"
	"github.com/urlfold/urlfold/sources/file"
)

// A plan is a configuration of which all is checked that can be checked without
// touching anything.
type plan struct {
	catalog     *Catalog
	file        *config.File
	job         *record.Job
	budget      memory.Budget
	limit       memory.Limit
	descriptors int64   // that the process may open; 0: no limit is known
	openFiles   []share // of the components that keep files open
	tooFew      error   // the descriptors do not suffice
	files       bool    // there is a source of files, so there is progress to keep
	exactlyOnce bool
	sourceNames []string
	sinkNames   []string
}

// newPlan checks f. The error joins a *config.Error for each mistake.
func (cat *Catalog) newPlan(f *config.File) (*plan, error) {
	p := cat.prepare(f)
	if err := p.check(allSound); err != nil {
		return nil, err
	}
	return p, nil
}

// allSound says that a configuration has no mistake: it was read.
func allSound(string) bool { return true }

// prepare returns a plan for f that is not checked.
func (cat *Catalog) prepare(f *config.File) *plan {
	p := &plan{catalog: cat, file: f}
	for i := range f.Sources {
		p.sourceNames = append(p.sourceNames, f.Sources[i].Name)
		p.files = p.files || f.Sources[i].Type == "file"
	}
	for i := range f.Sinks {
		p.sinkNames = append(p.sinkNames, f.Sinks[i].Name)
	}
	p.fit()
	p.descriptors = disk.MaxOpen()
	p.tooFew = p.shareFiles(p.descriptors)
	return p
}

// check makes all that f asks for, to look whether it can be made. The error joins a
// *config.Error for each mistake in the parts that are sound.
func (p *plan) check(sound func(path string) bool) error {
	parts, err := p.make(&env{log: discardLog, sound: sound})
	errs := []error{err, p.checkNames(sound), p.checkExactlyOnce(sound), p.checkFixedBatches(sound), p.checkStandard(), p.checkPaths(sound)}
	p.job, err = p.catalog.newJob(p.file, err == nil && parts.needFacts(), sound)
	errs = append(errs, err)
	return inOrder(errs...)
}

// isSound reports whether a component is of a type that there is, and has no mistake in
// these keys.
func isSound(c *config.Component, sound func(path string) bool, keys ...string) bool {
	return c.Config != nil && !slices.ContainsFunc(keys, func(key string) bool { return !sound(c.Path() + "." + key) })
}

// inOrder joins the mistakes in a configuration in the order of the file, or returns
// nil.
func inOrder(errs ...error) error {
	list := errlist.Flatten(errors.Join(errs...))
	place := func(err error) (line, column int) {
		var e *config.Error
		if errors.As(err, &e) {
			return e.Line, e.Column
		}
		return 0, 0
	}
	slices.SortStableFunc(list, func(a, b error) int {
		line, column := place(a)
		otherLine, otherColumn := place(b)
		return cmp.Or(cmp.Compare(line, otherLine), cmp.Compare(column, otherColumn))
	})
	return errors.Join(list...)
}

// checkNames refuses one name for a source and a sink: metrics and progress go by
// it. Package config has looked that no two sources, and no two sinks, have one.
func (p *plan) checkNames(sound func(path string) bool) error {
	taken := map[string]bool{}
	for i := range p.file.Sources {
		if c := &p.file.Sources[i]; isSound(c, sound, "name") {
			taken[c.Name] = true
		}
	}
	var errs []error
	for i := range p.file.Sinks {
		if c := &p.file.Sinks[i]; isSound(c, sound, "name") && taken[c.Name] {
			errs = append(errs, p.file.ErrorAt(c.Path()+".name", errors.New("duplicate component name: a source has it")))
		}
	}
	return errors.Join(errs...)
}

// checkExactlyOnce looks whether exactly once is asked for, and whether it can be
// had: with one source of files, and files everywhere else.
func (p *plan) checkExactlyOnce(sound func(path string) bool) error {
	outs := p.outputs()
	for _, c := range outs {
		l, ok := c.Config.(*sinkfile.LogConfig)
		p.exactlyOnce = p.exactlyOnce || ok && l.ExactlyOnce && isSound(c, sound, "exactly_once")
	}
	if !p.exactlyOnce {
		return nil
	}
	var errs []error
	for i := range p.file.Sources {
		if c := &p.file.Sources[i]; isSound(c, sound) && (c.Type != "file" || i > 0) {
			errs = append(errs, p.file.ErrorAt(c.Path(), onceSource(c.Type)))
		}
	}
	for _, c := range outs {
		if isSound(c, sound) && c.Type != "file" {
			errs = append(errs, p.file.ErrorAt(c.Path(), onceSink(c.Type)))
		}
	}
	return errors.Join(errs...)
}

// onceSource says why a source of this type rules out exactly once.
func onceSource(kind string) error {
	if kind == "stdin" {
		return errors.New("a sink asks for exactly_once, but stdin cannot be read again after a crash; read a file, or leave exactly_once out")
	}
	return errors.New("a sink asks for exactly_once: that takes one source, of files")
}

// onceSink says why a sink of this type rules out exactly once.
func onceSink(kind string) error {
	if kind == "stdout" {
		return errors.New("a sink asks for exactly_once, but what was written to stdout cannot be cut back after a crash; write a file, or leave exactly_once out")
	}
	return errors.New("a sink asks for exactly_once: that takes files for all sinks and for the dead letter")
}

// checkStandard refuses a second reader of stdin, and a second writer to stdout: their
// records would be mixed.
func (p *plan) checkStandard() error {
	var errs []error
	seen := false
	for i := range p.file.Sources {
		if c := &p.file.Sources[i]; c.Type == "stdin" {
			if seen {
				errs = append(errs, p.file.ErrorAt(c.Path(), errors.New("another source reads stdin already")))
			}
			seen = true
		}
	}
	seen = false
	for _, c := range p.outputs() {
		if c.Type == "stdout" {
			if seen {
				errs = append(errs, p.file.ErrorAt(c.Path(), errors.New("another sink writes to stdout already")))
			}
			seen = true
		}
	}
	return errors.Join(errs...)
}

// readsStdin reports whether a source reads the standard input.
func (p *plan) readsStdin() bool {
	return slices.ContainsFunc(p.file.Sources, func(c config.Component) bool { return c.Type == "stdin" })
}

// outputs returns the sinks, and the dead letter if there is one.
func (p *plan) outputs() []*config.Component {
	var list []*config.Component
	for i := range p.file.Sinks {
		list = append(list, &p.file.Sinks[i])
	}
	if p.file.DeadLetter != nil {
		list = append(list, p.file.DeadLetter)
	}
	return list
}

// fit computes how many batches there are.
func (p *plan) fit() {
	o := &p.file.Pipeline
	if o.Batch.Bytes < 1 || o.MaxInFlight.Batches < 1 {
		o = &config.Default().Pipeline // there is a mistake in it, which is told
	}
	p.limit = memory.FindLimit(int64(p.file.Memory.Limit))
	p.budget = p.limit.Fit(memory.Load{
		BatchBytes:     int64(max(p.batchBytes(), int(o.Batch.Bytes))),
		MaxBatches:     o.MaxInFlight.Batches,
		MaxBytes:       int64(o.MaxInFlight.Bytes),
		MaxRecordBytes: int64(o.MaxRecordBytes),
		Workers:        cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), // as package pipeline has it
	})
}

// tight says that not even the fewest batches fit into the memory limit, or nothing.
func (p *plan) tight() error {
	if !p.budget.Tight {
		return nil
	}
	return fmt.Errorf("the memory limit (%s) of %d MiB will be exceeded: with pipeline.workers, batch.bytes and max_record_bytes as they are it takes %d MiB",
		p.limit.From, p.limit.Bytes>>20, (p.budget.Least()+1<<20-1)>>20)
}

var discardLog = slog.New(slog.DiscardHandler)

// An env is what a process gives to the components of a pipeline.
type env struct {
	store    *checkpoint.Store // nil if no source needs it, and while a plan is checked
	log      *slog.Logger
	untilEOF bool
	dry      bool                               // the sinks write nothing
	stdin    io.Reader                          // nil while a plan is checked
	stdout   io.Writer                          // as above
	onReport func(source string, r file.Report) // nil while a plan is checked
	sound    func(path string) bool             // nil: all is
}

// makes reports whether a component is to be made.
func (e *env) makes(c *config.Component) bool {
	return e.sound == nil || c.Config != nil && e.sound(c.Path())
}

// parts are the components of one pipeline.
type parts struct {
	sources []pipeline.Source
	sinks   []pipeline.Sink
	dead    pipeline.Sink // nil if there is none
}

// make makes the components. They connect to nothing yet.
func (p *plan) make(e *env) (*parts, error) {
	var errs []error
	out := &parts{}
	for i := range p.file.Sources {
		c := &p.file.Sources[i]
		if !e.makes(c) {
			continue
		}
		s, err := p.makeSource(c, e)
		if err != nil {
			errs = append(errs, p.file.ErrorAt(c.Path(), err))
		}
		out.sources = append(out.sources, s)
	}
	for i := range p.file.Sinks {
		c := &p.file.Sinks[i]
		if !e.makes(c) {
			continue
		}
		s, err := p.makeSink(c, e)
		if err != nil {
			errs = append(errs, p.file.ErrorAt(c.Path(), err))
		}
		out.sinks = append(out.sinks, s)
	}
	if c := p.file.DeadLetter; c != nil && e.makes(c) {
		s, err := p.makeSink(c, e)
		if err != nil {
			errs = append(errs, p.file.ErrorAt(c.Path(), err))
		}
		out.dead = s
	}
	return out, errors.Join(errs...)
}

func (p *plan) makeSource(c *config.Component, e *env) (pipeline.Source, error) {
	return p.catalog.sources[c.Type].New(c.Config, p.sourceEnv(c, e))
}

func (p *plan) sourceEnv(c *config.Component, e *env) sources.Env {
	o := &p.file.Pipeline
	env := sources.Env{
		Name: c.Name, MaxRecord: int(o.MaxRecordBytes),
		BatchBytes: int(o.Batch.Bytes), BatchRecords: o.Batch.Records, Linger: o.Batch.Linger,
		UntilEOF: e.untilEOF, Logger: e.log.With("component", c.Name), Stdin: e.stdin,
		Files: file.Host{Store: e.store, Hold: p.canCutBack() && !e.dry, OpenFiles: p.openFilesOf(c.Path())},
	}
	host := &env.Files
	if p.fixedBatches() != nil {
		host.Grid = file.GridBytes
	}
	if e.onReport != nil {
		host.OnReport = func(r file.Report) { e.onReport(c.Name, r) }
	}
	if p.job != nil {
		env.Framing, host.NewFit = p.job.Framing(), p.job.NewFit
	} else {
		env.Framing = noFraming{} // the plan is being checked
	}
	if host.Store == nil {
		host.Store = new(checkpoint.Store)
	}
	return env
}

// canCutBack reports whether what was written of an input can be cut off all outputs
// again, after a restart, too.
func (p *plan) canCutBack() bool {
	return p.exactlyOnce && !slices.ContainsFunc(p.outputs(), func(c *config.Component) bool {
		l, ok := c.Config.(*sinkfile.LogConfig)
		return !ok || !l.CanCutBack()
	})
}

// noFraming stands in for a framing while a plan is checked: nothing is read.
type noFraming struct{}

func (noFraming) Cut([]byte) int  { return 0 }
func (noFraming) Head([]byte) int { return 0 }

func (p *plan) makeSink(c *config.Component, e *env) (pipeline.Sink, error) {
	return p.catalog.sinks[c.Type].New(c.Config, p.sinkEnv(c, e))
}

func (p *plan) sinkEnv(c *config.Component, e *env) sinks.Env {
	env := sinks.Env{
		Name: c.Name, SourceNames: p.sourceNames, Batches: p.budget.Batches, ExactlyOnce: p.exactlyOnce,
		DeadLetter: c == p.file.DeadLetter,
		Logger:     e.log.With("component", c.Name),
		Stdout:     e.stdout,
		OpenFiles:  p.openFilesOf(c.Path()),
	}
	if e.store != nil {
		env.Resume = e.store.Extents(p.extentName(c))
	}
	return env
}

// extentName returns the name of a sink in the output extents of a checkpoint.
func (p *plan) extentName(c *config.Component) string {
	if c == p.file.DeadLetter {
		return pipeline.DeadLetterName
	}
	return c.Name
}

// needFacts reports whether a sink needs facts of records.
func (p *parts) needFacts() bool {
	for _, s := range append(p.sinks[:len(p.sinks):len(p.sinks)], p.dead) {
		if f, ok := s.(sinks.FactReader); ok && f.NeedsFacts() {
			return true
		}
	}
	return false
}

// mustOrder reports whether batches are written in order though nobody asks for it: the
// pieces of a long record would be mixed up in an archive, whose records have lengths.
func mustOrder(job *record.Job, sinks []pipeline.Sink) bool {
	return job != nil && job.Apart() && !slices.ContainsFunc(sinks, func(s pipeline.Sink) bool { return !s.Caps().Ordered })
}

// options returns the pipeline that p plans, made of parts.
func (p *plan) options(c *parts, log *slog.Logger) pipeline.Options {
	o := &p.file.Pipeline
	opt := pipeline.Options{
		Sources: c.sources, Sinks: c.sinks, DeadLetter: c.dead,
		SourceNames: p.sourceNames, SinkNames: p.sinkNames, ExactlyOnce: p.exactlyOnce,
		NewCodec: pipeline.NewRecordCodec(p.job), Workers: o.Workers, BatchBytes: p.batchBytes(),
		Batches: p.budget.Batches, CommitInterval: o.CommitInterval, ShutdownTimeout: p.file.Shutdown.Timeout,
		OnRefused: refusedPolicies[o.OnRefused],
		Logger:    log,
	}
	if o.Ordering == "per_lane" || p.exactlyOnce || mustOrder(p.job, c.sinks) {
		opt.Ordering = pipeline.OrderPerLane
	}
	return opt
}
