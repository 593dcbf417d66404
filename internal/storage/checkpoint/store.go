package checkpoint

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// ErrLocked is wrapped by the errors of Open and Reset if another process has
// the data directory open.
var ErrLocked = errors.New("another process is using this data directory")

// An entryKey identifies an entry.
type entryKey struct{ source, id string }

// A Store is the checkpoint of a process. Its methods may be called from any
// goroutine.
type Store struct {
	dir      string
	files    folder
	lock     *disk.File
	warnings []string
	lost     bool
	found    bool
	unusable bool
	fault    func(step string) error // fault.At, or a test's own
	log      *slog.Logger

	mu   sync.Mutex // guards the fields below
	st   *state     // the stored state
	w    writer
	refs map[entryKey]int64 // the restart point that each entry names

	points points // guarded by mu, except last

	saveErr atomic.Pointer[error] // result of the last Save; nil: success
	keepErr atomic.Pointer[error] // result of the last Keep; nil: success
	stats   atomic.Pointer[Stats]
}

// Stats holds counts of a [Store] since it was opened, and sizes in bytes.
type Stats struct {
	Saves, Failures, Compactions int64
	SnapshotBytes, LogBytes      int64
}

// Open opens the data directory, creating it if it does not exist, and reads
// the checkpoint. It fails if another process has the directory open
// (ErrLocked), if the directory cannot be used, or if a later version of the
// program wrote the checkpoint. It never fails because of damage: see
// [Store.Warnings].
func Open(dir string) (*Store, error) {
	if err := disk.MkdirAll(filepath.Join(dir, restartDir), 0o750); err != nil {
		return nil, fmt.Errorf("create the data directory: %w", err)
	}
	f, err := disk.Open(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, fmt.Errorf("open the lock file of the data directory: %w", err)
	}
	if err := disk.Lock(f.File); err != nil {
		_ = f.Close()
		if errors.Is(err, disk.ErrLocked) {
			err = ErrLocked
		}
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	s := newStore(dir, diskFolder(dir))
	s.lock = f
	if err := s.load(); err != nil {
		_ = f.Close()
		return nil, err
	}
	return s, nil
}

// newStore returns an empty store.
func newStore(dir string, files folder) *Store {
	return &Store{
		dir: dir, files: files, fault: func(step string) error { return fault.At("checkpoint." + step) },
		log: slog.New(slog.DiscardHandler), refs: map[entryKey]int64{},
	}
}

// load reads the checkpoint from disk.
func (s *Store) load() error {
	l, err := load(s.files, false)
	if err != nil {
		return err
	}
	s.st, s.warnings, s.lost, s.found, s.unusable = l.st, l.warnings, l.lost, l.found, l.unusable
	s.w = writer{epoch: 1, gen: l.gen, seq: l.seq, last: l.last, snapshotBad: l.found && !l.snapshotOK, logBad: l.found && !l.logOK, stored: l.found, hadLog: l.hadLog}
	p := points{dir: filepath.Join(s.dir, restartDir), there: map[int64]bool{}, last: new(atomic.Int64)}
	names, _ := os.ReadDir(p.dir) // points that cannot be listed are never removed, but may be overwritten
	for _, d := range names {
		if id, err := strconv.ParseInt(d.Name(), 10, 64); err == nil && id > 0 {
			p.there[id] = true
			p.last.Store(max(p.last.Load(), id))
		}
	}
	s.points = p
	// The next commit removes the points that no entry names.
	named := s.findRefs()
	for id := range s.points.there {
		if !named[id] {
			s.points.stale = append(s.points.stale, id)
		}
	}
	return nil
}

// findRefs fills s.refs with the restart points that entries name, and returns
// their ids.
func (s *Store) findRefs() map[int64]bool {
	named := map[int64]bool{}
	for source, l := range s.st.sources {
		for id, text := range l.all() {
			if !strings.Contains(text, `"restart":`) {
				continue // the common case: parsing every line takes a second for 100,000 files
			}
			if e, err := parseEntry(text); err == nil && e.Restart != 0 {
				s.refs[entryKey{source, id}] = e.Restart
				named[e.Restart] = true
			}
		}
	}
	return named
}

// Readable returns an error if the state in dir cannot be read: because this
// process may not read a file, for example, or because a later version wrote
// it. An unreadable state does not count as damaged, since all inputs would
// then be read again.
func Readable(dir string) error {
	_, err := load(diskFolder(dir), true)
	return err
}

// SetLogger makes the Store log failed compactions and checkpoint files that it
// restores. Call it before any other method.
func (s *Store) SetLogger(log *slog.Logger) { s.log = log }

// Close releases the lock. It does not store anything.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w.close()
	if s.lock == nil {
		return nil
	}
	return s.lock.Close()
}

