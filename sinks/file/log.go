package file

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/pipeline"
)

// This file is structured in the following way:
//
//   - NewLog, which returns the sink of the daemon.
//   - log: what it holds.
//   - Its life: Open, Close; and what can be asked of it.

// logStats are counts of a [log].
type logStats struct {
	Bytes     int64 // written, those that were written again among them
	Syncs     int64 // of files
	SyncTime  time.Duration
	Rotations int64
	Published int64 // files that got their final name
	Retries   int64 // repairs of an output that were tried
	OpenFiles int64
	Holds     int64 // batches that wait for a sync
}

// NewLog returns the sink of a daemon: it writes one file after the other, or one for
// each input, syncs them in groups, and answers a batch when it is durable. Errors of
// the disk never reach the pipeline. While there is one, Submit blocks, Health returns
// it, and the sink tries until it succeeds. The error joins all that is wrong with cfg.
// NewLog opens no file. The sink is a pipeline.Packer if it is compressed.
func NewLog(cfg LogConfig) (pipeline.Sink, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := newLog(cfg)
	if s.format == compress.Plain {
		return s, nil
	}
	return &packedLog{s}, nil
}

// A packedLog is a log whose batches come compressed.
type packedLog struct{ *log }

// NewPack implements [pipeline.Packer].
func (p *packedLog) NewPack() (func(dst, src []byte) []byte, error) {
	return compress.NewPack(p.format, p.level)
}

const (
	defaultBatches = 16

	// DefaultOpenFiles is the default of [LogConfig].OpenFiles.
	DefaultOpenFiles = 256
)

// A log holds what is not durable yet, and who waits for it. Submit appends to
// files; all else that is done to a file is done by the one goroutine in run.
type log struct {
	cfg      LogConfig
	tmpl     *template
	format   compress.Format
	level    int
	lineFeed []byte // one, as it is written
	files    diskFiles
	table    streamTable
	log      *slog.Logger

	firstRetry time.Duration

	notify bell // a round is wanted at once
	quit   chan struct{}
	over   chan struct{} // closed when run has returned

	sick   atomic.Pointer[error] // what Health tells
	counts counts

	mu       sync.Mutex
	opened   bool
	closed   bool
	retired  []string        // final paths that a stored cut may still name although they are finished
	retiring int             // of them, those that Extents has named for the last time
	finished map[string]bool // streams that the checkpoint knows as finished
	lasting  *lastingError   // why the run ends; nil: it does not
	crowded  bool            // somebody waits for a round to close files
	holds    int             // batches that wait for a sync
	unsynced int64           // their bytes
	mended   chan struct{}   // closed, and made anew, when Submit may try again
	waiters  []chan struct{} // Barriers
	requests []request       // of Finish
	durable  []held          // scratch of the rounds
}

// counts are what LogStats tells.
type counts struct {
	bytes, syncs, syncTime, rotations, published, retries, open, holds atomic.Int64
}

func newLog(cfg LogConfig) *log {
	s := &log{
		cfg: cfg, log: cfg.Logger, firstRetry: firstRetry,
		notify: make(bell, 1), quit: make(chan struct{}), over: make(chan struct{}), mended: make(chan struct{}),
		finished: map[string]bool{},
	}
	s.tmpl, _ = parseTemplate(cfg.Path)                   // Validate has read it
	s.format, s.level, _ = cfg.Compress.resolve(cfg.Path) // and this
	s.lineFeed = []byte{'\n'}
	if s.format != compress.Plain {
		pack, _ := compress.NewPack(s.format, s.level) // Validate has made one
		s.lineFeed = pack(nil, s.lineFeed)
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
		streams: map[string]*stream{}, taken: map[string]bool{},
	}
	return s
}

// Open implements [pipeline.Sink]. It cuts off what the checkpoint does not cover, or
// what is torn, and gives finished files their names.
func (s *log) Open(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened {
		return errors.New("file sink: opened twice")
	}
	if err := s.recover(); err != nil {
		s.closeFiles()
		return fmt.Errorf("file sink: %w", err)
	}
	s.opened = true
	go s.run()
	return nil
}

