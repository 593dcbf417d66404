package peertest

import (
	"os"
	"path/filepath"
	"testing"
)

// MatchingPage returns the page of the documentation that names the bugs of the
// programs. The test must be in a package below codec/internal/peer.
func MatchingPage(t testing.TB) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "reference", "matching.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
