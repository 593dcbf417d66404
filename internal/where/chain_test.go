package where

import (
	"cmp"
	"math"
	"testing"
)

// TestInterval compares intervals with the comparisons that they stand for.
func TestInterval(t *testing.T) {
	numbers := []uint64{0, 1, 2, 599, 600, 601, math.MaxUint64 - 1, math.MaxUint64}
	for operator, accepted := range comparisons {
		for _, value := range numbers {
			i := intervalOf(accepted, value)
			for _, n := range numbers {
				if got, want := i.has(n), accepted.has(cmp.Compare(n, value)); got != want {
					t.Errorf("%d %s %d is %v, want %v", n, operator, value, got, want)
				}
			}
		}
	}
}
