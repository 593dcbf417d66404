package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/observe/memory"
	"github.com/urlfold/urlfold/internal/observe/metrics"
	"github.com/urlfold/urlfold/internal/observe/systemd"
	"github.com/urlfold/urlfold/internal/observe/tap"
	"github.com/urlfold/urlfold/internal/observe/web"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/report/keydiff"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/pipeline/engine"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// Options configures a Daemon.
type Options struct {
	// Load reads the configuration for a reload.
	Load     func() (*config.File, error)
	UntilEOF bool // stop when all existing input has been read
	Version  string
	Config   string    // path of the configuration, for the log
	Stdin    io.Reader // for a source of type stdin
	Stdout   io.Writer // for a sink of type stdout, which is its only writer
	Log      io.Writer
}

// A Daemon runs the pipeline of a configuration, and replaces it on reloads.
// Its Run method must be called only once.
type Daemon struct {
	catalog *Catalog
	o       Options
	log     *slog.Logger
	events  *slog.Logger // for rare events; not rate limited
	level   *slog.LevelVar
	masker  *logging.Masker
	store   *checkpoint.Store // nil if no source needs it
	totals  metrics.Totals
	server  *web.Server
	tap     *tap.Tap                       // nil if it is disabled
	shadow  atomic.Pointer[keydiff.Shadow] // or nil
	reloads chan struct{}                  // holds one request
	begun   chan struct{}                  // closed when the first pipeline exists

	mu        sync.Mutex
	now       *running
	next      *plan // runs when the current pipeline has ended
	swaps     int   // number of codec swaps over all pipelines
	reloadErr string
	reloaded  time.Time // when a configuration was last loaded
	dedupeErr error     // why the dedupe keys cannot be opened

	reloadsGood, reloadsBad int

	hard    bool
	damaged map[string]bool // files, by path
	dropped map[cause]int64 // dropped records that tellDropped has logged

	headed []byte // header that stdout has got; used only by Run
}

// A running is the current pipeline.
type running struct {
	plan  *plan
	parts *parts
	pipe  *engine.Pipeline
	stop  context.CancelFunc // a soft stop
}

// New returns a daemon for f, which must come from Load. It opens only the data
// directory. It returns a *[LimitError] if f needs more file descriptors than
// the process may open.
func (cat *Catalog) New(f *config.File, o Options) (*Daemon, error) {
	p, err := cat.newPlan(f)
	if err == nil {
		err = p.tooFew
	}
	if err != nil {
		return nil, err
	}
	d := &Daemon{catalog: cat, o: o, level: new(slog.LevelVar), masker: new(logging.Masker), reloads: make(chan struct{}, 1), begun: make(chan struct{}), next: p, reloaded: time.Now(), damaged: map[string]bool{}, dropped: map[cause]int64{}}
	d.setLevel(f)
	d.masker.Add(secretsOf(f)...)
	lo := logging.Options{Level: d.level, JSON: f.Log.Format == "json", Masker: d.masker}
	d.events = logging.New(o.Log, lo)
	for _, w := range Warnings(f) {
		d.events.Warn("configuration warning", "error", w)
	}
	lo.RateLimit = f.Log.RepeatInterval
	d.log = slog.New(logging.Except(logging.New(o.Log, lo).Handler(), logging.Wraps(sinkfile.ErrClosedPipe))) // runOne logs this
	if p.files() {
		if d.store, err = checkpoint.Open(f.DataDir); err != nil {
			return nil, err
		}
		d.store.SetLogger(d.events)
		if err := p.checkState(d.store); err != nil {
			return nil, errors.Join(err, d.store.Close())
		}
		if p.exactlyOnce && !d.store.Found() { // store the empty state before any output exists, so that a crash does not look like a lost state
			if err := d.store.Compact(); err != nil {
				return nil, errors.Join(err, d.store.Close())
			}
		}
		for _, w := range d.store.Warnings() {
			d.events.Error("checkpoint damaged", "error", w) // log each warning: the last one says what is read again
		}
	}
	if f.Admin.Tap {
		d.tap = new(tap.Tap)
	}
	d.server = web.New(web.Options{
		Listen: f.Admin.Listen, Hosts: f.Admin.AllowedHosts, Pprof: f.Admin.Pprof, Version: o.Version, View: d.view, Tap: d.tap,
		Metrics: metrics.Handler(&d.totals, metrics.Options{Version: o.Version, Extras: []metrics.Extra{d}, Logger: d.log}),
		Masker:  d.masker, Logger: d.log,
	})
	return d, nil
}

// setLevel applies the log level of f.
func (d *Daemon) setLevel(f *config.File) {
	var lv slog.Level
	if lv.UnmarshalText([]byte(f.Log.Level)) == nil {
		d.level.Set(lv)
	}
}

