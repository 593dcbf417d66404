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
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Host holds what a daemon shares with the file sources that it runs. Package
// daemon fills it in; a source outside this module does not need it.
type Host struct {
	// Store holds the checkpoint. The daemon opens and closes it.
	Store *checkpoint.Store
	// Grid, if not 0, makes batches end at fixed positions, regardless of read
	// sizes and of where reading began: at the first record end at or after
	// each multiple of Grid bytes. The data after the last such position is
	// emitted once the file is known to be complete. The arenas of batches
	// should be larger than Grid.
	Grid int64
	// Hold says that every output can withdraw what it has written, so that
	// on_damage: quarantine need not read files twice: see
	// engine.Lane.Withdraw.
	Hold bool
	// NewFit, if not nil, returns a function that reports whether a record fits
	// the format. head is the header record, or nil.
	NewFit func(head []byte) func(rec []byte) bool
	// OnReport, if not nil, is called for every file that is finished, after
	// its records are durable, and for every file that cannot be read. At the
	// end of a run that ends with its input, it is also called for every file
	// that an earlier run found damaged. Calls come from different goroutines,
	// one at a time, and should not block.
	OnReport func(Report)
	// OpenFiles, if not 0, replaces MaxOpenFiles of the Settings.
	OpenFiles int
}

// A WatchConfig configures the source that [NewWatcher] returns. Framing and
// Store must be set.
type WatchConfig struct {
	Settings
	Host
	// Objects, if not nil, are read instead of files.
	Objects *Objects
	// Name is the name of the source, under which the store keeps its entries.
	// Default "file".
	Name string
	// Framing finds record boundaries.
	Framing Framing
	// MaxRecord is the same as in Config.
	MaxRecord int
	// UntilEOF ends a run in mode tail when all files have been read to their
	// ends.
	UntilEOF bool
	// Logger receives events about files. Default: discard.
	Logger *slog.Logger

	at func(point string) error // fault.At, except in tests
}

// ends reports whether files are finished at their ends: see watcher.complete.
func (cfg *WatchConfig) ends() bool { return cfg.Mode == modeBatch || cfg.UntilEOF }

// A watcher is the source of a daemon: it reads the files that match globs,
// follows them as they grow and are rotated, truncated and compressed, and
// resumes at the positions where the last run stopped. See the package
// documentation. The watcher itself scans, schedules, identifies files and ends
// them; its parts do the rest.
type watcher struct {
	cfg      WatchConfig
	log      *slog.Logger
	store    storage
	files    opener
	crew     crew
	texts    verifier
	known    catalog
	finished finished
	bound    bindings
	progress progress
	news     reporter
	reader   reader

	mu         sync.Mutex
	candidates map[fileID]*candidate
	scanned    bool              // at least one scan has been made
	fresh      bool              // there was no checkpoint
	broken     map[string]string // reasons why files cannot be read, by path
	unmatched  bool              // CheckConnect found no files
	hidden     map[string]error  // files and folders that the last scan could not access
	given      map[fileID]bool   // files that this run has given up on
	stats      counts

	retireAfter time.Duration // constant retireAfter, except in tests

	measured atomic.Pointer[watchStats] // last result of glance
	health   atomic.Pointer[error]      // last result of unreadable
	damaged  atomic.Pointer[damages]    // last result of Damaged
}

