package config_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/daemon"
)

var update = flag.Bool("update", false, "write the reference of configurations and profiles")

// TestReferencePages checks that the reference has the keys of all components of this
// module, and the keys of profiles. With -update it writes them.
func TestReferencePages(t *testing.T) {
	const pages = "../docs/reference/"
	c, err := daemon.NewCatalog(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := config.Reference(c.Types())
	if err != nil {
		t.Fatal(err)
	}
	profiles, err := os.ReadFile(pages + "profiles.md")
	if err != nil {
		t.Fatal(err)
	}
	// The table is between others, which internal/app/cli writes.
	before, rest, found := bytes.Cut(profiles, []byte("| key | type |"))
	_, after, ends := bytes.Cut(rest, []byte("|\n\n"))
	if !found || !ends {
		t.Fatal("no table of keys in profiles.md")
	}
	for name, want := range map[string][]byte{
		"config.md": all, "profiles.md": bytes.Join([][]byte{before, config.ProfileReference(), []byte("\n"), after}, nil),
	} {
		if *update {
			if err := os.WriteFile(pages+name, want, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(pages + name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/reference/%s is out of date (%v): run go generate ./config", name, err)
		}
	}
}