// Run runs pipelines until the input ends, ctx is done (a soft stop), or a
// pipeline fails. It returns the error of [engine.Pipeline.Run] with secrets
// masked.
func (d *Daemon) Run(ctx context.Context) (err error) {
	defer func() { err = masked(d.masker, errors.Join(err, d.close())) }()
	if err := d.server.Start(); errors.Is(err, syscall.EADDRINUSE) && !d.next.file.Written("admin.listen") {
		d.events.Warn("default admin address is taken, running without admin server", "error", err)
	} else if err != nil {
		return err
	}
	if addr := d.server.Addr(); addr != "" {
		d.log.Info("listening", "admin", addr)
	}
	side, end := context.WithCancel(ctx)
	defer end()
	go d.watchReloads(side)
	go func() {
		if err := systemd.Watchdog(side, d.log, d.server.Alive); err != nil {
			d.log.Warn("systemd watchdog disabled", "error", err)
		}
	}()
	go d.tell(side)
	context.AfterFunc(ctx, func() { _ = systemd.Stopping("draining") }) // best effort
	return d.runAll(ctx)
}

// runAll runs pipelines one after another.
func (d *Daemon) runAll(ctx context.Context) error {
	var last *plan // last plan that has worked
	for {
		p := d.takeNext()
		if p == nil || last != nil && ctx.Err() != nil {
			return nil // even if the signal came during a reload
		}
		err := d.runOne(ctx, p)
		var open *engine.OpenError
		switch {
		case errors.As(err, &open) && last != nil && ctx.Err() == nil:
			d.events.Error("new configuration failed to start, restoring the previous one", "error", err)
			d.failReload(err)
			d.setNext(last)
			last = nil
		case errors.Is(err, engine.ErrDeadline) && d.replaced(ctx):
			d.events.Warn("pipeline replaced before everything was durable", "error", err)
			last = p
		case err != nil:
			return err
		default:
			last = p
		}
	}
}

// replaced reports whether a reload alone has ended the pipeline. The next
// pipeline rereads the records that were not durable because a lane was
// blocked or a sink was down.
func (d *Daemon) replaced(ctx context.Context) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return ctx.Err() == nil && d.next != nil && !d.hard
}

// runOne runs the pipeline of p until it ends.
func (d *Daemon) runOne(ctx context.Context, p *plan) (err error) {
	p.limit.Apply(func(keys int64) {
		d.events.Warn("keys take most of the memory limit", "limit_bytes", p.limit.Bytes, "keys_bytes", keys, "needed_bytes", max(memory.Needed(keys), p.budget.Least()))
	})
	if err := p.takeOver(d.store, d.events); err != nil {
		return &engine.OpenError{Err: err}
	}
	parts, err := p.make(&env{store: d.store, log: d.log, untilEOF: d.o.UntilEOF, stdin: d.o.Stdin, stdout: d.o.Stdout, onReport: d.report, headed: d.headed})
	if err != nil {
		return &engine.OpenError{Err: err}
	}
	err = d.openDedupe(ctx, p, parts)
	if err != nil && ctx.Err() != nil {
		return nil // stopped without having begun
	} else if err != nil {
		return &engine.OpenError{Err: err}
	}
	defer func() { err = errors.Join(err, parts.closeKeys()) }()
	opt := p.options(parts, d.log)
	opt.NewCodec = d.codec(p)
	pipe, err := engine.New(opt)
	if err != nil {
		return &engine.OpenError{Err: err}
	}
	if parts.keys != nil {
		parts.keys.Count(func() *engine.DedupeSnapshot { return pipe.Snapshot().Dedupe })
	}
	if parts.claims != nil {
		parts.claims.Count(func() *engine.DedupeSnapshot { return pipe.Snapshot().Dedupe })
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d.begin(&running{plan: p, parts: parts, pipe: pipe, stop: stop})
	d.events.Info("starting", "version", d.o.Version, "config", d.o.Config, "sources", len(parts.sources), "sinks", len(parts.sinks), "batches", p.budget.Batches)
	if err := p.tight(); err != nil {
		d.events.Warn("memory limit too low", "error", err)
	}
	for _, s := range p.openFiles {
		if s.granted < s.configured {
			d.events.Warn("open files reduced to fit the descriptor limit", "component", s.name,
				"configured", s.configured, "granted", s.granted, "descriptor_limit", p.descriptors)
		}
	}
	p.beginSchemas(d.log)
	context.AfterFunc(ctx, func() { time.AfterFunc(schemaGrace, p.endSchemas) })
	err = p.locate(nameKeys(pipe.Run(ctx)))
	p.endSchemas()
	d.current().endSchemas() // a reload may have replaced p
	if open := new(engine.OpenError); uses(p.file.Sinks, "stdout") && !errors.As(err, &open) {
		d.headed = p.header()
	}
	if errors.Is(err, sinkfile.ErrClosedPipe) {
		d.events.Info("stdout closed by reader, stopping")
	}
	if shadow := d.shadow.Load(); shadow != nil {
		s := shadow.Status()
		d.events.Info("shadow compared", "urls", s.URLs, "one_in", s.OneIn, "merges", s.Merges.Groups, "splits", s.Splits.Groups)
	}
	s := pipe.Snapshot()
	d.tellDropped()
	level := slog.LevelInfo
	if s.Ledger.Abandoned+s.Ledger.InFlight > 0 && !errors.Is(err, sinkfile.ErrClosedPipe) {
		level = slog.LevelError
	}
	d.events.Log(context.Background(), level, "stopped", "read", s.Ledger.Read, "emitted", s.Ledger.Emitted, "dropped", s.Ledger.Dropped, "filtered", s.Ledger.Filtered, "duplicates", s.Ledger.Duplicates,
		"dead_lettered", s.Ledger.Dead, "abandoned", s.Ledger.Abandoned, "unresolved", s.Ledger.InFlight)
	return err
}

// schemaGrace is how long records that were read before a stop wait for their
// schemas. If the registry does not answer, the next run reads them again.
const schemaGrace = 2 * time.Second

// nameKeys adds the relevant configuration keys to an error of a run.
func nameKeys(err error) error {
	if errors.Is(err, record.ErrOversize) {
		return fmt.Errorf("%w (on_error.oversize: stop; the limit is codec.max_record)", err)
	}
	if errors.Is(err, record.ErrNoSchema) {
		return fmt.Errorf("%w (on_error.unknown_schema: stop)", err)
	}
	return err
}

// locate adds the position in the configuration to an error that is caused by
// the configuration but found only at run time.
func (p *plan) locate(err error) error {
	var empty *file.NoMatchError
	if !errors.As(err, &empty) {
		return err
	}
	for _, c := range each(p.file.Sources) {
		if c.Name == empty.Source {
			return p.file.ErrorAt(c.Path()+".include", empty)
		}
	}
	return err
}

// begin makes r the current pipeline.
func (d *Daemon) begin(r *running) {
	d.totals.Swap(r.pipe.Snapshot, r.parts.extras(r.plan)...)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now == nil {
		close(d.begun)
	}
	d.now = r
	if d.hard {
		r.pipe.HardStop()
	}
}

// current returns the current plan.
func (d *Daemon) current() *plan {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now.plan
}

// takeNext returns the plan to run next and clears it, or returns nil.
func (d *Daemon) takeNext() *plan {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.next
	d.next = nil
	return p
}

func (d *Daemon) setNext(p *plan) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next = p
}

