package errlist

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestFlatten(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	f := func(err error, want ...error) {
		t.Helper()
		if got := Flatten(err); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
	f(nil)
	f(a, a)
	one := fmt.Errorf("%w at h: %w", a, b)
	f(one, one)
	f(errors.Join(one, c), one, c)
	f(errors.Join(a, errors.Join(b, nil, errors.Join(c)), a), a, b, c, a)
}
