// Package table reads tables that a program embeds as bytes, in place: nothing
// is decoded before the first lookup, and nothing is copied.
//
//	table.go   lists of integers, and tables with a value for each code point
//	packed.go  lists of varying sizes, which a program decodes at the first use
package table

import "sort"

// Uint16s is a list of integers in little-endian order.
type Uint16s string

// At returns integer i.
func (l Uint16s) At(i int) uint16 { return uint16(l[2*i]) | uint16(l[2*i+1])<<8 }

// Uint64s is a list of integers in little-endian order.
type Uint64s string

// At returns integer i.
func (l Uint64s) At(i int) uint64 {
	b := l[8*i : 8*i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// Len returns the number of integers.
func (l Uint64s) Len() int { return len(l) / 8 }

// Search returns the index of the first integer that is at least n, or Len if all are
// smaller. The list must be sorted.
func (l Uint64s) Search(n uint64) int {
	return sort.Search(l.Len(), func(i int) bool { return l.At(i) >= n })
}

// Sizes of the blocks of a Trie, as powers of 2.
const (
	leafBits   = 4
	middleBits = 5
)

// A Trie holds a value for each code point, in blocks of 16 values. Equal blocks are stored
// once, and so are equal lists of 32 blocks.
type Trie struct {
	Top    string  // for each 512 code points, the index of their list in Middle; the values of later code points are 0
	Middle Uint16s // lists of the blocks of Leaves
	Leaves Uint16s
}

// At returns the value of r.
func (t *Trie) At(r rune) uint16 {
	c := int(uint32(r))
	if c>>(leafBits+middleBits) >= len(t.Top) {
		return 0
	}
	list := int(t.Top[c>>(leafBits+middleBits)])
	block := int(t.Middle.At(list<<middleBits | c>>leafBits&(1<<middleBits-1)))
	return t.Leaves.At(block<<leafBits | c&(1<<leafBits-1))
}
