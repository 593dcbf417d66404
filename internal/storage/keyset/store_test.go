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
	"syscall"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

var testIdentity = Identity{"by": "key", "key function": "k2-whatwg/1"}

// small makes a Store seal its table often.
func small(s *Store, err error) (*Store, error) {
	if err == nil {
		s.minTable, s.o.MaxMemory = 3<<20/2, 1
	}
	return s, err
}

// addAll adds keys in batches.
func addAll(s *Store, keys []Key) error {
	added := make([]bool, 1000)
	for len(keys) > 0 {
		n := min(len(keys), len(added))
		if err := s.Add(keys[:n], added[:n]); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// checkStore compares the set in dir with an oracle.
func checkStore(t *testing.T, dir string, want map[Key]uint32) {
	t.Helper()
	s, err := OpenRead(dir, testIdentity)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := equalStore(s, want); err != nil {
		t.Fatal(err)
	}
}

// equalStore returns an error if the keys and stamps of s are not those of want.
func equalStore(s *Store, want map[Key]uint32) error {
	if s.Len() != int64(len(want)) {
		return fmt.Errorf("%d keys, want %d", s.Len(), len(want))
	}
	got := map[Key]uint32{}
	for _, r := range s.runs {
		c := r.start()
		for ok, err := c.Next(); ok || err != nil; ok, err = c.Next() {
			if err != nil {
				return err
			}
			got[c.Key] = max(got[c.Key], c.stamp)
		}
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("keys or stamps differ")
	}
	for k := range want {
		if k.Lo%8 != 0 {
			continue
		}
		if ok, err := s.Has(k); !ok || err != nil {
			return fmt.Errorf("Has: %v, %w", ok, err)
		}
		if ok, err := s.Has(Key{Hi: k.Hi, Lo: ^k.Lo}); ok || err != nil {
			return fmt.Errorf("Has of a missing key: %v, %w", ok, err)
		}
	}
	return nil
}

// TestStoreOracle builds, extends, merges and shrinks sets, and compares them with
// maps.
func TestStoreOracle(t *testing.T) {
	dir, other := filepath.Join(t.TempDir(), "set"), filepath.Join(t.TempDir(), "other")
	want, wantOther := map[Key]uint32{}, map[Key]uint32{}
	r := rand.New(rand.NewPCG(8, 8))
	add := func(s *Store, err error, want map[Key]uint32, keys []Key, stamp uint32) {
		t.Helper()
		if err == nil {
			err = s.SetStamp(stamp)
		}
		if err == nil {
			err = addAll(s, keys)
		}
		if err == nil {
			err = s.Commit()
		}
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			want[k] = max(want[k], stamp)
		}
	}
	all := keysOf(9, 300_000, 150_000)
	s, err := small(Create(dir, testIdentity, Options{}, false))
	add(s, err, want, all[:100_000], 20000)
	checkStore(t, dir, want)
	s, err = small(Create(other, testIdentity, Options{}, false))
	add(s, err, wantOther, all[150_000:], 20001)
	for stamp := range uint32(6) {
		at := r.IntN(200_000)
		s, err = small(Open(dir, testIdentity, Options{}))
		add(s, err, want, all[at:at+30_000], 20001+100*stamp)
		checkStore(t, dir, want)
	}

	s, err = small(Open(dir, testIdentity, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	o, err := OpenRead(other, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Merge(o), s.Commit(), s.Close(), o.Close()); err != nil {
		t.Fatal(err)
	}
	for k, stamp := range wantOther {
		want[k] = max(want[k], stamp)
	}
	checkStore(t, dir, want)
	checkStore(t, other, wantOther)

	if s, err = Open(dir, nil, Options{}); err != nil {
		t.Fatal(err)
	}
	if oldest, newest := s.Stamps(); oldest != 20000 || newest != 20501 {
		t.Errorf("stamps from %d to %d", oldest, newest)
	}
	if err := errors.Join(s.Shrink(20101), s.Commit(), s.Close()); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(want, func(_ Key, stamp uint32) bool { return stamp < 20101 })
	checkStore(t, dir, want)
	if runs, _ := filepath.Glob(filepath.Join(dir, "*"+runSuffix)); len(runs) != 1 || len(want) == 0 {
		t.Errorf("%d runs, %d keys", len(runs), len(want))
	}

	// An empty set is a set.
	if s, err = Open(dir, nil, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Shrink(1<<31), s.Commit(), s.Close()); err != nil {
		t.Fatal(err)
	}
	checkStore(t, dir, nil)
}

// TestStoreRefuses covers what must not be opened.
func TestStoreRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	if _, err := OpenRead(dir, nil); !errors.Is(err, ErrNoStore) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := Open(dir, nil, Options{}); !errors.Is(err, ErrNoStore) {
		t.Errorf("no folder: %v", err)
	}
	s, err := Create(dir, testIdentity, Options{}, false)
	if err := errors.Join(err, addAll(s, keysOf(1, 1000, 1000)), s.Commit()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, nil, Options{}); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("second writer: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, testIdentity, Options{}, false); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), " keys: file already exists") {
		t.Errorf("create twice: %v", err)
	}
	s, err = OpenRead(dir, testIdentity) // the refusals have changed nothing
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = OpenRead(dir, Identity{"by": "site", "key function": "k2-whatwg/1"})
	if !errors.Is(err, ErrIdentity) || !strings.HasSuffix(err.Error(), `it has by "key" instead of "site"`) {
		t.Errorf("identity: %v", err)
	}
	if _, err := Open(dir, Identity{}, Options{}); !errors.Is(err, ErrIdentity) {
		t.Errorf("identity: %v", err)
	}
}

// TestStoreDamage flips a bit in each part of the run and of the manifest, and
// removes them. The error must name the file, and nothing may be removed.
func TestStoreDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	s, err := Create(dir, testIdentity, Options{}, false)
	if err := errors.Join(err, addAll(s, keysOf(1, 5000, 5000)), s.Commit(), s.Close()); err != nil {
		t.Fatal(err)
	}
	runs, _ := filepath.Glob(filepath.Join(dir, "*"+runSuffix))
	check := func(what, name string) {
		t.Helper()
		s, err := Open(dir, testIdentity, Options{})
		if err == nil { // blocks are read on demand
			err = errors.Join(s.Shrink(0), s.Close())
		}
		if err == nil || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Fatalf("%s: %v", what, err)
		}
		if now, _ := filepath.Glob(filepath.Join(dir, "*"+runSuffix)); len(now) > 1 {
			t.Fatalf("%s: files left: %v", what, now)
		}
	}
	for _, name := range []string{runs[0], filepath.Join(dir, manifestName)} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			bad := []byte(string(data))
			at := i * len(bad) / 200
			if name == runs[0] && at < len(runMagic) || bad[at] == ' ' || bad[at] == '\n' {
				continue // not used, or white space
			}
			bad[at] ^= 1
			if err := os.WriteFile(name, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			check(fmt.Sprintf("%s: byte %d flipped", name, at), name)
		}
		if err := os.WriteFile(name, data[:len(data)-7], 0o600); err != nil {
			t.Fatal(err)
		}
		check("cut", name)
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		check("missing", name)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err = OpenRead(dir, testIdentity)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestStoreFaults makes each step of a change fail once, and takes a copy of the
// folder before it, which is what a killed process leaves. The set must be the old
// or the new one, and the same change must succeed later.
func TestStoreFaults(t *testing.T) {
	before, after := map[Key]uint32{}, map[Key]uint32{}
	base := filepath.Join(t.TempDir(), "base")
	keys := keysOf(11, 200_000, 120_000)
	s, err := small(Create(base, testIdentity, Options{}, false))
	if err := errors.Join(err, s.SetStamp(3), addAll(s, keys[:100_000]), s.Commit(), s.Close()); err != nil {
		t.Fatal(err)
	}
	for _, k := range keys[:100_000] {
		before[k], after[k] = 3, 3
	}
	for _, k := range keys[100_000:] {
		after[k] = 5
	}
	maps.DeleteFunc(after, func(_ Key, stamp uint32) bool { return stamp < 4 })

	change := func(dir string, fault func(string) error) error {
		s, err := small(Open(dir, testIdentity, Options{}))
		if err != nil {
			return err
		}
		if fault != nil {
			s.folder.fault = fault
		}
		err = s.SetStamp(5)
		if err == nil {
			err = addAll(s, keys[100_000:])
		}
		if err == nil {
			err = s.seal()
		}
		if err == nil {
			err = s.Shrink(4)
		}
		if err == nil {
			err = s.Commit()
		}
		return errors.Join(err, s.Close())
	}
	isOldOrNew := func(what, dir string) {
		t.Helper()
		s, err := OpenRead(dir, testIdentity)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer func() { _ = s.Close() }()
		if errOld := equalStore(s, before); errOld != nil {
			if errNew := equalStore(s, after); errNew != nil {
				t.Fatalf("%s: neither the old set (%v) nor the new one (%v)", what, errOld, errNew)
			}
		}
	}
	// stopAt runs the change on a copy of base and makes it fail at the nth
	// point.
	stopAt := func(n int) (points []string, dir, killed string, err error) {
		dir, killed = filepath.Join(t.TempDir(), "set"), filepath.Join(t.TempDir(), "killed")
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		err = change(dir, func(point string) error {
			if points = append(points, point); len(points)-1 != n {
				return nil
			}
			if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			return syscall.ENOSPC
		})
		return points, dir, killed, err
	}
	points, dir, _, err := stopAt(-1)
	if err != nil {
		t.Fatal(err)
	}
	checkStore(t, dir, after)
	for _, point := range []string{"write", "sync", "manifest_write", "manifest_publish", "manifest_published"} {
		if !slices.Contains(points, "keyset."+point) {
			t.Errorf("the change does not pass %s", point)
		}
	}
	for n, point := range points {
		if point == "keyset.write" && n%60 != 0 {
			continue
		}
		_, dir, killed, err := stopAt(n)
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) {
			t.Fatalf("%s: %v", point, err)
		}
		for what, dir := range map[string]string{"error at " + point: dir, "killed at " + point: killed} {
			isOldOrNew(what, dir)
			if err := change(dir, nil); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			checkStore(t, dir, after)
			if runs, _ := filepath.Glob(filepath.Join(dir, "*"+runSuffix)); len(runs) != 1 {
				t.Fatalf("%s: runs left: %v", what, runs)
			}
		}
	}
}