// Warnings returns the problems that Open found in the checkpoint, as sentences
// for the log.
func (s *Store) Warnings() []string { return slices.Clone(s.warnings) }

// Lost reports whether Open has found files of a checkpoint, but no usable
// state in them, or only a state that is older than the last one.
func (s *Store) Lost() bool { return s.lost }

// Health returns nil, or the reason why a checkpoint cannot be stored now. It
// does not block.
func (s *Store) Health() error {
	if err := s.keepErr.Load(); err != nil {
		return *err
	}
	if err := s.saveErr.Load(); err != nil {
		return *err
	}
	return nil
}

// Stats returns the current counts and sizes. It does not block.
func (s *Store) Stats() Stats {
	if n := s.stats.Load(); n != nil {
		return *n
	}
	return Stats{}
}

// Found reports whether Open found a state, damaged or not.
func (s *Store) Found() bool { return s.found }

// Unusable reports whether all generations of the state that Open found are
// damaged, so that the Store is empty.
func (s *Store) Unusable() bool { return s.unusable }

// Each calls f with all entries. It skips those that cannot be parsed.
func (s *Store) Each(f func(*Entry)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.st.sources {
		for _, text := range l.all() {
			if e, err := parseEntry(text); err == nil {
				f(&e)
			}
		}
	}
}

// Entries returns the stored entries of a source, in no particular order.
func (s *Store) Entries(source string) (list []Entry) {
	s.Each(func(e *Entry) {
		if e.Source == source {
			list = append(list, *e)
		}
	})
	return list
}

// Extents returns the stored extents of a sink, in no particular order.
func (s *Store) Extents(sink string) []engine.Extent {
	s.mu.Lock()
	defer s.mu.Unlock()
	var extents []engine.Extent
	for _, m := range s.st.extents {
		if m.Sink == sink {
			extents = append(extents, m)
		}
	}
	return extents
}

// Keys returns the stored description of a set of keys, or "".
func (s *Store) Keys() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.keys
}

// Epoch returns a number that begins at 1 and rises with each snapshot whose
// predecessor this process has kept. A restart finds the state after a commit
// of this epoch or of the previous epoch.
func (s *Store) Epoch() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.epoch
}

// Compact writes a snapshot now, so that files that only older states name can be
// removed.
func (s *Store) Compact() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.compact()
}

// An Update is the input of one Save.
type Update struct {
	Source  string
	Entries []Entry          // entries that have, or may have, changed; no id twice
	Gone    []string         // ids of removed entries; unknown ids are ignored
	Missing map[string]int64 // new values of [Entry.Gone] by id, for entries that do not change otherwise; unknown ids are ignored
	Points  map[int64][]byte // restart points that Entries name, by id; only points not stored before
	Cut     bool             // Extents replaces all extents
	Extents []engine.Extent  // the new extents, if Cut is set
	Forget  []string         // ids of finished lanes; the extents of outputs that belong to these lanes are dropped
	Keys    []byte           // description of the set of keys that belongs to the positions; nil: unchanged
}

// Save stores u as one commit. When it returns nil, all of u is durable. After
// an error the previous state is still stored and a restart finds it, unless
// the final step, the sync, failed: then a restart finds either state. The
// caller may retry with the same update. A [engine.LostError] means that the
// data directory no longer belongs to this process, and no later Save can
// succeed.
func (s *Store) Save(u Update) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, refs, err := s.changeOf(&u)
	if err == nil {
		err = s.commit(c, refs, u.Points)
	}
	s.count(func(n *Stats) {
		if err != nil {
			n.Failures++
		} else {
			n.Saves++
		}
	})
	return note(&s.saveErr, err)
}

// note records err for Health, wrapped with the operation that failed, and
// returns it.
func note(at *atomic.Pointer[error], err error) error {
	if err == nil {
		at.Store(nil)
		return nil
	}
	err = fmt.Errorf("cannot store the checkpoint: %w", err)
	at.Store(&err)
	return err
}

// count updates the counts with f. The caller holds mu.
func (s *Store) count(f func(n *Stats)) {
	n := s.Stats()
	f(&n)
	n.SnapshotBytes, n.LogBytes = s.w.snapshotSize, s.w.logSize
	s.stats.Store(&n)
}

