package keyset

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/storage/disk"

	"github.com/urlfold/urlfold/internal/storage/keyset/table"
)

// A Journal is a set of keys in a folder. A [JournalState] says which files
// count, and how many bytes of each. The caller stores it in one step with the
// rest of its state, so the set and that state agree after every crash.
//
//	Append   the new keys are written to a log and synced; they are not in the set yet
//	(the caller stores the JournalState, and syncs that)
//	Stored   the new keys are in the set
//
// The keys of the logs are also in memory. When there are many, a sorted run
// replaces the logs, and runs of similar size are merged. Bytes that a state may
// name are never written again: after a failed sync, and in each process, a new
// log begins. A file is removed when no state that a restart may find names it.
//
// Keys can have stamps, such as the numbers of windows. Then the journal
// forgets keys whose stamps are before a limit that only rises: it leaves
// these keys out when it writes runs, and a higher limit is a reason to
// write runs.
//
// Has may be called while another goroutine calls Append or Stored.
type Journal struct {
	folder    *Folder
	most      int // keys in memory at which they become a run
	createLog func() (logFile, error)

	mu      sync.Mutex  // guards the fields of the set
	table   table.Table // keys of the logs
	stamped []Stamped   // keys of the logs with their stamps, unsorted; keys without a stamp are missing
	runs    []*Run      // the oldest first

	now, next JournalState // the stored state, and the state to be stored
	nextRuns  []*Run
	pending   []Stamped // keys that are in next and not in now
	sealed    bool      // the runs of next contain the table
	log       logFile   // last log of next; nil: the next key begins a new log
	sum       *xxh3.Hasher
	gone      []goneFile
}

// A JournalState describes a set in a folder. Its zero value is the empty set.
type JournalState struct {
	Runs []RunInfo `json:"runs,omitempty"`
	Logs []LogInfo `json:"logs,omitempty"`
	// Least is the stamp before which the runs have no keys.
	Least uint32 `json:"least,omitempty"`
}

// A Stamped is a key with its stamp.
type Stamped struct {
	Key
	Stamp uint32
}

// A LogInfo describes the part of a log that counts.
type LogInfo struct {
	Name  string `json:"name"` // name of the file in its folder
	Bytes int64  `json:"bytes"`
	Check uint64 `json:"check,string"` // checksum of the bytes of the log
}

// A goneFile is a file that is no longer used, but that states on disk may
// name.
type goneFile struct {
	name  string
	since uint64 // generation of the caller's state that no longer names the file
}

// logFile is what a Journal needs of the file of a log.
type logFile interface {
	io.WriterAt
	io.Closer
	Name() string
	Sync() error
}

const (
	logSuffix  = ".log"
	logMagic   = "urlfold keylog1\n" // keys without stamps
	stampMagic = "urlfold keylog2\n" // keys with stamps
	keyBytes   = 16
	stampBytes = 4

	// MaxTable is the maximum number of bytes that the keys of logs use outside
	// the heap.
	MaxTable = mostInTable * tableBytes

	mostInTable = 1 << 20 // keys, which are 16 MiB of log that a restart reads
	tableBytes  = 24      // approximate size of a key in a table
	mostLogs    = 8       // each process begins a log
)

