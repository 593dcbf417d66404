//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	first, second := open(), open()
	if err := Lock(first); err != nil {
		t.Fatal(err)
	}
	if err := Lock(second); !errors.Is(err, ErrLocked) {
		t.Errorf("the second lock: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Lock(second); err != nil {
		t.Errorf("lock after the file was closed: %v", err)
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	none := filepath.Join(dir, "none")
	for name, do := range map[string]func(string) error{"SyncDir": SyncDir, "Writable": Writable} {
		if err := do(dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := do(none); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of a missing folder: %v", name, err)
		}
	}
}
