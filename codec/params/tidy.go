package params

import (
	"bytes"
	"math/bits"
)

// Most queries are tidy: at most 63 bytes and few fields, no field, name or value empty, no byte of a name escaped, and no name
// one that a rule or this package knows. To write these it takes no more than where their fields are and how names begin.

// maxTidy is the most fields that a tidy query has.
const maxTidy = 8

// A tidyField is a field of a tidy query.
type tidyField struct {
	order      uint64 // see orderAt
	start, end uint32
}

// A tidyQuery is what is known about one.
type tidyQuery struct {
	odd      uint64 // the bytes that are not plain, but for what stands between fields, names and values
	fields   [maxTidy]tidyField
	n        int  // how many of them there are
	unsorted bool // they were not in order
}

// tidy reports whether a query is tidy whose charts are drawn, and makes s.tidied of it. It may only give up: appendUntidy
// knows what becomes of other queries, and of tidy ones too.
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
		if sieve.passes(name) {
			return false
		}
		eq := c.eq & between(nameEnd, end)
		q.odd |= eq & (eq - 1) // all but the first
		order := orderAt(query, int(start), int(nameEnd))
		q.unsorted = q.unsorted || q.n > 0 && order <= last
		q.fields[q.n%maxTidy] = tidyField{order, start, end}
		last, start = order, end+1
	}
	return !q.unsorted || q.sort()
}

// sort sorts the fields, or gives up if two names begin alike.
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

// appendFields appends the fields, which have changed places.
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

// appendOdd appends query[from:to] in form encoding. All of that is on the first chart, and odd says which of its bytes have
// to be looked at.
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
