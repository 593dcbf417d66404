package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/disk"
	"github.com/urlfold/urlfold/pipeline"
)

// ErrLocked is in the error of Open and Reset if another process has the data
// directory open.
var ErrLocked = errors.New("another process is using this data directory")

// Names in the data directory.
const (
	lockName     = "lock"
	currentName  = "checkpoint"
	previousName = "checkpoint.1"
	badName      = "checkpoint.bad"
	asideName    = "checkpoint.new"
)

// A Store is the progress of a process. All of its methods may be called from any
// goroutine.
type Store struct {
	dir      string
	lock     *os.File
	warnings []string
	fault    func(step string) error // of tests

	mu      sync.Mutex
	sources map[string][]Entry
	marks   []pipeline.Mark
	cuts    bool               // see SetCuts
	lines   map[string]encoded // by source and lane: entries as they are written
	points  points
	named   map[int64]bool // points that the newest state names
	good    bool           // checkpoint is a state that can be read
	bad     bool           // it is there and is none

	health atomic.Pointer[error] // of the last Save; nil: it worked
	stats  atomic.Pointer[Stats]
}

// Stats are counts of a [Store] since it was opened.
type Stats struct {
	Saves, Failures int64
}

// An encoded is an entry and the line that it makes.
type encoded struct {
	entry Entry
	line  []byte
}

// Open opens the data directory, which is made if it is not there, and reads the
// progress. It fails if another process has it open (ErrLocked) or if it cannot be
// used, but never because of what a state holds: see [Store.Warnings].
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(filepath.Join(dir, restartDir), 0o750); err != nil {
		return nil, fmt.Errorf("the data directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, fmt.Errorf("the data directory: %w", err)
	}
	if err := disk.Lock(f); err != nil {
		_ = f.Close()
		if errors.Is(err, disk.ErrLocked) {
			err = ErrLocked
		}
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if err := Readable(dir); err != nil {
		_ = f.Close()
		return nil, err
	}
	s := &Store{
		dir: dir, lock: f, sources: map[string][]Entry{}, lines: map[string]encoded{},
		fault: func(string) error { return nil },
	}
	s.load()
	s.points = openPoints(filepath.Join(dir, restartDir))
	return s, nil
}

// Readable returns why a state in dir cannot be opened: one that is there and is not
// ours to read, say. It is not taken for a damaged one: all would be read again.
func Readable(dir string) error {
	for _, name := range []string{currentName, previousName} {
		f, err := os.Open(filepath.Join(dir, name))
		switch {
		case err == nil:
			_ = f.Close() // nothing was read or written
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("the stored progress: %w", err)
		}
	}
	return nil
}

// load reads the newest state that can be read.
func (s *Store) load() {
	var c Contents
	c, s.warnings, s.good, s.bad = load(s.dir)
	for _, e := range c.Entries {
		s.sources[e.Source] = append(s.sources[e.Source], e)
	}
	s.marks, s.cuts = c.Marks, c.Cuts || len(c.Marks) > 0
	s.named = map[int64]bool{}
	nameAll(s.named, c.Entries)
}

// load reads the newest state in dir that can be read. It says whether that is
// the current one, and whether there is a current one that cannot be read.
func load(dir string) (c Contents, warnings []string, good, bad bool) {
	missing := 0
	for i, name := range []string{currentName, previousName} {
		c, err := readState(filepath.Join(dir, name))
		switch {
		case err == nil && i == 0:
			return c, nil, true, false
		case err == nil:
			return c, append(warnings, "the progress before the last one is used: what came between may be read again"), false, bad
		case errors.Is(err, fs.ErrNotExist):
			missing++
		default:
			bad = bad || i == 0
			warnings = append(warnings, fmt.Sprintf("%s cannot be used: %v", name, err))
		}
	}
	if missing < 2 {
		warnings = append(warnings, "there is no progress that can be used: everything is read from its beginning")
	}
	return Contents{}, warnings, false, bad
}

func readState(path string) (Contents, error) {
	f, err := os.Open(path)
	if err != nil {
		return Contents{}, err
	}
	defer func() { _ = f.Close() }()
	return parse(f)
}

// Close gives the lock back. It stores nothing.
func (s *Store) Close() error { return s.lock.Close() }

// Warnings returns what was wrong with the progress when it was read, in
// sentences for the log.
func (s *Store) Warnings() []string { return slices.Clone(s.warnings) }

// Health returns nil, or why the progress could not be stored the last time. It
// does not block.
func (s *Store) Health() error {
	if err := s.health.Load(); err != nil {
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

// Entries returns the progress of a source as it was stored last.
func (s *Store) Entries(source string) []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sources[source])
}

// Marks returns how long the outputs of a sink were when the progress was stored
// last.
func (s *Store) Marks(sink string) []pipeline.Mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	var marks []pipeline.Mark
	for _, m := range s.marks {
		if m.Sink == sink {
			marks = append(marks, m)
		}
	}
	return marks
}

// An Update is what Save stores in one step.
type Update struct {
	Source  string
	Entries []Entry          // all of the source: they replace those before
	Points  map[int64][]byte // restart points that Entries name, by id; only those that were not stored before
	Cut     bool             // Marks replaces all marks
	Marks   []pipeline.Mark  // see Cut
	Forget  []string         // ids of lanes that are finished: the marks of their own outputs are dropped
}

// Save stores u, together with what other sources have stored before. When it
// returns nil all of it is durable. On an error what was stored before still is,
// and is what a restart finds, except if the very last step failed, the sync of
// the folder: then it finds the one or the other. Save may be tried again.
func (s *Store) Save(u Update) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.Stats()
	defer func() { s.stats.Store(&n) }()
	if err := s.save(u); err != nil {
		n.Failures++
		err = fmt.Errorf("cannot store the progress: %w", err)
		s.health.Store(&err)
		return err
	}
	s.health.Store(nil)
	n.Saves++
	return nil
}

