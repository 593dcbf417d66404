package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/pipeline"
)

func entry(source, id string, off int64) Entry {
	return Entry{Source: source, ID: id, Path: "/var/log/" + id, Dev: 1, Ino: 2, Size: off + 5, ModTime: 3, HeadLen: min(off, 1024),
		Head: "aa", TailLen: min(off, 1024), Tail: "bb", Offset: off, Line: off + 1, State: Reading}
}

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func shut(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func save(t testing.TB, s *Store, u Update) {
	t.Helper()
	if err := s.Save(u); err != nil {
		t.Fatal(err)
	}
}

// TestRoundTrip: all sources and marks come back, paths of any bytes among them.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	a := entry("a", "one", 10)
	a.Path, a.Rel, a.Verdict = "/odd/\xff\xfe\n\"", "base64:x", "truncated at byte 5: …"
	b := entry("b", "two", 0)
	marks := []pipeline.Mark{{Sink: "out", Lane: "one", Path: "/o/\xff", Length: 7}, {Sink: "dead", Path: "d", Length: 1}}
	save(t, s, Update{Source: "a", Entries: []Entry{a}})
	save(t, s, Update{Source: "b", Entries: []Entry{b}, Cut: true, Marks: marks})
	save(t, s, Update{Source: "a", Entries: []Entry{a}}) // no cut: marks stay
	shut(t, s)
	s = open(t, dir)
	defer shut(t, s)
	if got := s.Entries("a"); !slices.Equal(got, []Entry{a}) {
		t.Errorf("%+v", got)
	}
	if got := s.Entries("b"); !slices.Equal(got, []Entry{b}) {
		t.Errorf("%+v", got)
	}
	if got := s.Marks("out"); !slices.Equal(got, marks[:1]) {
		t.Errorf("%+v", got)
	}
	if len(s.Warnings()) > 0 {
		t.Error(s.Warnings())
	}
	save(t, s, Update{Source: "a", Entries: []Entry{a}, Forget: []string{"one"}})
	if len(s.Marks("out")) != 0 || len(s.Marks("dead")) != 1 {
		t.Error("the marks of a finished lane stay, or others go")
	}
}

// TestDamage: whatever is wrong with the newest state, the one before it is used,
// and if both are bad there is no progress; and the next Save makes all well.
func TestDamage(t *testing.T) {
	good := func(b []byte) []byte { return b }
	wrongs := map[string]func([]byte) []byte{
		"empty":         func([]byte) []byte { return nil },
		"torn":          func(b []byte) []byte { return b[:len(b)/2] },
		"torn at line":  func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] },
		"one byte less": func(b []byte) []byte { return b[:len(b)-1] },
		"one byte more": func(b []byte) []byte { return append(b, '\n') },
		"other version": func(b []byte) []byte { return bytes.Replace(b, []byte(`"version":1`), []byte(`"version":2`), 1) },
		"zeros":         func(b []byte) []byte { return make([]byte, len(b)) },
		"long line":     func([]byte) []byte { return bytes.Repeat([]byte("x"), 3*maxLine) },
	}
	f := func(name string, newest, before func([]byte) []byte, want int64) {
		t.Helper()
		dir := t.TempDir()
		s := open(t, dir)
		for off := range int64(4) {
			save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", off)}})
		}
		shut(t, s)
		for file, change := range map[string]func([]byte) []byte{currentName: newest, previousName: before} {
			path := filepath.Join(dir, file)
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, change(b), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		s = open(t, dir)
		got := s.Entries("a")
		if want < 0 && len(got) != 0 || want >= 0 && (len(got) != 1 || got[0].Offset != want) || len(s.Warnings()) == 0 {
			t.Errorf("%s: %+v, warnings %q", name, got, s.Warnings())
		}
		save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 9)}})
		save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 10)}})
		shut(t, s)
		s = open(t, dir)
		if got := s.Entries("a"); len(got) != 1 || got[0].Offset != 10 || len(s.Warnings()) > 0 {
			t.Errorf("%s, then saved: %+v, warnings %q", name, got, s.Warnings())
		}
		shut(t, s)
		if _, err := os.Stat(filepath.Join(dir, badName)); err != nil {
			t.Errorf("%s: the bad one was not kept: %v", name, err)
		}
	}
	for name, wrong := range wrongs {
		f(name, wrong, good, 2)
		f(name+", both", wrong, wrong, -1)
	}
}

