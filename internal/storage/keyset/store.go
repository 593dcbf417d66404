package keyset

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/fault"
)

// A Store is a set that is kept in a folder: runs, and a manifest that names
// them. The set changes only when Commit stores new runs: if the process dies
// earlier, the set stays as it was. A Store is not safe for concurrent use. One
// process can have it open for writing, and any number of processes for reading. A
// reader sees the state of the moment at which it opened the Store.
type Store struct {
	Set
	folder   *Folder
	lock     *disk.File // nil: read only
	identity Identity
	named    []RunInfo // runs that the manifest on disk names
	unsure   bool      // named may differ from the runs that the manifest on disk names
}

// ErrNoStore is matched by the errors about a folder without a manifest.
var ErrNoStore = errors.New("not a set of keys")

// IsStore reports whether dir contains a set, intact or damaged.
func IsStore(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, manifestName))
	return err == nil
}

// Create opens dir as a new, empty set with the given identity, for writing. If
// replace is set, dir may contain a set, which stays as it is until Commit.
// Otherwise, an existing set is an error that matches fs.ErrExist.
func Create(dir string, id Identity, o Options, replace bool) (*Store, error) {
	s, err := lockStore(dir, o)
	if err != nil {
		return nil, err
	}
	m, err := readManifest(dir)
	switch {
	case err == nil && !replace:
		return nil, errors.Join(fmt.Errorf("%s: the folder already contains a set of %d keys: %w", dir, m.Keys, fs.ErrExist), s.Close())
	case err != nil && !replace && !errors.Is(err, ErrNoStore):
		return nil, errors.Join(err, s.Close())
	}
	s.identity, s.named = id, m.Runs
	s.unsure = err != nil && !errors.Is(err, ErrNoStore) // the manifest is damaged
	if err := s.sweep(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Open opens the set in dir for writing. Its identity must be id; a nil id accepts
// any.
func Open(dir string, id Identity, o Options) (*Store, error) {
	if _, err := readManifest(dir); err != nil {
		return nil, err // fail before creating a folder
	}
	s, err := lockStore(dir, o)
	if err != nil {
		return nil, err
	}
	m, err := readManifest(dir)
	if err == nil {
		err = m.Identity.check(dir, id)
	}
	if err == nil {
		err = s.open(m)
	}
	if err == nil {
		s.unsure = false
		err = s.sweep()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// OpenRead opens the set in dir for reading. Its identity must be id; a nil id
// accepts any.
func OpenRead(dir string, id Identity) (*Store, error) {
	for {
		m, err := readManifest(dir)
		if err == nil {
			err = m.Identity.check(dir, id)
		}
		if err != nil {
			return nil, err
		}
		f := &Folder{dir, fault.At}
		s := &Store{Set: Set{files: f, minTable: minTable}, folder: f}
		if err = s.open(m); err == nil {
			return s, nil
		}
		err = errors.Join(err, s.Close())
		// A writer may have removed the runs of this manifest since.
		if next, e := readManifest(dir); e != nil || next.Check == m.Check || !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// lockStore opens dir for writing, and does not read the set in it.
func lockStore(dir string, o Options) (*Store, error) {
	f, err := OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	lock, err := disk.Open(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o640)
	if err != nil {
		return nil, err
	}
	if err := disk.Lock(lock.File); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), lock.Close())
	}
	s := &Store{Set: Set{o: o, minTable: minTable}, folder: f, lock: lock, unsure: true}
	s.files = storeFiles{f, s}
	return s, nil
}

// lockName is the file that a writer locks.
const lockName = "lock"

// open opens the runs of m.
func (s *Store) open(m manifest) (err error) {
	s.identity, s.named, s.len = m.Identity, m.Runs, m.Keys
	if s.runs, err = s.folder.openAll(m.Runs); err != nil {
		return fmt.Errorf("%s: the set is incomplete: %w", s.folder.dir, err)
	}
	return nil
}

// Identity returns the properties of the keys of the set. The caller must not
// change the map.
func (s *Store) Identity() Identity { return s.identity }

// Check returns an error that matches ErrIdentity, and names the differences, if
// the identity of the set is not id.
func (s *Store) Check(id Identity) error { return s.identity.check(s.folder.dir, id) }

// SetStamp sets the stamp of the keys that Add adds from now on, such as a number
// of days. A key that is added again gets the later stamp.
func (s *Store) SetStamp(stamp uint32) error {
	if s.stamp != stamp && s.table.Len() > 0 {
		if err := s.seal(); err != nil {
			return err
		}
	}
	s.stamp = stamp
	return nil
}

// Stamps returns the least and the greatest stamp of the runs.
func (s *Store) Stamps() (oldest, newest uint32) {
	for i, r := range s.runs {
		if i == 0 || r.info.Oldest < oldest {
			oldest = r.info.Oldest
		}
		newest = max(newest, r.info.Newest)
	}
	return oldest, newest
}

// Merge adds the keys of other, which must have the same identity, with their
// stamps.
func (s *Store) Merge(other *Store) error {
	if err := other.identity.check(other.folder.dir, s.identity); err != nil {
		return err
	}
	return s.rewrite(0, slices.Concat(s.runs, other.runs))
}

// Shrink removes the keys whose newest stamp is before least, and writes the
// others as one run.
func (s *Store) Shrink(least uint32) error { return s.rewrite(least, s.runs) }

// rewrite replaces the runs of s by one run with the keys of runs.
func (s *Store) rewrite(least uint32, runs []*Run) error {
	if s.table.Len() > 0 {
		return errors.New("BUG: rewriting a set with keys that are not committed")
	}
	for _, r := range runs {
		r.unload()
	}
	if err := s.replace(0, func(w *runWriter) error { return merge(w, least, runs) }); err != nil {
		return err
	}
	s.len = s.runs[0].info.Keys
	return nil
}

// Commit stores the set: when it returns nil, the set is durable. After an error, the
// set on disk is either the previous or the new one, and the Store must be closed.
func (s *Store) Commit() error {
	if s.table.Len() > 0 {
		if err := s.seal(); err != nil {
			return err
		}
	}
	m := manifest{Version: manifestVersion, Identity: s.identity, Keys: s.len, Runs: infosOf(s.runs)}
	if err := disk.SyncDir(s.folder.dir); err != nil {
		return err
	}
	s.unsure = true
	if err := m.write(s.folder.dir, s.folder.fault); err != nil {
		return err
	}
	s.named, s.unsure = m.Runs, false
	_ = s.sweep() // if this fails, the next writer sweeps
	return nil
}

// sweep removes the runs that the manifest on disk does not name.
func (s *Store) sweep() error {
	if s.unsure {
		return nil
	}
	return s.folder.Sweep(s.named)
}

// Close closes the set, and leaves it as the last Commit stored it.
func (s *Store) Close() error {
	err := s.Set.Close()
	if s.lock == nil {
		return err
	}
	err = errors.Join(err, s.sweep(), s.lock.Close())
	s.lock = nil
	return err
}

// storeFiles is the runFiles of a Store.
type storeFiles struct {
	*Folder
	store *Store
}

// remove removes a run unless the manifest names it: such a run is in use until the
// next manifest is stored.
func (f storeFiles) remove(name string) error {
	if slices.ContainsFunc(f.store.named, func(r RunInfo) bool { return r.Name == filepath.Base(name) }) {
		return nil
	}
	return f.Folder.remove(name)
}

// An Identity says what the keys of a set are: names of properties and their
// values, such as a hash function and its version. The keys of sets with different
// identities cannot be compared.
type Identity map[string]string

// check returns an error that names the differences between id, the identity of the
// set in dir, and want. It returns nil if want is nil.
func (id Identity) check(dir string, want Identity) error {
	if want == nil || maps.Equal(id, want) {
		return nil
	}
	var diffs []string
	for _, name := range id.Differs(want) {
		diffs = append(diffs, fmt.Sprintf("%s %q instead of %q", name, id[name], want[name]))
	}
	return fmt.Errorf("%s: %w: it has %s", dir, ErrIdentity, strings.Join(diffs, ", "))
}

// Differs returns the names of the properties in which two identities differ, in order.
func (id Identity) Differs(other Identity) (names []string) {
	all := Identity{}
	maps.Copy(all, id)
	maps.Copy(all, other)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if id[name] != other[name] {
			names = append(names, name)
		}
	}
	return names
}

// ErrIdentity is matched by the errors about a set with another identity.
var ErrIdentity = errors.New("the set contains keys of another kind")
