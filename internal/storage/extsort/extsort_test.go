package extsort

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

type entry struct {
	key     [2]uint64
	ordinal uint64
	n       uint64
}

func (e entry) compare(o entry) int {
	return cmp.Or(slices.Compare(e.key[:], o.key[:]), cmp.Compare(e.ordinal, o.ordinal))
}

// TestSorter compares a sorter, in memory and with many files, with a map.
func TestSorter(t *testing.T) {
	for _, n := range []int{0, 1, 500, 40_000} {
		for _, distinct := range []uint64{1, 100, 1 << 40} {
			dir := t.TempDir()
			s := New(0, dir, entry.compare, func(into, next *entry) bool {
				if into.key != next.key {
					return false
				}
				into.ordinal, into.n = next.ordinal, into.n+next.n
				return true
			})
			r := rand.New(rand.NewPCG(uint64(n), distinct))
			type fact struct{ last, n uint64 }
			want, got := map[[2]uint64]fact{}, map[[2]uint64]fact{}
			for i := range uint64(n) {
				k := [2]uint64{r.Uint64N(distinct), r.Uint64N(2)}
				if err := s.Add(entry{k, i, 1}); err != nil {
					t.Fatal(err)
				}
				want[k] = fact{i, want[k].n + 1}
			}
			if spilled := len(s.runs) > 0; spilled != (n > 1024 && distinct > 100) {
				t.Errorf("%d entries, %d distinct: %d files", n, distinct, len(s.runs))
			}
			all, err := s.Sorted()
			if err != nil {
				t.Fatal(err)
			}
			var before entry
			for e, ok, err := all.Next(); ok || err != nil; e, ok, err = all.Next() {
				if err != nil {
					t.Fatal(err)
				}
				if len(got) > 0 && before.compare(e) >= 0 {
					t.Fatalf("%v after %v", e, before)
				}
				before = e
				got[e.key] = fact{e.ordinal, e.n}
			}
			if !maps.Equal(got, want) {
				t.Errorf("%d entries, %d distinct: %d results, want %d", n, distinct, len(got), len(want))
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("files left: %v", left)
			}
		}
	}
}
