// Package cputime measures how long a function keeps a processor busy, for tests
// that compare the work for inputs of different sizes.
package cputime

import (
	"testing"
	"time"
)

// Grows reports whether do takes much more time than in proportion to the
// size of its input: more than twice the proportional time for 4 times the
// size, three times in a row. It does not say how fast do is. A fast do
// always passes: if its time grew with the square of the size, that could
// not be noticed, and would not matter.
func Grows(t testing.TB, size int, do func(size int)) bool {
	t.Helper()
	const fast = 100 * time.Millisecond
	for range 3 { // the first call may find cold caches
		whole := Of(t, func() { do(4 * size) })
		if whole < fast || whole <= 8*Of(t, func() { do(size) }) || whole <= 4*Of(t, func() { do(2 * size) }) {
			return false
		}
	}
	return true
}
