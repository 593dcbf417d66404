package params

import "encoding/binary"

// Bits in chartClass.
const (
	chartEnd uint8 = 1 << iota
	chartEq
	chartOdd
)

// chartClass holds the class of each byte of a query.
var chartClass = func() (t [256]uint8) {
	for c, class := range formClass {
		if class != 0 {
			t[c] = chartOdd
		}
	}
	t['&'], t['='] = chartEnd, chartEq
	return t
}()

// loopChart is chartOf without vectors. It reads eight bytes at a time; the last
// eight may overlap those before.
func loopChart(text []byte, class *[256]uint8) (c chart) {
	if len(text) < 8 {
		return shortChart(text, class)
	}
	for i := 0; i < len(text); i += 8 {
		at := min(i, len(text)-8)
		x := binary.LittleEndian.Uint64(text[at:])
		x = uint64(class[byte(x)]) | uint64(class[byte(x>>8)])<<8 | uint64(class[byte(x>>16)])<<16 | uint64(class[byte(x>>24)])<<24 |
			uint64(class[byte(x>>32)])<<32 | uint64(class[byte(x>>40)])<<40 | uint64(class[byte(x>>48)])<<48 | uint64(class[byte(x>>56)])<<56
		x >>= 8 * uint(i-at) % 64
		c.end |= lowBits(x) << (uint(i) % 64)
		c.eq |= lowBits(x>>1) << (uint(i) % 64)
		c.odd |= lowBits(x>>2) << (uint(i) % 64)
	}
	return c
}

// shortChart implements loopChart for fewer than eight bytes.
func shortChart(text []byte, class *[256]uint8) (c chart) {
	for i, b := range text {
		x := uint64(class[b])
		c.end |= x & 1 << i
		c.eq |= x >> 1 & 1 << i
		c.odd |= x >> 2 << i
	}
	return c
}

// lowBits returns the lowest bits of the eight bytes of x as one byte.
func lowBits(x uint64) uint64 { return x & 0x0101010101010101 * 0x0102040810204080 >> 56 }
