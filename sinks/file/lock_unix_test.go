//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package file

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestLocked: while one run writes an output, a second one is refused until the
// first has published, and does not affect the first one's file.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	first := open(t, Config{Path: path, Replace: true})
	submit(t, first, "first\n")
	refused := func() {
		t.Helper()
		second, err := New(Config{Path: path, Replace: true})
		must(t, err)
		if err := second.Open(ctx); !errors.Is(err, ErrLocked) {
			t.Errorf("the second run: %v", err)
		}
		must(t, second.Close(ctx))
		must(t, second.Abort())
	}
	refused()
	must(t, first.Close(ctx))
	refused()
	must(t, first.Publish())
	third := open(t, Config{Path: path, Replace: true})
	if got := content(t, path); got != "first\n" {
		t.Errorf("%q", got)
	}
	must(t, third.Close(ctx))
	must(t, third.Abort())
	if got := content(t, path); got != "first\n" {
		t.Errorf("after an aborted run: %q", got)
	}
}

// TestLockedRace: concurrent runs with the same output get it one after the
// other, and its name always refers to a complete output. Without the check
// after locking, a run would empty the output that the previous one has
// published.
func TestLockedRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	must(t, os.WriteFile(path, []byte("whole\n"), 0o644))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				out, err := New(Config{Path: path, Replace: true})
				if err != nil {
					t.Error(err)
					return
				}
				if err := out.Open(ctx); errors.Is(err, ErrLocked) {
					continue
				}
				if got, err := os.ReadFile(path); err != nil || string(got) != "whole\n" {
					t.Errorf("%q, %v", got, err)
				}
				if err := out.(*sink).append([]byte("whole\n")); err != nil {
					t.Error(err)
				}
				out.(*sink).closed = true // skips the sync, which would slow down the race
				if err := out.Publish(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
