package nfc

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
	classes := map[rune]uint8{0x301: 230, 0x323: 220, 0x345: 240, 0x31B: 216, 0x5B0: 10, 0x3099: 8, 0x94D: 9}
	classOf := func(r rune) uint8 { return classes[r] }
	for i := range 2000 {
		from, text := some, make([]rune, random.IntN(40))
		if i == 0 { // one run, which sortLong sorts
			from, text = some[1:8], make([]rune, 2*longRun)
		}
		for i := range text {
			text[i] = from[random.IntN(len(from))]
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
		if reorder(text, classOf); !slices.Equal(text, want) {
			t.Fatalf("%U, want %U", text, want)
		}
	}
}
