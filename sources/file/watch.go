package file

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/pipeline"
)

// A Host is what a daemon shares with the file sources that it runs. Package
// daemon fills it in; a source outside this module has no use for it.
type Host struct {
	// Store holds the checkpoint. The source neither opens nor closes it.
	Store *checkpoint.Store
	// Grid, if it is not 0, has batches end at fixed positions, whatever was read at a
	// time and wherever reading began: at the first record end at or behind each
	// multiple of Grid bytes. What follows the last of them is emitted when the file is
	// known to be at its end. The arenas of batches should be longer than Grid.
	Grid int64
	// Hold says that what was emitted can be withdrawn from all outputs, so that
	// on_damage: quarantine need not read files twice: see pipeline.Lane.Withdraw.
	Hold bool
	// NewFit, if it is set, returns a function that reports whether a record fits the
	// format. head is the header record, or nil.
	NewFit func(head []byte) func(rec []byte) bool
	// OnReport, if it is set, is called for every file that is finished, after its
	// records are durable, for one that cannot be read, and, by a run that has come to
	// the end of its input, for one that runs before have found damaged. Calls come
	// from different goroutines, one at a time, and should not block.
	OnReport func(Report)
	// OpenFiles, if it is not 0, replaces MaxOpenFiles of the Settings.
	OpenFiles int
}

// A WatchConfig says what the source of [NewWatcher] reads, and how. Framing and Store must be
// set.
type WatchConfig struct {
	Settings
	Host
	// Name is that of the source: its entries in the store go by it. Default "file".
	Name string
	// Framing says where records end.
	Framing Framing
	// MaxRecord is as in Config.
	MaxRecord int
	// UntilEOF ends a run that tails when all files are at their ends.
	UntilEOF bool
	// Logger is told of what is found out about files. Default: discard.
	Logger *slog.Logger

	at func(point string) error // fault.At, but in tests
}

// A watcher is the source of a daemon: it reads the files that match globs, and
// goes on with them as they grow, are rotated, truncated and compressed, from
// where its last run has come to. See the package comment. The watcher itself scans,
// schedules, binds tracks to files and ends them; its parts do the rest.
type watcher struct {
	cfg      WatchConfig
	log      *slog.Logger
	scan     scanner
	ends     bool // a file is done when its end is met
	files    opener
	crew     crew
	texts    verifier
	known    catalog
	progress progress
	news     reporter
	reader   reader

	mu         sync.Mutex
	byFile     map[fileID]*track // of those that are bound
	candidates map[fileID]*candidate
	scanned    bool                 // once at least
	fresh      bool                 // there was no checkpoint at all
	broken     map[string]string    // files that cannot be read, and why
	hidden     map[string]error     // files and folders that the last scan could not look at
	metBefore  map[fileID]candidate // files that tracks have let go of since the last scan
	given      map[fileID]bool      // files that this run has given up
	stats      counts
	clock      func() time.Time
	at         func(point string) error // fault.At, but in tests

	retireAfter time.Duration // see there

	measured atomic.Pointer[watchStats] // see glance
	health   atomic.Pointer[error]      // what unreadable has returned last
	damaged  atomic.Pointer[damages]    // what Damaged has returned last
}

