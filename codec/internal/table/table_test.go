package table

import (
	"math/rand/v2"
	"testing"

	"github.com/urlfold/urlfold/internal/testkit/tablegen"
)

// TestTrie compares tries with the values they were made of.
func TestTrie(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		values := make([]uint16, rnd.IntN(0x110000))
		for c, value := 0, uint16(0); c < len(values); c++ {
			if rnd.IntN(1<<14) == 0 {
				value = uint16(rnd.IntN(5))
			}
			values[c] = value
		}
		top, middle, leaves, err := tablegen.Trie(values)
		if err != nil {
			t.Fatal(err)
		}
		made := Trie{Top: string(top), Middle: Uint16s(middle), Leaves: Uint16s(leaves)}
		for r := rune(-1); r <= 0x110000; r++ {
			want := uint16(0)
			if r >= 0 && int(r) < len(values) {
				want = values[r]
			}
			if got := made.At(r); got != want {
				t.Fatalf("%#x: %d, want %d", r, got, want)
			}
		}
	}
}

// TestManyLists checks that values are refused if one byte cannot number their lists.
func TestManyLists(t *testing.T) {
	values := make([]uint16, 257<<(leafBits+middleBits))
	for c := range values {
		values[c] = uint16(c >> (leafBits + middleBits))
	}
	if _, _, _, err := tablegen.Trie(values); err == nil {
		t.Error("257 lists: no error")
	}
}

func TestLists(t *testing.T) {
	numbers := []uint64{3, 5, 1 << 40}
	list := Uint64s(tablegen.Little(numbers))
	for i, n := range numbers {
		if list.At(i) != n || list.Search(n) != i || list.Search(n-1) != i {
			t.Errorf("integer %d is %d, found at %d", i, list.At(i), list.Search(n))
		}
	}
	if list.Len() != len(numbers) || list.Search(1<<41) != len(numbers) {
		t.Errorf("length %d", list.Len())
	}
	if short := Uint16s(tablegen.Little([]uint16{1, 0x102})); short.At(1) != 0x102 {
		t.Errorf("integer 1 is %#x", short.At(1))
	}
}
