package cli

import (
	"strings"
	"testing"
)

// TestDeepJSON checks that hints do not search values that are deep in others: the
// paths in 100,000 arrays would take gigabytes.
func TestDeepJSON(t *testing.T) {
	for _, open := range []string{"[", `{"a":`, "[1,"} {
		head := []byte(`{"url":"http://h/","x":` + strings.Repeat(open, 100_000))
		if got := jsonMembers(head); len(got) != 1 || got[0].path != "url" {
			t.Errorf("%q: %d members, want the first one", open, len(got))
		}
	}
	deep := []byte(strings.Repeat(`{"a":`, maxDepth) + `"http://h/"`)
	if got := jsonMembers(deep); len(got) != 1 || got[0].path != strings.Repeat("a.", maxDepth-1)+"a" {
		t.Errorf("%v, want the one in %d objects", got, maxDepth)
	}
}
