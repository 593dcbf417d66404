// Package table holds 128-bit keys in memory, in order of their bits, at
// about 20 bytes a key, outside the heap of Go. A [Table] is for one
// goroutine. To share it, use its segments with a lock for each.
//
//	table.go     the slots of keys
//	memory_*.go  memory outside the heap; hugepage_*.go
package table

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

// A Key is the 128-bit hash of a canonical string, as in codec.Key. The zero Key
// is not a member of any table.
type Key struct{ Hi, Lo uint64 }

// Less reports whether k comes before o, in the order of their bits.
func (k Key) Less(o Key) bool { return k.Hi < o.Hi || k.Hi == o.Hi && k.Lo < o.Lo }

// Bytes returns k, big-endian.
func (k Key) Bytes() (b [16]byte) {
	binary.BigEndian.PutUint64(b[:8], k.Hi)
	binary.BigEndian.PutUint64(b[8:], k.Lo)
	return b
}

// KeyOf returns the key in the first 16 bytes of b, big-endian.
func KeyOf(b []byte) Key {
	return Key{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:16])}
}

// A Table is a set of keys in memory. The zero Table is empty. Each segment
// holds the keys with the same first bits, in ascending order, with gaps: the
// home of a key in its segment is proportional to its value, and a key moves at
// most a few slots away from its home. So a walk over the slots yields a sorted
// run, and a search ends at the first greater key. Homes are the starts of
// cache lines, so most searches read one or two lines.
//
// A full segment doubles while it is small, because new pages cost more time
// than the search for a key; a large segment grows by a fifth. Segments grow
// one by one, so a table of any size needs little memory for growing.
type Table struct {
	segments [Segments]Segment
	len      int   // keys
	bytes    int64 // bytes of all slots
}

// Segments is the number of segments of a table.
const Segments = 1 << segmentBits

const (
	segmentBits  = 6    // bits of a key that select its segment, so that a large table has segments of several huge pages
	firstHomes   = 16   // homes of a new segment
	doubleHomes  = 4096 // homes up to which a segment doubles; later it grows by growthFactor
	slackSlots   = 128  // number of slots after the last home, if there are at least as many homes
	maxLoad      = 0.87
	growthFactor = 1.2
	slotBytes    = 16
	lineSlots    = 4       // slots in a line of the cache
	touchedFrom  = 1 << 20 // bytes: a smaller table is in the second cache
)

// Outside is called, if not nil, with each change of the memory that sets use outside
// the heap, in bytes. It must be set before there are sets.
var Outside func(n int64)

// A Segment is the part of a table with the keys that have the same first bits. The
// zero Segment is empty.
type Segment struct {
	slots []Key // a zero Key is a gap
	homes int   // slots before the slack, a multiple of lineSlots; each line has one home
	len   int
	limit int // keys at which the segment grows
}

// SegmentOf returns the number of the segment that k belongs to.
func SegmentOf(k Key) int { return int(k.Hi >> (64 - segmentBits)) }

// segmentOf returns the segment that k belongs to.
func (t *Table) segmentOf(k Key) *Segment { return &t.segments[SegmentOf(k)] }

// Len returns the number of keys.
func (t *Table) Len() int { return t.len }

// Bytes returns the memory for the keys.
func (t *Table) Bytes() int64 { return t.bytes }

// home returns the slot at which the search for k starts.
func (s *Segment) home(k Key) int {
	h, _ := bits.Mul64(k.Hi<<segmentBits|k.Lo>>(64-segmentBits), uint64(s.homes))
	return int(h) &^ (lineSlots - 1)
}

// A window is two lines of slots, the first of which begins at the home of a key.
type window [2 * lineSlots]Key

func (s *Segment) window(home int) *window { return (*window)(s.slots[home:]) }

// Touch reads the lines in which the searches for keys start. The loop does not
// branch on a slot, so the processor reads the lines of many keys at the same time,
// and the searches find them in its cache. Ignore the result: without it, or in
// another function, the compiler would leave the reads out.
//
//go:noinline
func (t *Table) Touch(keys []Key) (sum uint64) {
	if t.bytes < touchedFrom {
		return 0
	}
	for _, k := range keys {
		if s := t.segmentOf(k); s.homes > 0 {
			w := s.window(s.home(k))
			sum += w[0].Hi + w[lineSlots].Hi
		}
	}
	return sum
}

// find returns the slot of k, or the slot at which it must be inserted.
func (s *Segment) find(k Key) (slot int, found bool) {
	if s.homes == 0 {
		return 0, false
	}
	slot = s.home(k)
	slot += s.window(slot).before(k)
	for slot < len(s.slots) && s.slots[slot] != (Key{}) && s.slots[slot].Less(k) {
		slot++
	}
	return slot, slot < len(s.slots) && s.slots[slot] == k
}

// before returns the number of slots at the front of w that a search for k can
// skip. w is the window of k. The result is usually the number of slots with
// lesser keys, and never more. A processor cannot predict this number, so no
// branch depends on a slot, and there is no loop. A gap counts as greater than every
// key, because its first half minus 1 wraps to the greatest number.
func (w *window) before(k Key) int {
	hi := max(k.Hi, 1) - 1
	_, a := bits.Sub64(w[0].Hi-1, hi, 0)
	_, b := bits.Sub64(w[1].Hi-1, hi, 0)
	_, c := bits.Sub64(w[2].Hi-1, hi, 0)
	_, d := bits.Sub64(w[3].Hi-1, hi, 0)
	_, e := bits.Sub64(w[4].Hi-1, hi, 0)
	_, f := bits.Sub64(w[5].Hi-1, hi, 0)
	_, g := bits.Sub64(w[6].Hi-1, hi, 0)
	_, h := bits.Sub64(w[7].Hi-1, hi, 0)
	return int(a + b + c + d + e + f + g + h)
}

