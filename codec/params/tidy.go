package params

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/urlfold/urlfold/codec/percent"
)

// Most queries are tidy: they have at most 63 bytes and few fields, no empty
// field, name or value, no escaped byte in a name, and no name that this package
// recognizes, or that a rule drops only on some sites or with some values. To write
// a tidy query, only the bounds of its fields and the first bytes of their names
// are needed.

// maxTidy is the maximum number of fields in a tidy query.
const maxTidy = 8

// A tidyQuery holds the bounds of the fields of a tidy query. Fields that a rule drops are
// only in drops. Where possible, no branch depends on the bytes of the query, because such
// branches would be mispredicted: see chart.
type tidyQuery struct {
	text     paddedQuery
	nameEnds uint64 // the places where names end
	ends     uint64 // the places where fields end
	odd      uint64 // bytes that are not plain, except separators and the first '=' of a field
	fields   [maxTidy]tidyField
	n        int // number of fields
	unsorted int // 0 if the fields are in order, otherwise 1
	drops    []Dropped
}

// The upper seven bytes of a tidyField are the first bytes of the name of a
// field, as a big-endian number, padded with zeros. The lowest byte of a
// tidyField is the offset of the field. Fields sort like these numbers, except
// those whose names begin with the same seven bytes.
type tidyField uint64

// start returns the offset of the field in the query.
func (f tidyField) start() uint64 { return uint64(f) & 0xFF }

// name returns f with the same start for all fields.
func (f tidyField) name() tidyField { return f | 0xFF }

// A paddedQuery is a query on one chart, followed by bytes that can be read.
type paddedQuery [64 + 32]byte

// set sets q to query, followed by '&' and zeros: every field ends at a '&', and no
// escape continues after the last one.
func (q *paddedQuery) set(query []byte) {
	if cap(query) < 64 {
		copy(q[:64], query)
	} else { // avoids a branch for each range of lengths
		from := (*[64]byte)(query[:64])
		*(*[16]byte)(q[:]) = *(*[16]byte)(from[:])
		*(*[16]byte)(q[16:]) = *(*[16]byte)(from[16:])
		*(*[16]byte)(q[32:]) = *(*[16]byte)(from[32:])
		*(*[16]byte)(q[48:]) = *(*[16]byte)(from[48:])
	}
	binary.LittleEndian.PutUint32(q[len(query)&63:], '&')
}

// field returns the field with the name q[start:end].
func (q *paddedQuery) field(start, end int) tidyField {
	return tidyField(binary.BigEndian.Uint64(q[start&63:])&nameMasks[(end-start)&63] | uint64(start))
}

// nameMasks has, for each length of a name, the bits of its first seven bytes.
var nameMasks = func() (t [64]uint64) {
	for n := range t {
		t[n] = ^(^uint64(0) >> (8 * min(n, 7)))
	}
	return t
}()

// read reports whether query is tidy. If it is, read sets q. In either case,
// read appends the fields that a rule drops to q.drops. A false result is
// always safe, because appendUntidy handles all queries, including tidy ones.
func (q *tidyQuery) read(query []byte, m *Matcher) bool {
	if len(query) == 0 || len(query) >= 64 {
		return false
	}
	q.text.set(query)
	c, sieve := chartOf(query), m.sieve()
	starts := c.end<<1 | 1
	ends := c.end | 1<<len(query)
	marks := ends | c.eq
	if marks&starts|ends&(c.eq<<1) != 0 || bits.OnesCount64(ends) > maxTidy {
		return false
	}
	nameEnds := marks &^ (marks - starts) // the first mark after each start
	oddNames := c.odd & (nameEnds - starts)
	q.ends, q.nameEnds, q.odd = ends, nameEnds, c.odd|c.eq&^nameEnds
	n, last, unsorted := 0, tidyField(0), 0
	for ; starts != 0; starts &= starts - 1 {
		start, end := bits.TrailingZeros64(starts), bits.TrailingZeros64(nameEnds)
		nameEnds &= nameEnds - 1
		f := q.text.field(start, end)
		if sieve.passes(nameStart(f)) || oddNames != 0 {
			rule, ok := judgeName(query[start:end], sieve, m)
			if !ok {
				return false
			}
			if rule >= 0 {
				q.drop(start, end, rule)
				continue
			}
		}
		unsorted |= b2i(f <= last.name())
		q.fields[n&(maxTidy-1)] = f
		n++
		last = f
	}
	q.unsorted, q.n = unsorted, n
	return true
}

