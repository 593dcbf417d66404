package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// kept creates a store with a checkpoint that Keep accepts.
func kept(t *testing.T, dir string) *Store {
	t.Helper()
	s := open(t, dir)
	save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 1), entry("a", "y", 7)}})
	save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 2)}})
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestKeepHeals checks that Keep restores the checkpoint files whatever happens
// to them during a run, without a commit in between.
func TestKeepHeals(t *testing.T) {
	remove := func(names ...string) func(dir string) error {
		return func(dir string) error {
			for _, name := range names {
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for name, harm := range map[string]func(dir string) error{
		"snapshot removed": remove(snapshotName),
		"log removed":      remove(logName),
		"both removed":     remove(snapshotName, logName),
		"log cut":          func(dir string) error { return os.Truncate(filepath.Join(dir, logName), 100) },
		"snapshot emptied": func(dir string) error { return os.Truncate(filepath.Join(dir, snapshotName), 0) },
		"log appended to": func(dir string) error {
			f, err := os.OpenFile(filepath.Join(dir, logName), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("x")
			return errors.Join(err, f.Close())
		},
		"replaced by copies": func(dir string) error {
			for _, name := range []string{snapshotName, logName} {
				path := filepath.Join(dir, name)
				b, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				if err := errors.Join(os.Remove(path), os.WriteFile(path, b, 0o600)); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		dir := t.TempDir()
		s := kept(t, dir)
		if err := harm(dir); err != nil {
			t.Fatal(err)
		}
		if err := s.Keep(); err != nil || s.Health() != nil {
			t.Errorf("%s: %v, %v", name, err, s.Health())
		}
		c, warnings := List(dir) // as a crash would find it
		if len(c.Entries) != 2 || c.Entries[0].Offset != 2 || len(warnings) > 0 {
			t.Errorf("%s: %+v, %q", name, c.Entries, warnings)
		}
		if err := harm(dir); err != nil {
			t.Fatal(err)
		}
		save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 3)}})
		if err := s.Keep(); err != nil {
			t.Error(err)
		}
		shut(t, s)
		s = open(t, dir)
		if off := s.Entries("a"); len(off) != 2 || len(s.Warnings()) > 0 {
			t.Errorf("%s, and a commit: %+v, %q", name, off, s.Warnings())
		}
		shut(t, s)
	}
}

// TestKeepNoticesLock checks that a process stores nothing more when its lock
// file is no longer the one in its data directory, because another process may
// hold that lock.
func TestKeepNoticesLock(t *testing.T) {
	var moved string
	for name, harm := range map[string]func(dir string) error{
		"lock removed": func(dir string) error { return os.Remove(filepath.Join(dir, lockName)) },
		"lock replaced": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, lockName)), os.WriteFile(filepath.Join(dir, lockName), nil, 0o600))
		},
		"folder removed": os.RemoveAll,
		"a file in its place": func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
		},
		"folder removed and made": func(dir string) error {
			return errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, lockName), nil, 0o600))
		},
		"a link to another folder": func(dir string) error {
			moved = t.TempDir()
			return errors.Join(os.RemoveAll(dir), os.Symlink(moved, dir))
		},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		s := kept(t, dir)
		if err := harm(dir); err != nil {
			t.Fatal(err)
		}
		var lost *engine.LostError
		if err := s.Keep(); !errors.As(err, &lost) || s.Health() == nil {
			t.Errorf("%s: Keep: %v, Health: %v", name, err, s.Health())
		}
		if err := s.Save(Update{Source: "a", Entries: []Entry{entry("a", "x", 3)}}); !errors.As(err, &lost) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: Save: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, snapshotName)); err == nil && !strings.HasPrefix(name, "lock") {
			t.Errorf("%s: wrote to a folder that may belong to another process", name)
		}
		_ = s.Close() // an error is irrelevant: the lock is lost
	}
}

// TestKeepFollows checks that a folder that was moved, and is still reached
// through its old path, counts as the same.
func TestKeepFollows(t *testing.T) {
	base := t.TempDir()
	dir, other := filepath.Join(base, "data"), filepath.Join(base, "elsewhere")
	s := kept(t, dir)
	defer shut(t, s)
	if err := errors.Join(os.Rename(dir, other), os.Symlink(other, dir)); err != nil {
		t.Fatal(err)
	}
	if err := s.Keep(); err != nil {
		t.Error(err)
	}
	save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 3)}})
}

// TestKeepRestartFolder checks that the folder of restart points may be
// removed.
func TestKeepRestartFolder(t *testing.T) {
	dir := t.TempDir()
	s := kept(t, dir)
	defer shut(t, s)
	if err := os.RemoveAll(filepath.Join(dir, restartDir)); err != nil {
		t.Fatal(err)
	}
	e := entry("a", "x", 5000)
	e.Restart = s.NewPoint()
	save(t, s, Update{Source: "a", Entries: []Entry{e}, Points: map[int64][]byte{e.Restart: []byte("point")}})
	if p, err := s.Point(e.Restart); err != nil || string(p) != "point" {
		t.Errorf("%q, %v", p, err)
	}
}

