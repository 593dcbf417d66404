// Package bubble runs tests in bubbles of testing/synctest, where time is fake. Only
// tests import it.
package bubble

import (
	"runtime"
	"testing"
	"testing/synctest"
)

// Test is [synctest.Test], which crashes or hangs in the race detector: in the
// runtime of Go 1.26 all timers of a bubble share one context of the detector, and
// channels of timers use it on several threads at a time. In a race build Test
// therefore runs f on one processor, where the detector finds as much: it compares
// what happens before what, and not when. The test must not run in parallel with
// others.
func Test(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if race {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	synctest.Test(t, f)
}
