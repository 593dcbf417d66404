package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/suggest"
)

// choice returns the index of name in names. The error suggests a name that is
// near, or lists them all.
func choice(what string, names []string, name string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	if near := nearest(names, name); near != "" {
		return 0, fmt.Errorf("there is no %s %q; did you mean %s?", what, name, near)
	}
	return 0, fmt.Errorf("there is no %s %q; there are %s", what, name, strings.Join(names, ", "))
}

// nearest returns the name that name was most likely meant to be, or "".
func nearest(names []string, name string) string { return suggest.Nearest(names, name) }
