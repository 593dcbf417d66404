package cli

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/app/cli/command"
)

// TestParallelInputs: the inputs that are read at once fit into the descriptor limit,
// and a limit for none of them is a usage error with its numbers.
func TestParallelInputs(t *testing.T) {
	f := func(jobs int, limit int64, want int, logged bool) {
		t.Helper()
		var b strings.Builder
		n, err := (&settings{options: &options{runOptions: runOptions{Jobs: jobs}}}).parallelInputs(limit, slog.New(slog.NewTextHandler(&b, nil)))
		if n != want || (err != nil) != (want == 0) || strings.Contains(b.String(), "descriptor_limit") != logged {
			t.Errorf("%d jobs, limit %d: %d, %v, %q", jobs, limit, n, err, b.String())
		}
		var exit *command.Error
		if err != nil && (!errors.As(err, &exit) || exit.Code != command.ExitUsage) {
			t.Errorf("exit code of %v", err)
		}
	}
	f(1, 0, 2, false)
	f(8, 0, 8, false)
	f(8, 24, 8, false)
	f(8, 23, 7, true)
	f(8, 17, 1, true)
	f(8, 16, 0, false)
	f(1, 3, 0, false)
}
