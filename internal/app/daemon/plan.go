package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"runtime"
	"slices"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/client/registry"
	"github.com/urlfold/urlfold/internal/ground/errlist"
	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/internal/observe/memory"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/unique"
	"github.com/urlfold/urlfold/pipeline/engine"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
	sinkkafka "github.com/urlfold/urlfold/sinks/kafka"
	sinks3 "github.com/urlfold/urlfold/sinks/s3"
	"github.com/urlfold/urlfold/sources/file"
)

// A plan is a configuration that has been validated as far as possible without
// accessing other resources.
type plan struct {
	catalog     *Catalog
	file        *config.File
	jobs        []*record.Job    // jobs of the sources; nil until the configuration is valid
	tapJobs     []*record.Job    // read samples of the records; nil without admin.tap
	shadow      *shadowPlan      // nil without a shadow
	registry    *registry.Client // or nil
	budget      memory.Budget
	limit       memory.Limit
	descriptors int64   // descriptor limit of the process; 0: unknown or none
	openFiles   []share // shares of the components that keep files open
	tooFew      error   // not nil if the descriptors do not suffice
	exactlyOnce bool
	identity    keyset.Identity // identity of the set of keys; nil without dedupe
	sourceNames []string
	sinkNames   []string
}

// newPlan validates f. The error joins a *config.Error for each error in it.
func (cat *Catalog) newPlan(f *config.File) (*plan, error) {
	p := cat.prepare(f)
	if err := p.check(allSound); err != nil {
		return nil, err
	}
	return p, nil
}

// allSound is the sound function for a configuration that was loaded without
// errors.
func allSound(string) bool { return true }

// prepare returns a plan for f that has not been validated.
func (cat *Catalog) prepare(f *config.File) *plan {
	p := &plan{catalog: cat, file: f}
	for i := range f.Sources {
		p.sourceNames = append(p.sourceNames, f.Sources[i].Name)
	}
	for i := range f.Sinks {
		p.sinkNames = append(p.sinkNames, f.Sinks[i].Name)
	}
	p.fit()
	p.descriptors = disk.MaxOpen()
	p.tooFew = p.shareFiles(p.descriptors)
	return p
}

// check validates the plan by creating all its components. The error joins a
// *config.Error for each error in the values that are sound.
func (p *plan) check(sound func(path string) bool) error {
	parts, err := p.make(&env{log: discardLog, sound: sound})
	k := &checker{plan: p, sound: sound, errs: []error{err}}
	k.checkNames()
	k.checkExactlyOnce()
	k.checkRoute()
	k.checkHeader()
	k.checkFixedBatches()
	k.checkDedupe()
	k.checkStandard()
	k.checkQueues()
	k.checkPaths()
	p.registry = newRegistry(p.file, sound)
	err = p.makeJobs(err == nil && parts.needFacts(), sound)
	p.fit() // now the formats are known
	k.errs = append(k.errs, err, p.addTap(), p.addShadow())
	if p.jobs != nil && p.file.Dedupe != nil {
		p.identity, err = p.keyIdentity()
		k.errs = append(k.errs, err)
		k.checkWindow()
	}
	if p.hasJob((*record.Job).Binary) && len(parts.sinks) == len(p.file.Sinks) {
		k.checkLineWriters(parts)
	}
	k.checkMessages()
	k.checkMixed()
	k.checkShape()
	return inOrder(k.errs...)
}

// A checker collects the errors in a plan. sound reports whether the value at a path has
// no error yet.
type checker struct {
	*plan
	sound func(path string) bool
	errs  []error
}

// wrong adds an error about the value at a path.
func (k *checker) wrong(path, text string) {
	k.errs = append(k.errs, k.file.ErrorAt(path, errors.New(text)))
}

// hasJob reports whether the job of a source satisfies is.
func (p *plan) hasJob(is func(*record.Job) bool) bool { return slices.ContainsFunc(p.jobs, is) }

