package main

import "testing"

func TestToFailure(t *testing.T) {
	for in, want := range map[string]string{
		"ok\n": "ok\n",
		"=== RUN   TestA\n    a_test.go:1: lost\n--- FAIL: TestA (1.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\nFAIL\n": "=== RUN   TestA\n    a_test.go:1: lost\n--- FAIL: TestA (1.00s)",
	} {
		if got := toFailure(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