// TestEveryBit: a change of any bit of a state is seen.
func TestEveryBit(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 100)}, Cut: true, Marks: []pipeline.Mark{{Sink: "s", Path: "p", Length: 5}}})
	shut(t, s)
	b, err := os.ReadFile(filepath.Join(dir, currentName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parse(bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	for i := range b {
		for bit := range 8 {
			b[i] ^= 1 << bit
			if _, err := parse(bytes.NewReader(b)); err == nil {
				t.Errorf("bit %d of byte %d can change", bit, i)
			}
			b[i] ^= 1 << bit
		}
	}
	for n := range b {
		if _, err := parse(bytes.NewReader(b[:n])); err == nil {
			t.Errorf("the first %d bytes of %d are a state", n, len(b))
		}
	}
}

// TestMissing: what a crash between two steps leaves behind can be read.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if len(s.Warnings()) > 0 || s.Entries("a") != nil {
		t.Error("a new data directory has warnings or progress")
	}
	save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 1)}})
	save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 2)}})
	shut(t, s)
	if err := os.Remove(filepath.Join(dir, currentName)); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer shut(t, s)
	if got := s.Entries("a"); len(got) != 1 || got[0].Offset != 1 || len(s.Warnings()) != 1 {
		t.Errorf("%+v, %q", got, s.Warnings())
	}
}

// A state that is there and cannot be opened is no damaged one: with nothing in its
// place all would be read again. A link to itself stands for all reasons.
func TestUnreadable(t *testing.T) {
	f := func(name string) {
		t.Helper()
		dir := t.TempDir()
		if err := os.Symlink(name, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
		if s, err := Open(dir); err == nil {
			t.Errorf("%s was passed over", name)
			_ = s.Close()
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir) // and the lock was given back
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
	}
	f(currentName)
	f(previousName)
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := Open(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("a second Open: %v", err)
	}
	if _, err := Reset(dir, "**"); !errors.Is(err, ErrLocked) {
		t.Errorf("Reset beside a process: %v", err)
	}
	shut(t, s)
	shut(t, open(t, dir))
}

// TestFaults: whatever step of Save fails, what was stored before is what a restart
// finds, or what was to be stored; Health says so; and the next Save works.
func TestFaults(t *testing.T) {
	full := errors.New("no space left on device")
	for _, step := range []string{"point", "write", "sync", "rename", "sync dir"} {
		dir := t.TempDir()
		s := open(t, dir)
		save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 1)}})
		save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 2)}})
		s.fault = func(at string) error {
			if at == step {
				return full
			}
			return nil
		}
		e := entry("a", "x", 5000)
		e.Restart = s.NewPoint()
		u := Update{Source: "a", Entries: []Entry{e}, Points: map[int64][]byte{e.Restart: []byte("point")}, Cut: true, Marks: []pipeline.Mark{{Sink: "s", Path: "p"}}}
		if err := s.Save(u); !errors.Is(err, full) || !errors.Is(s.Health(), full) {
			t.Errorf("%s: %v, %v", step, err, s.Health())
		}
		if step != "sync dir" && (s.Entries("a")[0].Offset != 2 || s.Marks("s") != nil) {
			t.Errorf("%s: what failed counts", step)
		}
		c, warnings := List(dir)
		if len(warnings) > 0 || len(c.Entries) != 1 || c.Entries[0].Offset != 2 && step != "sync dir" {
			t.Errorf("%s: %+v, %q", step, c, warnings)
		}
		s.fault = func(string) error { return nil }
		save(t, s, u)
		if err := s.Health(); err != nil {
			t.Errorf("%s, then saved: %v", step, err)
		}
		shut(t, s)
		s = open(t, dir)
		if p, err := s.Point(e.Restart); err != nil || string(p) != "point" || s.Entries("a")[0] != e {
			t.Errorf("%s, then saved: %q, %v", step, p, err)
		}
		shut(t, s)
	}
}