// judgeName returns the rule that drops a field with the given raw name, or -1 if the
// field stays. ok is false if the name alone does not decide that, or has an escape.
func judgeName(name []byte, sieve *sieve, m *Matcher) (rule int, ok bool) {
	if isCoded(name) {
		return -1, false
	}
	name = bare(name)
	switch {
	case !sieve.passesName(name):
		return -1, true
	case isKnown(name):
		return -1, false
	}
	return m.byName(name)
}

// drop drops the field that starts at start and whose name ends at nameEnd.
func (q *tidyQuery) drop(start, nameEnd, rule int) {
	end := start + bits.TrailingZeros64(q.ends>>(start&63))
	p := Pair{Start: uint32(start), NameEnd: uint32(nameEnd), End: uint32(end), Eq: nameEnd < end}
	q.drops = append(q.drops, Dropped{p, rule})
	bit := uint64(1) << (end & 63)
	q.ends &^= bit
	q.odd &^= bit - 1<<(start&63)
}

// sort sorts the fields. It does not branch, because the CPU cannot predict
// which of two fields comes first.
func (q *tidyQuery) sort() {
	fields := q.fields[:min(q.n, maxTidy)]
	for i := 1; i < len(fields); i++ {
		f := fields[i]
		for j := i; j > 0; j-- {
			g := fields[j-1]
			fields[j], f = max(f, g), min(f, g)
		}
		fields[0] = f
	}
	tie := 0
	q.unsorted = 0
	for i := 1; i < len(fields); i++ {
		f, g := fields[i-1], fields[i]
		tie |= b2i(f.name() == g.name())
		q.unsorted |= b2i(f.start() > g.start())
	}
	if tie != 0 {
		q.sortTies()
	}
}

// sortTies is sort for names that begin with the same bytes.
func (q *tidyQuery) sortTies() {
	fields := q.fields[:min(q.n, maxTidy)]
	byStart := func(f, g tidyField) int { return cmp.Compare(f.start(), g.start()) }
	slices.SortFunc(fields, func(f, g tidyField) int {
		return cmp.Or(bytes.Compare(q.name(f), q.name(g)), byStart(f, g))
	})
	q.unsorted = b2i(!slices.IsSortedFunc(fields, byStart))
}

// name returns the whole name of f.
func (q *tidyQuery) name(f tidyField) []byte {
	start := f.start()
	return q.text[start:][:bits.TrailingZeros64(q.nameEnds>>start)]
}

// tidyRoom is the number of bytes after dst that appendTidy may write: at most three for
// each byte of the query, and more than needed at the end.
const tidyRoom = 256 + 64

// appendTidy is AppendChanged for queries that it can handle with little work, which
// are most queries. If ok is false, it has given up on the query, and the other results
// are undefined. appendTidy does not call a Recorder, and every rule of m for the site
// must be one for names and prefixes. It may read bytes up to the capacity of query;
// dst and query may overlap.
func appendTidy(dst, query []byte, m *Matcher, s *Scratch) (_ []byte, present bool, why Why, ok bool) {
	q := &s.tidied
	q.drops = s.drops[:0]
	ok = q.read(query, m)
	s.drops = q.drops
	switch {
	case !ok:
		return dst, false, 0, false
	case len(q.drops) > 0:
		why = whyDropped
	case q.odd|uint64(q.unsorted) == 0:
		return dst, true, 0, true
	}
	if q.n == 0 {
		return dst, false, why, true
	}
	q.sort()
	at := len(dst)
	out := slices.Grow(dst, tidyRoom)[:at+tidyRoom]
	length, changed := q.write((*[tidyRoom]byte)(out[at:]))
	if why |= Why(q.unsorted)*whySorted | Why(changed)*whyForm; why == 0 {
		length = 0
	}
	return out[:at+length], true, why, true
}

