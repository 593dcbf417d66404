package codec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// TestPart checks that the parts of a normal form do not depend on what it was
// appended to, and that no other value is taken for a component.
func TestPart(t *testing.T) {
	n := codec.MustNamed("equiv")
	var r codec.Result
	out, err := n.AppendString([]byte("a prefix "), "HTTP://h.example:80/a?#f", &r)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for c := range r.Out.Components() {
		fmt.Fprintf(&got, "%v=%s ", c, r.Part(c))
	}
	if want := "scheme=http host=h.example path=/a query= fragment=f "; got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
	for c := codec.WholeURL; c < 255; c++ {
		if b := r.Out.Bytes(out, c); b != nil || r.Out.Has(c) || r.Out.Span(c) != (codec.Span{}) || r.Part(c) != nil {
			t.Errorf("component %d: %q", c, b)
		}
	}
	if r.Part(codec.Port) != nil || r.Part(codec.Query) == nil {
		t.Error("an absent part, or one that is present and empty")
	}
}