// Has reports whether k is in the table.
func (t *Table) Has(k Key) bool {
	_, found := t.segmentOf(k).find(k)
	return found
}

// Has reports whether k is in the segment.
func (s *Segment) Has(k Key) bool {
	_, found := s.find(k)
	return found
}

// Add adds k and reports whether it was missing. It returns the error of the
// operating system if there is no memory; the table is unchanged then.
func (t *Table) Add(k Key) (added bool, err error) {
	s := t.segmentOf(k)
	had := len(s.slots)
	added, err = s.Add(k)
	if added {
		t.len++
	}
	t.bytes += int64(len(s.slots)-had) * slotBytes
	return added, err
}

// Add adds k, which must not be zero and must belong to the segment, and
// reports whether it was missing. Its error is as for [Table.Add].
func (s *Segment) Add(k Key) (added bool, err error) {
	slot, found := s.find(k)
	if found {
		return false, nil
	}
	for s.len >= s.limit || !s.insert(slot, k) {
		if err := s.grow(); err != nil {
			return false, err
		}
		slot, _ = s.find(k)
	}
	s.len++
	return true, nil
}

// insert moves the keys from slot up to the next gap by one slot and writes k.
// It reports whether there was a gap.
func (s *Segment) insert(slot int, k Key) bool {
	gap := slot
	for gap < len(s.slots) && s.slots[gap] != (Key{}) {
		gap++
	}
	if gap >= len(s.slots) {
		return false
	}
	copy(s.slots[slot+1:gap+1], s.slots[slot:gap])
	s.slots[slot] = k
	return true
}

// grow makes room in s. Its homes grow if they are nearly all in use. Otherwise
// many keys have similar bits, which hashes do not have: then only the slack
// grows, so that such keys cost time rather than memory.
func (s *Segment) grow() error {
	homes, slack := s.homes, len(s.slots)-s.homes
	if s.len >= s.limit {
		homes = moreHomes(homes)
		slack = max(slack, min(homes, slackSlots))
	} else {
		slack *= 2
	}
	return s.resize(homes, slack)
}

// resize moves the keys of s to new slots.
func (s *Segment) resize(homes, slack int) error {
	slots, err := allocate(homes + slack)
	if err != nil {
		return err
	}
	next := Segment{slots: slots, homes: homes, len: s.len, limit: int(float64(homes) * maxLoad)}
	if !next.fill(s.slots) { // too little slack for the new homes
		release(slots)
		s.limit = s.len + 1
		return s.grow()
	}
	release(s.slots)
	*s = next
	return nil
}

// moreHomes returns the number of homes of a grown segment.
func moreHomes(homes int) int {
	if homes < doubleHomes {
		return max(firstHomes, 2*homes)
	}
	return int(float64(homes)*growthFactor) &^ (lineSlots - 1)
}

// fill writes the keys of old, which are in order, to their slots in s, which is
// empty. It reports whether there was room.
func (s *Segment) fill(old []Key) bool {
	at := 0
	for _, k := range old {
		if k == (Key{}) {
			continue
		}
		if at = max(at, s.home(k)); at == len(s.slots) {
			return false
		}
		s.slots[at] = k
		at++
	}
	return true
}

// All yields the keys in ascending order.
func (t *Table) All() iter.Seq[Key] {
	return func(yield func(Key) bool) {
		for i := range t.segments {
			for _, k := range t.segments[i].slots {
				if k != (Key{}) && !yield(k) {
					return
				}
			}
		}
	}
}

// Reset removes all keys and releases the memory.
func (t *Table) Reset() {
	for i := range t.segments {
		t.segments[i].Reset()
	}
	*t = Table{}
}

// Reserve makes room for n keys in s, which must be empty. Adding up to n keys then
// allocates no memory.
func (s *Segment) Reserve(n int) error {
	homes := int(float64(n)/maxLoad) + lineSlots
	return s.resize(max(firstHomes, homes&^(lineSlots-1)), min(max(firstHomes, homes), slackSlots))
}

// Len returns the number of keys.
func (s *Segment) Len() int { return s.len }

// Bytes returns the memory for the keys.
func (s *Segment) Bytes() int64 { return int64(len(s.slots)) * slotBytes }

// AppendAfter appends the keys greater than k, in ascending order, until dst is full,
// and returns the extended slice. After the zero Key come all keys.
func (s *Segment) AppendAfter(dst []Key, k Key) []Key {
	slot := 0
	if k != (Key{}) {
		var found bool
		if slot, found = s.find(k); found {
			slot++
		}
	}
	for ; slot < len(s.slots) && len(dst) < cap(dst); slot++ {
		if s.slots[slot] != (Key{}) {
			dst = append(dst, s.slots[slot])
		}
	}
	return dst
}

// Reset removes all keys and releases the memory.
func (s *Segment) Reset() {
	release(s.slots)
	*s = Segment{}
}