// write writes the fields of q to out, in form encoding and separated by '&'.
// changed is 1 if that changes a field. It takes the same step at each odd byte
// and at each end of a field, because the CPU cannot predict the order of the
// two.
func (q *tidyQuery) write(out *[tidyRoom]byte) (length, changed int) {
	stops, text := q.ends|q.odd, &q.text
	start, next, diff := q.fields[0].start(), 1, uint32(0)
	from, at := start, 0
	for n := bits.OnesCount64(stops); n > 0; n-- {
		i := start + uint64(bits.TrailingZeros64(stops>>(start&63)))
		end := at + int(i-from)
		for ; ; at, from = at+32, from+32 { // a call that copies a few bytes would take most of the time
			*(*[16]byte)(out[at&255:]) = *(*[16]byte)(text[from&63:])
			*(*[16]byte)(out[at&255+16:]) = *(*[16]byte)(text[from&63+16:])
			if at+32 >= end {
				break
			}
		}
		e, raw := text.formText(i)
		binary.LittleEndian.PutUint32(out[end&255:], e.text)
		diff |= e.text ^ raw&e.mask
		at = end + int(e.len)
		isEnd := q.ends >> (i & 63) & 1
		start = (i+1)&(isEnd-1) | q.fields[next&(maxTidy-1)].start()&-isEnd
		from = start + uint64(e.more)
		next += int(isEnd)
	}
	return at - 1, b2i(diff != 0) // without the last '&'
}

// A formText is a form encoding, as a little-endian integer, with a mask of the bytes
// that it replaces.
type formText struct {
	text, len uint32
	mask      uint32 // selects the bytes of a word that the text replaces
	more      uint32 // number of the selected bytes minus 1
}

// formText returns the form encoding of the byte, or the escape, at i. raw
// holds it in its low bytes.
func (q *paddedQuery) formText(i uint64) (e *formText, raw uint32) {
	raw = binary.LittleEndian.Uint32(q[i&63:])
	c := raw & 0xFF
	value := uint32(formPercent[c] | formHigh[byte(raw>>8)] | formLow[byte(raw>>16)])
	isByte := value >> 8
	return &formTexts[(value&(isByte-1)|(c|noEscape)&-isByte)%uint32(len(formTexts))], raw
}

// noEscape is a bit in the tables that marks a text that is not an escape.
const noEscape = 0x100

// The tables hold the value of each hex digit at its place in an escape, and
// noEscape for other bytes; formPercent has noEscape for all bytes except '%'.
var formPercent, formHigh, formLow = func() (percents, high, low [256]uint16) {
	for i := range 256 {
		percents[i], high[i], low[i] = noEscape, noEscape, noEscape
		if percent.IsHex(byte(i)) {
			low[i] = uint16(percent.Unhex(byte(i)))
			high[i] = low[i] << 4
		}
	}
	percents['%'] = 0
	return percents, high, low
}()

// formTexts holds the form encoding of each byte that an escape encodes, and,
// from noEscape on, of each raw byte. A raw '&' separates fields.
var formTexts = func() (t [2 * noEscape]formText) {
	set := func(i int, raw ...byte) {
		b := appendForm(nil, raw)
		t[i] = formText{binary.LittleEndian.Uint32(append(b, 0, 0, 0)), uint32(len(b)), 1<<(8*len(raw)) - 1, uint32(len(raw) - 1)}
	}
	for i := range noEscape {
		set(i, '%', "0123456789ABCDEF"[i>>4], "0123456789ABCDEF"[i&15])
		set(i|noEscape, byte(i))
	}
	t['&'|noEscape] = formText{text: '&', len: 1, mask: 0xFF}
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
