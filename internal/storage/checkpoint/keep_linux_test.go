package checkpoint

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// TestKeepWithoutRights checks that missing permissions do not count as a lost
// lock. The store reports the error, and continues when the permissions are
// restored.
func TestKeepWithoutRights(t *testing.T) {
	dir := t.TempDir()
	s := kept(t, dir)
	defer shut(t, s)
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	restore := func() {}
	if os.Geteuid() == 0 { // root has to give up its privileges, for this thread
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := unix.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
		restore = func() {
			if err := unix.Setfsuid(0); err != nil {
				t.Fatal(err)
			}
		}
	}
	err, saved := s.Keep(), s.Save(Update{Source: "a", Entries: []Entry{entry("a", "x", 3)}})
	restore()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var lost *engine.LostError
	if !errors.Is(err, os.ErrPermission) || !errors.Is(saved, os.ErrPermission) || errors.As(err, &lost) || s.Health() == nil {
		t.Errorf("without rights: Keep: %v, Save: %v, Health: %v", err, saved, s.Health())
	}
	if err := s.Keep(); err != nil {
		t.Error(err)
	}
	save(t, s, Update{Source: "a", Entries: []Entry{entry("a", "x", 3)}})
	if err := s.Health(); err != nil {
		t.Error(err)
	}
}