// HardStop stops without waiting for records that are not durable; see
// [engine.Pipeline.HardStop].
func (d *Daemon) HardStop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hard = true
	if d.now != nil {
		d.now.pipe.HardStop()
	}
}

// Damaged returns the number of damaged files that this run has found, plus,
// once a source has ended, the damaged files that earlier runs found in the
// same input.
func (d *Daemon) Damaged() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.damaged))
}

// report logs the result of reading a file of a source.
func (d *Daemon) report(source string, r file.Report) {
	if r.Verdict.Damage() || r.Known != "" {
		d.mu.Lock()
		d.damaged[r.Path] = true
		d.mu.Unlock()
	}
	if r.Stopped {
		d.events.Warn("input not read to the end", "component", source, "path", r.Path, "bytes", r.Bytes, "lines", r.Lines)
		return
	}
	if r.Known != "" {
		verdict, detail, _ := strings.Cut(r.Known, " ")
		d.events.Warn("file known to be damaged", "component", source, "path", r.Path, "verdict", verdict, "detail", detail)
		return
	}
	if r.Code() == "lost" {
		return // the source has logged the loss
	}
	logFinished(d.events, source, r)
}

// logFinished logs the result for a file that this run has finished.
func logFinished(log *slog.Logger, source string, r file.Report) {
	level := slog.LevelInfo
	var more []any
	if r.Verdict.Damage() {
		level = slog.LevelError
		_, detail, _ := strings.Cut(r.Text(), " ")
		more = []any{"detail", detail, "lost_bytes", r.Lost, "verified_lines", r.Verified.Lines, "unverified_lines", r.Unverified.Lines, "unverified_emitted", !r.Withheld}
		if r.Lane != nil && len(r.Lane.UnverifiedFiles()) > 0 {
			more = append(more, "unverified_files", r.Lane.UnverifiedFiles())
		}
	}
	log.Log(context.Background(), level, "file finished", "component", source, "path", r.Path, "verdict", r.Code(), "bytes", r.Bytes,
		"lines", r.Lines, slog.Group("", more...))
}

// close closes the admin server and the checkpoint store.
func (d *Daemon) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := d.server.Close(ctx)
	if err != nil {
		err = fmt.Errorf("admin server: %w", err)
	}
	if d.store == nil {
		return err
	}
	return errors.Join(err, d.store.Close())
}
