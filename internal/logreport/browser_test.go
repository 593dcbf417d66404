package logreport

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestBrowser opens the page in Chromium at 390 and 1440 pixels, light and dark:
// axe-core finds no violation of WCAG 2 A and AA, nothing is too wide, nothing is
// loaded, and the keyboard reaches everything. URLFOLD_SHOTS is the beginning of
// the names of screenshots to write.
func TestBrowser(t *testing.T) {
	modules := os.Getenv("URLFOLD_NODE_MODULES")
	if modules == "" {
		t.Skip("needs puppeteer-core and axe-core: npm install --prefix DIR puppeteer-core axe-core, then set URLFOLD_NODE_MODULES=DIR/node_modules")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node: install Node.js 20 or later")
	}
	chromium := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = path
		}
	}
	if chromium == "" {
		t.Skip("needs Chromium: install the package chromium")
	}
	for name, r := range map[string]*Report{"sample": sample(), "hostile": hostile(), "empty": empty()} {
		text, err := r.Append(nil, "html")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "report.html")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		shots := os.Getenv("URLFOLD_SHOTS")
		if shots != "" {
			shots += "-" + name
		}
		out, err := exec.Command(node, "testdata/browser.mjs", modules, chromium, file, shots).CombinedOutput()
		if err != nil || !regexp.MustCompile(`^[1-9][0-9]* checks passed\n$`).Match(out) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