// changeOf returns the change that u makes, and the restart points that its
// entries name.
func (s *Store) changeOf(u *Update) (*change, map[entryKey]int64, error) {
	c, refs := new(change), map[entryKey]int64{}
	l := s.st.sources[u.Source]
	put := func(e Entry) error {
		e.Source = u.Source
		text, err := lineOf(e)
		if err != nil {
			return err
		}
		if l.get(e.ID) != text {
			c.put = append(c.put, item{u.Source, e.ID, text})
			refs[entryKey{u.Source, e.ID}] = e.Restart
		}
		return nil
	}
	for _, e := range u.Entries {
		if err := put(e); err != nil {
			return nil, nil, err
		}
	}
	for id, text := range l.all() {
		if len(u.Missing) == 0 {
			break
		}
		if gone, ok := u.Missing[id]; ok {
			e, err := parseEntry(text) // never fails: this Store wrote or already parsed it
			if e.Gone = gone; err == nil {
				err = put(e)
			}
			if err != nil {
				return nil, nil, err
			}
		}
	}
	for _, id := range u.Gone {
		if l.has(id) {
			c.gone = append(c.gone, item{source: u.Source, id: id})
			refs[entryKey{u.Source, id}] = 0
		}
	}
	s.extentChange(c, u)
	if u.Keys != nil && string(u.Keys) != s.st.keys {
		c.keys = new(string(u.Keys))
	}
	return c, refs, nil
}

// extentChange adds the changes of output extents in u to c.
func (s *Store) extentChange(c *change, u *Update) {
	gone := map[string]bool{}
	for _, id := range u.Forget {
		gone[id] = id != "" // an extent without a lane applies to every lane
	}
	if u.Cut {
		kept := make(map[extentKey]bool, len(u.Extents))
		for _, m := range u.Extents {
			if gone[m.Lane] {
				continue
			}
			k := keyOf(m)
			kept[k] = true
			if s.st.extents[k] != m {
				c.extents = append(c.extents, m)
			}
		}
		for k := range s.st.extents {
			if !kept[k] {
				c.dropped = append(c.dropped, k)
			}
		}
		return
	}
	for k := range s.st.extents {
		if gone[k.lane] {
			c.dropped = append(c.dropped, k)
		}
	}
}

// commit stores c as one frame of the log.
func (s *Store) commit(c *change, refs map[entryKey]int64, fresh map[int64][]byte) error {
	if err := s.keep(); err != nil {
		return err
	}
	for _, id := range refs {
		if data, ok := fresh[id]; ok {
			if err := s.points.write(id, data, s.fault); err != nil {
				return err
			}
		}
	}
	if err := s.points.sync(); err != nil {
		return err
	}
	if c.empty() && !s.w.unsure {
		return nil
	}
	if s.w.log == nil {
		if err := s.compact(); err != nil {
			return err
		}
	}
	if c.empty() {
		// Make the failure of the last commit durable, unless a compaction has
		// already done it.
		if !s.w.unsure {
			return nil
		}
		if err := s.w.log.Sync(); err != nil {
			s.w.close()
			return err
		}
		s.w.unsure = false
		return nil
	}
	if err := s.append(c); err != nil {
		return err
	}
	s.st.apply(c)
	s.notePoints(refs)
	// From this size on, writing a snapshot costs less than keeping and
	// replaying the log.
	if s.w.log != nil && s.w.logSize >= s.w.compactAt {
		// If the compaction fails, commits continue to go to the log, and the
		// next attempt follows when the log has grown by a quarter.
		old := s.w.log
		if err := s.compact(); err != nil {
			s.log.Warn("checkpoint compaction failed, retrying", "dir", s.dir, "error", err)
			if s.w.log == old {
				s.w.compactAt = s.w.logSize + s.w.logSize/4
			}
		}
	}
	return nil
}

// notePoints records which restart points the entries name now. It removes
// points that were last named by the commit before the previous one.
func (s *Store) notePoints(refs map[entryKey]int64) {
	var dropped []int64
	for k, id := range refs {
		if was := s.refs[k]; was != 0 && was != id {
			dropped = append(dropped, was)
		}
		if delete(s.refs, k); id != 0 {
			s.refs[k] = id
		}
	}
	// Remove the points that the last commit no longer names only after the
	// next commit, because a damaged last commit makes the loader fall back to
	// the previous commit. If a point cannot be removed, the next process
	// removes it.
	for _, id := range s.points.stale {
		_ = disk.Remove(s.points.path(id))
		delete(s.points.there, id)
	}
	s.points.stale = dropped
}
