package disk

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

func TestCreatable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, good := range []string{dir, filepath.Join(dir, "a", "b", "c")} {
		if err := Creatable(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{file, filepath.Join(file, "a", "b")} {
		if err := Creatable(bad); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("Creatable created something: %v, %v", list, err)
	}
	if runtime.GOOS == "linux" {
		if err := Creatable("/proc/x/y"); err == nil {
			t.Error("no error for a folder in /proc")
		}
	}
}
