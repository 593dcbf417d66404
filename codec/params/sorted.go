package params

import (
	"bytes"
	"slices"
)

// AppendSorted appends the query to dst with its fields in the order that AppendKeyQuery gives them, and with once without
// those that repeat another one to the letter: of "a=1&b&a=1" the second "a=1" goes. A signed query (see Signed) is left as
// it is. It is for a query of a key whose fields were rewritten; the query is not changed or kept. The rules that had
// something to do are those of a signed query (WhySigned), of sorting, and of fields that are gone.
func AppendSorted(dst, query []byte, once bool, s *Scratch) (out []byte, why Why) {
	s.draw(query, Ampersand)
	if t := s.read(query, nil); t.marks.signed() {
		return append(dst, query...), WhySigned
	}
	rec := s.record(query)
	if once && s.dropRepeated(query) {
		why |= whyRepeated
		rec.fields(whyRepeated, s.fields)
	}
	if s.sort(query) {
		why |= whySorted
		rec.fields(whySorted, s.fields)
	}
	for i := range s.fields {
		if i > 0 {
			dst = append(dst, '&')
		}
		dst = append(dst, query[s.fields[i].Start:s.fields[i].End]...)
	}
	return dst, why
}

// dropRepeated removes from s.fields, which stand as they do in query, those that repeat an earlier one to the letter, and
// reports whether there were any.
func (s *Scratch) dropRepeated(query []byte) bool {
	slices.SortFunc(s.fields, func(a, b field) int {
		if c := bytes.Compare(query[a.Start:a.End], query[b.Start:b.End]); c != 0 {
			return c
		}
		return int(a.Start) - int(b.Start)
	})
	n := len(s.fields)
	s.fields = slices.CompactFunc(s.fields, func(a, b field) bool {
		return bytes.Equal(query[a.Start:a.End], query[b.Start:b.End])
	})
	slices.SortFunc(s.fields, func(a, b field) int { return int(a.Start) - int(b.Start) })
	return len(s.fields) < n
}
