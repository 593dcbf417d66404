package params

import (
	"strings"
	"testing"
)

// TestSieve checks that a sieve rejects no name of its Matcher and none of
// knownNames, in any case.
func TestSieve(t *testing.T) {
	m := compile(t, Default(), plain(t, "/x_[0-9]+/\nq\n_\n[f]*"))
	names := append([]string{"x_1", "q", "_", "[f]", "[f]g", "utm_", "aspsessionidqwertyui"}, knownNames...)
	for _, r := range Default().Rules {
		names = append(names, r.Name)
	}
	for _, name := range names {
		for _, name := range []string{name, strings.ToUpper(name)} {
			if !m.sieve().passesName([]byte(name)) {
				t.Errorf("the sieve rejects %q", name)
			}
		}
	}
	for _, name := range []string{"", "page", "user", "media", "url", "id", "lang"} {
		if m.sieve().passesName([]byte(name)) {
			t.Errorf("the sieve passes %q", name)
		}
	}
	if (*Matcher)(nil).sieve().passesName([]byte("gclid")) {
		t.Error("no sieve passes gclid")
	}
}
