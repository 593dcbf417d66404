//go:build unix

package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// TestLinks checks that neither the lock nor a state is written through a link.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(victim, []byte("mine"), 0o600))
	data := filepath.Join(dir, "data")
	must(os.Mkdir(data, 0o755))
	for how, link := range map[string]func(from, to string) error{"symbolic": os.Symlink, "hard": os.Link} {
		lock := filepath.Join(data, lockName)
		must(link(victim, lock))
		if _, err := Open(data); !errors.Is(err, disk.ErrRefused) {
			t.Errorf("a %s link as the lock: %v", how, err)
		}
		must(os.Remove(lock))
	}
	s, err := Open(data)
	must(err)
	defer func() { must(s.Close()) }()
	point := s.NewPoint()
	must(os.Symlink(victim, filepath.Join(data, restartDir, "1")))
	must(s.Save(Update{Source: "a", Entries: []Entry{{Source: "a", ID: "x", Restart: point}}, Points: map[int64][]byte{point: []byte("point")}}))
	if got, err := os.ReadFile(victim); string(got) != "mine" || err != nil {
		t.Errorf("the target of the link contains %q, %v", got, err)
	}
}
