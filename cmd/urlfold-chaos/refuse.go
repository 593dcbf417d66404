package main

import (
	"context"
	"fmt"
	"strings"
)

var refusals = []experiment{
	{
		name: "refuse", no: "11", about: "a broker that rejects records permanently: single records, all records, or the dead letters; it is repaired and rejects again, under load, with kill -9 in between",
		bound: "lost 0; with block, all records are delivered in order; with dead_letter, in order where nothing is killed; a blocked process reports it, ends in time after a signal, and continues when the broker is repaired or the configuration is changed",
		run:   refuse,
	},
}

// refuse runs the tests of internal/testkit/endtoend with rejecting brokers,
// which are servers in the process of the test.
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
	l.check(figures == 3, "%d of 3 runs under load reported their figures", figures)
	l.figure("cases with rejecting brokers", strings.Count(out, "--- PASS: TestRefused/"))
	return nil
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