// OpenJournal opens the set that state describes in dir, which it creates if it
// is missing. generation is the generation of the caller's state, as in Stored.
// Errors name the file. A missing or changed file is an error, because a set
// without some of its keys would let duplicates pass silently.
func OpenJournal(dir string, state JournalState, generation uint64) (*Journal, error) {
	folder, err := OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	j := &Journal{folder: folder, most: mostInTable, now: state, next: state}
	j.createLog = j.newLog
	if err := j.load(generation); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// SetTable limits the memory for the keys of logs, in bytes.
func (j *Journal) SetTable(bytes int64) { j.most = int(min(bytes, MaxTable) / tableBytes) }

// load reads the files that j.now names.
func (j *Journal) load(generation uint64) error {
	var err error
	if j.runs, err = j.folder.openAll(j.now.Runs); err != nil {
		return fmt.Errorf("the set of keys is incomplete: %w", err)
	}
	for _, info := range j.now.Logs {
		if err := j.loadLog(info); err != nil {
			return fmt.Errorf("the set of keys is incomplete: %w", err)
		}
	}
	files, err := os.ReadDir(j.folder.dir)
	named := j.now.names()
	for _, f := range files {
		if name := f.Name(); !named[name] && (strings.HasSuffix(name, logSuffix) || strings.HasSuffix(name, runSuffix)) {
			j.gone = append(j.gone, goneFile{name, generation})
		}
	}
	return err
}

// loadLog adds the keys of a log to the table.
func (j *Journal) loadLog(info LogInfo) error {
	name := filepath.Join(j.folder.dir, filepath.Base(info.Name))
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(f, info.Bytes))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	size := keyBytes
	switch {
	case int64(len(data)) != info.Bytes || xxh3.Hash(data) != info.Check:
		size = 0
	case strings.HasPrefix(string(data), stampMagic):
		size += stampBytes
	case !strings.HasPrefix(string(data), logMagic):
		size = 0
	}
	if size == 0 {
		return fmt.Errorf("%s: %w: the first %d bytes changed after they were written", name, errDamaged, info.Bytes)
	}
	for keys := data[len(logMagic):]; len(keys) >= size; keys = keys[size:] {
		k := Stamped{Key: table.KeyOf(keys)}
		if size > keyBytes {
			k.Stamp = binary.BigEndian.Uint32(keys[keyBytes:])
		}
		if err := j.remember(&j.table, &j.stamped, k); err != nil {
			return err
		}
	}
	return nil
}

// remember adds k to a table and, if k is new there and has a stamp, to the list of keys
// with stamps.
func (j *Journal) remember(t *table.Table, list *[]Stamped, k Stamped) error {
	added, err := t.Add(k.Key)
	if added && k.Stamp > 0 {
		*list = append(*list, k)
	}
	return err
}

// names returns the names of all files.
func (s *JournalState) names() map[string]bool {
	names := map[string]bool{}
	for _, r := range s.Runs {
		names[r.Name] = true
	}
	for _, l := range s.Logs {
		names[l.Name] = true
	}
	return names
}

// Has reports whether k is in the set. Errors name the damaged file.
func (j *Journal) Has(k Key) (bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.table.Has(k) {
		return true, nil
	}
	return inRuns(j.runs, k)
}

// Len returns the number of keys.
func (j *Journal) Len() (n int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.runs {
		n += r.info.Keys
	}
	return n + int64(j.table.Len())
}

// Bytes returns the memory and the disk space of the set, in bytes.
func (j *Journal) Bytes() (memory, disk int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	memory = j.table.Bytes()
	for _, r := range j.runs {
		memory += r.bytes()
		disk += r.info.Bytes
	}
	return memory + int64(len(j.stamped))*(keyBytes+8), disk + int64(j.table.Len())*keyBytes + int64(len(j.stamped))*stampBytes
}

// Append writes and syncs keys, which must not be in the set, and returns the
// state that includes them. changed is false if this state is already stored.
// If the caller has not stored a returned state, or does not know whether it
// has, the keys of the next call must begin with the same keys. After an error,
// the set is unchanged, and Append can be called again.
//
// Either all keys of a call have stamps, which are greater than 0, or none has.
// The state need not include keys with stamps before least. least must not fall
// from call to call; if it rises, all runs with such keys are written again.
func (j *Journal) Append(keys []Stamped, least uint32) (state JournalState, changed bool, err error) {
	if len(keys) < len(j.pending) || !slices.Equal(keys[:len(j.pending)], j.pending) {
		return j.now, false, errors.New("BUG: keyset: keys that may be stored are missing from the next ones")
	}
	full := j.table.Len() > 0 && (j.table.Len() >= j.most || len(j.now.Logs) >= mostLogs)
	if !j.sealed && (full || least > j.now.Least && j.table.Len()+len(j.runs) > 0) {
		if err := j.seal(max(least, j.now.Least)); err != nil {
			return j.now, false, err
		}
	}
	if len(keys) > len(j.pending) {
		if err := j.write(keys); err != nil {
			return j.now, false, err
		}
	}
	return j.next, j.sealed || len(j.pending) > 0, nil
}

