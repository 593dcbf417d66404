package unique

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/metric"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Durable is the set of keys of a pipeline that drops duplicates. Its
// description is part of the checkpoint, so positions and keys always agree. It
// implements [engine.KeySet].
type Durable struct {
	store   *checkpoint.Store
	journal *keyset.Journal
	id      keyset.Identity
	fresh   bool // the checkpoint describes another set
	keys    []keyset.Stamped
	step    uint32          // windows that are forgotten together; 0: no windows
	windows json.RawMessage // the stored state of the windows
	next    json.RawMessage // the state that the next checkpoint stores

	Counts
	resets         int64
	members        atomic.Int64
	memory, onDisk atomic.Int64
}

// A description is what the checkpoint stores about a set.
type description struct {
	Version  int             `json:"version"`
	Identity keyset.Identity `json:"identity"`
	keyset.JournalState
	Windows json.RawMessage `json:"windows,omitempty"` // engine.WindowCut.State
}

// descriptionVersion increases when an older program could not use the set.
const descriptionVersion = 1

// ErrChanged is matched by the error of [CheckIdentity].
var ErrChanged = errors.New("the stored set of keys belongs to another configuration")

// stored returns the description in store, or nil.
func stored(store *checkpoint.Store) (*description, error) {
	text := store.Keys()
	if text == "" {
		return nil, nil
	}
	d := new(description)
	if err := json.Unmarshal([]byte(text), d); err != nil {
		return nil, fmt.Errorf("description of the set of keys: %w", err)
	}
	if d.Version != descriptionVersion {
		return nil, fmt.Errorf("the set of keys has version %d, but this program supports only version %d", d.Version, descriptionVersion)
	}
	return d, nil
}

// CheckIdentity returns an error that matches [ErrChanged], and names the
// differences, if store has a set with an identity other than id.
func CheckIdentity(store *checkpoint.Store, id keyset.Identity) error {
	d, err := stored(store)
	if err != nil || d == nil || maps.Equal(d.Identity, id) {
		return err
	}
	return fmt.Errorf("%w: %s", ErrChanged, Differences(d.Identity, id))
}

// Differences describes how an identity differs from the previous identity.
func Differences(before, now keyset.Identity) string {
	var list []string
	for _, name := range before.Differs(now) {
		list = append(list, fmt.Sprintf("%s was %q and is %q", name, before[name], now[name]))
	}
	return strings.Join(list, ", ")
}

// LogReset logs that a set begins empty, because its identity was different before.
func LogReset(log *slog.Logger, before, now keyset.Identity) {
	log.Warn("set of keys reset, because the configuration has changed", "changes", Differences(before, now))
}

// OpenDurable opens the set that store describes, with files in a folder of
// dataDir. A set with another identity is replaced by an empty one, which is
// logged. The error names a file that is missing or damaged.
func OpenDurable(store *checkpoint.Store, dataDir string, id keyset.Identity, log *slog.Logger) (*Durable, error) {
	before, err := stored(store)
	if err != nil {
		return nil, err
	}
	s := &Durable{store: store, id: id}
	var state keyset.JournalState
	switch {
	case before == nil:
	case maps.Equal(before.Identity, id):
		state, s.windows = before.JournalState, before.Windows
	default:
		s.fresh, s.resets = true, 1
		LogReset(log, before.Identity, id)
	}
	if s.journal, err = keyset.OpenJournal(filepath.Join(dataDir, "keys"), state, store.Epoch()); err != nil {
		return nil, fmt.Errorf(`%w; "urlfold daemon reset --dedupe-only" begins with an empty set`, err)
	}
	s.measure()
	return s, nil
}

// measure updates the figures for metrics.
func (s *Durable) measure() {
	memory, disk := s.journal.Bytes()
	s.members.Store(s.journal.Len())
	s.memory.Store(memory)
	s.onDisk.Store(disk + s.journal.Gone())
}

// SetTable limits the memory for new keys, in bytes.
func (s *Durable) SetTable(bytes int64) { s.journal.SetTable(bytes) }

// Has implements [engine.KeySet].
func (s *Durable) Has(k codec.Key) (bool, error) { return s.journal.Has(keyset.KeyOf(k.Uint64s())) }

