package file

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file has three parts:
//
//   - NewLog, which returns the sink of the daemon.
//   - log and its fields.
//   - Opening, closing and inspecting a log.

// logStats holds the counts of a [log].
type logStats struct {
	Bytes     int64 // bytes written, including rewritten ones
	Syncs     int64 // file syncs
	SyncTime  time.Duration
	Rotations int64
	Published int64 // files renamed to their final names
	Retries   int64 // attempts to repair an output
	OpenFiles int64
	Holds     int64 // batches that wait for a sync
}

// NewLog returns the sink of a daemon. It writes one file after the other, or
// one for each input, syncs them in groups, and answers a batch when it is
// durable. Recoverable disk errors do not reach the pipeline: Submit blocks,
// Health returns the error, and the sink retries until it succeeds. The error
// of NewLog joins all problems of cfg. NewLog does not open any file.
func NewLog(cfg LogConfig) (engine.Sink, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Bucket != nil {
		return newShipper(cfg)
	}
	return newLog(cfg), nil
}

const (
	defaultBatches = 16

	// DefaultOpenFiles is the default of LogConfig.OpenFiles.
	DefaultOpenFiles = 256
)

// A log tracks the batches that are not durable yet and the goroutines that wait for
// them. Submit appends to files. All other operations on files run on the goroutine of
// run.
type log struct {
	cfg    LogConfig
	tmpl   *template
	format compress.Format
	level  int
	files  diskFiles
	table  streamTable
	log    *slog.Logger

	firstRetry time.Duration

	notify bell // requests a round immediately
	quit   chan struct{}
	over   chan struct{} // closed when run has returned

	sick   atomic.Pointer[error] // error that Health returns
	counts counts

	mu       sync.Mutex
	state    logState
	lasting  *lastingError   // error that ends the run, or nil
	crowded  bool            // a Submit waits for a round to close files
	holds    int             // batches that wait for a sync
	unsynced int64           // bytes of the records in these batches
	mended   chan struct{}   // closed and replaced when Submit may retry
	waiters  []chan struct{} // waiting Barriers
	requests []request       // from Finish
	durable  []held          // scratch space of the rounds
	writers  writers         // of the open members
	idle     *sync.Cond      // an output is no longer busy, or a MemberWriter is spare
}

type logState uint8

const (
	logNew logState = iota
	logOpen
	logClosed
)

// counts are the counters behind Stats.
type counts struct {
	bytes, syncs, syncTime, rotations, published, retries, open, holds atomic.Int64
}

// NeedsLines returns an error if recovery finds the end of the last complete
// record by its line end.
func (s *log) NeedsLines() error {
	if s.format == compress.Plain && !s.cfg.ExactlyOnce {
		return errors.New("set compress to gzip or zstd for binary records, or exactly_once: after a crash, urlfold looks for the last line end of an uncompressed file")
	}
	return nil
}

