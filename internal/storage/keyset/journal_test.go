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
	stamped bool          // keys have stamps, and old ones are forgotten
	sealed  int
}

type storedState struct {
	gen   uint64
	state JournalState
	keys  map[Key]bool
}

// key returns key n. Later keys have later stamps.
func (w *journalWorld) key(n uint64) Stamped {
	k := Stamped{Key: Key{Hi: n * 0x9E3779B97F4A7C15, Lo: n}}
	if w.stamped {
		k.Stamp = 1 + uint32(n/100)
	}
	return k
}

// least returns the stamp before which keys are forgotten.
func (w *journalWorld) least() uint32 {
	if stamp := w.key(w.next).Stamp; stamp > 2 {
		return (stamp - 2) / 3 * 3
	}
	return 0
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
	w.mayLoad = append(w.mayLoad, storedState{w.gen, JournalState{slices.Clone(state.Runs), slices.Clone(state.Logs), state.Least}, keys})
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
	j.SetTable(200 * tableBytes)
	j.createLog = func() (logFile, error) {
		f, err := j.newLog()
		if err != nil {
			return nil, err
		}
		return &lossyLog{logFile: f, w: w}, nil
	}
	have := maps.Clone(last.keys)
	var keys []Stamped
	for range w.rng.IntN(40) {
		for range w.rng.IntN(40) {
			w.next++
			keys = append(keys, w.key(w.next))
		}
		state, changed, err := j.Append(keys, w.least())
		if err != nil || !changed {
			continue
		}
		if len(state.Runs) > 0 {
			w.sealed++
		}
		with := maps.Clone(have)
		for _, k := range keys {
			with[k.Key] = true
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
			w.ask(j, have, state.Least)
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
	w.ask(j, s.keys, s.state.Least)
	if err := j.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// ask compares the keys of j with want, in both directions, except those with
// stamps before least.
func (w *journalWorld) ask(j *Journal, want map[Key]bool, least uint32) {
	w.t.Helper()
	n, forgotten := 0, 0
	for i := range w.next {
		k := w.key(i + 1)
		ok, err := j.Has(k.Key)
		switch {
		case err != nil:
			w.t.Fatal(err)
		case k.Stamp < least:
			if ok {
				forgotten++ // it was new when the limit rose
			}
		case ok != want[k.Key]:
			w.t.Fatalf("key %d: %v, want %v", i+1, ok, want[k.Key])
		case ok:
			n++
		}
	}
	if int(j.Len()) != n+forgotten || forgotten > 600 {
		w.t.Errorf("%d keys, want %d and %d that are to be forgotten", j.Len(), n, forgotten)
	}
}

// TestJournal: whatever writes, syncs and stores fail, each state that a restart
// may find opens with exactly its keys, no byte of it is written again, and no
// file stays for ever. With stamps, old keys disappear.
func TestJournal(t *testing.T) {
	for seed := range uint64(8) {
		w := &journalWorld{t: t, rng: rand.New(rand.NewPCG(seed, 5)), dir: t.TempDir(), gen: 1, mayLoad: []storedState{{gen: 1, keys: map[Key]bool{}}}, stamped: seed%2 > 0}
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

// TestJournalForget: keys with stamps before the limit leave the set and the
// disk, whether they are in a log, in a separate run, or in one with other
// keys.
func TestJournalForget(t *testing.T) {
	dir := t.TempDir()
	j, err := OpenJournal(dir, JournalState{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var state JournalState
	gen := uint64(1)
	add := func(least uint32, keys ...Stamped) {
		t.Helper()
		if state, _, err = j.Append(keys, least); err != nil {
			t.Fatal(err)
		}
		gen++
		if err := j.Stored(gen); err != nil {
			t.Fatal(err)
		}
	}
	group := func(stamp uint32) (keys []Stamped) {
		for n := range uint64(1000) {
			keys = append(keys, Stamped{Key{Hi: (n + 1) * 0x9E3779B97F4A7C15, Lo: uint64(stamp)}, stamp})
		}
		return keys
	}
	want := func(least, until uint32, runs int) {
		t.Helper()
		again, err := OpenJournal(dir, state, gen)
		if err != nil {
			t.Fatal(err)
		}
		for stamp := uint32(1); stamp < until; stamp++ {
			k := group(stamp)[7].Key
			for _, set := range []*Journal{j, again} {
				if ok, err := set.Has(k); err != nil || ok != (stamp >= least) {
					t.Errorf("stamp %d: %v, %v", stamp, ok, err)
				}
			}
		}
		if n := 1000 * int64(until-least); j.Len() != n || again.Len() != n || len(state.Runs) != runs {
			t.Errorf("%d keys, %d after a restart, want %d; %+v", j.Len(), again.Len(), n, state)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
	add(0, append(group(1), group(2)...)...)
	add(2, group(3)...) // from a log
	want(2, 4, 1)
	add(3, group(4)...) // from a run
	want(3, 5, 1)
	add(4, group(5)...) // a whole run
	add(5)
	want(5, 6, 1)
	add(6)
	want(6, 6, 0)
	for range 3 {
		add(6)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 0 {
		t.Errorf("files are left: %v, %v", files, err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
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
	j.SetTable(100 * tableBytes)
	var state JournalState
	for i := range uint64(3) {
		var keys []Stamped
		for n := range uint64(100) {
			keys = append(keys, Stamped{Key: Key{Hi: (n + 1) << 40, Lo: i}})
		}
		if state, _, err = j.Append(keys, 0); err != nil {
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
