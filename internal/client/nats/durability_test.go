package nats

import (
	"strings"
	"testing"
)

// TestDurabilityWarnings checks that a stream in files has a warning, a
// stronger one with a single replica, and another one with persist_mode: async.
// A stream in memory has none.
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
