// Package browser opens pages in headless Chromium and checks them with
// axe-core.
package browser

import (
	"bytes"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed check.mjs
var script []byte

// The views of each page: two widths, light and dark.
const views = 4

// Check fails the test if a page has a problem in one of its views: see
// check.mjs. pages are names of files; keyboard asks for the checks of pages
// with a skip link. Check skips the test if a program is missing. The
// environment variable URLFOLD_SHOTS names a folder for screenshots.
func Check(t *testing.T, keyboard bool, pages ...string) {
	t.Helper()
	modules := os.Getenv("URLFOLD_NODE_MODULES")
	if modules == "" {
		t.Skip("needs puppeteer-core and axe-core: npm install --prefix DIR puppeteer-core axe-core, then set URLFOLD_NODE_MODULES=DIR/node_modules")
	}
	node := find(t, "Node.js 20 or later", "node")
	chromium := find(t, "Chromium", "chromium", "chromium-browser", "google-chrome")
	args := []string{"--input-type=module", "-"}
	if keyboard {
		args = append(args, "--keyboard")
	}
	for _, page := range pages {
		path, err := filepath.Abs(page)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	cmd := exec.Command(node, args...)
	cmd.Stdin = bytes.NewReader(script)
	cmd.Env = append(os.Environ(), "MODULES="+modules, "CHROME="+chromium, "SHOTS="+os.Getenv("URLFOLD_SHOTS"))
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), ": 0 problems") != views*len(pages) {
		t.Errorf("%v\n%s", err, out)
	}
}

// find returns the path of the first program that is installed, or skips the
// test.
func find(t *testing.T, title string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs " + title)
	return ""
}