// seal writes the table as a run, merges runs, and leaves out the keys with
// stamps before least. The set uses the resulting runs only after the state is
// stored.
func (j *Journal) seal(least uint32) error {
	j.nextRuns = slices.Clone(j.runs)
	err := j.sealTable(least)
	if err == nil && least > j.now.Least {
		err = j.forget(least)
	}
	if err == nil {
		err = j.merge(least)
	}
	if err != nil {
		return errors.Join(err, j.forgetRuns())
	}
	j.sealed = true
	j.next = JournalState{Least: least}
	j.next.Runs = infosOf(j.nextRuns)
	j.pending = j.pending[:0] // the next log has all pending keys
	return j.endLog()
}

// sealTable adds the table to nextRuns.
func (j *Journal) sealTable(least uint32) error {
	stamps := slices.Clone(j.stamped)
	slices.SortFunc(stamps, func(a, b Stamped) int {
		return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
	})
	left := j.table.Len()
	for _, k := range stamps {
		if k.Stamp < least {
			left--
		}
	}
	if left == 0 {
		return nil
	}
	r, err := j.folder.Write(func(yield func(Key, uint32) bool) {
		for k := range j.table.All() {
			var stamp uint32
			if len(stamps) > 0 && stamps[0].Key == k {
				stamp = stamps[0].Stamp
				stamps = stamps[1:]
				if stamp < least {
					continue
				}
			}
			if !yield(k, stamp) {
				return
			}
		}
	})
	if err == nil {
		j.nextRuns = append(j.nextRuns, r)
	}
	return err
}

// forget leaves out the keys of nextRuns with stamps before least.
func (j *Journal) forget(least uint32) error {
	kept := j.nextRuns[:0:0]
	for i, r := range j.nextRuns {
		if r.info.Oldest >= least {
			kept = append(kept, r)
			continue
		}
		if r.info.Newest >= least {
			rest, err := j.mergeRuns(least, []*Run{r})
			if err != nil {
				j.nextRuns = append(kept, j.nextRuns[i:]...)
				return err
			}
			kept = append(kept, rest)
		}
	}
	j.nextRuns = kept
	return nil
}

// merge merges runs of nextRuns as long as fanIn of them have a similar size.
func (j *Journal) merge(least uint32) error {
	for {
		n := similar(j.nextRuns)
		if n < fanIn {
			return nil
		}
		at := len(j.nextRuns) - n
		merged, err := j.mergeRuns(least, j.nextRuns[at:])
		if err != nil {
			return err
		}
		for _, r := range j.nextRuns[at:] {
			if !slices.Contains(j.runs, r) { // the run was just written
				err = errors.Join(err, r.Close())
				j.gone = append(j.gone, goneFile{name: r.info.Name})
			}
		}
		j.nextRuns = append(j.nextRuns[:at], merged)
		if err != nil {
			return err
		}
	}
}

// mergeRuns merges runs through separate files, because Has may use them.
func (j *Journal) mergeRuns(least uint32, runs []*Run) (merged *Run, err error) {
	own, err := j.folder.openAll(infosOf(runs))
	if err == nil {
		merged, err = j.folder.Merge(least, own...)
	}
	for _, o := range own {
		err = errors.Join(err, o.Close())
	}
	return merged, err
}

// forgetRuns removes the runs that only nextRuns has.
func (j *Journal) forgetRuns() error {
	var errs []error
	for _, r := range j.nextRuns {
		if !slices.Contains(j.runs, r) {
			errs = append(errs, r.Close())
			j.gone = append(j.gone, goneFile{name: r.info.Name})
		}
	}
	j.nextRuns = nil
	return errors.Join(errs...)
}