func (s *Store) save(u Update) error {
	marks := s.marks
	if u.Cut {
		marks = slices.Clone(u.Marks)
	}
	if len(u.Forget) > 0 {
		marks = without(marks, u.Forget)
	}
	before, had := s.sources[u.Source]
	s.sources[u.Source] = slices.Clone(u.Entries)
	named, err := s.commit(u.Points, marks)
	if err != nil {
		if s.sources[u.Source] = before; !had {
			delete(s.sources, u.Source)
		}
		return err
	}
	s.marks = marks
	previous := s.named
	s.named = named
	s.points.retain(func(id int64) bool { return named[id] || previous[id] })
	return nil
}

// without returns the marks that are not of those lanes.
func without(marks []pipeline.Mark, lanes []string) []pipeline.Mark {
	gone := make(map[string]bool, len(lanes))
	for _, id := range lanes {
		gone[id] = id != "" // what is of no lane is of all
	}
	return slices.DeleteFunc(slices.Clone(marks), func(m pipeline.Mark) bool { return gone[m.Lane] })
}

// commit makes the state of all sources and marks durable. It returns the points
// that are named there.
func (s *Store) commit(fresh map[int64][]byte, marks []pipeline.Mark) (map[int64]bool, error) {
	named := map[int64]bool{}
	for _, entries := range s.sources {
		nameAll(named, entries)
	}
	for id := range named {
		if data, ok := fresh[id]; ok {
			if err := s.points.write(id, data, s.fault); err != nil {
				return nil, err
			}
		}
	}
	if err := s.points.sync(); err != nil {
		return nil, err
	}
	return named, s.replace(marks)
}

// nameAll adds the ids of the points that entries name.
func nameAll(named map[int64]bool, entries []Entry) {
	for i := range entries {
		if id := entries[i].Restart; id != 0 {
			named[id] = true
		}
	}
}

// path returns the path of a name in the data directory.
func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

// replace writes the state aside and makes it the current one.
func (s *Store) replace(marks []pipeline.Mark) error {
	aside := s.path(asideName)
	if err := s.writeAside(aside, marks); err != nil {
		_ = os.Remove(aside)
		return err
	}
	if err := s.keepPrevious(); err != nil {
		_ = os.Remove(aside)
		return err
	}
	if err := s.step("rename"); err != nil {
		return err
	}
	if err := os.Rename(aside, s.path(currentName)); err != nil { //nolint:forbidigo // this is the helper
		_ = os.Remove(aside)
		return err
	}
	s.good, s.bad = true, false
	if err := s.step("sync dir"); err != nil {
		return err
	}
	return disk.SyncDir(s.dir)
}

// step is a place where tests let something fail.
func (s *Store) step(name string) error { return s.fault(name) }

// keepPrevious makes the current state, if it is one, the previous one as well,
// by a link, so that at no time there is none with the name of the current.
func (s *Store) keepPrevious() error {
	switch {
	case s.bad:
		err := os.Rename(s.path(currentName), s.path(badName)) //nolint:forbidigo // this is the helper
		s.bad = err != nil
		return err
	case !s.good:
		return nil
	}
	link := s.path(previousName + ".new")
	_ = os.Remove(link)
	if err := os.Link(s.path(currentName), link); err != nil {
		return os.Rename(s.path(currentName), s.path(previousName)) //nolint:forbidigo // a file system without links
	}
	return os.Rename(link, s.path(previousName)) //nolint:forbidigo // this is the helper
}

// writeAside writes the state to path and syncs it.
func (s *Store) writeAside(path string, marks []pipeline.Mark) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	err = s.step("write")
	if err == nil {
		err = s.writeState(f, marks)
	}
	if err == nil {
		err = s.step("sync")
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// flushAt is how many bytes of a state are written at a time.
const flushAt = 256 << 10

// writeState writes the state. Entries that have not changed since the last time
// are not made into text again.
func (s *Store) writeState(f *os.File, marks []pipeline.Mark) error {
	var sum xxh3.Hasher
	n := len(marks)
	for _, entries := range s.sources {
		n += len(entries)
	}
	lines := make(map[string]encoded, n)
	buf := appendHead(nil, n, s.cuts)
	flush := func(least int) error {
		if len(buf) < least {
			return nil
		}
		_, _ = sum.Write(buf)
		_, err := f.Write(buf)
		buf = buf[:0]
		return err
	}
	for source, entries := range s.sources {
		for i := range entries {
			text, err := s.lineOf(source, &entries[i], lines)
			if err != nil {
				return err
			}
			buf = append(buf, text...)
			if err := flush(flushAt); err != nil {
				return err
			}
		}
	}
	for _, m := range marks {
		var err error
		if buf, err = appendMark(buf, m); err != nil {
			return err
		}
	}
	if err := flush(0); err != nil {
		return err
	}
	s.lines = lines
	_, err := f.Write(appendSum(nil, sum.Sum64()))
	return err
}

// lineOf returns the line of an entry, and notes it in lines.
func (s *Store) lineOf(source string, e *Entry, lines map[string]encoded) ([]byte, error) {
	key := source + "\x00" + e.ID
	enc, ok := s.lines[key]
	if !ok || enc.entry != *e {
		line, err := appendEntry(nil, *e)
		if err != nil {
			return nil, err
		}
		enc = encoded{*e, line}
	}
	lines[key] = enc
	return enc.line, nil
}
