package redact

import (
	"errors"
	"testing"
)

func TestPanic(t *testing.T) {
	if got := Panic(errors.New("secret")); got != "value of type *errors.errorString" {
		t.Errorf("%q", got)
	}
	defer func() {
		if got := Panic(recover()); got != "runtime error: index out of range [0] with length 0" {
			t.Errorf("%q", got)
		}
	}()
	var none []byte
	_ = none[len(none)]
}