// jobOf returns the job of a source, or nil during validation.
func (p *plan) jobOf(c *config.Component) *record.Job {
	if p.jobs == nil {
		return nil
	}
	return p.jobs[slices.Index(p.sourceNames, c.Name)]
}

// checkMessages rejects sources of text with a format that occurs only in
// messages.
func (k *checker) checkMessages() {
	for i, job := range k.jobs {
		if c := &k.file.Sources[i]; job.MessagesOnly() && k.isSound(c) && (isFiles(c.Type) || c.Type == "stdin") {
			k.wrong(c.Path(), "the format "+c.Format.From+" is for messages, not for files; to read Avro files, run urlfold without a configuration")
		}
	}
}

// checkQueues rejects sources of objects without a dead letter.
func (k *checker) checkQueues() {
	for _, c := range each(k.file.Sources) {
		if c.Type == "objects" && k.file.DeadLetter == nil {
			k.wrong(c.Path(), "requires dead_letter, which receives the references to objects that are damaged or cannot be read")
		}
	}
}

// checkLineWriters rejects sinks that need records with line ends.
func (k *checker) checkLineWriters(parts *parts) {
	for i, s := range parts.sinks {
		if l, ok := engine.As[kinds.LineWriter](s); ok {
			if err := l.NeedsLines(); err != nil {
				k.wrong(k.file.Sinks[i].Path(), err.Error())
			}
		}
	}
}

// isSound reports whether the type of a component exists and the given keys
// have no errors.
func (k *checker) isSound(c *config.Component, keys ...string) bool {
	return c.Config != nil && !slices.ContainsFunc(keys, func(key string) bool { return !k.sound(c.Path() + "." + key) })
}

// inOrder joins the errors in a configuration in the order of the file. It
// returns nil if there are none.
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

// checkNames rejects a sink with the name of a source, because metrics and
// checkpoints identify components by name. Package config has checked that the
// names of sources and the names of sinks are distinct. checkNames also rejects
// a dead letter that discards its records.
func (k *checker) checkNames() {
	taken := map[string]bool{}
	for _, c := range each(k.file.Sources) {
		if k.isSound(c, "name") {
			taken[c.Name] = true
		}
	}
	for _, c := range each(k.file.Sinks) {
		if k.isSound(c, "name") && taken[c.Name] {
			k.wrong(c.Path()+".name", "duplicate component name: a source has the same name")
		}
	}
	if d := k.file.DeadLetter; d != nil && d.Type == "discard" {
		k.wrong(d.Path(), "discards records that the metrics count as dead-lettered: remove dead_letter, and set on_error to drop")
	}
}

// checkExactlyOnce determines whether exactly-once delivery is requested and
// checks that it is possible: it requires a single source of files or objects, and
// only sinks of files, objects or Kafka topics.
func (k *checker) checkExactlyOnce() {
	outs := k.outputs()
	for _, c := range outs {
		l, ok := k.logOf(c)
		exact := ok && l.ExactlyOnce
		if s, ok := c.Config.(*sinkkafka.Config); ok {
			exact = s.ExactlyOnce
		}
		k.exactlyOnce = k.exactlyOnce || exact && k.isSound(c, "exactly_once")
	}
	if !k.exactlyOnce {
		return
	}
	for i, c := range each(k.file.Sources) {
		switch {
		case !k.isSound(c) || isFiles(c.Type) && i == 0:
		case c.Type == "stdin":
			k.wrong(c.Path(), "incompatible with exactly_once of a sink: stdin cannot be read again after a crash; read a file, or remove exactly_once")
		default:
			k.wrong(c.Path(), "incompatible with exactly_once of a sink, which requires exactly one source, of type file, s3 or objects; remove this source or exactly_once")
		}
	}
	for _, c := range outs {
		switch {
		case !k.isSound(c) || isFiles(c.Type):
		case c.Type == "kafka":
			if s, ok := c.Config.(*sinkkafka.Config); ok && !s.Idempotent {
				k.wrong(c.Path()+".idempotent", "must be true with exactly_once")
			}
		case c.Type == "stdout":
			k.wrong(c.Path(), "incompatible with exactly_once of another sink: stdout cannot be truncated after a crash; write a file, or remove exactly_once")
		default:
			k.wrong(c.Path(), "incompatible with exactly_once of another sink, which requires that all sinks and dead_letter are of type file, s3 or kafka; remove this output or exactly_once")
		}
	}
}

