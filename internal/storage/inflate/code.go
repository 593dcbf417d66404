package inflate

import "math/bits"

// An entry of a table says what the next bits are:
//
//	bits 0 to 7    how many bits to take for the code and its extra bits
//	bits 8 to 11   how many of them are the code; of a link, the width of its sub-table
//	bits 12 to 15  one of the flags below, or none: a length or distance
//	bits 16 to 30  the literal, the base of the length or distance, or where the sub-table begins
//	bit 31         a literal
type entry uint32

const (
	entryLiteral  entry = 1 << 31
	entryEnd      entry = 1 << 12 // the end of the block
	entryLink     entry = 1 << 13 // to a sub-table
	entryReserved entry = 1 << 14 // a symbol without a meaning
	entryUnused   entry = 1 << 15 // a code without a symbol
	entrySpecial        = entryEnd | entryLink | entryReserved | entryUnused

	entryValue = 16 // where the value begins
)

func (e entry) take() uint  { return uint(e & 0xff) }
func (e entry) width() uint { return uint(e>>8) & 15 }
func (e entry) value() int  { return int(e >> entryValue & 0x7fff) }

// A code is a canonical prefix code, RFC 1951 section 3.2.2, as a table: the entry
// at the next root bits, and behind it a sub-table for longer codes.
type code struct {
	root  uint
	table []entry
}

// Widths of the tables. Wider ones resolve more codes at once and take longer to
// build, which counts: a log has a new code every few kilobytes.
const (
	literalRoot  = 11
	distanceRoot = 8
	lengthRoot   = 7 // all codes for code lengths

	// What a table takes at most, with all sub-tables: for 288 and 32 symbols and
	// these roots, as zlib's program enough computes it, rounded up to a power of two.
	literalTable  = 1 << 12
	distanceTable = 1 << 9
	lengthTable   = 1 << lengthRoot
)

// set makes c the code in which the symbols with these meanings have these lengths;
// 0: the symbol has no code. It returns false if there is no such code, or if it is
// incomplete: a code of one symbol may leave the other bit unused, and a code may
// have no symbols.
func (c *code) set(meanings []entry, lengths []uint8) bool {
	var count [maxCodeLen + 1]uint16
	for _, n := range lengths {
		count[n&15]++
	}
	used := len(lengths) - int(count[0])
	count[0] = 0
	var place [maxCodeLen + 2]uint16 // of the symbols with codes of each length
	left := 1                        // codes of the length that are free
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
	var sorted [maxSymbols]uint16 // symbols in the order of their codes
	for symbol, n := range lengths {
		if n != 0 {
			sorted[place[n&15]] = uint16(symbol)
			place[n&15]++
		}
	}
	if left > 0 {
		c.incomplete(meanings, sorted[:used])
		return true
	}
	c.fill(meanings, sorted[:used], &count)
	return true
}

// incomplete fills the table of a code of one symbol or none.
func (c *code) incomplete(meanings []entry, sorted []uint16) {
	even, odd := entryUnused, entryUnused // without symbols, no bit can be the start of a code
	if len(sorted) == 1 {
		even, odd = meanings[sorted[0]]+1*codeBit, entryUnused|codeBit
	}
	for i := 0; i < 1<<c.root; i += 2 {
		c.table[i], c.table[i+1] = even, odd
	}
}

// codeBit is one bit of code in an entry: one to take, and one of width.
const codeBit entry = 1<<8 | 1

// fill fills the table of a complete code. Codes are taken in their order, with
// their bits reversed, since the stream has the first bit lowest: so the first code
// of a length follows the last one of the previous length. The table doubles with
// each length, which repeats the entries of shorter codes for all values of the new bit.
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

// fillSub fills the sub-tables with the codes that are longer than root, the first
// of which is next.
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

// subWidth returns the width of a sub-table that begins with a code of n bits, of
// which length there are so many left: wide enough for all codes with its prefix.
func subWidth(count *[maxCodeLen + 1]uint16, root, n uint, left int) uint {
	width := n - root
	for free := 1<<width - left; free > 0 && n < maxCodeLen; {
		n++
		width++
		free = free*2 - int(count[n])
	}
	return width
}

// after returns the code of n bits after next, both reversed; 0 after the last.
func after(next, n uint) uint {
	zero := uint(bits.Len(^next & (1<<n - 1))) // the last bit, counted from 1, that is zero
	if zero == 0 {
		return 0
	}
	bit := uint(1) << (zero - 1)
	return next&(bit-1) | bit
}
