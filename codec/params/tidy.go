package params

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/urlfold/urlfold/codec/percent"
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
	n        uint // number of fields
	unsorted uint // not 0 if the fields were not in order
}

// tidy reports whether query is tidy, and sets s.tidied. A false result is
// always safe, because appendUntidy handles all queries, including tidy ones.
func (s *Scratch) tidy(query []byte, m *Matcher) bool {
	if len(query) == 0 || len(query) >= 64 {
		return false
	}
	c, q, sieve := chartOf(query), &s.tidied, m.sieve()
	c.end |= 1 << len(query)
	starts := c.end<<1 | 1
	if (c.end|c.eq)&starts|c.end&(c.eq<<1) != 0 || bits.OnesCount64(c.end) > maxTidy {
		return false
	}
	q.odd, q.n, q.unsorted = c.odd, 0, 0
	last := uint64(0)
	for start, ends := uint(0), c.end; ends != 0; ends &= ends - 1 {
		end := uint(bits.TrailingZeros64(ends))
		nameEnd := uint(bits.TrailingZeros64((c.end | c.eq) >> (start & 63) << (start & 63)))
		order := orderAt(query, int(start), int(nameEnd))
		if sieve.passes(byte(order>>56), query[nameEnd-1], int(nameEnd-start)) || c.odd&between(start, nameEnd) != 0 {
			if mayMatter(query[start:nameEnd], sieve, m) {
				return false
			}
		}
		eq := c.eq & between(nameEnd, end)
		q.odd |= eq & (eq - 1) // all except the first
		if order <= last && q.n > 0 {
			q.unsorted = 1
		}
		q.fields[q.n%maxTidy] = tidyField{order, uint32(start), uint32(end)}
		q.n++
		last, start = order, end+1
	}
	return q.unsorted == 0 || q.sort()
}

// mayMatter reports whether a name contains an escape, or may be one that a rule or
// this package recognizes.
func mayMatter(name []byte, sieve *sieve, m *Matcher) bool {
	if isCoded(name) {
		return true
	}
	name = bare(name)
	return sieve.passesName(name) && (isKnown(name) || m.may(name))
}

// sort sorts the fields. It returns false if two names have the same first
// bytes.
func (q *tidyQuery) sort() bool {
	fields := q.fields[:min(q.n, maxTidy)]
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

// appendTidy appends a tidy query, unless why is 0: then no rule changes it.
func (s *Scratch) appendTidy(dst, query []byte) (_ []byte, why Why) {
	q := &s.tidied
	if q.unsorted == 0 && q.odd == 0 {
		return dst, 0
	}
	w := newFormWriter(dst, query, &s.text)
	if q.unsorted != 0 {
		for i := range q.fields[:min(q.n, maxTidy)] {
			f := &q.fields[i]
			w.write(f.start, f.end, q.odd&between(f.start, f.end))
			w.out[w.at] = '&'
			w.at++
		}
		w.at-- // the last '&'
		why = whySorted
	} else {
		w.write(0, uint32(len(query)), q.odd)
	}
	if w.changed != 0 {
		why |= whyForm
	}
	if why == 0 {
		w.at = len(dst)
	}
	return w.out[:w.at], why
}

// A formWriter writes parts of a query on one chart in form encoding. Runs of bytes
// are copied 32 bytes at a time, which may be more than needed: their lengths cannot
// be predicted, and calls that copy a few bytes would take most of the time.
type formWriter struct {
	out     []byte // with room for everything
	at      int    // end of what is written
	text    *paddedQuery
	changed uint32 // not 0 if a byte that was written differs from the query
}

// A paddedQuery is a query on one chart. What follows can be read.
type paddedQuery [64 + 32]byte

// Room returns the number of bytes that AppendChanged may write for a query of n
// bytes and its '?', and more than needed at the end.
func Room(n int) int { return 3*n + 1 + formRoom }

// formRoom is the room for everything that a formWriter writes.
const formRoom = 4 * len(paddedQuery{})

// newFormWriter returns a writer that appends parts of query to dst. It copies the
// query to text.
func newFormWriter(dst, query []byte, text *paddedQuery) formWriter {
	n := copy(text[:64], query)
	clear(text[n : n+2]) // no escape continues there
	at := len(dst)
	return formWriter{out: slices.Grow(dst, formRoom)[:at+formRoom], at: at, text: text}
}

// write writes the bytes from from to to; odd marks those that need encoding or
// decoding.
func (w *formWriter) write(from, to uint32, odd uint64) {
	for ; odd != 0; odd &= odd - 1 {
		i := uint32(bits.TrailingZeros64(odd))
		w.copy(from, i)
		raw := binary.LittleEndian.Uint32(w.text[i:])
		e, n := &formTexts[byte(raw)][1], uint32(1)
		if high, low := formHex[byte(raw>>8)], formHex[byte(raw>>16)]; byte(raw) == '%' && high|low < 16 {
			e, n = &formTexts[high<<4|low][0], 3
		}
		binary.LittleEndian.PutUint32(w.out[w.at:], e.text)
		w.changed |= e.text ^ raw&(1<<(8*n)-1)
		w.at += int(e.len)
		from = i + n
	}
	w.copy(from, to)
}

// copy writes the bytes from from to to unchanged.
func (w *formWriter) copy(from, to uint32) {
	at := w.at
	w.at += int(to - from)
	for {
		to, text := w.out[at:at+32], w.text[from&63:]
		*(*[16]byte)(to) = *(*[16]byte)(text)
		*(*[16]byte)(to[16:]) = *(*[16]byte)(text[16:])
		if at += 32; at >= w.at {
			return
		}
		from += 32
	}
}

// A formText is a form encoding, as a little-endian integer.
type formText struct{ text, len uint32 }

// formTexts holds the form encoding of each byte that an escape stands for, and of
// each raw byte.
var formTexts = func() (t [256][2]formText) {
	for i := range t {
		escape := []byte{'%', "0123456789ABCDEF"[i>>4], "0123456789ABCDEF"[i&15]}
		for j, raw := range [][]byte{escape, {byte(i)}} {
			b := appendForm(nil, raw)
			t[i][j] = formText{binary.LittleEndian.Uint32(append(b, 0, 0, 0)), uint32(len(b))}
		}
	}
	return t
}()

// formHex holds the values of hex digits, and 16 elsewhere.
var formHex = func() (t [256]uint8) {
	for i := range t {
		if t[i] = 16; percent.IsHex(byte(i)) {
			t[i] = percent.Unhex(byte(i))
		}
	}
	return t
}()

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
