package keyset

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// keysOf returns n keys of a deterministic sequence, of which distinct differ.
func keysOf(seed uint64, n, distinct int) []Key {
	r := rand.New(rand.NewPCG(seed, 1))
	all := make([]Key, distinct)
	for i := range all {
		all[i] = Key{Hi: r.Uint64(), Lo: r.Uint64()}
	}
	keys := make([]Key, n)
	for i := range keys {
		keys[i] = all[r.IntN(distinct)]
	}
	return keys
}

// checkAdd adds keys in batches of different sizes, and compares each answer with
// that of a map.
func checkAdd(t *testing.T, s *Set, keys []Key) {
	t.Helper()
	oracle := map[Key]bool{}
	added := make([]bool, 4096)
	r := rand.New(rand.NewPCG(3, 3))
	for batch := range slices.Chunk(keys, 1+r.IntN(len(added))) {
		if err := s.Add(batch, added[:len(batch)]); err != nil {
			t.Fatal(err)
		}
		for i, k := range batch {
			if added[i] == oracle[k] {
				t.Fatalf("%v: added %v, in the oracle %v", k, added[i], oracle[k])
			}
			oracle[k] = true
		}
	}
	if s.Len() != int64(len(oracle)) {
		t.Errorf("%d keys, want %d", s.Len(), len(oracle))
	}
	for k := range oracle {
		if ok, err := s.Has(k); !ok || err != nil {
			t.Fatalf("Has(%v): %v, %v", k, ok, err)
		}
		if ok, err := s.Has(Key{Hi: k.Hi, Lo: k.Lo + 1}); ok != oracle[Key{Hi: k.Hi, Lo: k.Lo + 1}] || err != nil {
			t.Fatalf("Has of a missing key: %v, %v", ok, err)
		}
	}
}

func TestSetInMemory(t *testing.T) {
	s := New(Options{})
	checkAdd(t, s, keysOf(1, 300_000, 100_000))
	memory, disk := s.Bytes()
	if per := float64(memory) / float64(s.Len()); disk != 0 || per > 26 {
		t.Errorf("%d bytes on disk, %.1f bytes of memory a key", disk, per)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestSmallSet: a set of few keys stays within the cache of a processor.
func TestSmallSet(t *testing.T) {
	s := New(Options{})
	checkAdd(t, s, keysOf(3, 4000, 1500))
	if memory, _ := s.Bytes(); memory > 300<<10 {
		t.Errorf("%d bytes for %d keys", memory, s.Len())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestSetSpills: a set beyond its memory gives the same answers, needs several
// merges, and leaves no file.
func TestSetSpills(t *testing.T) {
	dir := t.TempDir()
	s := New(Options{MaxMemory: 1, Dir: dir})
	s.minTable = 3 << 20 / 2
	checkAdd(t, s, keysOf(2, 600_000, 400_000))
	memory, disk := s.Bytes()
	if disk == 0 || len(s.runs) > 2*fanIn || disk > 30*s.Len() {
		t.Errorf("%d bytes on disk, %d runs", disk, len(s.runs))
	}
	if memory > 2*s.minTable+4*s.Len() {
		t.Errorf("%d bytes of memory", memory)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("files left: %v", left)
	}
}

// TestSetEdges covers keys that no hash gives: neighbours, extremes, many keys
// with the same first half.
func TestSetEdges(t *testing.T) {
	var keys []Key
	for i := range uint64(3_000) {
		keys = append(keys, Key{Hi: 1 << 40, Lo: i}, Key{Hi: ^uint64(0), Lo: ^uint64(0) - i}, Key{Hi: i, Lo: 1}, Key{Hi: 0, Lo: i + 1})
	}
	for _, memory := range []int64{0, 1} {
		s := New(Options{MaxMemory: memory, Dir: t.TempDir()})
		s.minTable = 3 << 20 / 2
		checkAdd(t, s, slices.Concat(keys, keysOf(4, 100_000, 100_000), keys))
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestZeroKey: a record without a key is never a duplicate.
func TestZeroKey(t *testing.T) {
	s := New(Options{})
	added := make([]bool, 3)
	if err := s.Add([]Key{{}, {}, {Lo: 1}}, added); err != nil || !added[0] || !added[1] || !added[2] || s.Len() != 1 {
		t.Errorf("%v, %v, %d keys", added, err, s.Len())
	}
	if ok, err := s.Has(Key{}); ok || err != nil {
		t.Errorf("the zero key: %v, %v", ok, err)
	}
}

// runBytes returns a run with n keys.
func runBytes(t *testing.T, n int) []byte {
	t.Helper()
	keys := keysOf(5, n, n)
	slices.SortFunc(keys, func(a, b Key) int {
		if a.Less(b) {
			return -1
		}
		return 1
	})
	var out strings.Builder
	w := newRunWriter(&out)
	for _, k := range slices.Compact(keys) {
		if err := w.add(k, 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.close(); err != nil {
		t.Fatal(err)
	}
	return []byte(out.String())
}

// TestDamagedRun flips each bit of every 97th byte, and cuts the file at many
// places. Opening the run or reading all of its keys must fail.
func TestDamagedRun(t *testing.T) {
	data := runBytes(t, 3000)
	path := filepath.Join(t.TempDir(), "run")
	read := func(data []byte) error {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		r, err := openRun(f, int64(len(data)))
		if err != nil {
			return err
		}
		return merge(newRunWriter(&strings.Builder{}), 0, []*Run{r})
	}
	if err := read(data); err != nil {
		t.Fatal(err)
	}
	for i := len(runMagic); i < len(data); i += 97 {
		bad := slices.Clone(data)
		bad[i] ^= 1 << (i % 8)
		if err := read(bad); !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), path) {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
	}
	for n := 0; n < len(data); n += 991 {
		if err := read(data[:n]); !errors.Is(err, errDamaged) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
}
