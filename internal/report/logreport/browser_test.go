package logreport

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/urlfold/urlfold/internal/testkit/browser"
)

// TestBrowser checks the report in Chromium, on a phone and a desk, light and
// dark, and with the keyboard.
func TestBrowser(t *testing.T) {
	var pages []string
	dir := t.TempDir()
	for name, r := range map[string]*Report{"sample": sample(), "hostile": hostile(), "empty": empty()} {
		text, err := r.Append(nil, "html")
		if err != nil {
			t.Fatal(err)
		}
		page := filepath.Join(dir, name+".html")
		if err := os.WriteFile(page, text, 0o600); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page)
	}
	browser.Check(t, true, pages...)
}
