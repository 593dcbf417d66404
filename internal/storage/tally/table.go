package tally

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/zeebo/xxh3"
)

// MaxExample is the length of the longest example, in bytes. Longer examples
// are not kept, so that they cannot fill the memory.
const MaxExample = 2 << 10

// A Group is a key with the number of its occurrences.
type Group struct {
	Key     []byte
	Example []byte // the shortest example, or the least of several equally short ones; nil if all were longer than MaxExample
	Count   int64
}

// A table holds groups in memory. It finds a group by 32 bits of the hash of
// its key. Runs are sorted by these bits, too.
type table struct {
	slots   []slot // 0: empty. The length is a power of two
	entries []entry
	chunks  [][]byte // texts; their bytes do not move
	text    int64    // total capacity of chunks
	loaded  byte     // result of load, otherwise unused: without it, the compiler would omit the reads
}

// A slot has the hash of a group, and in its lower half the index of the entry
// plus 1. So a search reads only the entries with the hash that it looks for.
type slot uint64

func (s slot) hash() uint32 { return uint32(s >> 32) }

// entry returns the entry of a slot, which must not be empty.
func (t *table) entry(s slot) *entry { return &t.entries[uint32(s)-1] }

// An entry is a group whose key and example, in this order, are in a chunk.
type entry struct {
	count      int64
	chunk, off uint32
	key        uint32 // length of the key
	example    uint32 // length of the example plus 1; 0: no example
}

const (
	chunkBytes = 256 << 10
	firstSlots = 1 << 10
	slotBytes  = 8
	entryBytes = 24
)

// bytes returns the memory that the table uses.
func (t *table) bytes() int64 {
	return int64(len(t.slots))*slotBytes + int64(cap(t.entries))*entryBytes + t.text
}

func hashOf(key []byte) uint32 { return uint32(xxh3.HashSeed(key, seed)) }

// add adds the occurrences of a group whose key has the hash h. It does not retain g.
func (t *table) add(h uint32, g *Group) {
	if e, at := t.find(h, g.Key); e != nil {
		e.count += g.Count
		t.offer(e, g.Key, g.Example)
	} else {
		t.insert(at, h, t.newEntry(g.Key, g.Example, g.Count))
	}
}

// maxBatch is the number of keys that are looked up together.
const maxBatch = 64

// load reads what find will read for up to maxBatch hashes. The memory of a large table
// is seldom in the cache of the processor, which waits for each read of find. In these
// loops no read depends on the previous read, so the processor waits for many at once.
func (t *table) load(hashes []uint32) {
	if len(t.slots) == 0 {
		return
	}
	mask := len(t.slots) - 1
	var slots [maxBatch]slot
	for i, h := range hashes {
		slots[i] = t.slots[int(h)&mask]
	}
	var entries [maxBatch]entry
	for i, h := range hashes {
		at := int(h) & mask
		s := slots[i]
		for s != 0 && s.hash() != h {
			at = (at + 1) & mask
			s = t.slots[at]
		}
		if s != 0 {
			entries[i] = *t.entry(s)
		}
	}
	for i := range hashes {
		if e := &entries[i]; e.key > 0 {
			key := t.keyOf(e)
			t.loaded += key[0] + key[len(key)-1]
		}
	}
}

// find returns the entry of a key with the hash h, or nil and the index of the slot for a
// new entry.
func (t *table) find(h uint32, key []byte) (e *entry, at int) {
	if len(t.entries)*4 >= len(t.slots)*3 {
		t.grow()
	}
	mask := len(t.slots) - 1
	for at = int(h) & mask; t.slots[at] != 0; at = (at + 1) & mask {
		if s := t.slots[at]; s.hash() == h {
			if e := t.entry(s); bytes.Equal(t.keyOf(e), key) {
				return e, at
			}
		}
	}
	return nil, at
}

// grow doubles the number of slots, and makes room for as many entries as the
// new slots can point to.
func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, max(firstSlots, 2*len(old)))
	t.entries = append(make([]entry, 0, len(t.slots)*3/4), t.entries...)
	mask := len(t.slots) - 1
	for _, s := range old {
		if s == 0 {
			continue
		}
		at := int(s.hash()) & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = s
	}
}

// insert adds an entry with the hash h at the slot that find has returned.
func (t *table) insert(at int, h uint32, e entry) {
	t.entries = append(t.entries, e)
	t.slots[at] = slot(h)<<32 | slot(len(t.entries))
}

// absorb moves the groups of o to t. The texts stay where they are.
func (t *table) absorb(o *table) {
	first := uint32(len(t.chunks))
	t.chunks, t.text = append(t.chunks, o.chunks...), t.text+o.text
	for _, e := range o.entries { // not in the order of the slots: t has the same order, so the groups would fill its slots from one end
		e.chunk += first
		key := t.keyOf(&e)
		h := hashOf(key)
		if known, at := t.find(h, key); known != nil {
			known.count += e.count
			t.offer(known, key, t.exampleOf(&e))
		} else {
			t.insert(at, h, e)
		}
	}
	*o = table{}
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

// offer replaces the example of e if the new example is better. A better example is
// not longer, so it fits into the place of the old example.
func (t *table) offer(e *entry, key, example []byte) {
	switch {
	case example == nil:
	case e.example == 0:
		*e = t.newEntry(key, example, e.count)
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
func (t *table) newEntry(key, example []byte, n int64) entry {
	e := entry{count: n, key: uint32(len(key))}
	if example != nil {
		e.example = uint32(len(example)) + 1
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

// group returns the group of e.
func (t *table) group(e *entry) Group {
	return Group{Key: t.keyOf(e), Example: t.exampleOf(e), Count: e.count}
}

// sorted puts the slots in the order of runs and returns those that are not empty.
// Nothing can be added afterwards.
func (t *table) sorted() []slot {
	list := slices.DeleteFunc(t.slots, func(s slot) bool { return s == 0 })
	slices.SortFunc(list, func(a, b slot) int {
		if a.hash() != b.hash() {
			return cmp.Compare(a, b)
		}
		return bytes.Compare(t.keyOf(t.entry(a)), t.keyOf(t.entry(b)))
	})
	return list
}
