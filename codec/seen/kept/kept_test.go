package kept

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

func normalizer(t *testing.T, profile string, o ...codec.Option) *codec.Normalizer {
	t.Helper()
	p, _ := codec.Lookup(profile)
	n, err := codec.New(p, o...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func keyNumber(i uint64) codec.Key { return codec.KeyFromUint64s(i*0x9E3779B97F4A7C15, i) }

// made returns a new set for the level fetch of the crawler.
func made(t *testing.T, dir string) *Set {
	t.Helper()
	s, err := Create(dir, normalizer(t, "crawler"), codec.LevelFetch)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSet: of many goroutines, one gets each key as a new one, and the keys are there
// after Close.
func TestSet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "set")
	s := made(t, dir)
	const keys = 5000
	var fresh atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range uint64(keys) {
				if ok, err := s.Add(keyNumber(i + 1)); err != nil {
					t.Error(err)
				} else if ok {
					fresh.Add(1)
				}
			}
		})
	}
	wg.Wait()
	for range 2 {
		if ok, err := s.Add(codec.Key{}); !ok || err != nil {
			t.Errorf("the zero Key: %v, %v", ok, err)
		}
	}
	if err := s.Close(); err != nil || fresh.Load() != keys {
		t.Fatalf("%d new keys, want %d; %v", fresh.Load(), keys, err)
	}
	s, err := Open(dir, normalizer(t, "crawler"), codec.LevelDefault) // LevelDefault is the level of the profile: LevelFetch
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(keys) {
		if ok, err := s.Has(keyNumber(i + 1)); !ok || err != nil {
			t.Fatalf("key %d: %v, %v", i+1, ok, err)
		}
	}
	if ok, err := s.Has(codec.Key{}); ok || err != nil || s.Len() != keys {
		t.Errorf("the zero Key: %v, %v; %d keys", ok, err, s.Len())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestSaved: what Save has stored is there for the next process, and what was added
// since is not.
func TestSaved(t *testing.T) {
	dir := t.TempDir()
	s := made(t, dir)
	if _, err := s.Add(keyNumber(1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add(keyNumber(2)); err != nil {
		t.Fatal(err)
	}
	if err := s.store.Close(); err != nil { // as a killed process leaves it
		t.Fatal(err)
	}
	s, err := Open(dir, normalizer(t, "crawler"), codec.LevelFetch)
	if err != nil {
		t.Fatal(err)
	}
	first, err1 := s.Has(keyNumber(1))
	second, err2 := s.Has(keyNumber(2))
	if !first || second || err1 != nil || err2 != nil {
		t.Errorf("saved key: %v, %v; unsaved key: %v, %v", first, err1, second, err2)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestRefused: errors for sets of other keys, and for missing, existing,
// open and closed sets.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	s := made(t, dir)
	if _, err := Open(dir, normalizer(t, "crawler"), codec.LevelFetch); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a set that was never saved: %v", err)
	}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, normalizer(t, "crawler"), codec.LevelFetch); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a set that is open was opened: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add(keyNumber(1)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Add after Close: %v", err)
	}
	if err := s.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	if _, err := Create(dir, normalizer(t, "crawler"), codec.LevelFetch); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create of an existing set: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "x"), normalizer(t, "crawler"), codec.LevelFetch); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of a missing set: %v", err)
	}
	secret := codec.WithHMACKey([]byte("0123456789abcdef"))
	for name, open := range map[string]func() (*Set, error){
		"level":   func() (*Set, error) { return Open(dir, normalizer(t, "crawler"), codec.LevelPage) },
		"profile": func() (*Set, error) { return Open(dir, normalizer(t, "equiv"), codec.LevelFetch) },
		"hash": func() (*Set, error) {
			return Open(dir, normalizer(t, "crawler", codec.WithHash(codec.SHA256)), codec.LevelFetch)
		},
		"secret": func() (*Set, error) { return Open(dir, normalizer(t, "crawler", secret), codec.LevelFetch) },
	} {
		if _, err := open(); !errors.Is(err, ErrOtherKeys) {
			t.Errorf("another %s: %v", name, err)
		}
	}
}

// TestFailed: after an error, a set only fails, and Close stores nothing.
func TestFailed(t *testing.T) {
	dir := t.TempDir()
	s := made(t, dir)
	if _, err := s.Add(keyNumber(1)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Skip("skipped: removes the folder of an open set, which this system refuses; run it on Linux: ", err)
	}
	failed := s.Save()
	if failed == nil {
		t.Fatal("a set without a folder was saved")
	}
	if _, err := s.Add(keyNumber(2)); !errors.Is(err, failed) {
		t.Errorf("Add after an error: %v", err)
	}
	if err := s.Close(); !errors.Is(err, failed) {
		t.Errorf("Close after an error: %v", err)
	}
}
