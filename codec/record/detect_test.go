package record

import (
	"strings"
	"testing"
)

// TestDetectHugeObject checks that the end of a very long object need not be in the
// sample.
func TestDetectHugeObject(t *testing.T) {
	const seen = `{ "url":"http://h.example/a","at":"2026-11-22T10:00:00Z","text":"`
	f := func(head, want string) {
		t.Helper()
		if g, _ := Detect([]byte(head)); g.Format != want {
			t.Errorf("%.80q of %d bytes: got %q, want %q", head, len(head), g.Format, want)
		}
	}
	f(seen+strings.Repeat("x", hugeRecord), "jsonl")
	f(seen+strings.Repeat("x", 100), "log") // a damaged record
	f("{"+strings.Repeat("x", hugeRecord), "")
}