// NewWatcher returns the source of a daemon: it reads the files that match globs, and
// follows them. The error joins all that is wrong with cfg. NewWatcher looks at no
// file.
func NewWatcher(cfg WatchConfig) (pipeline.Source, error) {
	errs := []error{cfg.Validate()}
	if cfg.Framing == nil {
		errs = append(errs, errors.New("file source: no framing"))
	}
	if cfg.Store == nil {
		errs = append(errs, errors.New("file source: no store"))
	}
	if cfg.MaxRecord < 0 {
		errs = append(errs, errors.New("file source: the record limit is not positive"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if cfg.OpenFiles > 0 {
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
		scan:       scanner{cfg.Include, cfg.Exclude, cfg.at},
		ends:       cfg.Mode == modeBatch || cfg.UntilEOF,
		metBefore:  map[fileID]candidate{},
		byFile:     map[fileID]*track{},
		candidates: map[fileID]*candidate{},
		broken:     map[string]string{},
		given:      map[fileID]bool{},
		clock:      time.Now,
		at:         cfg.at,

		retireAfter: retireAfter,
	}
	w.stats.verdicts = map[string]int64{}
	assemble(w)
	return w, nil
}

// assemble makes the parts of w. They share its lock, and each holds what it alone is
// responsible for.
func assemble(w *watcher) {
	w.crew = newCrew(&w.mu)
	w.files = opener{cfg: &w.cfg, log: w.log, at: w.at, mu: &w.mu, stats: &w.stats}
	w.texts = verifier{cfg: &w.cfg, log: w.log, at: w.at, files: &w.files, crew: &w.crew, mu: &w.mu, stats: &w.stats}
	w.known = catalog{
		cfg: &w.cfg, crew: &w.crew, ends: w.ends, mu: &w.mu,
		heads: map[headKey][]*track{}, headLens: map[int64]int{}, ids: map[string]bool{},
	}
	w.progress = progress{cfg: &w.cfg, known: &w.known, mu: &w.mu, byLane: map[*pipeline.Lane]*track{}}
	w.news = reporter{cfg: &w.cfg, mu: &w.mu, stats: &w.stats}
	w.reader = reader{
		cfg: &w.cfg, log: w.log, at: w.at, mu: &w.mu, stats: &w.stats, files: &w.files, known: &w.known, progress: &w.progress,
	}
}

// Open implements [pipeline.Source]. It loads the checkpoint.
func (w *watcher) Open(_ context.Context, rt pipeline.Runtime) error {
	w.reader.rt = rt
	entries := w.cfg.Store.Entries(w.cfg.Name)
	w.mu.Lock() // Stats may be called before there is a run
	defer w.mu.Unlock()
	w.fresh = len(entries) == 0
	for _, e := range entries {
		t := restored(e)
		w.known.tracks = append(w.known.tracks, t)
		w.known.ids[t.id] = true
		w.known.index(t, headKey{})
	}
	return nil
}

// Run implements [pipeline.Source]. It polls, while readers read what it finds.
func (w *watcher) Run(ctx context.Context) error {
	hints := newHints(w.scan.bases())
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
		w.poll(hints)
		if first {
			w.checkEmpty()
		}
		if w.complete() {
			w.recall()
			break
		}
		w.pause(ctx, hints, 10*time.Since(began))
	}
	w.crew.halt(nil)
	readers.Wait()
	w.news.flushReports()
	return w.park()
}

// A NoMatchError ends a run in mode batch whose patterns match no file.
type NoMatchError struct{ Source string } // WatchConfig.Name

// Error returns what is wrong, and what would allow it.
func (e *NoMatchError) Error() string {
	return "no files match the include patterns (allow_empty: true allows that)"
}

// checkEmpty is called after the first poll. Patterns that match no file, and never
// did as far as the checkpoint knows, are most likely a mistake: it ends a run in
// mode batch, unless that is allowed, and is logged in mode tail.
func (w *watcher) checkEmpty() {
	w.mu.Lock()
	empty := w.fresh && len(w.known.tracks)+len(w.candidates)+len(w.broken)+len(w.hidden) == 0
	w.mu.Unlock()
	switch {
	case !empty:
	case w.cfg.Mode == modeBatch && !w.cfg.AllowEmpty:
		w.crew.halt(&NoMatchError{Source: w.cfg.Name})
	default:
		w.log.Warn("no files match the include patterns", "include", w.cfg.Include)
	}
}

// leastPause is the least time between two looks at the files.
const leastPause = 20 * time.Millisecond

// pause waits until it is time to poll again: regularly, or sooner if there is a
// hint, but not before least.
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

// complete reports whether all there is was read, if that is an end.
func (w *watcher) complete() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ends || w.crew.reading.active > 0 || w.crew.checking.active > 0 {
		return false
	}
	for _, p := range w.candidates {
		if !p.copied {
			return false
		}
	}
	for _, err := range w.hidden {
		if disk.Exhausted(err) {
			return false // there may be more files than were seen
		}
	}
	return !slices.ContainsFunc(w.known.tracks, func(t *track) bool { return t.life == open && t.bound })
}

// park closes everything after the last reader has gone, and ends the lanes. It
// returns the error of the run.
func (w *watcher) park() error {
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

// Close implements [pipeline.Source]. It stores what has changed since the last
// commit beside the checkpoint: names, and which files are gone.
func (w *watcher) Close(context.Context) error {
	w.mu.Lock()
	dirty := len(w.progress.unsaved) > 0 || len(w.progress.forgotten) > 0
	for _, t := range w.known.tracks {
		if t.raw != nil {
			_ = t.raw.Close() // it was only read
			t.raw = nil
		}
	}
	w.mu.Unlock()
	if !dirty {
		return nil
	}
	err := w.progress.save(nil, nil, false, nil)
	if _, lost := errors.AsType[*pipeline.LostError](err); lost {
		return nil // the run has failed with it
	}
	return err
}

// Health implements [pipeline.Healther].
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
	_ pipeline.Source       = (*watcher)(nil)
	_ pipeline.CutCommitter = (*watcher)(nil)
	_ pipeline.Keeper       = (*watcher)(nil)
	_ pipeline.Finisher     = (*watcher)(nil)
	_ pipeline.Healther     = (*watcher)(nil)
	_ job                   = (*track)(nil)
	_ job                   = (*candidate)(nil)
	_ job                   = (*proof)(nil)
)
