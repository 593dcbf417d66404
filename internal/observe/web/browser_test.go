package web

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrowser opens the status page in Chromium at 390 and 1440 pixels, light
// and dark: axe-core finds no violation of WCAG 2 A and AA, nothing is too wide,
// and nothing is loaded. URLFOLD_SHOTS is a folder for screenshots.
func TestBrowser(t *testing.T) {
	modules := os.Getenv("URLFOLD_NODE_MODULES")
	if modules == "" {
		t.Skip("needs puppeteer-core and axe-core: npm install --prefix DIR puppeteer-core axe-core, then set URLFOLD_NODE_MODULES=DIR/node_modules")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node: install Node.js 20 or later")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("needs Chromium: install the package chromium")
	}
	shots := os.Getenv("URLFOLD_SHOTS")
	if shots == "" {
		shots = t.TempDir()
	}
	args := []string{filepath.Join("..", "..", "testkit", "browser", "check.mjs"), shots}
	for _, name := range []string{"green", "red", "empty"} {
		file, err := filepath.Abs(filepath.Join("testdata", name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "file://"+file)
	}
	cmd := exec.Command(node, args...)
	cmd.Env = append(os.Environ(), "MODULES="+filepath.Dir(modules), "CHROME="+chromium)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), ": 0 problems") != 12 {
		t.Errorf("%v\n%s", err, out)
	}
}
