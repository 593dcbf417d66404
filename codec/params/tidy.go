package params

import (
	"bytes"
	"math/bits"
)

// Most queries are tidy: at most 63 bytes, no field and no value empty, all names plain, none of them known, and in order, no
// two the same. Their fields need not be told apart to be written: at most some bytes of values are written otherwise.

// tidy reports whether a query is tidy whose charts are drawn, and which bytes of its values are not plain. It may only give
// up: AppendKeyQuery knows what becomes of other queries, and of this one too.
func (s *Scratch) tidy(query []byte, m *Matcher) (odd uint64, ok bool) {
	if len(s.charts) != 1 {
		return 0, false
	}
	c, sieve := &s.charts[0], m.sieve()
	starts := c.end<<1 | 1
	if (c.end|c.eq)&starts|c.end&(c.eq<<1) != 0 {
		return 0, false // empty: field, name or value
	}
	odd = c.odd
	last := uint64(0)
	for start := 0; start < len(query); {
		end := start + bits.TrailingZeros64(c.end>>uint(start))
		nameEnd := start + bits.TrailingZeros64((c.end|c.eq)>>uint(start))
		value := uint64(1)<<uint(end) - uint64(1)<<uint(nameEnd) // with the '='
		odd |= c.eq & value & (value - 1)
		order := orderAt(query, start, nameEnd)
		if c.odd&(uint64(1)<<uint(nameEnd)-uint64(1)<<uint(start)) != 0 || order <= last || sieve.passes(query[start:nameEnd]) {
			return 0, false
		}
		last, start = order, end+1
	}
	return odd, true
}

// appendTidy appends a tidy query, of which these bytes of values are odd.
func appendTidy(dst, query []byte, odd uint64) (_ []byte, why Why) {
	if odd == 0 {
		return append(dst, query...), 0
	}
	at := len(dst)
	dst = appendOdd(dst, query, 0, len(query), odd)
	if !bytes.Equal(dst[at:], query) {
		why = WhyForm
	}
	return dst, why
}

// appendOdd appends query[from:to] in form encoding. Of its first 64 bytes, where all of it is, those that odd says must be
// looked at.
func appendOdd(dst, query []byte, from, to int, odd uint64) []byte {
	for ; odd != 0; odd &= odd - 1 {
		i := bits.TrailingZeros64(odd)
		dst = append(dst, query[from:i]...)
		var n int
		dst, n = appendFormByte(dst, query[i:to])
		from = i + n
	}
	return append(dst, query[from:to]...)
}
