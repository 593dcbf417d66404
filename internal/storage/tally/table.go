package tally

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/zeebo/xxh3"
)

// MaxExample is the length of the longest example, in bytes. Longer ones are not
// kept, so that examples cannot fill the memory.
const MaxExample = 2 << 10

// A Group is a key with the number of its occurrences.
type Group struct {
	Key     []byte
	Example []byte // the shortest one, of these the least; nil if all were longer than MaxExample
	Count   int64
}

// A table holds groups in memory. It finds them by the hash of the key, which is
// also their order in a run.
type table struct {
	seed    uint64
	slots   []uint32 // index of the entry plus 1; 0: empty. The length is a power of two
	entries []entry
	chunks  [][]byte // texts; their bytes do not move
	text    int64    // total capacity of chunks
}

// An entry is a group whose key and example, in this order, are in a chunk.
type entry struct {
	hash       uint64
	count      int64
	chunk, off uint32
	key        uint32 // length
	example    uint32 // length plus 1; 0: no example
}

const (
	chunkBytes = 256 << 10
	firstSlots = 1 << 10
	entryBytes = 32
)

// bytes returns the memory that the table uses.
func (t *table) bytes() int64 {
	return int64(len(t.slots))*4 + int64(cap(t.entries))*entryBytes + t.text
}

// add adds n occurrences of key. It retains neither key nor example.
func (t *table) add(key, example []byte, n int64) {
	if len(t.entries)*4 >= len(t.slots)*3 {
		t.slots = make([]uint32, max(firstSlots, 2*len(t.slots)))
		mask := uint64(len(t.slots) - 1)
		for k := range t.entries {
			i := t.entries[k].hash & mask
			for t.slots[i] != 0 {
				i = (i + 1) & mask
			}
			t.slots[i] = uint32(k) + 1
		}
	}
	h := xxh3.HashSeed(key, t.seed)
	mask := uint64(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		k := t.slots[i]
		if k == 0 {
			t.slots[i] = uint32(len(t.entries)) + 1
			t.entries = append(t.entries, t.newEntry(h, key, example, n))
			return
		}
		if e := &t.entries[k-1]; e.hash == h && bytes.Equal(t.keyOf(e), key) {
			e.count += n
			t.offer(e, key, example)
			return
		}
	}
}

// keyOf returns the key of e.
func (t *table) keyOf(e *entry) []byte {
	return t.chunks[e.chunk][e.off : e.off+e.key : e.off+e.key]
}

// exampleOf returns the example of e, or nil.
func (t *table) exampleOf(e *entry) []byte {
	if e.example == 0 {
		return nil
	}
	start := e.off + e.key
	return t.chunks[e.chunk][start : start+e.example-1 : start+e.example-1]
}

// offer replaces the example of e if the new one is better. A better example is
// not longer, so it fits into the place of the old one.
func (t *table) offer(e *entry, key, example []byte) {
	switch {
	case example == nil || len(example) > MaxExample:
	case e.example == 0:
		count := e.count
		*e = t.newEntry(e.hash, key, example, count)
	case Better(example, t.exampleOf(e)):
		copy(t.exampleOf(e), example)
		e.example = uint32(len(example)) + 1
	}
}

// Better reports whether a is a better example than b: shorter, or of the same
// length and less. So the example of a group does not depend on the order in
// which workers count.
func Better(a, b []byte) bool {
	return len(a) < len(b) || len(a) == len(b) && bytes.Compare(a, b) < 0
}

// newEntry copies the texts of a group to a chunk.
func (t *table) newEntry(h uint64, key, example []byte, n int64) entry {
	e := entry{hash: h, count: n, key: uint32(len(key))}
	if example != nil && len(example) <= MaxExample {
		e.example = uint32(len(example)) + 1
	} else {
		example = nil
	}
	need := len(key) + len(example)
	last := len(t.chunks) - 1
	if last < 0 || cap(t.chunks[last])-len(t.chunks[last]) < need {
		size := max(chunkBytes, need)
		t.chunks = append(t.chunks, make([]byte, 0, size))
		t.text += int64(size)
		last++
	}
	c := t.chunks[last]
	e.chunk, e.off = uint32(last), uint32(len(c))
	t.chunks[last] = append(append(c, key...), example...)
	return e
}

// sort puts the entries in the order of runs. Nothing can be added afterwards,
// until reset.
func (t *table) sort() {
	slices.SortFunc(t.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), bytes.Compare(t.keyOf(&a), t.keyOf(&b)))
	})
}

// reset removes all groups. It keeps no memory: slots and entries that have grown
// to the limit would leave no room for the next groups.
func (t *table) reset() { *t = table{seed: t.seed} }
