// Package bubble runs tests in bubbles of testing/synctest, where time is
// simulated. Only tests import it.
package bubble

import (
	"runtime"
	"testing"
	"testing/synctest"
)

// Test is like [synctest.Test], but also works with the race detector, where
// synctest.Test crashes or hangs: in the runtime of Go 1.26, all timers of a
// bubble share one race context, and timer channels use it on several threads
// at a time. In a race build, Test therefore runs f on one processor. The
// detector finds as much there, because it compares the order of events and not
// their time. The test must not run in parallel with others.
func Test(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if race {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	synctest.Test(t, f)
}
