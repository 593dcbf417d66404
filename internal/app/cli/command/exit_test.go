package command

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A joined error is a list, in which an error that was returned twice occurs
// once.
func TestExitText(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	for want, err := range map[string]error{
		"urlfold: a\n":                   errors.Join(a, a),
		"urlfold: 2 errors:\n  a\n  b\n": errors.Join(a, a, b),
	} {
		if got := (&Error{Code: ExitFatal, Err: err}).Text("urlfold"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	var many []error
	for i := range 250 {
		many = append(many, fmt.Errorf("e%d", i))
	}
	got := (&Error{Code: ExitFatal, Err: errors.Join(many...)}).Text("urlfold")
	if n := strings.Count(got, "\n"); n != 102 || !strings.HasPrefix(got, "urlfold: 250 errors:\n  e0\n") || !strings.HasSuffix(got, "  e99\n  … and 150 more\n") {
		t.Errorf("%d lines: %s", n, got)
	}
}
