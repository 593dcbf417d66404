package params

import (
	"math/bits"

	"github.com/urlfold/urlfold/internal/ground/scan"
)

// chart classifies 64 bytes of a query, with one bit per byte from the lowest bit on.
// Charts contain all properties of a query that read needs. They are computed without
// branches that depend on a byte: in texts this short, a mispredicted branch at the end
// of a name costs more than classifying all bytes.
type chart struct {
	end uint64 // a field ends before this byte: a separator, or the end of the query
	eq  uint64 // '='
	odd uint64 // other bytes that form encoding changes or that stand for another byte: escapes, '+'
}

// plainBytes holds the bytes that are neither ends of fields nor '=' nor odd.
var plainBytes = scan.NewSet(func(c byte) bool { return formClass[c] == 0 && c != '&' && c != '=' })

// draw computes the charts of a query and clears the dropped fields of the
// previous query.
func (s *Scratch) draw(query []byte) {
	s.charts, s.drops, s.odd = s.charts[:0], s.drops[:0], 0
	for ; len(query) >= 64; query = query[64:] {
		c := chartOf(query[:64])
		s.charts = append(s.charts, c)
		s.odd |= c.odd
	}
	last := chartOf(query)
	last.end |= 1 << len(query)
	s.charts = append(s.charts, last)
	s.odd |= last.odd
}

// chartOf returns the chart of at most 64 bytes.
func chartOf(text []byte) chart {
	end, eq, special := plainBytes.Chart(text, '&', '=')
	return chart{end, eq, special &^ end &^ eq}
}

// eqToo reports whether next also stops at '='.
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
func between[T uint | uint32](i, j T) uint64 { return uint64(1)<<(j%64) - uint64(1)<<(i%64) }

// oddOf returns the bits of the odd bytes of f and of each '=' in its value.
// All of f must be on the chart.
func (c *chart) oddOf(f *field) uint64 {
	odd := c.odd & between(f.Start, f.End)
	if f.Eq {
		odd |= c.eq & between(f.NameEnd+1, f.End)
	}
	return odd
}

// b2i returns 1 for true and 0 for false, without a branch.
func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
