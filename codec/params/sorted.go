package params

import (
	"bytes"
	"slices"
)

// AppendSorted appends query to dst with its fields in the order of
// AppendChanged. If once is set, it removes fields that exactly repeat an
// earlier one: of "a=1&b&a=1" the second "a=1". It does not change a signed
// query (see Signed). Use it for the query of a key whose fields were
// rewritten. why can contain WhySigned and the rules for sorting and for
// repeated fields. AppendSorted does not modify or retain query.
// Not covered by the stability page.
func AppendSorted(dst, query []byte, once bool, s *Scratch) (out []byte, why Why) {
	s.draw(query)
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

// dropRepeated removes fields that exactly repeat an earlier one from s.fields,
// which must be in the order of query, and reports whether there were any.
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