// TestPoints: a restart point stays for as long as the newest state or the one
// before it names it.
func TestPoints(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	var ids []int64
	for i := range 4 {
		id := s.NewPoint()
		ids = append(ids, id)
		e := entry("a", "x", 5000)
		e.Restart = id
		save(t, s, Update{Source: "a", Entries: []Entry{e}, Points: map[int64][]byte{id: fmt.Append(nil, i)}})
	}
	for i, id := range ids {
		p, err := s.Point(id)
		if there := i >= 2; there != (err == nil) || there && string(p) != fmt.Sprint(i) {
			t.Errorf("point %d of %d: %q, %v", i, len(ids), p, err)
		}
	}
	path := filepath.Join(dir, restartDir, fmt.Sprint(ids[3]))
	if err := os.WriteFile(path, []byte("01234567not it"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Point(ids[3]); !errors.Is(err, errPoint) {
		t.Errorf("a damaged point: %v", err)
	}
	shut(t, s)
	s = open(t, dir)
	defer shut(t, s)
	if id := s.NewPoint(); id <= ids[3] {
		t.Errorf("the id %d is given again", id)
	}
}

func TestListAndReset(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	save(t, s, Update{Source: "b", Entries: []Entry{entry("b", "sub/z", 1), entry("b", "a[1]", 1)}})
	save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "y", 1)}, Cut: true,
		Marks: []pipeline.Mark{{Sink: "s", Lane: "y", Path: "p"}, {Sink: "s", Lane: "sub/z", Path: "q"}}})
	c, warnings := List(dir) // beside a process
	var paths []string
	for _, e := range c.Entries {
		paths = append(paths, e.Path)
	}
	if got := strings.Join(paths, " "); got != "/var/log/y /var/log/a[1] /var/log/sub/z" || len(warnings) > 0 || len(c.Marks) != 2 {
		t.Errorf("%s, %v, %v", got, warnings, c.Marks)
	}
	shut(t, s)
	f := func(pattern string, want, left, marks int) {
		t.Helper()
		n, err := Reset(dir, pattern)
		c, _ := List(dir)
		if err != nil || n != want || len(c.Entries) != left || len(c.Marks) != marks {
			t.Errorf("Reset(%q) = %d, %v; left %d entries, %d marks", pattern, n, err, len(c.Entries), len(c.Marks))
		}
	}
	f("/var/log/none", 0, 3, 2)
	f("/var/log/a[1]", 1, 2, 2) // by its name, though it looks like a glob
	f("/var/log/*", 1, 1, 1)
	f("/var/**", 1, 0, 0)
	if _, err := Reset(dir, "[a"); err == nil {
		t.Error("a bad glob is taken")
	}
}

// FuzzParse: no input makes the parser panic, and what it takes is written back to
// a state with the same contents.
func FuzzParse(f *testing.F) {
	dir := f.TempDir()
	s := open(f, dir)
	e := entry("a", "x", 5000)
	e.Path = "\xff"
	save(f, s, Update{Source: "a", Entries: []Entry{e, entry("a", "y", 0)}, Cut: true, Marks: []pipeline.Mark{{Sink: "s", Lane: "x", Path: "p", Length: 5}}})
	shut(f, s)
	b, err := os.ReadFile(filepath.Join(dir, currentName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Add([]byte(nil))
	f.Add([]byte(`{"urlfold":"checkpoint","version":1,"lines":0}` + "\n"))
	f.Add([]byte(`{"urlfold":"checkpoint","version":1,"lines":1000000000}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse(bytes.NewReader(data))
		if err != nil {
			return
		}
		dir := t.TempDir()
		s := open(t, dir)
		defer shut(t, s)
		save(t, s, Update{Source: "all", Entries: c.Entries, Cut: true, Marks: c.Marks})
		d, err := readState(filepath.Join(dir, currentName))
		if err != nil || !slices.Equal(c.Marks, d.Marks) || len(c.Entries) != len(d.Entries) {
			t.Fatalf("%+v became %+v, %v", c, d, err)
		}
	})
}

// BenchmarkSave stores 10,000 files of which one has moved.
func BenchmarkSave(b *testing.B) {
	s := open(b, b.TempDir())
	defer shut(b, s)
	var all []Entry
	for i := range 10000 {
		all = append(all, entry("a", fmt.Sprint(i), 5000))
	}
	for i := 0; b.Loop(); i++ {
		all[0].Offset++
		save(b, s, Update{Source: "a", Entries: all})
	}
}
