package chaos

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// states applies ops to a folder that contains the file old, and returns all
// states that power losses after them leave: names with contents.
func states(t *testing.T, ops []disk.Op, ignore func(*disk.Op) bool) map[string]bool {
	t.Helper()
	root := filepath.Join(t.TempDir(), "d")
	for _, name := range []string{root, filepath.Join(root, "sub")} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "old"), []byte("was"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := NewDisk(root, root, filepath.Join(filepath.Dir(root), "keep"))
	if err != nil {
		t.Fatal(err)
	}
	d.Ignore = ignore
	for _, op := range ops {
		for _, p := range []*string{&op.Path, &op.To} {
			if *p != "" {
				*p = filepath.Join(root, *p)
			}
		}
		if err := d.Apply(&op); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	for seed := range uint64(150) {
		if _, err := d.Cut(rand.New(rand.NewPCG(seed, 1))); err != nil {
			t.Fatal(err)
		}
		var parts []string
		names, err := filepath.Glob(filepath.Join(root, "*"))
		if err != nil {
			t.Fatal(err)
		}
		below, _ := filepath.Glob(filepath.Join(root, "*", "*")) // the pattern is valid
		for _, name := range append(names, below...) {
			if text, err := os.ReadFile(name); err == nil {
				rel, _ := filepath.Rel(root, name) // cannot fail: name is in root
				parts = append(parts, rel+"="+strings.ReplaceAll(string(text), "\x00", "0"))
			}
		}
		seen[strings.Join(parts, " ")] = true
	}
	return seen
}

// TestDisk checks which states a power loss can leave after the steps of
// writing a file and renaming it.
func TestDisk(t *testing.T) {
	create := []disk.Op{{Op: "create", ID: 1, Path: "a"}, {Op: "write", ID: 1, Data: []byte("text")}}
	sync, syncDir := disk.Op{Op: "sync", ID: 1}, disk.Op{Op: "syncdir", Path: "."}
	rename := disk.Op{Op: "rename", Path: "a", To: "old"}
	with := func(more ...disk.Op) []disk.Op { return append(create[:2:2], more...) }
	for name, c := range map[string]struct {
		ops    []disk.Op
		ignore func(*disk.Op) bool
		want   []string
	}{
		"nothing synced":      {with(), nil, []string{"old=was", "a= old=was", "a=0000 old=was", "a=te old=was", "a=text old=was"}},
		"content synced":      {with(sync), nil, []string{"old=was", "a=text old=was"}},
		"name synced":         {with(syncDir), nil, []string{"a= old=was", "a=0000 old=was", "a=te old=was", "a=text old=was"}},
		"both":                {with(sync, syncDir), nil, []string{"a=text old=was"}},
		"renamed":             {with(sync, syncDir, rename), nil, []string{"a=text old=was", "old=text"}},
		"renamed, synced":     {with(sync, rename, syncDir), nil, []string{"old=text"}},
		"renamed, not synced": {with(syncDir, rename, syncDir), nil, []string{"old=", "old=0000", "old=te", "old=text"}},
		"sync ignored":        {with(sync, rename, syncDir), func(op *disk.Op) bool { return op.Op == "sync" }, []string{"old=", "old=0000", "old=te", "old=text"}},
		"removed":             {[]disk.Op{{Op: "remove", Path: "old"}}, nil, []string{"", "old=was"}},
		"moved":               {[]disk.Op{{Op: "rename", Path: "old", To: "sub/new"}}, nil, []string{"old=was", "sub/new=was", "old=was sub/new=was"}},
		"moved, source first": {[]disk.Op{{Op: "rename", Path: "old", To: "sub/new"}, syncDir}, nil, []string{"sub/new=was"}},
		"moved, target first": {[]disk.Op{{Op: "rename", Path: "old", To: "sub/new"}, {Op: "syncdir", Path: "sub"}}, nil, []string{"sub/new=was", "old=was sub/new=was"}},
		"linked":              {[]disk.Op{{Op: "link", Path: "old", To: "new"}, syncDir}, nil, []string{"new=was old=was"}},
		"cut short": {[]disk.Op{{Op: "open", ID: 2, Path: "old"}, {Op: "truncate", ID: 2, Off: 1}}, nil,
			[]string{"old=was", "old=w"}},
		"in a folder that is not durable": {[]disk.Op{{Op: "mkdir", Path: "f"}, {Op: "create", ID: 1, Path: "f/x"}, {Op: "sync", ID: 1}, {Op: "syncdir", Path: "f"}}, nil,
			[]string{"old=was", "old=was f/x="}},
	} {
		t.Run(name, func(t *testing.T) {
			got := states(t, c.ops, c.ignore)
			for _, w := range c.want {
				if !got[w] {
					t.Errorf("missing state: %q", w)
				}
				delete(got, w)
			}
			for g := range got {
				t.Errorf("impossible state: %q", g)
			}
		})
	}
}