// Seal implements [engine.KeySet].
func (s *Durable) Seal(keys []codec.Key) ([]byte, error) {
	return s.SealWindows(keys, engine.WindowCut{})
}

// Forget makes the set forget keys when their windows end. It forgets several windows
// together, a quarter of the number that can be open at the same time: each time, the
// keys that stay are copied, and so a key is copied about four times at most.
func (s *Durable) Forget(w *engine.Window) { s.step = 1 + uint32(w.Lateness/w.Size)/4 }

// SealWindows implements [engine.WindowKeySet].
func (s *Durable) SealWindows(keys []codec.Key, w engine.WindowCut) ([]byte, error) {
	s.keys = s.keys[:0]
	for i, k := range keys {
		next := keyset.Stamped{Key: keyset.KeyOf(k.Uint64s())}
		if s.step > 0 {
			next.Stamp = w.Windows[i] + 1 // 0 is no stamp
		}
		s.keys = append(s.keys, next)
	}
	var least uint32
	if s.step > 0 {
		least = w.Least/s.step*s.step + 1
	}
	state, changed, err := s.journal.Append(s.keys, least)
	if err != nil || !changed && !s.fresh && bytes.Equal(w.State, s.windows) {
		s.next = s.windows
		return nil, err
	}
	s.next = w.State
	return json.Marshal(description{descriptionVersion, s.id, state, s.next})
}

// WindowState implements [engine.WindowKeySet].
func (s *Durable) WindowState() []byte { return s.windows }

// leastGone is a size in bytes. If the files that only older states name are
// larger than this, and larger than half of the set, Stored writes a new
// snapshot of the checkpoint, so that these files can be removed.
const leastGone = 64 << 20

// Stored implements [engine.KeySet].
func (s *Durable) Stored() error {
	if err := s.journal.Stored(s.store.Epoch()); err != nil {
		return err
	}
	s.fresh, s.windows = false, s.next
	s.measure()
	if gone := s.journal.Gone(); gone > leastGone && gone > s.onDisk.Load()/2 {
		_ = s.store.Compact() // everything is stored; the next commit tries again
	}
	return nil
}

// Metrics emits the metrics of the set.
func (s *Durable) Metrics(emit metric.Emit) {
	count, gauge := metric.Of(emit)
	gauge("dedupe_keys", "Number of keys in the stored set.", s.members.Load())
	gauge("dedupe_memory_bytes", "Memory of the stored set of keys, in bytes.", s.memory.Load())
	gauge("dedupe_disk_bytes", "Size of the files of the stored set of keys, in bytes.", s.onDisk.Load())
	count("dedupe_resets_total", "Number of times that the set of keys was emptied because the configuration has changed.", s.resets)
	s.Counts.Metrics(emit)
}

// Texts of metrics that sets in files and in buckets share.
const (
	resultsHelp = "Number of records that dedupe has compared, by result: first, duplicate (dropped, or marked with keep: mark), no_key for a record without a key, which passes, delayed for one whose message is delivered again, or, with windows, late, ahead (a time far ahead of those before) or no_time for one that passes."
	waitingHelp = "Number of new keys that wait for a commit, or for their records to be durable."
)

// emitCounts emits the counts of a run.
func emitCounts(emit metric.Emit, c *engine.DedupeSnapshot) {
	count, _ := metric.Of(emit)
	count("dedupe_records_total", resultsHelp, c.Firsts, "result", "first")
	count("dedupe_records_total", resultsHelp, c.Duplicates, "result", "duplicate")
	count("dedupe_records_total", resultsHelp, c.NoKey, "result", "no_key")
	if c.Windows {
		count("dedupe_records_total", resultsHelp, c.Late, "result", "late")
		count("dedupe_records_total", resultsHelp, c.Ahead, "result", "ahead")
		count("dedupe_records_total", resultsHelp, c.NoTime, "result", "no_time")
	}
}

// Close closes the files of the set. It stores nothing.
func (s *Durable) Close() error { return s.journal.Close() }

// Interface guard.
var _ engine.WindowKeySet = (*Durable)(nil)
