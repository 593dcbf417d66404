package inflate

import "math/bits"

// lookupBits is the maximum length of a code that is decoded with a table.
// Longer codes are rare and are found by counting.
const lookupBits = 9

// A slowCode is a canonical prefix code, RFC 1951 section 3.2.2: shorter codes
// come before longer ones, and codes of the same length are ordered by symbol.
// The number of codes of each length therefore defines all codes.
type slowCode struct {
	count   [maxCodeLen + 1]uint16  // number of codes of each length
	symbols [maxSymbols]uint16      // ordered by code
	lookup  [1 << lookupBits]uint16 // indexed by the next bits: symbol << 4 | length, or 0
	longest uint
}

// set makes c the code with these lengths; 0 means that the symbol has no code.
// It returns false if no such code exists or if the code is incomplete. It
// accepts two incomplete codes: one symbol with a one-bit code, and no symbols.
func (c *slowCode) set(lengths []uint8) bool {
	c.count, c.lookup, c.longest = [maxCodeLen + 1]uint16{}, [1 << lookupBits]uint16{}, 0
	for _, n := range lengths {
		c.count[n]++
		c.longest = max(c.longest, uint(n))
	}
	c.count[0] = 0
	left := 1 // unassigned codes of the current length
	var place [maxCodeLen + 2]uint16
	var first [maxCodeLen + 1]uint16 // the first code of each length
	for n := 1; n <= int(c.longest); n++ {
		left *= 2
		first[n] = uint16(1<<n - left)
		left -= int(c.count[n])
		place[n+1] = place[n] + c.count[n]
		if left < 0 {
			return false
		}
	}
	if left > 0 && c.longest > 1 {
		return false
	}
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		c.symbols[place[n]] = uint16(symbol)
		place[n]++
		c.enter(first[n], uint(n), uint16(symbol))
		first[n]++
	}
	return true
}

// enter stores the symbol of a code of n bits at all indexes of lookup that
// begin with the code.
func (c *slowCode) enter(value uint16, n uint, symbol uint16) {
	if n > lookupBits {
		return
	}
	reversed := bits.Reverse16(value) >> (16 - n) // the first bit of the stream is the lowest
	for i := int(reversed); i < len(c.lookup); i += 1 << n {
		c.lookup[i] = symbol<<4 | uint16(n)
	}
}

// decode decodes the next symbol. It needs only the bits of its code.
func (c *slowCode) decode(b *slowBits) (uint, error) {
	if e := c.lookup[b.acc&(1<<lookupBits-1)]; e != 0 && uint(e&15) <= b.n {
		b.drop(uint(e & 15))
		return uint(e >> 4), nil
	}
	return c.search(b)
}

// search decodes a symbol by counting: the codes of n bits range from first to
// first+count[n]-1.
func (c *slowCode) search(b *slowBits) (uint, error) {
	v, first, index := 0, 0, 0
	for n := uint(1); n <= c.longest; n++ {
		if n > b.n {
			return 0, b.end()
		}
		v |= int(b.acc >> (n - 1) & 1)
		count := int(c.count[n])
		if v-first < count {
			b.drop(n)
			return uint(c.symbols[index+v-first]), nil
		}
		index += count
		first = (first + count) * 2
		v *= 2
	}
	return 0, b.corrupt("a code without a symbol")
}
