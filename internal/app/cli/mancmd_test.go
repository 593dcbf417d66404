package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestManPages checks the man pages with groff, which must have nothing to warn
// about, and that each one has the sections that a reader expects.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	root := newRootCmd(testCatalog(t))
	root.SetArgs([]string{"help", "--man", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "man[17]", "*"))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string][]byte{}
	for _, name := range names {
		if pages[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	_, err = exec.LookPath("groff")
	if err != nil {
		t.Log("not checked with groff, which is not installed")
	}
	for name, page := range pages {
		text := string(page)
		for _, section := range []string{"NAME", "DESCRIPTION"} {
			if !strings.Contains(text, ".SH \""+section+"\"\n") {
				t.Errorf("%s: no section %s", name, section)
			}
		}
		if err == nil {
			cmd := exec.Command("groff", "-man", "-ww", "-Tutf8")
			var complaints bytes.Buffer
			cmd.Stdin, cmd.Stderr = bytes.NewReader(page), &complaints
			if runErr := cmd.Run(); runErr != nil || complaints.Len() > 0 {
				t.Errorf("%s: %v %s", name, runErr, complaints.String())
			}
		}
	}
	for _, link := range regexp.MustCompile(`urlfold[\\a-z0-9-]*\([17]\)`).FindAllString(string(pages["urlfold.1"])+string(pages["urlfold-daemon-state.1"]), -1) {
		name := strings.NewReplacer(`\`, "", "(", ".", ")", "").Replace(link)
		if pages[name] == nil {
			t.Errorf("there is no page %s", name)
		}
	}
	if len(pages) < 40 {
		t.Errorf("%d pages", len(pages))
	}
}
