package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/pipeline/engine"
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

// TestRoundTrip checks that all sources and extents are read back, including
// paths with arbitrary bytes.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	a := entry("a", "one", 10)
	a.Path, a.Rel, a.Verdict = "/odd/\xff\xfe\n\"", "base64:x", "truncated at byte 5: …"
	a.Directive = "#Fields: \xff\n"
	b := entry("b", "two", 0)
	extents := []engine.Extent{{Sink: "out", Lane: "one", Path: "/o/\xff", Length: 7}, {Sink: "dead", Path: "d", Length: 1}}
	save(t, s, Update{Source: "a", Entries: []Entry{a}})
	save(t, s, Update{Source: "b", Entries: []Entry{b}, Cut: true, Extents: extents})
	save(t, s, Update{Source: "a", Entries: []Entry{a}}) // no cut: extents stay
	shut(t, s)
	s = open(t, dir)
	defer shut(t, s)
	if got := s.Entries("a"); !slices.Equal(got, []Entry{a}) {
		t.Errorf("%+v", got)
	}
	if got := s.Entries("b"); !slices.Equal(got, []Entry{b}) {
		t.Errorf("%+v", got)
	}
	if got := s.Extents("out"); !slices.Equal(got, extents[:1]) {
		t.Errorf("%+v", got)
	}
	if len(s.Warnings()) > 0 {
		t.Error(s.Warnings())
	}
	save(t, s, Update{Source: "a", Entries: []Entry{a}, Forget: []string{"one"}})
	if len(s.Extents("out")) != 0 || len(s.Extents("dead")) != 1 {
		t.Error("the extents of a finished lane stay, or others go")
	}
}

// TestUnreadable checks that a state that exists but cannot be opened does not
// count as damaged, because everything would be read again. A link to itself
// represents all reasons.
func TestUnreadable(t *testing.T) {
	f := func(name string) {
		t.Helper()
		dir := t.TempDir()
		if err := os.Symlink(name, filepath.Join(dir, name)); err != nil {
			t.Skip("skipped: unreadable checkpoints; run on a file system with symbolic links: ", err)
		}
		if s, err := Open(dir); err == nil {
			t.Errorf("%s was ignored", name)
			_ = s.Close()
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir) // the lock was released
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
	}
	f(snapshotName)
	f(logName)
	f(previousName)
	f(previousLogName)
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if _, err := Open(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("a second Open: %v", err)
	}
	if _, err := Reset(dir, "**"); !errors.Is(err, ErrLocked) {
		t.Errorf("Reset while a process runs: %v", err)
	}
	shut(t, s)
	shut(t, open(t, dir))
}

// TestPoints checks that a restart point exists as long as the newest state or
// the previous one names it.
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
		t.Errorf("the id %d is used again", id)
	}
}

func TestListAndReset(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	save(t, s, Update{Source: "b", Entries: []Entry{entry("b", "sub/z", 1), entry("b", "a[1]", 1)}})
	save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "y", 1)}, Cut: true,
		Extents: []engine.Extent{{Sink: "s", Lane: "y", Path: "p"}, {Sink: "s", Lane: "sub/z", Path: "q"}}})
	c, warnings := List(dir) // while a process runs
	var paths []string
	for _, e := range c.Entries {
		paths = append(paths, e.Path)
	}
	if got := strings.Join(paths, " "); got != "/var/log/y /var/log/a[1] /var/log/sub/z" || len(warnings) > 0 || len(c.Extents) != 2 {
		t.Errorf("%s, %v, %v", got, warnings, c.Extents)
	}
	shut(t, s)
	f := func(pattern string, want, left, extents int) {
		t.Helper()
		n, err := Reset(dir, pattern)
		c, _ := List(dir)
		if err != nil || n != want || len(c.Entries) != left || len(c.Extents) != extents {
			t.Errorf("Reset(%q) = %d, %v; left %d entries, %d extents", pattern, n, err, len(c.Entries), len(c.Extents))
		}
	}
	f("/var/log/none", 0, 3, 2)
	f("/var/log/a[1]", 1, 2, 2) // matched as a name, although it looks like a glob
	f("/var/log/*", 1, 1, 1)
	f("/var/**", 1, 0, 0)
	if _, err := Reset(dir, "[a"); err == nil {
		t.Error("an invalid glob is accepted")
	}
}

