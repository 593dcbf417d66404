package nats

import (
	"context"
	"strings"
	"testing"
)

// TestKeep checks that a function that panics is called again, and that the error
// has its stack but no value that could quote a message.
func TestKeep(t *testing.T) {
	calls := 0
	var errs []string
	Keep(t.Context(), func(err error) { errs = append(errs, err.Error()) }, func(context.Context) {
		calls++
		if calls == 1 {
			panic("http://user:hunter2@h/")
		}
	})
	if calls != 2 || len(errs) != 1 || !strings.HasPrefix(errs[0], "panic: value of type string\n") || !strings.Contains(errs[0], "protect_test.go") || strings.Contains(errs[0], "hunter2") {
		t.Errorf("%d calls, %q", calls, errs)
	}
	var none []int
	if err := Protect(func() { none[3]++ }); err == nil || !strings.HasPrefix(err.Error(), "panic: runtime error: index out of range [3]") {
		t.Error(err)
	}
}
