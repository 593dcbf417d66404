package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// goTest runs go test in dir, a folder below the root of the main module. Its
// output is kept in the folder of the experiment, too.
func (l *lab) goTest(ctx context.Context, dir string, env []string, args ...string) (output string, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-timeout", "20m"}, args...)...)
	cmd.Dir = filepath.Join(l.shared.root, dir)
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if werr := os.WriteFile(l.path("go-test.log"), out.Bytes(), 0o644); werr != nil && err == nil {
		err = werr
	}
	return out.String(), err
}

// endToEnd runs tests of chaos/endtoend, whose servers are in the process of
// the test. want is the number of cases that must print a figure. It returns
// the output.
func (l *lab) endToEnd(ctx context.Context, env, tests string, want int) (output string) {
	out, err := l.goTest(ctx, "chaos", []string{env}, "-count=1", "-v", "-run", tests, "./endtoend")
	l.check(err == nil, "%v (with -keep, the whole output is in %s):\n%s", err, l.path("go-test.log"), lastLines(toFailure(withoutLogs(out)), 30))
	figures := 0
	for line := range strings.Lines(out) {
		if _, figure, ok := strings.Cut(line, ": figure: "); ok {
			figures++
			l.did("%s", strings.TrimSpace(figure))
		}
	}
	l.check(figures == want, "%d of %d cases reported their figures", figures, want)
	return out
}

// withoutLogs removes the log lines of the programs that a test started.
func withoutLogs(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(strings.TrimSpace(line), "time=") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// toFailure returns the output of go test -v up to the first test that failed, or all of it
// if none did.
func toFailure(out string) string {
	before, after, failed := strings.Cut(out, "--- FAIL")
	if !failed {
		return out
	}
	name, _, _ := strings.Cut(after, "\n")
	return before + "--- FAIL" + name
}
