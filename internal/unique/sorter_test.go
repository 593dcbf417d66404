package unique

import (
	"maps"
	"math/rand/v2"
	"os"
	"testing"
)

// TestSorter compares a sorter, in memory and with many files, with a map.
func TestSorter(t *testing.T) {
	for _, n := range []int{0, 1, 500, 40_000} {
		for _, distinct := range []uint64{1, 100, 1 << 40} {
			dir := t.TempDir()
			s := newSorter(0, dir, func(into, next *entry) { into.ordinal, into.n = next.ordinal, into.n+next.n })
			r := rand.New(rand.NewPCG(uint64(n), distinct))
			type fact struct{ last, n uint64 }
			want, got := map[[2]uint64]fact{}, map[[2]uint64]fact{}
			for i := range uint64(n) {
				k := [2]uint64{r.Uint64N(distinct), r.Uint64N(2)}
				if err := s.add(entry{k[0], k[1], i, 1}); err != nil {
					t.Fatal(err)
				}
				want[k] = fact{i, want[k].n + 1}
			}
			if spilled := len(s.runs) > 0; spilled != (n > 1024 && distinct > 100) {
				t.Errorf("%d entries, %d distinct: %d files", n, distinct, len(s.runs))
			}
			all, err := s.sorted()
			if err != nil {
				t.Fatal(err)
			}
			var before entry
			for e, ok, err := all.next(); ok || err != nil; e, ok, err = all.next() {
				if err != nil {
					t.Fatal(err)
				}
				if len(got) > 0 && before.compare(&e) >= 0 {
					t.Fatalf("%v after %v", e, before)
				}
				before = e
				got[[2]uint64{e.hi, e.lo}] = fact{e.ordinal, e.n}
			}
			if !maps.Equal(got, want) {
				t.Errorf("%d entries, %d distinct: %d results, want %d", n, distinct, len(got), len(want))
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("files left: %v", left)
			}
		}
	}
}
