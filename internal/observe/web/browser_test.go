package web

import (
	"testing"

	"github.com/urlfold/urlfold/internal/testkit/browser"
)

// TestBrowser checks the status page in Chromium, on a phone and a desk, light
// and dark.
func TestBrowser(t *testing.T) {
	browser.Check(t, false, "testdata/green.html", "testdata/red.html", "testdata/empty.html")
}
