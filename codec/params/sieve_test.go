package params

import (
	"strings"
	"testing"
)

// TestSieve holds that a sieve keeps back no name of its Matcher, and no name that this package knows by heart, in whatever
// case.
func TestSieve(t *testing.T) {
	m := compile(t, Default(), plain(t, "/x_[0-9]+/\nq\n_\n[f]*"))
	names := append([]string{"x_1", "q", "_", "[f]", "[f]g", "utm_", "aspsessionidqwertyui"}, knownNames...)
	for _, p := range append(clickIDs, moreParams...) {
		names = append(names, strings.TrimSuffix(p.name, "*"))
	}
	for _, name := range names {
		for _, name := range []string{name, strings.ToUpper(name)} {
			if !m.sieve().passes([]byte(name)) {
				t.Errorf("%q is kept back", name)
			}
		}
	}
	if m.sieve().passes(nil) || m.sieve().passes([]byte("page")) {
		t.Error("the sieve has no holes, or too large ones")
	}
	if (*Matcher)(nil).sieve().passes([]byte("gclid")) {
		t.Error("no Matcher knows gclid")
	}
}
