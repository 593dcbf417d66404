package bench

import (
	"hash/fnv"
	"net/url"
	"strings"
	"testing"
)

// TestGeneratedIsFixed checks that the generated sets are unchanged since the
// figures in the documents were measured, because figures for other URLs cannot
// be compared.
func TestGeneratedIsFixed(t *testing.T) {
	want := map[string]uint64{
		"clean": 0x7c6c1f367e1eadb1,
		"mixed": 0xc1af2b88ae6904ad,
		"dirty": 0xb2cb0af507478695,
	}
	for _, s := range Generated() {
		h := fnv.New64a()
		for _, u := range s.URLs {
			h.Write(u)
			h.Write([]byte{'\n'})
		}
		if got := h.Sum64(); got != want[s.Name] {
			t.Errorf("%s: %d URLs, avg %d bytes, hash %#x, want %#x", s.Name, len(s.URLs), s.Bytes/len(s.URLs), got, want[s.Name])
		}
	}
}

// TestGeneratedIsAsNamed checks the properties that the names of the sets
// promise.
func TestGeneratedIsAsNamed(t *testing.T) {
	for _, s := range Generated() {
		odd, refused := 0, 0
		for _, src := range s.Strings {
			if strings.Contains(src, "%zz") || strings.ContainsAny(src, " {#A\u00e9") {
				odd++
			}
			if _, err := url.Parse(src); err != nil {
				refused++
			}
		}
		if clean := s.Name == "clean"; clean != (odd == 0) || clean != (refused == 0) {
			t.Errorf("%s: %d of %d URLs have oddities, net/url rejects %d", s.Name, odd, len(s.URLs), refused)
		}
	}
}
