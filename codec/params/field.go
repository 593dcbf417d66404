package params

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// field is a Pair with its properties.
type field struct {
	Pair
	order    uint64 // see orderAt
	name     uint32 // offset of the decoded name in Scratch.names, if coded
	nameLen  uint32
	coded    bool // the name contains '+' or '%'
	oddName  bool // the name has odd bytes on its chart
	oddValue bool // the value has odd bytes on its chart
	look     bool // the name is in knownNames, or a rule may drop the field
	dropBy   int  // 1 + the rule that drops the field, whatever the site and the value; otherwise 0
}

// traits summarizes the fields that read has found.
type traits struct {
	odd      bool
	blank    bool // an empty field or value
	look     bool
	unsorted bool // a name sorts before the name on its left
	marks    mark
	cfid     bool
	cftoken  bool
}

// nameOf returns the form-decoded name of f.
func (s *Scratch) nameOf(f *field, query []byte) []byte {
	if f.coded {
		return s.names[f.name : f.name+f.nameLen]
	}
	return f.Name(query)
}

// valueOf returns the form-decoded value of f. The result is valid until the
// next call.
func (s *Scratch) valueOf(f *field, query []byte) []byte {
	raw := f.Value(query)
	if !f.oddValue {
		return raw
	}
	s.value = AppendName(s.value[:0], raw)
	return s.value
}

// read splits a query whose charts are drawn into s.fields.
func (s *Scratch) read(query []byte, m *Matcher) (t traits) {
	s.fields, s.names = s.fields[:0], s.names[:0]
	if len(query) == 0 {
		return t
	}
	fields, sieve := s.fields, m.sieve()
	for start := 0; start <= len(query); {
		fields = append(fields, field{})
		f := &fields[len(fields)-1]
		s.cut(f, query, start)
		start = int(f.End) + 1
		if f.oddName && isCoded(f.Name(query)) {
			s.decode(f, query)
		}
		if f.oddName || f.NameEnd > f.Start && sieve.passes(nameStart(f.order)) {
			s.look(f, query, m, &t)
		}
		t.odd = t.odd || f.oddName || f.oddValue
		t.blank = t.blank || f.Start == f.End || f.Eq && f.NameEnd+1 == f.End
		t.unsorted = t.unsorted || len(fields) > 1 && s.isBefore(f, &fields[len(fields)-2], query)
	}
	s.fields = fields
	return t
}

// cut sets f to the field that starts at start, with the same result as
// AppendPairs.
func (s *Scratch) cut(f *field, query []byte, start int) {
	nameEnd := next(s.charts, start, withEq)
	end := nameEnd
	if f.Eq = nameEnd < len(query) && query[nameEnd] == '='; f.Eq {
		end = next(s.charts, nameEnd+1, withEq)
		if f.oddValue = end < len(query) && query[end] == '='; f.oddValue {
			end = next(s.charts, end, withoutEq)
		}
	}
	f.Start, f.NameEnd, f.End = uint32(start), uint32(nameEnd), uint32(end)
	f.order = orderAt(query, start, nameEnd)
	if s.odd != 0 {
		f.oddName = anyOdd(s.charts, start, nameEnd)
		f.oddValue = f.oddValue || anyOdd(s.charts, nameEnd, end)
	}
}

// decode decodes the name of f.
func (s *Scratch) decode(f *field, query []byte) {
	f.name, f.coded = uint32(len(s.names)), true
	s.names = AppendName(s.names, f.Name(query))
	f.nameLen = uint32(len(s.names)) - f.name
	f.order = orderAt(s.names, int(f.name), len(s.names))
}

// look checks whether the name of f is one that this package or a rule
// recognizes.
func (s *Scratch) look(f *field, query []byte, m *Matcher, t *traits) {
	name := bare(s.nameOf(f, query))
	if isKnown(name) {
		f.look = true
		t.marks |= markOf(name)
		kind := sessionOf(name, nil)
		t.cfid = t.cfid || kind == isCFID
		t.cftoken = t.cftoken || kind == isCFToken
	} else if rule, ok := m.byName(name); ok {
		f.dropBy = rule + 1
		f.look = rule >= 0
	} else {
		f.look = true
	}
	t.look = t.look || f.look
}

// orderAt returns the first eight bytes of the name b[start:end] as a
// big-endian number, padded with zeros. Names with different numbers sort in
// the order of the numbers.
func orderAt(b []byte, start, end int) uint64 {
	if len(b) < 8 {
		return shortOrder(b[start:end])
	}
	at := min(start, len(b)-8)
	return binary.BigEndian.Uint64(b[at:]) << (8 * (start - at)) &^ (^uint64(0) >> (8 * (end - start)))
}

// shortOrder implements orderAt for names shorter than eight bytes.
func shortOrder(name []byte) (x uint64) {
	for _, c := range name {
		x = x<<8 | uint64(c)
	}
	return x << (8 * (8 - len(name)))
}

// isBefore reports whether the name of f sorts before the name of g.
func (s *Scratch) isBefore(f, g *field, query []byte) bool {
	if f.order != g.order {
		return f.order < g.order
	}
	return bytes.Compare(s.nameOf(f, query), s.nameOf(g, query)) < 0
}

// maxInsertion is the maximum number of fields that are sorted by insertion.
const maxInsertion = 16

// sort sorts s.fields by name and reports whether that changed their order.
// Fields with the same name keep their order.
func (s *Scratch) sort(query []byte) (changed bool) {
	if len(s.fields) > maxInsertion {
		// Fields with the same name are ordered by their offsets.
		compare := func(a, b field) int {
			switch {
			case s.isBefore(&a, &b, query):
				return -1
			case s.isBefore(&b, &a, query):
				return 1
			}
			return int(a.Start) - int(b.Start)
		}
		if slices.IsSortedFunc(s.fields, compare) {
			return false
		}
		slices.SortFunc(s.fields, compare)
		return true
	}
	for i := 1; i < len(s.fields); i++ {
		f, j := s.fields[i], i
		for ; j > 0 && s.isBefore(&f, &s.fields[j-1], query); j-- {
			s.fields[j] = s.fields[j-1]
		}
		if j < i {
			s.fields[j], changed = f, true
		}
	}
	return changed
}