// BenchmarkSave stores a commit of one file among 100,000.
func BenchmarkSave(b *testing.B) {
	s := open(b, b.TempDir())
	defer shut(b, s)
	var all []Entry
	for i := range 100000 {
		all = append(all, entry("a", fmt.Sprint(i), 5000))
	}
	save(b, s, Update{Source: "a", Entries: all})
	for b.Loop() {
		all[0].Offset++
		save(b, s, Update{Source: "a", Entries: all[:1]})
	}
}

// BenchmarkCompact writes the snapshot of 100,000 files.
func BenchmarkCompact(b *testing.B) {
	s := open(b, b.TempDir())
	defer shut(b, s)
	var all []Entry
	for i := range 100000 {
		all = append(all, entry("a", fmt.Sprint(i), 5000))
	}
	save(b, s, Update{Source: "a", Entries: all})
	for b.Loop() {
		if err := s.compact(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(s.w.snapshotSize)/100000, "B/file")
}

// BenchmarkOpen loads 100,000 files.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	s := open(b, dir)
	var all []Entry
	for i := range 100000 {
		all = append(all, entry("a", fmt.Sprint(i), 5000))
	}
	save(b, s, Update{Source: "a", Entries: all})
	shut(b, s)
	for b.Loop() {
		s := open(b, dir)
		if n := len(s.Entries("a")); n != len(all) {
			b.Fatal(n)
		}
		shut(b, s)
	}
}

// TestKeys: the description of a set of keys is stored with the positions, and
// removed with them or by itself.
func TestKeys(t *testing.T) {
	dir := t.TempDir()
	begin := func() *Store {
		s := open(t, dir)
		save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "1", 10)}, Keys: []byte(`{"n":1}`)})
		save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "1", 20)}})
		return s
	}
	check := func(what, want string) {
		t.Helper()
		if c, _ := List(dir); c.Keys != want {
			t.Errorf("%s: %q, want %q", what, c.Keys, want)
		}
	}
	s := begin()
	if s.Keys() != `{"n":1}` {
		t.Errorf("stored keys: %q", s.Keys())
	}
	shut(t, s)
	check("after Close", `{"n":1}`)
	if n, err := Reset(dir, "no such file"); n != 0 || err != nil {
		t.Error(n, err)
	}
	check("after Reset of nothing", `{"n":1}`)
	if n, err := Reset(dir, "**"); n != 1 || err != nil {
		t.Error(n, err)
	}
	check("after Reset", "")
	shut(t, begin())
	for _, want := range []bool{true, false} {
		if found, err := ResetKeys(dir); found != want || err != nil {
			t.Errorf("ResetKeys: %v, %v, want %v", found, err, want)
		}
	}
	if c, _ := List(dir); c.Keys != "" || len(c.Entries) != 1 {
		t.Errorf("after ResetKeys: %q, %d entries", c.Keys, len(c.Entries))
	}
}

// TestEpoch: an epoch begins with each snapshot whose predecessor is kept.
func TestEpoch(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	defer shut(t, s)
	want := uint64(1)
	check := func(what string) {
		t.Helper()
		if got := s.Epoch(); got != want {
			t.Errorf("%s: epoch %d, want %d", what, got, want)
		}
	}
	check("new")
	save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "1", 10)}})
	want++
	check("first commit")
	save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "1", 20)}})
	check("second commit")
	if err := s.Compact(); err != nil {
		t.Fatal(err)
	}
	want++
	check("Compact")
	if err := os.Truncate(filepath.Join(dir, logName), 3); err != nil {
		t.Fatal(err)
	}
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	check("after the log was damaged, the files of two snapshots ago are still there")
}
