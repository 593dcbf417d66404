package main

import (
	"context"
	"fmt"
	"strings"
)

var refusals = []experiment{
	{
		name: "refuse", no: "11", about: "a broker that refuses records for good: single ones, all of them, or the dead letters; it is repaired and refuses again, under load, with kill -9 in between",
		bound: "lost 0; with block all records come out, in order; with dead_letter, in order where nothing is killed; a process that is blocked says so, ends in time by a signal, and continues when the broker is repaired or the configuration is changed",
		run:   refuse,
	},
}

// refuse runs the tests of internal/testkit/endtoend with refusing brokers, which are servers
// in their process.
func refuse(ctx context.Context, l *lab) error {
	rounds := l.times(3, 90)
	out, err := l.goTest(ctx, []string{fmt.Sprintf("URLFOLD_REFUSE_ROUNDS=%d", rounds)}, "-count=1", "-v",
		"-run", "^(TestRefused|TestRefusedUnderLoad|TestReloadWhileBlocked)$", "./internal/testkit/endtoend")
	l.check(err == nil, "%v:\n%s", err, lastLines(withoutLogs(out), 30))
	figures := 0
	for line := range strings.Lines(out) {
		if _, figure, ok := strings.Cut(line, ": figure: "); ok {
			figures++
			l.did("%s", strings.TrimSpace(figure))
		}
	}
	l.check(figures == 3, "%d of 3 runs under load have told their figures", figures)
	l.figure("cases of refusing brokers", strings.Count(out, "--- PASS: TestRefused/"))
	return nil
}

// withoutLogs leaves out the log lines of the programs that a test has started.
func withoutLogs(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(strings.TrimSpace(line), "time=") {
			b.WriteString(line)
		}
	}
	return b.String()
}
