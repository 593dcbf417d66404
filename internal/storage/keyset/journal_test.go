package keyset

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A lossyLog keeps what was not synced in memory: a crash loses it.
type lossyLog struct {
	logFile
	w     *journalWorld
	dirty []dirtyBytes
	bad   bool // a sync failed: nothing written since is on the disk, whatever later syncs say
}

type dirtyBytes struct {
	at   int64
	text []byte
}

func (l *lossyLog) WriteAt(p []byte, off int64) (int, error) {
	for _, st := range l.w.mayLoad {
		for _, info := range st.state.Logs {
			if info.Name == filepath.Base(l.Name()) && off < info.Bytes {
				l.w.t.Errorf("byte %d of %s is written, but a state names the first %d bytes", off, info.Name, info.Bytes)
			}
		}
	}
	if l.w.chance(4) {
		return 0, errors.New("disk full")
	}
	l.dirty = append(l.dirty, dirtyBytes{off, slices.Clone(p)})
	return len(p), nil
}

func (l *lossyLog) Sync() error {
	dirty := l.dirty
	l.dirty = nil
	if l.w.chance(4) {
		l.bad = true
		return errors.New("lost write")
	}
	if l.bad {
		return nil
	}
	for _, d := range dirty {
		if _, err := l.logFile.WriteAt(d.text, d.at); err != nil {
			return err
		}
	}
	return l.logFile.Sync()
}

// A journalWorld is what survives a process: a folder, and the states that a
// restart may find.
type journalWorld struct {
	t       *testing.T
	rng     *rand.Rand
	dir     string
	gen     uint64
	mayLoad []storedState // the newest last
	next    uint64        // next key
	sealed  int
}

type storedState struct {
	gen   uint64
	state JournalState
	keys  map[Key]bool
}

func (w *journalWorld) chance(percent int) bool { return w.rng.IntN(100) < percent }

// save makes a state the stored one.
func (w *journalWorld) save(state JournalState, keys map[Key]bool) {
	if w.chance(10) { // the checkpoint begins a generation, with a snapshot of its last state
		last := w.mayLoad[len(w.mayLoad)-1]
		w.gen++
		last.gen = w.gen
		w.mayLoad = append(w.mayLoad, last)
	}
	w.mayLoad = append(w.mayLoad, storedState{w.gen, JournalState{slices.Clone(state.Runs), slices.Clone(state.Logs)}, keys})
	w.mayLoad = slices.DeleteFunc(w.mayLoad, func(s storedState) bool { return s.gen+1 < w.gen })
}

// live runs one process.
func (w *journalWorld) live() {
	if w.chance(10) { // the newest commits were damaged
		w.mayLoad = w.mayLoad[:1+w.rng.IntN(len(w.mayLoad))]
	}
	for _, s := range w.mayLoad {
		w.check(&s)
	}
	last := w.mayLoad[len(w.mayLoad)-1]
	j, err := OpenJournal(w.dir, last.state, w.gen)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	w.gen++ // the first commit of a process begins one
	last.gen = w.gen
	w.mayLoad = append(w.mayLoad, last)
	j.most = 200
	j.createLog = func() (logFile, error) {
		f, err := j.newLog()
		if err != nil {
			return nil, err
		}
		return &lossyLog{logFile: f, w: w}, nil
	}
	have := maps.Clone(last.keys)
	var keys []Key
	for range w.rng.IntN(40) {
		for range w.rng.IntN(40) {
			w.next++
			keys = append(keys, Key{w.next * 0x9E3779B97F4A7C15, w.next})
		}
		state, changed, err := j.Append(keys)
		if err != nil || !changed {
			continue
		}
		if len(state.Runs) > 0 {
			w.sealed++
		}
		with := maps.Clone(have)
		for _, k := range keys {
			with[k] = true
		}
		switch n := w.rng.IntN(100); {
		case n < 5: // not stored
			continue
		case n < 10: // stored, but reported as failed
			w.save(state, with)
			continue
		}
		w.save(state, with)
		if err := j.Stored(w.gen); err != nil {
			w.t.Fatal(err)
		}
		have, keys = with, nil
		if w.chance(20) {
			w.ask(j, have)
		}
	}
}

// check opens a state and compares its keys.
func (w *journalWorld) check(s *storedState) {
	w.t.Helper()
	j, err := OpenJournal(w.dir, s.state, w.gen)
	if err != nil {
		w.t.Fatal(err)
	}
	w.ask(j, s.keys)
	if err := j.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// ask compares the keys of j with want, in both directions.
func (w *journalWorld) ask(j *Journal, want map[Key]bool) {
	w.t.Helper()
	for n := range w.next {
		k := Key{(n + 1) * 0x9E3779B97F4A7C15, n + 1}
		if ok, err := j.Has(k); err != nil || ok != want[k] {
			w.t.Fatalf("key %d: %v, %v, want %v", n+1, ok, err, want[k])
		}
	}
	if int(j.Len()) != len(want) {
		w.t.Errorf("%d keys, want %d", j.Len(), len(want))
	}
}

// TestJournal: whatever writes, syncs and stores fail, each state that a restart
// may find opens with exactly its keys, no byte of it is written again, and no
// file stays for ever.
func TestJournal(t *testing.T) {
	for seed := range uint64(4) {
		w := &journalWorld{t: t, rng: rand.New(rand.NewPCG(seed, 5)), dir: t.TempDir(), gen: 1, mayLoad: []storedState{{gen: 1, keys: map[Key]bool{}}}}
		for range 8 {
			w.live()
		}
		if t.Failed() {
			return
		}
		if w.sealed == 0 {
			t.Error("no run was written")
		}
		files, _ := os.ReadDir(w.dir)
		if len(files) > 120 {
			t.Errorf("%d files are left", len(files))
		}
	}
}

// TestJournalDamage: a missing log or run, a log that is too short, and one with
// a flipped bit are errors that name the file.
func TestJournalDamage(t *testing.T) {
	dir := t.TempDir()
	j, err := OpenJournal(dir, JournalState{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	j.most = 100
	var state JournalState
	for i := range uint64(3) {
		var keys []Key
		for n := range uint64(100) {
			keys = append(keys, Key{(n + 1) << 40, i})
		}
		if state, _, err = j.Append(keys); err != nil {
			t.Fatal(err)
		}
		if err := j.Stored(1); err != nil {
			t.Fatal(err)
		}
	}
	if memory, disk := j.Bytes(); len(state.Runs) == 0 || len(state.Logs) != 1 || memory == 0 || disk == 0 || j.Gone() == 0 {
		t.Fatalf("%+v, %d and %d bytes, %d gone", state, memory, disk, j.Gone())
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{state.Runs[0].Name, state.Logs[0].Name} {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		flipped := slices.Clone(whole)
		flipped[len(flipped)/2+9] ^= 4
		for what, data := range map[string][]byte{"short": whole[:len(whole)-1], "missing": nil, "flipped": flipped} {
			if strings.HasSuffix(name, runSuffix) && what == "flipped" {
				continue // the block is checked when it is read: TestDamagedRun
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if data != nil {
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := OpenJournal(dir, state, 1)
			if err == nil || !strings.Contains(fmt.Sprint(err), name) || errors.Is(err, fs.ErrNotExist) != (data == nil) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