// checkStandard rejects a second reader of stdin and a second writer to stdout,
// because their records would be interleaved.
func (k *checker) checkStandard() {
	seen := map[string]bool{}
	for _, c := range k.components() {
		if text := standardStreams[c.Type]; text != "" && seen[c.Type] {
			k.wrong(c.Path(), text)
		}
		seen[c.Type] = true
	}
}

// standardStreams has, by type, the error about a second component on the same stream.
var standardStreams = map[string]string{"stdin": "another source already reads stdin", "stdout": "another sink already writes to stdout"}

// uses reports whether one of the components has the type.
func uses(list []config.Component, kind string) bool {
	return slices.ContainsFunc(list, func(c config.Component) bool { return c.Type == kind })
}

// isFiles reports whether components of the type read or write files, or objects as
// files. The checkpoint holds their positions and lengths.
func isFiles(kind string) bool { return kind == "file" || kind == "s3" || kind == "objects" }

// files reports whether there is a source of files, so that checkpoints are needed.
func (p *plan) files() bool {
	return slices.ContainsFunc(p.file.Sources, func(c config.Component) bool { return isFiles(c.Type) })
}

// each iterates over components without copying them.
func each(list []config.Component) iter.Seq2[int, *config.Component] {
	return func(yield func(int, *config.Component) bool) {
		for i := range list {
			if !yield(i, &list[i]) {
				return
			}
		}
	}
}

// outputs returns the sinks, followed by the dead letter if there is one.
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

// components returns the outputs, followed by the sources.
func (p *plan) components() []*config.Component {
	list := p.outputs()
	for _, c := range each(p.file.Sources) {
		list = append(list, c)
	}
	return list
}

// fit computes the number of batches, and the memory for keys.
func (p *plan) fit() {
	o := p.file
	if o.Batch.Size < 1 || o.MaxInFlight < 1 {
		o = config.Default() // the values are invalid and have been reported
	}
	longest := int64(o.Codec.MaxRecord)
	quoted := 0
	for _, job := range p.jobs {
		if q, ok := job.Framing().(record.QuoteFraming); ok {
			quoted = max(quoted, q.MaxQuoted())
		}
	}
	workers := cmp.Or(o.Workers, runtime.GOMAXPROCS(0)) // the default of package pipeline
	p.limit = memory.FindLimit(int64(p.file.MemoryLimit))
	p.budget = p.limit.Fit(memory.Load{
		BatchBytes:     int64(max(p.batchBytes(), int(o.Batch.Size))),
		MaxBatches:     max(64, 4*workers),
		MaxBytes:       int64(o.MaxInFlight),
		MaxRecordBytes: longest + int64(quoted),
		Workers:        workers,
		Copies:         p.copies(),
		Keys:           p.keyTables(),
	})
}

// tight returns an error if not even the minimum number of batches fits into
// the memory limit.
func (p *plan) tight() error {
	if !p.budget.Tight {
		return nil
	}
	keys := "workers, batch.size and codec.max_record"
	if p.budget.Keys > 0 {
		keys = "dedupe, " + keys
	}
	return fmt.Errorf("memory limit (%s) of %d MiB will be exceeded: %s require %d MiB; raise the limit or lower these settings",
		p.limit.From, p.limit.Bytes>>20, keys, (p.budget.Least()+1<<20-1)>>20)
}

var discardLog = slog.New(slog.DiscardHandler)

