package nats

import (
	"strings"
	"testing"
)

// TestDurabilityWarnings: a stream in files has a warning, a stronger one with one
// replica, and one more with persist_mode: async; one in memory promises nothing.
func TestDurabilityWarnings(t *testing.T) {
	f := func(i StreamInfo, want ...string) {
		t.Helper()
		got := i.DurabilityWarnings()
		if len(got) != len(want) {
			t.Fatalf("%+v: %q", i, got)
		}
		for k, text := range want {
			if !strings.Contains(got[k], text) {
				t.Errorf("%+v: %s; want %q", i, got[k], text)
			}
		}
	}
	f(StreamInfo{Replicas: 1})
	f(StreamInfo{File: true, Replicas: 3}, "3 replicas in files")
	f(StreamInfo{File: true, Replicas: 1}, "no other copy")
	f(StreamInfo{File: true, Replicas: 1, Async: true}, "persist_mode is async", "no other copy")
}
