package locate

import (
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// TestReasonNames checks that no error of the codec has the number of
// another reason, and that each of the others has a different name.
func TestReasonNames(t *testing.T) {
	seen := map[string]bool{}
	for r := Reason(1); r < NumReasons; r++ {
		isError := codec.Error(r).Name() != "unknown"
		if isError && r >= firstReason {
			t.Errorf("%v: error and reason %d", codec.Error(r), r)
		}
		if name := r.String(); name == "unknown" != (r < firstReason && !isError) || seen[name] && name != "unknown" {
			t.Errorf("reason %d is %q", r, name)
		} else {
			seen[name] = true
		}
	}
}