// An env is the environment for the components of a pipeline.
type env struct {
	store    *checkpoint.Store // nil if no source needs it, and during validation
	log      *slog.Logger
	untilEOF bool
	dry      bool                               // the sinks write nothing
	headed   []byte                             // header that stdout has already got
	stdin    io.Reader                          // nil during validation
	stdout   io.Writer                          // nil during validation
	onReport func(source string, r file.Report) // nil during validation
	sound    func(path string) bool             // nil: everything is sound
}

// makes reports whether a component should be created.
func (e *env) makes(c *config.Component) bool {
	return e.sound == nil || c.Config != nil && e.sound(c.Path())
}

// parts holds the components of a pipeline.
type parts struct {
	sources []engine.Source
	sinks   []engine.Sink
	dead    engine.Sink    // or nil
	keys    keys           // nil without dedupe, and with dedupe.bucket
	claims  *unique.Claims // nil without dedupe.bucket
}

// make creates the components, which do not connect to anything yet.
func (p *plan) make(e *env) (*parts, error) {
	var errs []error
	out := &parts{}
	for _, c := range each(p.file.Sources) {
		if !e.makes(c) {
			continue
		}
		s, err := p.makeSource(c, e)
		if err != nil {
			errs = append(errs, p.file.ErrorAt(c.Path(), err))
		}
		out.sources = append(out.sources, s)
	}
	for _, c := range p.outputs() {
		if !e.makes(c) {
			continue
		}
		s, err := p.makeSink(c, e)
		if err != nil {
			errs = append(errs, p.file.ErrorAt(c.Path(), err))
		}
		if c == p.file.DeadLetter {
			out.dead = s
		} else {
			out.sinks = append(out.sinks, s)
		}
	}
	return out, errors.Join(errs...)
}

func (p *plan) makeSource(c *config.Component, e *env) (engine.Source, error) {
	return p.catalog.sources[c.Type].New(c.Config, p.sourceEnv(c, e))
}

func (p *plan) sourceEnv(c *config.Component, e *env) kinds.SourceEnv {
	o := p.file
	env := kinds.SourceEnv{
		Name: c.Name, MaxRecord: int(o.Codec.MaxRecord),
		BatchBytes: int(o.Batch.Size), Linger: o.Batch.Linger,
		UntilEOF: e.untilEOF, Delays: p.inBucket(), Logger: e.log.With("component", c.Name), Stdin: e.stdin,
	}
	host := file.Host{Store: e.store, Hold: p.canCutBack() && !e.dry && p.file.Dedupe == nil, OpenFiles: p.openFilesOf(c.Path())}
	if p.fixedBatches() != nil {
		host.Grid = file.GridBytes
	}
	if e.onReport != nil {
		host.OnReport = func(r file.Report) { e.onReport(c.Name, r) }
	}
	if job := p.jobOf(c); job != nil {
		env.Framing, host.NewFit = job.Framing(), job.NewFit
	} else {
		env.Framing = noFraming{} // during validation
	}
	if host.Store == nil {
		host.Store = new(checkpoint.Store)
	}
	env.Files = host
	return env
}

// canCutBack reports whether the records of an input can be removed from the
// end of all outputs again, even after a restart.
func (p *plan) canCutBack() bool {
	return p.exactlyOnce && !slices.ContainsFunc(p.outputs(), func(c *config.Component) bool {
		l, ok := p.logOf(c)
		return !ok || l.Bucket != nil || !l.CanCutBack()
	})
}

// noFraming is the framing during validation, when nothing is read.
type noFraming struct{}

func (noFraming) Cut([]byte) int  { return 0 }
func (noFraming) Head([]byte) int { return 0 }

func (p *plan) makeSink(c *config.Component, e *env) (engine.Sink, error) {
	return p.catalog.sinks[c.Type].New(c.Config, p.sinkEnv(c, e))
}

