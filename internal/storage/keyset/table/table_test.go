package table

import (
	"math/rand/v2"
	"testing"
)

// slowFind is find, slot by slot.
func (s *Segment) slowFind(k Key) (slot int, found bool) {
	if s.homes == 0 {
		return 0, false
	}
	for slot = s.home(k); slot < len(s.slots) && s.slots[slot] != (Key{}) && s.slots[slot].Less(k); slot++ {
	}
	return slot, slot < len(s.slots) && s.slots[slot] == k
}

// TestFind compares find with slowFind, for tables of hashes, and for keys that no hash
// gives: neighbours, and many that share a half or have an empty one.
func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for name, key := range map[string]func() Key{
		"hashes":      func() Key { return Key{r.Uint64(), r.Uint64()} },
		"empty halfs": func() Key { return Key{r.Uint64() * uint64(r.IntN(2)), r.Uint64() * uint64(r.IntN(2))} },
		"close":       func() Key { return Key{uint64(r.IntN(4)) << (8 * r.IntN(8)), uint64(r.IntN(99))} },
		"one half":    func() Key { return Key{1 << 63, r.Uint64()} },
		"greatest":    func() Key { return Key{^uint64(r.IntN(3)), ^uint64(r.IntN(3000))} },
	} {
		for n := 1; n < 20_000; n *= 7 {
			var tab Table
			var keys []Key
			for range n {
				k := key()
				keys = append(keys, k, Key{k.Hi, k.Lo + 1}, Key{k.Hi - 1, k.Lo}, Key{k.Hi + 1, k.Lo - 1}, key())
				if k == (Key{}) {
					continue
				}
				if _, err := tab.Add(k); err != nil {
					t.Fatal(err)
				}
			}
			for _, k := range keys {
				s := tab.segmentOf(k)
				slot, found := s.find(k)
				if wantSlot, want := s.slowFind(k); k != (Key{}) && (slot != wantSlot || found != want) {
					t.Fatalf("%s, %d keys: find(%x) = %d, %v, want %d, %v", name, n, k, slot, found, wantSlot, want)
				}
			}
			tab.Reset()
		}
	}
}

// TestGrowth: segments pass through the size from which they grow by a fifth.
func TestGrowth(t *testing.T) {
	homes := 0
	for homes < doubleHomes {
		homes = moreHomes(homes)
	}
	if next := moreHomes(homes); homes != doubleHomes || next != doubleHomes*6/5&^(lineSlots-1) {
		t.Errorf("%d homes grow to %d", homes, next)
	}
}
