package checkpoint

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/pipeline"
)

// ErrLocked is in the error of Open and Reset if another process has the data
// directory open.
var ErrLocked = errors.New("another process is using this data directory")

// An entryKey names an entry.
type entryKey struct{ source, id string }

// A Store is the checkpoint of a process. All of its methods may be called from any
// goroutine.
type Store struct {
	dir      string
	files    folder
	lock     *disk.File
	warnings []string
	fault    func(step string) error // fault.At, or that of a test
	log      *slog.Logger

	mu   sync.Mutex // guards what follows
	st   *state     // as it is stored
	w    writer
	refs map[entryKey]int64 // restart points that entries name

	points points // guarded by mu, except last

	saveErr atomic.Pointer[error] // of the last Save; nil: it worked
	keepErr atomic.Pointer[error] // of the last Keep
	stats   atomic.Pointer[Stats]
}

// Stats are counts of a [Store] since it was opened, and sizes in bytes.
type Stats struct {
	Saves, Failures, Compactions int64
	SnapshotBytes, LogBytes      int64
}

// Open opens the data directory, which is made if it is not there, and reads the
// checkpoint. It fails if another process has it open (ErrLocked), if it cannot be
// used, or if a later version of the program has written it, but never because
// of damage: see [Store.Warnings].
func Open(dir string) (*Store, error) {
	if err := disk.MkdirAll(filepath.Join(dir, restartDir), 0o750); err != nil {
		return nil, fmt.Errorf("the data directory: %w", err)
	}
	f, err := disk.Open(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, fmt.Errorf("the data directory: %w", err)
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

// newStore returns a store of nothing yet.
func newStore(dir string, files folder) *Store {
	return &Store{
		dir: dir, files: files, fault: func(step string) error { return fault.At("checkpoint." + step) },
		log: slog.New(slog.DiscardHandler), refs: map[entryKey]int64{},
	}
}

// load reads the checkpoint.
func (s *Store) load() error {
	l, err := load(s.files, false)
	if err != nil {
		return err
	}
	s.st, s.warnings = l.st, l.warnings
	s.w = writer{gen: l.gen, seq: l.seq, last: l.last, snapshotBad: l.found && !l.snapshotOK, logBad: l.found && !l.logOK, stored: l.found, hadLog: l.hadLog}
	s.points = openPoints(filepath.Join(s.dir, restartDir))
	s.points.orphan(s.findRefs())
	return nil
}

// findRefs fills in the restart points that entries name, and returns them.
func (s *Store) findRefs() map[int64]bool {
	named := map[int64]bool{}
	for source, lines := range s.st.sources {
		for id, text := range lines {
			if !strings.Contains(text, `"restart":`) {
				continue // nearly all: to parse every line takes a second for 100,000 files
			}
			if e, err := parseEntry(text); err == nil && e.Restart != 0 {
				s.refs[entryKey{source, id}] = e.Restart
				named[e.Restart] = true
			}
		}
	}
	return named
}

// Readable returns why a state in dir cannot be read: a file that is there and is
// not ours to read, say, or that a later version has written. It is not taken for a
// damaged one: all would be read again.
func Readable(dir string) error {
	_, err := load(diskFolder(dir), true)
	return err
}

// SetLogger makes the Store log compactions that have failed and files that it
// has written again. It is called before the Store is used.
func (s *Store) SetLogger(log *slog.Logger) { s.log = log }

// Close releases the lock. It stores nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.w.close()
	if s.lock == nil {
		return nil
	}
	return s.lock.Close()
}

// Warnings returns what was wrong with the checkpoint when it was read, in
// sentences for the log.
func (s *Store) Warnings() []string { return slices.Clone(s.warnings) }

// Health returns nil, or why a checkpoint cannot be stored now. It does not block.
func (s *Store) Health() error {
	if err := s.keepErr.Load(); err != nil {
		return *err
	}
	if err := s.saveErr.Load(); err != nil {
		return *err
	}
	return nil
}

// Stats returns what the Store has done. It does not block.
func (s *Store) Stats() Stats {
	if n := s.stats.Load(); n != nil {
		return *n
	}
	return Stats{}
}

// Entries returns the checkpoint of a source as it was stored last, in no order.
func (s *Store) Entries(source string) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.st.sources[source]
	list := make([]Entry, 0, len(lines))
	for _, text := range lines {
		if e, err := parseEntry(text); err == nil { // it was written here, or parsed before
			list = append(list, e)
		}
	}
	return list
}

// Extents returns how long the outputs of a sink were when the checkpoint was stored
// last, in no order.
func (s *Store) Extents(sink string) []pipeline.Extent {
	s.mu.Lock()
	defer s.mu.Unlock()
	var extents []pipeline.Extent
	for k, n := range s.st.extents {
		if k.sink == sink {
			extents = append(extents, pipeline.Extent{Sink: k.sink, Lane: k.lane, Path: k.path, Length: n})
		}
	}
	return extents
}

// An Update is what Save stores in one step.
type Update struct {
	Source  string
	Entries []Entry           // those that have changed, or may have; no id twice
	Gone    []string          // ids of entries that are there no more; unknown ones are passed over
	Points  map[int64][]byte  // restart points that Entries name, by id; only those that were not stored before
	Cut     bool              // Extents replaces all extents
	Extents []pipeline.Extent // see Cut
	Forget  []string          // ids of lanes that are finished: the extents of their own outputs are dropped
}

// Save stores u as one commit. When it returns nil all of it is durable. On an
// error what was stored before still is, and is what a restart finds, except if
// the very last step failed, the sync: then it finds the one or the other. Save
// may be called again with the same update. An error that is a
// [pipeline.LostError] says that the data directory is no longer that of this
// process: nothing can be stored any more.
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

// note keeps err, with what failed, for Health, and returns that.
func note(at *atomic.Pointer[error], err error) error {
	if err == nil {
		at.Store(nil)
		return nil
	}
	err = fmt.Errorf("cannot store the checkpoint: %w", err)
	at.Store(&err)
	return err
}

// count changes the counts. The caller holds mu.
func (s *Store) count(f func(n *Stats)) {
	n := s.Stats()
	f(&n)
	n.SnapshotBytes, n.LogBytes = s.w.snapshotSize, s.w.logSize
	s.stats.Store(&n)
}

// changeOf returns what u changes, and the restart points that its entries name.
func (s *Store) changeOf(u *Update) (*change, map[entryKey]int64, error) {
	c, refs := new(change), map[entryKey]int64{}
	lines := s.st.sources[u.Source]
	for _, e := range u.Entries {
		e.Source = u.Source
		text, err := lineOf(e)
		if err != nil {
			return nil, nil, err
		}
		if lines[e.ID] == text {
			continue
		}
		c.put = append(c.put, item{u.Source, e.ID, text})
		refs[entryKey{u.Source, e.ID}] = e.Restart
	}
	for _, id := range u.Gone {
		if _, ok := lines[id]; ok {
			c.gone = append(c.gone, item{source: u.Source, id: id})
			refs[entryKey{u.Source, id}] = 0
		}
	}
	s.extentChange(c, u)
	return c, refs, nil
}

// extentChange adds to c what u changes about outputs.
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
			if n, ok := s.st.extents[k]; !ok || n != m.Length {
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

// commit stores a change as one record.
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
		return s.makeSure()
	}
	if err := s.append(c); err != nil {
		return err
	}
	s.st.apply(c)
	s.notePoints(refs)
	if s.w.due() {
		s.compactLater()
	}
	return nil
}

// notePoints notes which restart points entries name now. Those that only the
// commit before the last one named are removed.
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
	s.points.drop(dropped)
}
