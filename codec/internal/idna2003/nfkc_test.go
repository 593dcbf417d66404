package idna2003

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestReorder compares the order with that of the algorithm in the standard,
// which exchanges neighbours (Unicode, section 3.11, D109).
func TestReorder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	some := []rune{'a', 0x301, 0x323, 0x345, 0x31B, 0x5B0, 0x3099, 0x94D, 'b'}
	for range 2000 {
		text := make([]rune, random.IntN(40))
		for i := range text {
			text[i] = some[random.IntN(len(some))]
		}
		want := slices.Clone(text)
		for swapped := true; swapped; {
			swapped = false
			for i := 1; i < len(want); i++ {
				if a, b := classOf(want[i-1]), classOf(want[i]); a > b && b > 0 {
					want[i-1], want[i] = want[i], want[i-1]
					swapped = true
				}
			}
		}
		if reorder(text); !slices.Equal(text, want) {
			t.Fatalf("%U, want %U", text, want)
		}
	}
}