// TestFaults lets each step of a commit and of a compaction fail: a restart
// must find the previous or the new state, Health must report the error, and
// the next Save must succeed.
func TestFaults(t *testing.T) {
	full := errors.New("no space left on device")
	steps := []string{
		"point", "before_append", "after_append", "after_sync", "before_snapshot", "after_snapshot", "after_log", "after_keep",
		"before_rename", "after_snapshot_rename", "after_log_rename", "after_compaction",
	}
	for _, step := range steps {
		for _, compacts := range []bool{false, true} {
			dir := t.TempDir()
			s := open(t, dir)
			save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 1)}})
			save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 2)}})
			var hits []string
			s.fault = func(at string) error {
				if at == step {
					hits = append(hits, at)
					return full
				}
				return nil
			}
			if compacts {
				s.w.close() // as after an error of the disk
			}
			e := entry("a", "x", 5000)
			e.Restart = s.NewPoint()
			u := Update{Source: "a", Entries: []Entry{e}, Points: map[int64][]byte{e.Restart: []byte("point")}, Cut: true, Extents: []engine.Extent{{Sink: "s", Path: "p"}}}
			err := s.Save(u)
			if failed := len(hits) > 0; failed != errors.Is(err, full) || failed != errors.Is(s.Health(), full) || !failed && compacts {
				t.Errorf("%s, %v: %v, %v, hits %q", step, compacts, err, s.Health(), hits)
			}
			if err != nil && (offsetOf(t, s) != 2 || s.Extents("s") != nil) {
				t.Errorf("%s, %v: a failed commit counts", step, compacts)
			}
			c, warnings := List(dir)
			if len(warnings) > 0 || len(c.Entries) != 1 || c.Entries[0].Offset != 2 && c.Entries[0].Offset != 5000 {
				t.Errorf("%s, %v: %+v, %q", step, compacts, c, warnings)
			}
			s.fault = func(string) error { return nil }
			save(t, s, u)
			if err := s.Health(); err != nil {
				t.Errorf("%s, %v, then saved: %v", step, compacts, err)
			}
			shut(t, s)
			s = open(t, dir)
			if p, err := s.Point(e.Restart); err != nil || string(p) != "point" || s.Entries("a")[0] != e || len(s.Warnings()) > 0 {
				t.Errorf("%s, %v, then saved: %q, %v, %q", step, compacts, p, err, s.Warnings())
			}
			shut(t, s)
		}
	}
}

// TestFailedCompaction checks that commits go to the working log while its
// compaction fails.
func TestFailedCompaction(t *testing.T) {
	dir := t.TempDir()
	s := kept(t, dir)
	s.w.compactAt = 0
	s.fault = func(at string) error {
		if at == "after_snapshot" {
			return errors.New("no space left on device")
		}
		return nil
	}
	before := s.Stats().Compactions
	for off := range int64(5) {
		save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 100+off)}})
	}
	if s.Health() != nil || s.Stats().Compactions != before {
		t.Errorf("%v, %+v", s.Health(), s.Stats())
	}
	shut(t, s)
	if off, warnings := reopened(t, dir); off != 104 && off != 7 || len(warnings) > 0 {
		t.Errorf("%d, %q", off, warnings)
	}
}

// TestCompaction checks that the log does not grow without limit, and that an
// idle store writes nothing.
func TestCompaction(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	defer shut(t, s)
	var all []Entry
	for i := range 3000 {
		all = append(all, entry("a", fmt.Sprint(i), 5000))
	}
	for round := range int64(8) {
		for i := range all {
			all[i].Offset += round
		}
		save(t, s, Update{Source: "a", Entries: all})
		n := s.Stats()
		if limit := max(leastLog, n.SnapshotBytes) + 2<<20; n.LogBytes > limit {
			t.Fatalf("round %d: the log has %d bytes, the snapshot %d", round, n.LogBytes, n.SnapshotBytes)
		}
	}
	if n := s.Stats(); n.Compactions < 3 {
		t.Errorf("%+v", n)
	}
	n := s.Stats().LogBytes
	save(t, s, Update{Source: "a", Entries: all}) // nothing has changed
	if got := s.Stats().LogBytes; got != n {
		t.Errorf("an empty commit has %d bytes", got-n)
	}
}

// TestAssign checks that entries and extents get other names at once.
func TestAssign(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 1), entry("a", "y", 2)}, Cut: true,
		Extents: []engine.Extent{{Sink: "s", Path: "p", Length: 1}, {Sink: "s", Path: "q", Length: 2}}})
	save(t, s, Update{Source: "b", Entries: []Entry{entry("b", "y", 3)}})
	err := s.Assign(func(*Entry) string { return "b" }, func(m engine.Extent) string {
		if m.Path == "p" {
			return "t"
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	s = open(t, dir)
	defer shut(t, s)
	if a, b := s.Entries("a"), s.Entries("b"); len(a) != 1 || a[0].ID != "y" || len(b) != 2 || b[0].Source != "b" {
		t.Errorf("%+v, %+v", a, b)
	}
	if m := s.Extents("t"); len(m) != 1 || m[0].Path != "p" || len(s.Extents("s")) != 0 {
		t.Errorf("%+v, %+v", m, s.Extents("s"))
	}
}
