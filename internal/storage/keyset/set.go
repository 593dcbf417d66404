package keyset

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/urlfold/urlfold/internal/storage/keyset/table"
)

// Options set the limits of a Set.
type Options struct {
	// MaxMemory limits the bytes of memory for keys, filters and indexes. If the
	// keys need more, they move to files. 0 means no limit.
	MaxMemory int64
	// Dir is the folder for these files. An empty Dir means the operating
	// system's folder for temporary files.
	Dir string
}

// A Set remembers which keys were added. It is not safe for concurrent use.
type Set struct {
	o        Options
	minTable int64 // bytes that the table may use in any case
	table    table.Table
	runs     []*Run // the oldest first
	files    runFiles
	stamp    uint32 // stamp of the keys in the table
	len      int64
}

// runFiles creates and removes the files of runs.
type runFiles interface {
	// create returns a new file, open for reading and writing.
	create() (runOutput, error)
	// remove is called for each run that a merge has replaced, and for each
	// file that could not be written. The file is already closed.
	remove(name string) error
}

// runOutput is the file of a new run.
type runOutput interface {
	runFile
	io.Writer
	// Sync is called when the run is complete and not yet read.
	Sync() error
}

// New returns an empty set. Its files are temporary: they disappear with the
// process, however it ends.
func New(o Options) *Set { return &Set{o: o, minTable: minTable, files: temporary(o.Dir)} }

// Len returns the number of keys.
func (s *Set) Len() int64 { return s.len }

// Bytes returns the memory and the disk space that the set uses.
func (s *Set) Bytes() (memory, disk int64) {
	memory = s.table.Bytes()
	for _, r := range s.runs {
		memory += r.bytes()
		disk += r.info.Bytes
	}
	return memory, disk
}

// bytes returns the approximate memory of r in bytes.
func (r *Run) bytes() int64 { return int64(len(r.index))*8 + blockSize + int64(len(r.memory)) }

// Add adds keys in their order, and sets added[i] if keys[i] was neither in the
// set nor before i in keys. It skips zero keys: their added is true. After an
// error, which is about a file or about memory, any of the keys may be in the set,
// and the set must be closed.
func (s *Set) Add(keys []Key, added []bool) error {
	for len(keys) > 0 {
		n := min(len(keys), touched)
		s.table.Touch(keys[:n])
		for i, k := range keys[:n] {
			if added[i] = k == (Key{}) || !s.table.Has(k); !added[i] || k == (Key{}) {
				continue
			}
			var err error
			if added[i], err = s.add(k); err != nil {
				return err
			}
		}
		keys, added = keys[n:], added[n:]
	}
	return nil
}

// touched is the number of keys whose slots are read together: enough that the
// processor reads many at the same time, and few enough that they stay in its first
// cache.
const touched = 64

// add adds k, and reports whether it was missing. It does not add the zero key, and
// returns true for it.
func (s *Set) add(k Key) (bool, error) {
	if k == (Key{}) {
		return true, nil
	}
	if isNew, err := s.table.Add(k); err != nil || !isNew {
		return false, err
	}
	if len(s.runs) > 0 {
		// A key of a run stays in the table, too: the next search for it
		// reads no file.
		if old, err := inRuns(s.runs, k); err != nil || old {
			return false, errors.Join(err, s.limit())
		}
	}
	s.len++
	return true, s.limit()
}

// limit moves the table to a run if the table has reached its limit.
func (s *Set) limit() error {
	if s.o.MaxMemory > 0 && s.table.Bytes() > s.tableLimit() {
		return s.seal()
	}
	return nil
}

// Has reports whether k is in the set.
func (s *Set) Has(k Key) (bool, error) {
	if k == (Key{}) {
		return false, nil
	}
	if s.table.Has(k) {
		return true, nil
	}
	return inRuns(s.runs, k)
}

// HasAll sets is[i] if keys[i] is in the set. The zero key is never in the set.
func (s *Set) HasAll(keys []Key, is []bool) error {
	for len(keys) > 0 {
		n := min(len(keys), touched)
		s.table.Touch(keys[:n])
		for i, k := range keys[:n] {
			var err error
			if is[i], err = s.Has(k); err != nil {
				return err
			}
		}
		keys, is = keys[n:], is[n:]
	}
	return nil
}

