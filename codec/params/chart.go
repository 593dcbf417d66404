package params

import (
	"encoding/binary"
	"math/bits"
)

// chart classifies 64 bytes of a query, with one bit per byte from the lowest
// bit on. Charts contain all that read needs to know about a query. They are
// computed without branches that depend on a byte: in texts this short, a
// mispredicted branch at the end of a name costs more than to classify all
// bytes.
type chart struct {
	end uint64 // a field ends before this byte: a separator, or the end of the query
	eq  uint64 // '='
	odd uint64 // other bytes that form encoding changes or that stand for another byte: escapes, '+'
}

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

// draw computes the charts of a query and clears the dropped fields of the
// previous one.
func (s *Scratch) draw(query []byte) {
	s.charts, s.drops, s.odd = s.charts[:0], s.drops[:0], 0
	for ; len(query) >= 64; query = query[64:] {
		c := chartOf(query[:64], &chartClass)
		s.charts = append(s.charts, c)
		s.odd |= c.odd
	}
	last := chartOf(query, &chartClass)
	last.end |= 1 << len(query)
	s.charts = append(s.charts, last)
	s.odd |= last.odd
}

// chartOf returns the chart of at most 64 bytes. It reads eight bytes at a
// time; the last eight may overlap those before.
func chartOf(text []byte, class *[256]uint8) (c chart) {
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

// shortChart implements chartOf for fewer than eight bytes.
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

// eqToo says whether next also stops at '='.
type eqToo uint64

const (
	withoutEq eqToo = 0
	withEq          = ^withoutEq
)

// next returns the offset of the first end of a field, or '=', at or after i.
func next(charts []chart, i int, eq eqToo) int {
	w := i / 64
	c := &charts[w]
	x := (c.end | c.eq&uint64(eq)) >> (i % 64) << (i % 64)
	for x == 0 {
		w++
		c = &charts[w]
		x = c.end | c.eq&uint64(eq)
	}
	return w*64 + bits.TrailingZeros64(x)
}

// anyOdd reports whether there is an odd byte in the range from i to j,
// exclusive.
func anyOdd(charts []chart, i, j int) bool {
	last := j / 64
	from := ^uint64(0) << (i % 64)
	for w := i / 64; w < last; w++ {
		if charts[w].odd&from != 0 {
			return true
		}
		from = ^uint64(0)
	}
	return charts[last].odd&from&(1<<(j%64)-1) != 0
}

// between returns a mask of the bits from i to j, exclusive. j is at most 63.
func between(i, j uint32) uint64 { return uint64(1)<<(j%64) - uint64(1)<<(i%64) }

// oddOf returns the bits of the odd bytes of f and of each '=' in its value.
// All of f must be on the chart.
func (c *chart) oddOf(f *field) uint64 {
	odd := c.odd & between(f.Start, f.End)
	if f.Eq {
		odd |= c.eq & between(f.NameEnd+1, f.End)
	}
	return odd
}
