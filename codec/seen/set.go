// Package seen remembers by their keys which URLs a program has seen. A [Set] is
// held in memory and can be used by several goroutines at once. A program can save
// a Set and load it in a later run.
package seen

import (
	"runtime"
	"sync"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/storage/keyset/table"
)

// A Set is a set of keys in memory. Any number of goroutines can use it at the
// same time. It must be made by [New], and must not be copied.
//
// From 250,000 keys on, a key takes 16 to 24 bytes; in a smaller set, it may
// take twice as much. This memory is outside the heap of Go where the system
// allows it, so the garbage collector neither walks through it nor lets it
// double, and GOMEMLIMIT does not count it. The memory is given back some time
// after the Set becomes unreachable.
type Set struct {
	version string
	shards  *shards
}

type shards [table.Segments]shard

// A shard is the keys with the same first bits, and their lock.
type shard struct {
	sync.Mutex
	keys table.Segment
	_    [64]byte // keeps other locks out of the cache line of the Mutex
}

// New returns an empty Set for keys of a version, usually
// [codec.Normalizer.KeyVersion]. The version becomes part of the saved set, so
// that keys of another kind are never mixed with these. A version has at most
// MaxVersion bytes: WriteTo fails if it is longer.
//
// sizeHint is the number of keys for which New makes room, or 0. The set grows
// beyond it.
func New(keyVersion string, sizeHint int) *Set {
	s := &Set{version: keyVersion, shards: new(shards)}
	runtime.AddCleanup(s, (*shards).release, s.shards)
	if sizeHint = int(min(int64(sizeHint), mostReserved)) / table.Segments; sizeHint > 0 {
		for i := range s.shards {
			// The segments vary by a few keys, so reserve slack. Ignore the error:
			// without memory, the first insertions fail.
			_ = s.shards[i].keys.Reserve(sizeHint + sizeHint/64 + 8)
		}
	}
	return s
}

// mostReserved is the greatest size for which New makes room.
const mostReserved = 1 << 40

// release gives back the memory of all keys.
func (s *shards) release() {
	for i := range s {
		s[i].keys.Reset()
	}
}

// slot returns k as it is stored.
func slot(k codec.Key) table.Key {
	hi, lo := k.Uint64s()
	return table.Key{Hi: hi, Lo: lo}
}

// KeyVersion returns the version that New was called with.
func (s *Set) KeyVersion() string { return s.version }

// Add adds k, and reports whether it was missing. If several goroutines add the
// same key, Add returns true to only one. The zero Key, which no URL has, is
// never in a set: Add returns true for it each time. Add panics if the operating
// system is out of memory.
func (s *Set) Add(k codec.Key) (fresh bool) {
	if k.IsZero() {
		return true
	}
	fresh, err := s.add(slot(k))
	if err != nil {
		panic(err)
	}
	return fresh
}

func (s *Set) add(k table.Key) (fresh bool, err error) {
	shard := &s.shards[table.SegmentOf(k)]
	shard.Lock()
	fresh, err = shard.keys.Add(k)
	shard.Unlock()
	runtime.KeepAlive(s) // the memory of s is in use until here
	return fresh, err
}

// Has reports whether k is in the set. The zero Key never is.
func (s *Set) Has(k codec.Key) bool {
	if k.IsZero() {
		return false
	}
	slot := slot(k)
	shard := &s.shards[table.SegmentOf(slot)]
	shard.Lock()
	has := shard.keys.Has(slot)
	shard.Unlock()
	runtime.KeepAlive(s)
	return has
}

// Len returns the number of keys.
func (s *Set) Len() int {
	n := 0
	s.each(func(keys *table.Segment) { n += keys.Len() })
	return n
}

// Size returns the memory of the keys, in bytes.
func (s *Set) Size() int64 {
	var n int64
	s.each(func(keys *table.Segment) { n += keys.Bytes() })
	return n
}

// each calls visit for the keys of each shard, which are locked meanwhile.
func (s *Set) each(visit func(keys *table.Segment)) {
	for i := range s.shards {
		shard := &s.shards[i]
		shard.Lock()
		visit(&shard.keys)
		shard.Unlock()
	}
	runtime.KeepAlive(s)
}
