package keyset

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// Options set the limits of a Set.
type Options struct {
	// MaxMemory limits the bytes of memory for keys, filters and indexes. If the
	// keys need more, they move to files. 0 means no limit.
	MaxMemory int64
	// Dir is the folder for these files. An empty Dir means that of the operating
	// system for temporary files.
	Dir string
}

// A Set remembers which keys were added. It is not safe for concurrent use.
type Set struct {
	o        Options
	minTable int64 // bytes that the table may use in any case
	table    table
	runs     []*run // the oldest first
	files    runFiles
	len      int64
	sum      uint64 // keeps touch from being optimized away
}

// runFiles creates and removes the files of runs.
type runFiles interface {
	// create returns a new file, open for reading and writing.
	create() (*os.File, error)
	// done is called when the run in f is complete, before it is read.
	done(f *os.File, info runInfo) error
	// remove is called for each run that a merge has replaced, after it is closed.
	remove(name string) error
}

// New returns an empty set. Its files are temporary: they disappear with the
// process, however it ends.
func New(o Options) *Set { return &Set{o: o, minTable: minTable, files: temporary(o.Dir)} }

// Len returns the number of keys.
func (s *Set) Len() int64 { return s.len }

// Bytes returns the memory and the disk space that the set uses.
func (s *Set) Bytes() (memory, disk int64) {
	memory = s.table.bytes
	for _, r := range s.runs {
		memory += r.memory()
		disk += r.info.Bytes
	}
	return memory, disk
}

// memory returns about how many bytes of memory r uses.
func (r *run) memory() int64 {
	n := int64(len(r.index))*8 + blockSize
	for _, f := range r.filters {
		n += int64(len(f.Fingerprints))
	}
	return n
}

// Add adds keys in their order, and sets added[i] if keys[i] was neither in the
// set nor before i in keys. It skips zero keys: their added is true. After an
// error, which is about a file or about memory, the keys before the first one
// whose added is not set may be in the set, and the set must be closed.
func (s *Set) Add(keys []Key, added []bool) error {
	clear(added)
	s.sum += s.table.touch(keys)
	for i, k := range keys {
		if k == (Key{}) {
			added[i] = true
			continue
		}
		isNew, err := s.table.add(k)
		if err != nil {
			return err
		}
		if isNew && len(s.runs) > 0 {
			// A key of a run stays in the table, too: the next search for it
			// reads no file.
			old, err := s.inRuns(k)
			if err != nil {
				return err
			}
			isNew = !old
		}
		if isNew {
			s.len++
			added[i] = true
		}
		if s.o.MaxMemory > 0 && s.table.bytes > s.tableLimit() {
			if err := s.seal(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Has reports whether k is in the set.
func (s *Set) Has(k Key) (bool, error) {
	if s.table.has(k) {
		return true, nil
	}
	return s.inRuns(k)
}

func (s *Set) inRuns(k Key) (bool, error) {
	for _, r := range slices.Backward(s.runs) {
		if ok, err := r.has(k); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// minTable is the least memory of a table: less would make very many runs.
const minTable = 4 << 20

// tableLimit returns the bytes that the table may use beside the runs. A quarter
// of the limit is for building filters and merging.
func (s *Set) tableLimit() int64 {
	limit := s.o.MaxMemory * 3 / 4
	for _, r := range s.runs {
		limit -= r.memory()
	}
	return max(limit, s.minTable)
}

// seal writes the table as a run, and merges runs if there are many.
func (s *Set) seal() error {
	err := s.write(func(w *runWriter) error {
		for k := range s.table.all() {
			if err := w.add(k); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.table.reset()
	return s.compact()
}

// write adds a run with the keys that fill adds.
func (s *Set) write(fill func(w *runWriter) error) error {
	f, err := s.files.create()
	if err != nil {
		return err
	}
	w := newRunWriter(f)
	if err = fill(w); err == nil {
		var info runInfo
		if info, err = w.close(); err == nil {
			err = s.files.done(f, info)
		}
	}
	var r *run
	if err == nil {
		r, err = openRun(f, w.run.Bytes)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keys: %w", err), f.Close(), s.files.remove(f.Name()))
	}
	s.runs = append(s.runs, r)
	return nil
}

// fanIn is the number of runs of similar size that are merged.
const fanIn = 4

// compact merges the newest runs as long as fanIn of them have a similar size. So
// each key is copied once for each fourfold of the set.
func (s *Set) compact() error {
	for {
		n := s.similar()
		if n < fanIn {
			return nil
		}
		if err := s.mergeLast(n); err != nil {
			return err
		}
	}
}

// similar returns how many of the newest runs are less than fanIn times as large
// as the newer ones are on average.
func (s *Set) similar() (n int) {
	var sum int64
	for _, r := range slices.Backward(s.runs) {
		if n > 0 && r.info.Keys >= fanIn*sum/int64(n) {
			break
		}
		sum += r.info.Keys
		n++
	}
	return n
}

// mergeLast replaces the newest n runs by one.
func (s *Set) mergeLast(n int) error {
	at := len(s.runs) - n
	old := slices.Clone(s.runs[at:])
	if err := s.write(func(w *runWriter) error { return merge(w, old) }); err != nil {
		return err
	}
	merged := s.runs[len(s.runs)-1]
	s.runs = append(s.runs[:at], merged)
	var errs []error
	for _, r := range old {
		errs = append(errs, r.close(), s.files.remove(r.file.Name()))
	}
	return errors.Join(errs...)
}

// Close releases memory and files. Temporary files are removed.
func (s *Set) Close() error {
	s.table.reset()
	var errs []error
	for _, r := range s.runs {
		errs = append(errs, r.close(), s.files.remove(r.file.Name()))
	}
	s.runs = nil
	return errors.Join(errs...)
}
