package cli

import (
	"errors"
	"testing"
)

// A joined error is a list, in which an error that was returned twice is one.
func TestExitText(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	for want, err := range map[string]error{
		"urlfold: a\n":                   errors.Join(a, a),
		"urlfold: 2 errors:\n  a\n  b\n": errors.Join(a, a, b),
	} {
		if got := (&exitError{code: exitFatal, err: err}).text("urlfold"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