// NewWatcher returns the source of a daemon, which reads the files that match
// globs and follows them. The error joins everything that is wrong with cfg.
// NewWatcher does not access any file.
//
// # Texts
//
// A text is the decompressed content of a file. It keeps its identity when its
// file is renamed, copied or compressed, and has one lane for as long as it can
// be found. One goroutine polls, others read:
//
//	scan ──▶ by inode: known ──▶ renamed? grown? gone? ──▶ queue ──▶ readers ──▶ lanes
//	           │ not known                                   ▲
//	           ▼                                             │
//	         candidate ──▶ by content: copy of a file that is gone, of one that
//	                      still exists (wait), or new ────────┘
//
// Two hashes identify a text: the hash of its beginning, as far as it was
// emitted but at most fingerprint_bytes, and the hash of the last KiB before
// the position at which reading resumes. The second hash distinguishes files
// that begin with the same header.
//
//	rotation            action
//	create, dateext     the inode has another name: keep reading it, for
//	                    rotate_wait
//	compress            hold the new file back while the old one exists; then its text
//	                    is the text of a file that is gone, and reading continues in it
//	copytruncate        hold the copy back; when the original turns out to hold another
//	                    text, the copy takes its place, and the part that was not yet
//	                    read is read from the copy
//
// A recently changed file that begins like another file is held back until it
// differs or has been unchanged for rotate_wait. That costs time, never a
// record.
//
// The watcher cannot detect:
//
//   - a file that is truncated between two polls and then grows so that exactly
//     the compared bytes are the same again,
//   - a file that appears and disappears between two polls,
//   - data written to a file between its copy and its truncation, which no
//     reader can see,
//   - the part of a truncated file that was not copied (counted in the lost
//     bytes metric).
//
// If a file is copied and truncated while no daemon runs, and the copy is
// shorter than what had been read, the copy is read again.
//
// An incomplete line waits for the rest, unless the file is known to be
// complete: rotated, compressed, in batch mode, or with UntilEOF. Positions
// always follow a whole record, except within a record that is longer than the
// limit.
//
// Reading resumes in a compressed file at a restart point, which lies at most
// restart_point_every plus one block before the position. Checksums are
// verified as if the file had been read in one go. A file that ends too early
// is assumed to be still being written until it has been unchanged for
// damage_after. A damaged file is not read again unless it changes.
//
// # Objects
//
// A watcher also reads objects of a bucket, because it reads an open object as it reads
// an open file. A storage lists and opens files; the storages for files and for objects
// identify a text in different ways. An object is complete when it appears, and its id,
// a hash of its key and its ETag, changes with its content. So the comparisons above
// are left out, and a request for an object that has changed fails instead of returning
// bytes of another text.
func NewWatcher(cfg WatchConfig) (engine.Source, error) {
	errs := []error{cfg.Validate()}
	if cfg.Framing == nil {
		errs = append(errs, errors.New("file source: Framing is not set"))
	}
	if cfg.Store == nil {
		errs = append(errs, errors.New("file source: Store is not set"))
	}
	if cfg.MaxRecord < 0 {
		errs = append(errs, errors.New("file source: MaxRecord must not be negative"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if cfg.Objects != nil {
		cfg.settle()
	} else if cfg.OpenFiles > 0 {
		cfg.MaxOpenFiles = cfg.OpenFiles
	}
	if cfg.Name == "" {
		cfg.Name = "file"
	}
	if cfg.MaxRecord == 0 {
		cfg.MaxRecord = 1 << 20
	}
	if cfg.at == nil {
		cfg.at = fault.At
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	w := &watcher{
		cfg: cfg, log: cfg.Logger,
		candidates: map[fileID]*candidate{},
		broken:     map[string]string{},
		given:      map[fileID]bool{},

		retireAfter: retireAfter,
	}
	w.store = &scanner{cfg.Include, cfg.Exclude, cfg.Shard, cfg.at}
	if cfg.Objects != nil {
		w.store = &bucket{Objects: *cfg.Objects, cfg: &w.cfg, finished: &w.finished, tracked: w.tracked}
	}
	w.stats.verdicts = map[string]int64{}
	// The parts share the lock of w; each guards its own state with it.
	w.crew = crew{
		notify: make(chan struct{}, 1), mu: &w.mu,
		reading: queue{wake: sync.NewCond(&w.mu)}, checking: queue{wake: sync.NewCond(&w.mu)},
	}
	if cfg.Objects != nil && cfg.Objects.News != nil {
		w.crew.notify = cfg.Objects.News
	}
	w.files = opener{cfg: &w.cfg, log: w.log, store: w.store, mu: &w.mu, stats: &w.stats}
	w.texts = verifier{cfg: &w.cfg, log: w.log, files: &w.files, crew: &w.crew, mu: &w.mu, stats: &w.stats}
	w.known = catalog{
		cfg: &w.cfg, crew: &w.crew,
		heads: map[headKey][]*track{}, headLens: map[int64]int{}, ids: map[string]bool{},
	}
	w.finished = finished{mu: &w.mu, objects: map[fileID]finishedObject{}, missing: map[string]int64{}}
	w.progress = progress{cfg: &w.cfg, known: &w.known, finished: &w.finished, mu: &w.mu, byLane: map[*engine.Lane]*track{}}
	w.bound = bindings{
		cfg: &w.cfg, log: w.log, clock: time.Now, crew: &w.crew, files: &w.files, known: &w.known, progress: &w.progress, stats: &w.stats,
		byFile: map[fileID]*track{}, metBefore: map[fileID]candidate{},
	}
	w.news = reporter{cfg: &w.cfg, mu: &w.mu, stats: &w.stats}
	w.reader = reader{
		cfg: &w.cfg, log: w.log, mu: &w.mu, stats: &w.stats, files: &w.files, known: &w.known, progress: &w.progress,
	}
	return w, nil
}

// Open implements [engine.Source]. It loads the checkpoint.
func (w *watcher) Open(_ context.Context, rt engine.Runtime) error {
	w.reader.rt = rt
	w.mu.Lock() // Stats may be called before Run
	defer w.mu.Unlock()
	w.fresh = true
	w.cfg.Store.Each(func(e *checkpoint.Entry) {
		if e.Source != w.cfg.Name {
			return
		}
		w.fresh = false
		if w.store.fixed() && e.State == checkpoint.Done && !e.Finishing && w.finished.add(fileID{e.Dev, e.Ino}, e.ID, e.Gone) {
			return
		}
		t := restored(*e)
		w.known.tracks = append(w.known.tracks, t)
		w.known.ids[t.id] = true
		w.known.index(t, headKey{})
	})
	return nil
}

// Run implements [engine.Source]. It polls for changes while the readers
// read.
func (w *watcher) Run(ctx context.Context) error {
	hints := newHints(w.store.bases())
	defer hints.close()
	var readers sync.WaitGroup
	for range max(1, w.cfg.Readers) {
		readers.Go(func() { w.crew.workOff(ctx, &w.crew.reading, w) })
	}
	for range w.cfg.verifiers() {
		readers.Go(func() { w.crew.workOff(ctx, &w.crew.checking, w) })
	}
	unwatch := context.AfterFunc(ctx, func() { w.crew.halt(nil) })
	defer unwatch()
	for first := true; w.crew.running(); first = false {
		began := time.Now()
		w.poll(ctx, hints)
		if first {
			// Patterns that match no files, and for which the checkpoint lacks
			// entries, are most likely a mistake.
			w.mu.Lock()
			empty := w.fresh && len(w.known.tracks)+len(w.candidates)+len(w.broken)+len(w.hidden) == 0
			w.mu.Unlock()
			switch {
			case !empty, w.cfg.queued():
			case !w.cfg.mayBeEmpty():
				w.crew.halt(&NoMatchError{Source: w.cfg.Name})
			default:
				w.log.Warn("no files match the include patterns", "include", w.cfg.Include)
			}
		}
		if w.complete() {
			w.recall()
			break
		}
		least := 10 * time.Since(began)
		if w.store.fixed() {
			least = 0 // a poll is quick, except when it waits for a listing
		}
		w.pause(ctx, hints, least)
	}
	w.crew.halt(nil)
	readers.Wait()
	w.news.flushReports()
	// Close all files, and end the lanes.
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.known.tracks {
		w.files.closeContent(t)
		if t.lane != nil && t.life == open {
			w.reader.rt.End(t.lane)
		}
	}
	for _, p := range w.candidates {
		p.close(w)
	}
	return w.crew.fatal
}

// A NoMatchError ends a run in mode batch whose patterns match no files.
type NoMatchError struct{ Source string } // WatchConfig.Name

// Error returns the cause and the setting that permits it.
func (e *NoMatchError) Error() string {
	return "no files match the include patterns (set allow_empty: true to permit this)"
}

// Misconfigured marks the error as one that retrying cannot fix.
func (e *NoMatchError) Misconfigured() {}

// CheckConnect checks that files match the include patterns: see [NoMatchError].
// It reads no files.
func (w *watcher) CheckConnect(ctx context.Context) error {
	files, hidden := w.store.scan(ctx)
	for path, err := range hidden {
		if w.store.fixed() {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	w.unmatched = len(files)+len(hidden) == 0
	if w.unmatched && !w.cfg.mayBeEmpty() {
		return &field.Error{Field: "include", Err: &NoMatchError{Source: w.cfg.Name}}
	}
	return nil
}

// Warnings returns the warnings that CheckConnect found.
func (w *watcher) Warnings() []string {
	switch {
	case !w.unmatched:
		return nil
	case w.cfg.Mode == modeBatch:
		return []string{"no files match the include patterns"}
	}
	return []string{"no files match the include patterns: the source waits for files"}
}

// leastPause is the minimum time between two polls.
const leastPause = 20 * time.Millisecond

// pause waits until the next poll is due: after the poll interval, or sooner
// if there is a notification, but not before least has passed.
func (w *watcher) pause(ctx context.Context, h *hints, least time.Duration) {
	least = min(max(least, leastPause), w.cfg.PollInterval)
	poll := time.NewTimer(w.cfg.PollInterval)
	defer poll.Stop()
	select {
	case <-poll.C:
		return
	case <-ctx.Done():
		return
	case <-w.crew.notify:
	case <-h.news:
	}
	short := time.NewTimer(least)
	defer short.Stop()
	select {
	case <-short.C:
	case <-ctx.Done():
	}
}

// complete reports whether a run that ends with its input has read all of it.
func (w *watcher) complete() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.cfg.ends() || w.crew.reading.active > 0 || w.crew.checking.active > 0 {
		return false
	}
	if b, ok := w.store.(*bucket); ok && len(b.rest) > 0 {
		return false
	}
	for _, p := range w.candidates {
		if !p.copied {
			return false
		}
	}
	for _, err := range w.hidden {
		if disk.Exhausted(err) {
			return false // the scan may have missed files
		}
	}
	return !slices.ContainsFunc(w.known.tracks, func(t *track) bool { return t.life == open && t.sight.bound })
}

// Close implements [engine.Source]. It stores what has changed besides
// positions since the last commit: names, and which files are gone.
func (w *watcher) Close(context.Context) error {
	w.mu.Lock()
	dirty := len(w.progress.unsaved)+len(w.progress.forgotten)+len(w.finished.missing) > 0
	for _, t := range w.known.tracks {
		if t.read.raw != nil {
			_ = t.read.raw.Close() // opened for reading only
			t.read.raw = nil
		}
	}
	w.mu.Unlock()
	if !dirty {
		return nil
	}
	err := w.progress.save(nil, checkpoint.Update{})
	if _, lost := errors.AsType[*engine.LostError](err); lost {
		return nil // the run has failed with this error
	}
	return err
}

// Health implements [engine.Healther].
func (w *watcher) Health() error {
	bad := w.health.Load()
	if w.tryLock() {
		bad = new(w.unreadable())
		w.mu.Unlock()
		w.health.Store(bad)
	}
	if bad == nil {
		return w.cfg.Store.Health()
	}
	return errors.Join(w.cfg.Store.Health(), *bad)
}

// Interface guards.
var (
	_ engine.CutCommitter = (*watcher)(nil)
	_ engine.Keeper       = (*watcher)(nil)
	_ engine.Finisher     = (*watcher)(nil)
	_ engine.Healther     = (*watcher)(nil)
)
