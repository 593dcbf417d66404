package inflate

import "math/bits"

// An entry of a table describes what the next bits mean:
//
//	bits 0 to 7    number of bits of the code and its extra bits
//	bits 8 to 11   number of bits of the code alone; in a link, the width of the sub-table
//	bits 12 to 15  one of the flags below; none for a literal, length or distance
//	bits 16 to 30  the literal, the base of the length or distance, or the index of the sub-table
//	bit 31         set for a literal
type entry uint32

const (
	entryLiteral  entry = 1 << 31
	entryEnd      entry = 1 << 12 // the end of the block
	entryLink     entry = 1 << 13 // a link to a sub-table
	entryReserved entry = 1 << 14 // a reserved symbol
	entryUnused   entry = 1 << 15 // a code without a symbol
	entrySpecial        = entryEnd | entryLink | entryReserved | entryUnused

	entryValue = 16 // position of the value
)

func (e entry) take() uint  { return uint(e & 0xff) }
func (e entry) width() uint { return uint(e>>8) & 15 }
func (e entry) value() int  { return int(e >> entryValue & 0x7fff) }

// A code is a canonical prefix code, RFC 1951 section 3.2.2, as a table: first
// the entries indexed by the next root bits, then the sub-tables for longer
// codes.
type code struct {
	root  uint
	table []entry
}

// Widths of the tables. A wider table resolves more codes in one step, but
// takes longer to build. That matters, because a compressed log has a new code
// every few kilobytes.
const (
	literalRoot  = 11
	distanceRoot = 8
	lengthRoot   = 7 // enough for all codes for code lengths

	// Maximum sizes of the tables with all sub-tables, for 288 and 32 symbols
	// and these roots, as computed by zlib's program enough and rounded up to a
	// power of two.
	literalTable  = 1 << 12
	distanceTable = 1 << 9
	lengthTable   = 1 << lengthRoot
)

// set builds the table of the code in which symbol i has the meaning
// meanings[i] and a code of lengths[i] bits; 0 means that the symbol does not
// occur. It returns false if no such code exists or if the code is incomplete.
// It accepts two incomplete codes: one symbol with a one-bit code, and no
// symbols.
func (c *code) set(meanings []entry, lengths []uint8) bool {
	var count [maxCodeLen + 1]uint16
	for _, n := range lengths {
		count[n&15]++
	}
	used := len(lengths) - int(count[0])
	count[0] = 0
	var place [maxCodeLen + 2]uint16 // index in sorted of the first symbol of each length
	left := 1                        // unassigned codes of the current length
	for n := 1; n <= maxCodeLen; n++ {
		left = left*2 - int(count[n])
		if left < 0 {
			return false
		}
		place[n+1] = place[n] + count[n]
	}
	if left > 0 && (used > 1 || used == 1 && count[1] == 0) {
		return false
	}
	var sorted [maxSymbols]uint16 // symbols ordered by code
	for symbol, n := range lengths {
		if n != 0 {
			sorted[place[n&15]] = uint16(symbol)
			place[n&15]++
		}
	}
	if left > 0 {
		// The code has one symbol or none.
		even, odd := entryUnused, entryUnused // without symbols, every bit is invalid
		if used == 1 {
			even, odd = meanings[sorted[0]]+1*codeBit, entryUnused|codeBit
		}
		for i := 0; i < 1<<c.root; i += 2 {
			c.table[i], c.table[i+1] = even, odd
		}
		return true
	}
	c.fill(meanings, sorted[:used], &count)
	return true
}

// codeBit is one bit of a code in an entry: one in the total and one in the
// width.
const codeBit entry = 1<<8 | 1

// fill fills the table of a complete code. It assigns the codes in order, with
// their bits reversed, because the first bit of the stream is the lowest. The
// first code of a length thus follows the last code of the previous length.
// Doubling the table for each length repeats the entries of shorter codes for
// both values of the new bit.
func (c *code) fill(meanings []entry, sorted []uint16, count *[maxCodeLen + 1]uint16) {
	next := uint(0)
	for n, size := uint(1), 1; n <= c.root; n, size = n+1, size*2 {
		copy(c.table[size:2*size], c.table[:size])
		k := count[n]
		for _, symbol := range sorted[:k] {
			c.table[next] = meanings[symbol] + entry(n)*codeBit
			next = after(next, n)
		}
		sorted = sorted[k:]
	}
	if len(sorted) > 0 {
		c.fillSub(meanings, sorted, count, next)
	}
}

// fillSub fills the sub-tables with the codes longer than root. The first of
// these codes is next.
func (c *code) fillSub(meanings []entry, sorted []uint16, count *[maxCodeLen + 1]uint16, next uint) {
	mask := uint(1)<<c.root - 1
	prefix := mask + 1 // none
	begin, end, width := uint(0), mask+1, uint(0)
	for n := c.root + 1; len(sorted) > 0; n++ {
		for left := int(count[n]); left > 0; left-- {
			if next&mask != prefix {
				prefix, begin, width = next&mask, end, subWidth(count, c.root, n, left)
				end += 1 << width
				c.table[prefix] = entryLink | entry(begin)<<entryValue | entry(width)<<8 | entry(c.root)
			}
			e := meanings[sorted[0]] + entry(n-c.root)*codeBit
			for i := next >> c.root; i < 1<<width; i += 1 << (n - c.root) {
				c.table[begin+i] = e
			}
			sorted = sorted[1:]
			next = after(next, n)
		}
	}
}

// subWidth returns the width of a sub-table whose first code has n bits, given
// that left codes of that length remain. The sub-table is wide enough for all
// codes with its prefix.
func subWidth(count *[maxCodeLen + 1]uint16, root, n uint, left int) uint {
	width := n - root
	for free := 1<<width - left; free > 0 && n < maxCodeLen; {
		n++
		width++
		free = free*2 - int(count[n])
	}
	return width
}

// after returns the n-bit code that follows next, or 0 after the last code. Both
// codes have their bits reversed.
func after(next, n uint) uint {
	zero := uint(bits.Len(^next & (1<<n - 1))) // position of the highest zero bit, counted from 1
	if zero == 0 {
		return 0
	}
	bit := uint(1) << (zero - 1)
	return next&(bit-1) | bit
}