// CheckConnect looks whether files can be made where the fixed part of the path
// leads, and whether those that are there can be written to. It makes nothing. The error is a [field.Error].
func (s *log) CheckConnect(context.Context) error {
	err := disk.Creatable(s.tmpl.dir())
	if err == nil {
		err = s.checkNames()
	}
	if err != nil {
		return &field.Error{Field: "path", Err: err}
	}
	return nil
}

// growing returns the paths of the outputs that are written under their final names.
func (s *log) growing() (names []string) {
	switch {
	case !s.table.grows():
	case !s.tmpl.bySrc:
		names = append(names, s.tmpl.path(values{}))
	default:
		for _, source := range s.cfg.SourceNames {
			names = append(names, s.tmpl.path(values{source: source}))
		}
	}
	return names
}

// checkNames refuses what stands where outputs are to be written and is not to be
// written to: a pipe, a link.
func (s *log) checkNames() error {
	names := s.growing()
	unfinished, err := s.tmpl.unfinished()
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
	return nil
}

// Caps implements [pipeline.Sink].
func (s *log) Caps() pipeline.SinkCaps { return pipeline.SinkCaps{Durable: true, Ordered: true} }

// Health implements [pipeline.Healther]: the path that cannot be written, and why.
func (s *log) Health() error {
	if err := s.sick.Load(); err != nil {
		return *err
	}
	return nil
}

// Stats returns what the sink has done so far. It may be called at any time.
func (s *log) Stats() logStats {
	c := &s.counts
	return logStats{
		Bytes: c.bytes.Load(), Syncs: c.syncs.Load(), SyncTime: time.Duration(c.syncTime.Load()),
		Rotations: c.rotations.Load(), Published: c.published.Load(), Retries: c.retries.Load(),
		OpenFiles: c.open.Load(), Holds: c.holds.Load(),
	}
}

// Close implements [pipeline.Sink]. After a run that was drained, the files that
// rotate get their final names; those of lanes that are not finished stay what they
// are, and the next run goes on with them.
func (s *log) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed || !s.opened {
		s.closed = true
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	close(s.quit)
	<-s.over
	s.mu.Lock()
	left := s.giveUp()
	var err error
	if ctx.Err() == nil && len(left) == 0 {
		err = s.publishLast()
	}
	s.wake()
	s.closeFiles()
	s.mu.Unlock()
	for _, h := range left {
		h.ticket.Done(pipeline.Result{Err: errClosed, Class: pipeline.Retryable})
	}
	return err
}

var errClosed = errors.New("file sink: closed before the batch was durable")

// giveUp takes all batches that wait for a sync.
func (s *log) giveUp() (left []held) {
	for _, o := range s.table.outputs() {
		left = append(left, o.pending...)
		o.pending = nil
	}
	s.holds, s.unsynced = 0, 0
	s.counts.holds.Store(0)
	return left
}

// publishLast gives the files their names that no run goes on with.
func (s *log) publishLast() error {
	if s.tmpl.perLane || s.table.grows() {
		return nil
	}
	var errs []error
	for _, st := range s.table.streams {
		if st.active != nil && st.active.size > 0 {
			s.table.seal(st)
		}
		errs = append(errs, s.publishSealed(st))
	}
	return errors.Join(errs...)
}

// closeFiles closes what is open, and removes what is empty and has no name yet.
func (s *log) closeFiles() {
	for _, o := range s.table.outputs() {
		if o.f != nil && o.size == 0 && o.young() {
			_ = disk.Remove(o.name) // while it is locked: it is ours
		}
		s.files.shut(o)
	}
}

// Interface guards.
var (
	_ pipeline.Sink           = (*log)(nil)
	_ pipeline.ExtentReporter = (*log)(nil)
	_ pipeline.CutObserver    = (*log)(nil)
	_ pipeline.Finisher       = (*log)(nil)
	_ pipeline.Healther       = (*log)(nil)
	_ pipeline.Packer         = (*packedLog)(nil)
)