// TestReaderKeepsItsState: a reader sees the set at which it was opened, whatever a
// writer does since.
func TestReaderKeepsItsState(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	keys := keysOf(1, 2000, 2000)
	s, err := Create(dir, testIdentity, Options{}, false)
	if err := errors.Join(err, addAll(s, keys[:1000]), s.Commit()); err != nil {
		t.Fatal(err)
	}
	old, err := OpenRead(dir, testIdentity)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(addAll(s, keys[1000:]), s.Commit(), s.Shrink(0), s.Commit(), s.Close()); err != nil {
		t.Fatal(err)
	}
	want := map[Key]uint32{}
	for _, k := range keys[:1000] {
		want[k] = 0
	}
	if err := errors.Join(equalStore(old, want), old.Close()); err != nil {
		t.Error(err)
	}
}

// TestFolder covers the use without a manifest.
func TestFolder(t *testing.T) {
	f, err := OpenFolder(filepath.Join(t.TempDir(), "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(from, to uint64) *Run {
		t.Helper()
		r, err := f.Write(func(yield func(Key, uint32) bool) {
			for i := from; i < to && yield(Key{Hi: i << 40, Lo: i}, uint32(i)); i++ {
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b := write(1, 5000), write(4000, 9000)
	m, err := f.Merge(100, a, b)
	if err != nil || m.Info().Keys != 8900 || m.Info().Oldest != 100 || m.Info().Newest != 8999 {
		t.Fatalf("%+v, %v", m.Info(), err)
	}
	for _, r := range []*Run{a, m} { // the filters of a are loaded again
		if ok, err := r.Has(Key{Hi: 4000 << 40, Lo: 4000}); !ok || err != nil {
			t.Errorf("%v, %v", ok, err)
		}
	}
	if err := errors.Join(f.Sweep([]RunInfo{m.Info()}), a.Close(), b.Close(), m.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(a.Info()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed run: %v", err)
	}
	if r, err := f.Open(m.Info()); err != nil || r.Info() != m.Info() || r.Close() != nil {
		t.Errorf("%v", err)
	}
}