func newLog(cfg LogConfig) *log {
	s := &log{
		cfg: cfg, log: cfg.Logger, firstRetry: firstRetry,
		notify: make(bell, 1), quit: make(chan struct{}), over: make(chan struct{}), mended: make(chan struct{}),
	}
	s.idle = sync.NewCond(&s.mu)
	s.tmpl, _ = parseTemplate(cfg.Path)                   // Validate has parsed it
	s.format, s.level, _ = cfg.Compress.resolve(cfg.Path) // checked by Validate
	if s.cfg.SyncInterval == 0 {
		s.cfg.SyncInterval = 200 * time.Millisecond
		if s.format != compress.Plain {
			s.cfg.SyncInterval = time.Second // each sync makes the output a little larger
		}
	}
	if s.cfg.Batches == 0 {
		s.cfg.Batches = defaultBatches
	}
	if s.cfg.OpenFiles == 0 {
		s.cfg.OpenFiles = DefaultOpenFiles
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.files = diskFiles{cfg: &s.cfg, log: s.log, format: s.format, at: fault.At, counts: &s.counts}
	s.table = streamTable{
		cfg: &s.cfg, log: s.log, tmpl: s.tmpl, format: s.format, files: &s.files, notify: s.notify, counts: &s.counts,
		streams: map[string]*stream{}, taken: map[string]bool{}, finished: map[string]bool{}, mended: map[string]place{},
	}
	return s
}

// Open implements [engine.Sink]. It truncates outputs to the checkpoint, or
// removes torn ends, and renames finished files.
func (s *log) Open(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != logNew {
		return errors.New("file sink: Open called twice")
	}
	if err := s.table.recover(); err != nil {
		s.table.closeFiles()
		return fmt.Errorf("file sink: %w", err)
	}
	s.state = logOpen
	go s.run()
	return nil
}

// CheckConnect checks whether files can be created in the directory of the
// path's fixed part, and whether existing outputs can be written. It does not
// create anything. The error is a [field.Error].
func (s *log) CheckConnect(context.Context) error {
	err := disk.Creatable(s.tmpl.dir())
	if err == nil {
		err = s.table.checkNames()
	}
	if err != nil {
		return &field.Error{Field: "path", Err: err}
	}
	return nil
}

// growing returns the paths of the outputs that are written under their final
// names.
func (tab *streamTable) growing() (names []string) {
	switch {
	case !tab.grows():
	case !tab.tmpl.bySrc():
		names = append(names, tab.tmpl.path(values{}))
	default:
		for _, source := range tab.cfg.SourceNames {
			names = append(names, tab.tmpl.path(values{source: source}))
		}
	}
	return names
}

// checkNames returns an error if an output path is occupied by something that
// must not be written to, such as a pipe or a link.
func (tab *streamTable) checkNames() error {
	names := tab.growing()
	unfinished, err := tab.tmpl.unfinished()
	if err != nil {
		return err
	}
	for _, final := range unfinished {
		names = append(names, final+partSuffix)
	}
	for _, name := range names {
		if err := disk.Check(name); err != nil {
			return err
		}
	}
	for _, name := range tab.growing() {
		if err := tab.files.checkHeaderOf(name); err != nil {
			return err
		}
	}
	return nil
}

// Caps implements [engine.Sink].
func (s *log) Caps() engine.SinkCaps { return engine.SinkCaps{Ordered: true} }

// Health implements [engine.Healther]. It returns the path that cannot be
// written and the reason.
func (s *log) Health() error {
	if err := s.sick.Load(); err != nil {
		return *err
	}
	return nil
}

// Stats returns the current counts. It may be called at any time.
func (s *log) Stats() logStats {
	c := &s.counts
	return logStats{
		Bytes: c.bytes.Load(), Syncs: c.syncs.Load(), SyncTime: time.Duration(c.syncTime.Load()),
		Rotations: c.rotations.Load(), Published: c.published.Load(), Retries: c.retries.Load(),
		OpenFiles: c.open.Load(), Holds: c.holds.Load(),
	}
}

// Close implements [engine.Sink]. After a run that was drained, it renames
// the files that rotate to their final names. Files of unfinished lanes keep
// their names, and the next run continues them.
func (s *log) Close(ctx context.Context) error {
	s.mu.Lock()
	open := s.state == logOpen
	s.state = logClosed
	s.mu.Unlock()
	if !open {
		return nil
	}
	close(s.quit)
	<-s.over
	s.mu.Lock()
	left := s.giveUp()
	var err error
	if ctx.Err() == nil && len(left) == 0 {
		err = errors.Join(s.endMembers(ctx), s.table.publishLast())
	}
	s.wake()
	s.table.closeFiles()
	s.mu.Unlock()
	for _, h := range left {
		h.ticket.Done(engine.Result{Err: errClosed, Class: engine.Retryable})
	}
	return err
}

var errClosed = errors.New("file sink: closed before the batch was durable")

// giveUp removes and returns all batches that wait for a sync.
func (s *log) giveUp() (left []held) {
	for slices.ContainsFunc(s.table.outputs(), func(o *output) bool { return o.busy }) {
		s.idle.Wait()
	}
	for _, o := range s.table.outputs() {
		left = append(left, o.pending...)
		o.pending = nil
	}
	s.holds, s.unsynced = 0, 0
	s.counts.holds.Store(0)
	return left
}

// publishLast renames the files that no later run continues.
func (tab *streamTable) publishLast() error {
	if tab.tmpl.perLane() || tab.grows() {
		return nil
	}
	var errs []error
	for _, st := range tab.streams {
		if st.active != nil && st.active.size > 0 {
			tab.seal(st)
		}
		errs = append(errs, tab.publishSealed(st))
	}
	return errors.Join(errs...)
}

// closeFiles closes all open files, and removes empty ones that have no final
// name.
func (tab *streamTable) closeFiles() {
	for _, o := range tab.outputs() {
		if o.f != nil && o.size == 0 && o.young() {
			_ = disk.Remove(o.name) // the lock proves that no other process uses it
		}
		tab.files.shut(o)
	}
}

// Interface guards.
var (
	_ engine.Sink           = (*log)(nil)
	_ engine.ExtentReporter = (*log)(nil)
	_ engine.CutObserver    = (*log)(nil)
	_ engine.Finisher       = (*log)(nil)
	_ engine.Healther       = (*log)(nil)
)
