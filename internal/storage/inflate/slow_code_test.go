package inflate

import "math/bits"

// lookupBits is the longest code that is looked up. Longer ones are rare, and
// are found by counting.
const lookupBits = 9

// A slowCode is a canonical prefix code, RFC 1951 section 3.2.2: shorter codes come
// before longer ones, and codes of one length are in the order of their symbols.
// So the number of codes of each length defines all codes.
type slowCode struct {
	count   [maxCodeLen + 1]uint16  // codes of each length
	symbols [maxSymbols]uint16      // in the order of their codes
	lookup  [1 << lookupBits]uint16 // by the next bits: symbol << 4 | length, or 0
	longest uint
}

// set makes c the code with these lengths; 0: the symbol has no code. It returns
// false if there is no such code, or if it is incomplete: a code of one symbol
// may leave the other bit unused, and a code may have no symbols.
func (c *slowCode) set(lengths []uint8) bool {
	c.count, c.lookup, c.longest = [maxCodeLen + 1]uint16{}, [1 << lookupBits]uint16{}, 0
	for _, n := range lengths {
		c.count[n]++
		c.longest = max(c.longest, uint(n))
	}
	c.count[0] = 0
	left := 1 // codes of the length that are free
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

// enter puts the symbol with a code of n bits at all indexes of lookup that
// begin with the code.
func (c *slowCode) enter(value uint16, n uint, symbol uint16) {
	if n > lookupBits {
		return
	}
	reversed := bits.Reverse16(value) >> (16 - n) // the stream has the first bit lowest
	for i := int(reversed); i < len(c.lookup); i += 1 << n {
		c.lookup[i] = symbol<<4 | uint16(n)
	}
}

// decode takes the next symbol. It needs the bits of its code only.
func (c *slowCode) decode(b *slowBits) (uint, error) {
	if e := c.lookup[b.acc&(1<<lookupBits-1)]; e != 0 && uint(e&15) <= b.n {
		b.drop(uint(e & 15))
		return uint(e >> 4), nil
	}
	return c.search(b)
}

// search is decode by counting: codes of n bits are those from first up to
// first+count[n].
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
