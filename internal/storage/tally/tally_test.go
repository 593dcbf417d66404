package tally

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// oracle is the readable twin: a map.
type oracle map[string]*Group

func (o oracle) add(key, example []byte, n int64) {
	g := o[string(key)]
	if g == nil {
		g = &Group{Key: bytes.Clone(key)}
		o[string(key)] = g
	}
	g.Count += n
	if example != nil && len(example) <= MaxExample && (g.Example == nil || Better(example, g.Example)) {
		g.Example = append([]byte{}, example...)
	}
}

// spilled returns the bytes of the temporary files.
func (t *Tally) spilled() (n int64) {
	for _, r := range t.runs {
		n += r.bytes
	}
	return n
}

// TestMerge: whatever the memory and the number of workers, the groups are
// the same as with a map.
func TestMerge(t *testing.T) {
	f := func(name string, workers int, memory int64, rows, keys int) {
		t.Helper()
		rng := rand.New(rand.NewPCG(1, uint64(rows)))
		want := oracle{}
		var all []*Tally
		for range workers {
			all = append(all, New(Options{MaxMemory: memory, Dir: t.TempDir()}))
		}
		for range rows {
			key := fmt.Appendf(nil, "key-%d", rng.IntN(keys))
			var example []byte
			switch rng.IntN(20) {
			case 0:
			case 1:
				example = []byte{}
			case 2:
				example = bytes.Repeat([]byte("x"), MaxExample+1)
			case 3:
				example = key
			case 4:
				example = key[1:]
			default:
				example = fmt.Appendf(nil, "%s?%d", key, rng.IntN(1000))
			}
			n := rng.Int64N(3) + 1
			want.add(key, example, n)
			if err := all[rng.IntN(workers)].Add(key, example, n); err != nil {
				t.Fatal(name, err)
			}
		}
		spilled := int64(0)
		for _, a := range all {
			spilled += a.spilled()
		}
		if (memory > 0) != (spilled > 0) {
			t.Errorf("%s: %d bytes in files with a limit of %d", name, spilled, memory)
		}
		got := 0
		err := Merge(all, func(g *Group) error {
			got++
			w := want[string(g.Key)]
			if w == nil || w.Count != g.Count || !bytes.Equal(w.Example, g.Example) || (w.Example == nil) != (g.Example == nil) {
				t.Fatalf("%s: got %s %d %q, want %+v", name, g.Key, g.Count, g.Example, w)
			}
			delete(want, string(g.Key))
			return nil
		})
		if err != nil || len(want) > 0 {
			t.Errorf("%s: %d groups, %d missing, %v", name, got, len(want), err)
		}
		for _, a := range all {
			if err := a.Close(); err != nil {
				t.Error(name, err)
			}
		}
	}
	f("empty", 2, 0, 0, 1)
	f("one key", 2, 0, 1000, 1)
	f("in memory", 2, 0, 50_000, 5_000)
	f("spilled", 1, 1, 100_000, 60_000)
	f("spilled by two workers", 2, 1, 100_000, 60_000)
	f("more runs than one merge takes", 1, 1, 300_000, 300_000)
}

// TestHugeTexts: a key longer than a chunk has a separate chunk.
func TestHugeTexts(t *testing.T) {
	a := New(Options{})
	key := bytes.Repeat([]byte("k"), 3*chunkBytes)
	for range 3 {
		if err := a.Add(key, key, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Add(key, []byte("short"), 1); err != nil {
		t.Fatal(err)
	}
	err := Merge([]*Tally{a}, func(g *Group) error {
		if !bytes.Equal(g.Key, key) || string(g.Example) != "short" || g.Count != 4 {
			t.Errorf("got %d bytes, %q, %d", len(g.Key), g.Example, g.Count)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDamage: a run whose bytes have changed is an error, at every byte.
func TestDamage(t *testing.T) {
	write := func() *Tally {
		a := New(Options{Dir: t.TempDir()})
		for i := range 40 {
			if err := a.Add(fmt.Appendf(nil, "key-%d", i), []byte("example"), 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.spill(); err != nil {
			t.Fatal(err)
		}
		return a
	}
	size := write().spilled()
	for at := range size {
		a := write()
		var b [1]byte
		f := a.runs[0].file
		if _, err := f.ReadAt(b[:], at); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 1 << (at % 8)
		if _, err := f.WriteAt(b[:], at); err != nil {
			t.Fatal(err)
		}
		if err := Merge([]*Tally{a}, func(*Group) error { return nil }); !errors.Is(err, errDamaged) {
			t.Errorf("byte %d: %v", at, err)
		}
		_ = a.Close()
	}
}

// TestNoFolder: the error names what failed.
func TestNoFolder(t *testing.T) {
	a := New(Options{MaxMemory: 1, Dir: t.TempDir() + "/missing"})
	if err := a.Add(make([]byte, 2*leastMemory), nil, 1); err == nil || !strings.Contains(err.Error(), "temporary file for groups") {
		t.Error(err)
	}
}

// TestAddAllocs: to count a known group allocates nothing.
func TestAddAllocs(t *testing.T) {
	a := New(Options{MaxMemory: 1 << 30})
	key, example := []byte("key"), []byte("example")
	if n := testing.AllocsPerRun(100, func() { _ = a.Add(key, example, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	var keys [][]byte
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1 << 16 {
		keys = append(keys, fmt.Appendf(nil, "https://www.example.com/product/%d", rng.IntN(40000)))
	}
	a := New(Options{MaxMemory: 1 << 30})
	i := 0
	for b.Loop() {
		k := keys[i&(1<<16-1)]
		_ = a.Add(k, k, 1)
		i++
	}
}
