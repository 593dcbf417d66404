package where

import (
	"cmp"
	"math"
	"testing"
)

// TestBound compares bounds with the comparisons that they stand for.
func TestBound(t *testing.T) {
	numbers := []uint64{0, 1, 2, 599, 600, 601, math.MaxUint64 - 1, math.MaxUint64}
	for operator, accepted := range comparisons {
		for _, value := range numbers {
			b, ok := boundOf(0, accepted, value)
			for _, n := range numbers {
				if got, want := ok && b.Has(n), accepted.has(cmp.Compare(n, value)); got != want {
					t.Errorf("%d %s %d is %v, want %v", n, operator, value, got, want)
				}
			}
		}
	}
}