// write makes the keys after the pending ones durable.
func (j *Journal) write(keys []Stamped) error {
	if j.log == nil {
		// Begin a log that will hold all pending keys.
		f, err := j.createLog()
		if err != nil {
			return err
		}
		j.log, j.sum, j.pending = f, xxh3.New(), j.pending[:0]
		j.next.Logs = slices.Clone(j.now.Logs)
		if j.sealed {
			j.next.Logs = nil
		}
		j.next.Logs = append(j.next.Logs, LogInfo{Name: filepath.Base(f.Name())})
	}
	magic, size := logMagic, keyBytes
	if keys[0].Stamp > 0 {
		magic, size = stampMagic, keyBytes+stampBytes
	}
	info := &j.next.Logs[len(j.next.Logs)-1]
	fresh := keys[len(j.pending):]
	buf := make([]byte, 0, len(magic)+size*len(fresh))
	if info.Bytes == 0 {
		buf = append(buf, magic...)
	}
	for _, k := range fresh {
		buf = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(buf, k.Hi), k.Lo)
		if size > keyBytes {
			buf = binary.BigEndian.AppendUint32(buf, k.Stamp)
		}
	}
	if _, err := j.log.WriteAt(buf, info.Bytes); err != nil {
		return fmt.Errorf("keys: %w", err) // no state names these bytes
	}
	if err := j.log.Sync(); err != nil {
		// The kernel may have dropped pages. The keys since the stored state go
		// to a new log.
		return fmt.Errorf("keys: %w", errors.Join(err, j.endLog()))
	}
	_, _ = j.sum.Write(buf) // never fails
	info.Bytes += int64(len(buf))
	info.Check = j.sum.Sum64()
	j.pending = append(j.pending, fresh...)
	return nil
}

// endLog closes the log. The next write begins another log.
func (j *Journal) endLog() error {
	if j.log == nil {
		return nil
	}
	if name := filepath.Base(j.log.Name()); !j.now.names()[name] {
		j.gone = append(j.gone, goneFile{name: name})
	}
	err := j.log.Close()
	j.log = nil
	return err
}

// newLog creates a log. Its name is durable.
func (j *Journal) newLog() (logFile, error) {
	f, err := j.folder.createFile(logSuffix)
	if err != nil {
		return nil, err
	}
	if err := disk.SyncDir(j.folder.dir); err != nil {
		return nil, errors.Join(err, f.Close(), j.folder.remove(f.Name()))
	}
	return f, nil
}

// Stored declares that the state that Append has returned is stored, as part of
// a state of the caller with the given generation. A restart must find a state
// of this generation or the previous generation. Stored adds the keys of Append
// to the set and removes files that no such state names.
func (j *Journal) Stored(generation uint64) error {
	if err := j.adopt(); err != nil {
		return err
	}
	named := j.next.names()
	for name := range j.now.names() {
		if !named[name] {
			j.gone = append(j.gone, goneFile{name: name})
		}
	}
	j.now = JournalState{Runs: j.next.Runs, Logs: slices.Clone(j.next.Logs), Least: j.next.Least}
	j.pending, j.sealed, j.nextRuns = j.pending[:0], false, nil
	kept := j.gone[:0]
	for _, f := range j.gone {
		if f.since == 0 {
			f.since = generation
		}
		// States of generation f.since may name the file, and a restart finds
		// such a state until there are two later states.
		if f.since+2 > generation || j.folder.remove(filepath.Join(j.folder.dir, f.name)) != nil {
			kept = append(kept, f)
		}
	}
	j.gone = kept
	return nil
}

// adopt changes the set to what Append has written.
func (j *Journal) adopt() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	t, stamped := &j.table, &j.stamped
	if j.sealed {
		t, stamped = new(table.Table), new([]Stamped)
	}
	for _, k := range j.pending {
		if err := j.remember(t, stamped, k); err != nil {
			return err
		}
	}
	if !j.sealed {
		return nil
	}
	old := j.runs
	j.table.Reset()
	j.table, j.stamped, j.runs = *t, *stamped, j.nextRuns
	for _, r := range old {
		if !slices.Contains(j.runs, r) {
			_ = r.Close() // opened for reading only
		}
	}
	return nil
}

// Gone returns the bytes of the files that are kept for older states only.
func (j *Journal) Gone() (bytes int64) {
	for _, f := range j.gone {
		if fi, err := os.Stat(filepath.Join(j.folder.dir, f.name)); err == nil {
			bytes += fi.Size()
		}
	}
	return bytes
}

// Close closes all files. It stores nothing.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	errs := []error{j.forgetRuns(), j.endLog()}
	for _, r := range j.runs {
		errs = append(errs, r.Close())
	}
	j.table.Reset()
	j.runs = nil
	return errors.Join(errs...)
}
