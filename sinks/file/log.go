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

// NewLog returns the sink of a daemon. It writes one file after the other, or
// one for each input, syncs them in groups, and answers a batch when it is
// durable. Recoverable disk errors do not reach the pipeline: Submit blocks,
// Health returns the error, and the sink retries until it succeeds. The error
// of NewLog joins all problems of cfg. NewLog does not open any file.
//
// # Groups
//
// Submit appends the batch to its file and returns. One goroutine performs
// rounds: it syncs every file that has unsynced data, and then answers the
// batches that these syncs cover. A round starts at regular intervals, and
// immediately when half of all batches wait, SyncBytes bytes wait, or a Barrier
// waits.
//
//	             synced                size
//	│ answered      │ pending              │      pending batches are in their arenas
//
// After a failed write, the sink truncates the file to synced and writes the pending
// batches again. It retries until that succeeds, first after 100 ms and then with a
// delay that doubles up to 5 s. After a failed sync, the system may have dropped the
// data that it could not write, without reporting it again. The sink therefore closes
// the file. Unless the disk was only full, it also abandons the file: it copies the
// synced part to a new file, reads it back, syncs it and renames it over the old one.
// In the meantime Submit and Barrier block, Health reports the file and the error, and
// no batch is answered.
//
// # Names
//
//	                      written to as     becomes NAME
//	{source.relpath} or   NAME.part         when its lane is finished (Finish), or rotation
//	{lane} in the path                      ends it
//	{seq} or {time}       NAME.part         when rotation ends it, or at Close
//	none of them          NAME              it is NAME from the start, and always grows
//
// So a file with a final name is finished and never modified again. The
// exception is a file that always grows. The sink does not overwrite an
// existing final name; it adds a number to the new name, as in
// access-2.log.zst. It creates directories as needed. It appends a line feed to
// a record that ends without one, as the last record of an input may, because
// another record may follow.
//
// # After a crash
//
// Without ExactlyOnce, Open truncates a torn end. The torn end is everything after the
// last line or after the last flush of a member, such as zeros that a power loss has
// left. Open then ends the member. Complete records that were not answered remain in
// the file, and are written a second time when the source reads them again. Open keeps
// a file with other damage as NAME.part.damaged, and continues a copy of its intact
// beginning. The next run finishes files that rotate and continues the others. A record
// that spans several batches (engine.Piece) may lose its beginning in a plain file.
//
// With ExactlyOnce, the source stores its positions and the lengths of the
// outputs in one step, as a cut (see engine.CutCommitter). Open truncates
// every output to its extent, ends the member that is open there, and removes or
// restarts outputs without an extent. An extent contains the final path regardless
// of the current name of the file, so a rename does not change the extent:
//
//	NAME.part exists, longer              truncate it to the extent
//	NAME.part exists, shorter             error: durable records were removed
//	only NAME exists, same length         finished
//	neither exists                        finished, and removed by a consumer
//
// A finished file must never be truncated, because a consumer may have read it.
// A file that rotation has ended therefore keeps its unfinished name until a
// cut covers all of it:
//
//	            rotation               cut stored       renamed
//	0001.part ─────┤ sealed, in all extents ├──────────────┤ 0001
//	0002.part      ├──────────────────────────────────────────▶ in all later extents
//
// After a crash before the cut, the previous cut applies: 0001.part is
// truncated to its length in that cut, and 0002.part, which the cut does not
// contain, is removed. After a crash that follows the cut, Open finds both
// extents and renames 0001.part immediately, because all extents of a stream
// except the last belong to sealed files. The sink does not give another output
// a name that a stored cut may still contain, even if the file no longer
// exists. A file that always grows is named NAME.part until the first cut
// covers it. An unfinished name without an extent can therefore always be
// discarded, and NAME never can.
//
// # Faults
//
// The fault points for package fault are file.before_create, file.before_write,
// file.after_write, file.before_sync, file.after_sync, file.before_sync_dir,
// file.after_sync_dir, file.before_mend, file.before_replace,
// file.before_rename, file.after_rename and file.before_truncate.
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
	requests []request       // requests of Finish
	durable  []held          // scratch space of the rounds
	writers  writers         // the writers of the open members
	idle     *sync.Cond      // an output is no longer busy, or a MemberWriter is spare
}

type logState uint8

const (
	logNew logState = iota
	logOpen
	logClosed
)

// counts are the counters of a log; see Metrics.
type counts struct {
	bytes, syncs, syncTime, rotations, published, retries, open, holds atomic.Int64
}

// NeedsLines returns an error if recovery finds the end of the last complete
// record by its line end.
func (s *log) NeedsLines() error {
	if s.format == compress.Plain && !s.cfg.ExactlyOnce {
		return errors.New("binary records require compress: gzip, compress: zstd or exactly_once: true, because after a crash urlfold looks for the last line end of any other file")
	}
	return nil
}

func newLog(cfg LogConfig) *log {
	s := &log{
		cfg: cfg, log: cfg.Logger, firstRetry: firstRetry,
		notify: make(bell, 1), quit: make(chan struct{}), over: make(chan struct{}), mended: make(chan struct{}),
	}
	s.idle = sync.NewCond(&s.mu)
	s.tmpl, _ = parseTemplate(cfg.Path)                                         // Validate has parsed it
	s.format, s.level, _ = compress.ParseFormat(string(cfg.Compress), cfg.Path) // checked by UnmarshalText
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
	_ engine.ExtentReporter = (*log)(nil)
	_ engine.CutObserver    = (*log)(nil)
	_ engine.Finisher       = (*log)(nil)
	_ engine.Healther       = (*log)(nil)
)
