package params

import (
	"bytes"
	"math/bits"
)

// Most queries are tidy: they have at most 63 bytes and few fields, no empty
// field, name or value, no escaped byte in a name, and no name that a rule or
// this package recognizes. To write such a query, only the bounds of its fields
// and the first bytes of their names are needed.

// maxTidy is the maximum number of fields in a tidy query.
const maxTidy = 8

// tidyField is a field of a tidy query.
type tidyField struct {
	order      uint64 // see orderAt
	start, end uint32
}

// tidyQuery describes a tidy query.
type tidyQuery struct {
	odd      uint64 // bytes that are not plain, except separators and '='
	fields   [maxTidy]tidyField
	n        int  // number of fields
	unsorted bool // the fields were not in order
}

// tidy reports whether a query whose charts are drawn is tidy, and sets
// s.tidied. A false result is always safe, because appendUntidy handles all
// queries, including tidy ones.
func (s *Scratch) tidy(query []byte, m *Matcher) bool {
	if len(s.charts) != 1 {
		return false
	}
	c, q, sieve := &s.charts[0], &s.tidied, m.sieve()
	starts := c.end<<1 | 1
	if (c.end|c.eq)&starts|c.end&(c.eq<<1) != 0 || bits.OnesCount64(c.end) > maxTidy {
		return false
	}
	q.odd, q.n, q.unsorted = c.odd, 0, false
	last := uint64(0)
	for start := uint32(0); int(start) < len(query); q.n++ {
		end := start + uint32(bits.TrailingZeros64(c.end>>(start%64)))
		nameEnd := start + uint32(bits.TrailingZeros64((c.end|c.eq)>>(start%64)))
		name := query[start:nameEnd]
		if c.odd&between(start, nameEnd) != 0 {
			if isCoded(name) {
				return false
			}
			name = bare(name)
		}
		if sieve.passes(name) && (isKnown(name) || m.may(name)) {
			return false
		}
		eq := c.eq & between(nameEnd, end)
		q.odd |= eq & (eq - 1) // all except the first
		order := orderAt(query, int(start), int(nameEnd))
		q.unsorted = q.unsorted || q.n > 0 && order <= last
		q.fields[q.n%maxTidy] = tidyField{order, start, end}
		last, start = order, end+1
	}
	return !q.unsorted || q.sort()
}

// sort sorts the fields. It returns false if two names have the same first
// bytes.
func (q *tidyQuery) sort() bool {
	fields := q.fields[:q.n]
	for i := 1; i < len(fields); i++ {
		f, j := fields[i], i
		for ; j > 0 && f.order <= fields[j-1].order; j-- {
			if f.order == fields[j-1].order {
				return false
			}
			fields[j] = fields[j-1]
		}
		fields[j] = f
	}
	return true
}

// appendTidy appends a tidy query.
func (s *Scratch) appendTidy(dst, query []byte) (_ []byte, why Why) {
	q := &s.tidied
	switch {
	case q.unsorted:
		return q.appendFields(dst, query)
	case q.odd == 0:
		return append(dst, query...), 0
	}
	at := len(dst)
	dst = appendOdd(dst, query, 0, uint32(len(query)), q.odd)
	if !bytes.Equal(dst[at:], query) {
		why = whyForm
	}
	return dst, why
}

// appendFields appends the fields in their new order.
func (q *tidyQuery) appendFields(dst, query []byte) (_ []byte, why Why) {
	why = whySorted
	for i := range q.fields[:q.n] {
		if i > 0 {
			dst = append(dst, '&')
		}
		f, at := &q.fields[i], len(dst)
		odd := q.odd & between(f.start, f.end)
		dst = appendOdd(dst, query, f.start, f.end, odd)
		if odd != 0 && !bytes.Equal(dst[at:], query[f.start:f.end]) {
			why |= whyForm
		}
	}
	return dst, why
}

// appendOdd appends query[from:to] in form encoding. The range must be on the
// first chart; odd marks the bytes that need encoding or decoding.
func appendOdd(dst, query []byte, from, to uint32, odd uint64) []byte {
	for ; odd != 0; odd &= odd - 1 {
		i := uint32(bits.TrailingZeros64(odd))
		dst = append(dst, query[from:i]...)
		var n int
		dst, n = appendFormByte(dst, query[i:to])
		from = i + uint32(n)
	}
	return append(dst, query[from:to]...)
}