func (p *plan) sinkEnv(c *config.Component, e *env) kinds.SinkEnv {
	env := kinds.SinkEnv{
		Name: c.Name, DataDir: p.file.DataDir, SourceNames: p.sourceNames, Batches: p.budget.Batches, ExactlyOnce: p.exactlyOnce,
		DeadLetter: c == p.file.DeadLetter, Ordered: p.file.Order == "lane", Header: p.headerFor(c, e),
		CSV:       p.file.Codec.Render.Form == "csv" && c != p.file.DeadLetter,
		Logger:    e.log.With("component", c.Name),
		Stdout:    e.stdout,
		OpenFiles: p.openFilesOf(c.Path()),
	}
	if e.store != nil {
		env.Resume, env.Lost = e.store.Extents(p.extentName(c)), e.store.Lost()
	}
	return env
}

// extentName returns the name by which the output extents of a checkpoint
// identify a sink.
func (p *plan) extentName(c *config.Component) string {
	if c == p.file.DeadLetter {
		return engine.DeadLetterName
	}
	return c.Name
}

// logOf returns the configuration of the files of a sink, if it writes files or, as
// files, objects.
func (p *plan) logOf(c *config.Component) (*sinkfile.LogConfig, bool) {
	switch s := c.Config.(type) {
	case *sinkfile.LogConfig:
		return s, true
	case *sinks3.Config:
		return s.Files(p.file.DataDir, c.Name), true
	}
	return nil, false
}

// needFacts reports whether a sink needs facts about records.
func (p *parts) needFacts() bool {
	for _, s := range append(p.sinks[:len(p.sinks):len(p.sinks)], p.dead) {
		if f, ok := engine.As[kinds.FactReader](s); ok && f.NeedsFacts() {
			return true
		}
	}
	return false
}

// mustOrder reports whether batches must be written in order even if the
// configuration does not require it: in a file whose records contain their
// length, the pieces of a long record must not be interleaved with other
// records, and a header must come before its rows.
func (p *plan) mustOrder(sinks []engine.Sink) bool {
	return p.hasJob((*record.Job).Ordered) && !slices.ContainsFunc(sinks, func(s engine.Sink) bool { return !s.Caps().Ordered })
}

// options returns the options for a pipeline of the components in c.
func (p *plan) options(c *parts, log *slog.Logger) engine.Options {
	o := p.file
	opt := engine.Options{
		Sources: c.sources, Sinks: c.sinks, DeadLetter: c.dead,
		SourceNames: p.sourceNames, SinkNames: p.sinkNames, ExactlyOnce: p.exactlyOnce,
		NewCodec: engine.NewSourceCodecs(p.jobs), Workers: o.Workers, BatchBytes: p.batchBytes(),
		Batches: p.budget.Batches, CommitInterval: o.CommitInterval, ShutdownTimeout: o.ShutdownTimeout,
		OnRefused: refusedPolicies[o.OnError.Refused],
		Logger:    log,
	}
	if c.keys != nil {
		opt.Dedupe = &engine.Dedupe{Scope: p.dedupeScope(), Room: p.budget.Room, Window: p.dedupeWindow()}
		opt.Dedupe.Set, _ = c.keys.(engine.KeySet)
		opt.Dedupe.Lanes, _ = c.keys.(engine.LaneKeySet)
	}
	if c.claims != nil {
		opt.Dedupe = &engine.Dedupe{Claims: c.claims, Window: p.dedupeWindow()}
	}
	if d := p.file.Dedupe; d != nil && d.Marks() {
		render, _ := record.ParseRender(p.file.Codec.Render.Form) // record.New has checked it
		opt.Dedupe.NewMark = unique.NewMarker(render)
	}
	if o.Order == "lane" || p.exactlyOnce || p.mustOrder(c.sinks) {
		opt.Ordering = engine.OrderPerLane
	}
	return opt
}

// beginSchemas prepares the schema registry, if there is one, for a run.
func (p *plan) beginSchemas(log *slog.Logger) {
	if p.registry != nil {
		p.registry.SetLog(log)
	}
}

// endSchemas ends all requests to the schema registry.
func (p *plan) endSchemas() {
	if p.registry != nil {
		p.registry.Close()
	}
}