// inRuns reports whether k is in one of runs. It looks into the newest first.
func inRuns(runs []*Run, k Key) (bool, error) {
	for _, r := range slices.Backward(runs) {
		if ok, err := r.Has(k); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// Keys yields the keys of the set, in no order, and some of them more than once. It
// ends after an error about a file. The set must not be changed meanwhile.
func (s *Set) Keys() iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		for k := range s.table.All() {
			if !yield(k, nil) {
				return
			}
		}
		for _, r := range s.runs {
			c := r.start()
			for {
				ok, err := c.Next()
				if err != nil {
					yield(Key{}, err)
					return
				}
				if !ok {
					break
				}
				if !yield(c.Key, nil) {
					return
				}
			}
		}
	}
}

// minTable is the least memory of a table: less would make very many runs.
const minTable = 4 << 20

// tableLimit returns the bytes of memory that the table may use besides the runs. A
// quarter of MaxMemory is for building filters and merging.
func (s *Set) tableLimit() int64 {
	limit := s.o.MaxMemory * 3 / 4
	for _, r := range s.runs {
		limit -= r.bytes()
	}
	return max(limit, s.minTable)
}

// seal writes the table as a run, and merges runs if there are many.
func (s *Set) seal() error {
	err := s.write(func(w *runWriter) error {
		for k := range s.table.All() {
			if err := w.add(k, s.stamp); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.table.Reset()
	// Merge the newest runs as long as fanIn of them have a similar size.
	// Each key is then copied once each time the set grows fourfold.
	for {
		n := similar(s.runs)
		if n < fanIn {
			return nil
		}
		if err := s.replace(len(s.runs)-n, func(w *runWriter) error { return merge(w, 0, s.runs[len(s.runs)-n:]) }); err != nil {
			return err
		}
	}
}

// write adds a run with the keys that fill adds.
func (s *Set) write(fill func(w *runWriter) error) error {
	f, err := s.files.create()
	if err != nil {
		return err
	}
	r, err := writeRun(f, fill)
	if err != nil {
		return errors.Join(fmt.Errorf("keys: %w", err), f.Close(), s.files.remove(f.Name()))
	}
	s.runs = append(s.runs, r)
	return nil
}

// writeRun writes the keys that fill adds to f, syncs f, and opens the run.
func writeRun(f runOutput, fill func(w *runWriter) error) (*Run, error) {
	w := newRunWriter(f)
	if err := fill(w); err != nil {
		return nil, err
	}
	info, err := w.close()
	if err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	return openRun(f, info.Bytes)
}

// fanIn is the number of runs of similar size that are merged.
const fanIn = 4

// similar returns the number of newest runs of similar size: each is less than fanIn
// times as large as the average of the runs that are newer.
func similar(runs []*Run) (n int) {
	var sum int64
	for _, r := range slices.Backward(runs) {
		if n > 0 && r.info.Keys >= fanIn*sum/int64(n) {
			break
		}
		sum += r.info.Keys
		n++
	}
	return n
}

// replace replaces s.runs[at:] by one run with the keys that fill adds. Merging
// needs no filters, so replace first releases their memory.
func (s *Set) replace(at int, fill func(w *runWriter) error) error {
	old := slices.Clone(s.runs[at:])
	for _, r := range old {
		r.unload()
	}
	if err := s.write(fill); err != nil {
		return err
	}
	s.runs = append(s.runs[:at], s.runs[len(s.runs)-1])
	var errs []error
	for _, r := range old {
		errs = append(errs, r.Close(), s.files.remove(r.file.Name()))
	}
	return errors.Join(errs...)
}

// Close releases memory and files. Temporary files are removed.
func (s *Set) Close() error {
	s.table.Reset()
	var errs []error
	for _, r := range s.runs {
		errs = append(errs, r.Close())
	}
	s.runs = nil
	return errors.Join(errs...)
}
