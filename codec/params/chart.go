package params

import "math/bits"

// A chart says of 64 bytes of a query what they are, a bit each from the lowest on. All that read wants to know of a query
// are bits of its charts, and they are drawn without a branch that depends on a byte: in texts as short as these, a wrong
// guess where a name ends costs more than to look at all of its bytes.
type chart struct {
	end uint64 // a field ends in front of it: a separator, and what would stand behind the query
	eq  uint64 // '='
	odd uint64 // any other that a form writes otherwise or takes for another: escapes, '+'
}

// The bits in chartClass.
const (
	chartEnd uint8 = 1 << iota
	chartEq
	chartOdd
)

// chartClass says of each byte what it is, for each of the Separators.
var chartClass = func() (t [AmpersandSemicolon + 1][256]uint8) {
	for sep := range t {
		for c, class := range formClass {
			if class != 0 {
				t[sep][c] = chartOdd
			}
		}
		t[sep]['&'], t[sep]['='] = chartEnd, chartEq
	}
	t[AmpersandSemicolon][';'] = chartEnd
	return t
}()

// draw makes the charts of a query.
func (s *Scratch) draw(query []byte, sep Separators) {
	s.charts = s.charts[:0]
	for i := 0; i <= len(query); i += 64 {
		s.charts = append(s.charts, chart{})
	}
	class, i := &chartClass[sep], 0
	for ; i+8 <= len(query); i += 8 {
		s.charts[i/64].add(i, eightOf(class, query[i:]))
	}
	rest := uint64(0)
	for k, c := range query[i:] {
		rest |= uint64(class[c]) << (8 * k)
	}
	s.charts[i/64].add(i, rest)
	s.charts[len(query)/64].end |= 1 << (len(query) % 64)
}

// eightOf returns the classes of the first eight bytes of b, that of the first one lowest.
func eightOf(class *[256]uint8, b []byte) uint64 {
	_ = b[7]
	return uint64(class[b[0]]) | uint64(class[b[1]])<<8 | uint64(class[b[2]])<<16 | uint64(class[b[3]])<<24 |
		uint64(class[b[4]])<<32 | uint64(class[b[5]])<<40 | uint64(class[b[6]])<<48 | uint64(class[b[7]])<<56
}

// add draws eight classes from offset i on, which is a multiple of eight.
func (c *chart) add(i int, classes uint64) {
	i %= 64
	c.end |= lowBits(classes) << i
	c.eq |= lowBits(classes>>1) << i
	c.odd |= lowBits(classes>>2) << i
}

// lowBits puts the lowest bits of the eight bytes of x side by side.
func lowBits(x uint64) uint64 { return x & 0x0101010101010101 * 0x0102040810204080 >> 56 }

// An eqToo says whether '=' counts.
type eqToo uint64

const (
	withoutEq eqToo = 0
	withEq          = ^withoutEq
)

// next returns the offset of the first end of a field, or '=', from i on.
func (s *Scratch) next(i int, eq eqToo) int {
	w := i / 64
	c := &s.charts[w]
	x := (c.end | c.eq&uint64(eq)) >> (i % 64) << (i % 64)
	for x == 0 {
		w++
		c = &s.charts[w]
		x = c.end | c.eq&uint64(eq)
	}
	return w*64 + bits.TrailingZeros64(x)
}

// anyOdd reports whether there is an odd byte, or '=', from i to before j.
func (s *Scratch) anyOdd(i, j int, eq eqToo) bool {
	last := j / 64
	from := ^uint64(0) << (i % 64)
	for w := i / 64; w < last; w++ {
		if c := &s.charts[w]; (c.odd|c.eq&uint64(eq))&from != 0 {
			return true
		}
		from = ^uint64(0)
	}
	c := &s.charts[last]
	return (c.odd|c.eq&uint64(eq))&from&(1<<(j%64)-1) != 0
}
