package file

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/fault"
)

// TestScanLinks checks that links to files are followed, and links to folders
// if a pattern names them, but that folders and "**" do not descend into linked
// folders. The links here lead upwards.
func TestScanLinks(t *testing.T) {
	dir := write(t, map[string]string{"logs/a.log": "", "logs/sub/b.log": "", "elsewhere/c.log": ""})
	t.Chdir(dir)
	for name, to := range map[string]string{
		"logs/up": "..", "logs/sub/up": "..", "logs/more": "../elsewhere", "logs/c.log": "../elsewhere/c.log", "logs/gone.log": "nowhere", "all": "logs",
	} {
		if err := os.Symlink(to, filepath.FromSlash(name)); err != nil {
			t.Fatal(err)
		}
	}
	f := func(pattern, want string) {
		t.Helper()
		s := scanner{include: []string{pattern}, at: fault.At}
		var got []string
		all, _ := s.scan(context.Background())
		for _, s := range all {
			got = append(got, filepath.ToSlash(s.path)+"="+filepath.ToSlash(s.rel))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", pattern, got, want)
		}
	}
	f("logs", "logs/a.log=a.log logs/c.log=c.log logs/sub/b.log=sub/b.log")
	f("all", "all/a.log=a.log all/c.log=c.log all/sub/b.log=sub/b.log")
	f("logs/**/b.*", "logs/sub/b.log=sub/b.log")
	f("logs/more/*", "logs/more/c.log=c.log")
	f("logs/*/*.log", "logs/more/c.log=more/c.log logs/sub/b.log=sub/b.log")
}

// TestScanShares checks that each file is in exactly one share, whatever the path to
// its folder is.
func TestScanShares(t *testing.T) {
	dir := write(t, map[string]string{"logs/a.log": "", "logs/b.log": "", "logs/c.log": "", "logs/d.log": "", "logs/sub/a.log": ""})
	t.Chdir(dir)
	owner := map[string]int{}
	for i := range 3 {
		for _, pattern := range []string{"logs", dir + "/logs/**"} {
			s := scanner{include: []string{pattern, "logs/sub"}, share: Share{i, 3}, at: fault.At}
			all, _ := s.scan(context.Background())
			for _, s := range all {
				if by, is := owner[s.rel]; is && by != i {
					t.Errorf("%s is in the shares %d and %d", s.rel, by, i)
				}
				owner[s.rel] = i
			}
		}
	}
	if len(owner) != 5 || owner["a.log"] == owner["b.log"] && owner["b.log"] == owner["c.log"] && owner["c.log"] == owner["d.log"] {
		t.Errorf("the owners of 5 files: %v", owner)
	}
}
