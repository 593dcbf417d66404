package main

import (
	"context"
	"fmt"
	"strings"
)

var refusals = []experiment{
	{
		name: "refuse", no: "11", about: "a broker that rejects records permanently: single records, all records, or the dead letters; it is repaired and rejects again, under load, with kill -9 in between",
		bound: "lost 0; with block, all records are delivered in order; with dead-letter, in order where nothing is killed; a blocked process reports it, ends in time after a signal, and continues when the broker is repaired or the configuration is changed",
		run:   refuse,
	},
}

// refuse runs the tests of chaos/endtoend with rejecting brokers,
// which are servers in the process of the test.
func refuse(ctx context.Context, l *lab) error {
	rounds := l.times(3, 90)
	out := l.endToEnd(ctx, fmt.Sprintf("URLFOLD_REFUSE_ROUNDS=%d", rounds), "^(TestRefused|TestRefusedUnderLoad|TestReloadWhileBlocked)$", 3)
	l.figure("cases with rejecting brokers", strings.Count(out, "--- PASS: TestRefused/"))
	return nil
}
