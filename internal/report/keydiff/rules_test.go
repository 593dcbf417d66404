package keydiff

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// TestStepsLevels checks at each level that the steps to a key are those of the
// levels up to it.
func TestStepsLevels(t *testing.T) {
	url := []byte("https://www.h.example//a?b=2&a=1")
	for level, want := range map[codec.Level]string{
		codec.LevelSyntax: "", codec.LevelEquivalent: "", codec.LevelFetch: "https-http q-sort-name",
		codec.LevelPage: "https-http q-sort-name https-http www-one slash-one", codec.LevelShape: "https-http q-sort-name scheme-drop q-names",
	} {
		s := Side{Normalizer: codec.MustNamed("equiv"), Level: level}
		steps, ok := s.steps(url)
		var names []string
		for _, st := range steps {
			names = append(names, st.rule)
		}
		if got := strings.Join(names, " "); got != want || !ok {
			t.Errorf("%v: %q, want %q", level, got, want)
		}
	}
}
