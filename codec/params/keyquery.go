package params

import (
	"bytes"
	"slices"
	"strings"
)

// Why is a set of rules that changed a query. The zero Why is empty.
// Not covered by the stability page.
type Why uint8

// Rules of a query, in the order in which they are applied.
const (
	WhySigned   Why = 1 << iota // the query is signed and was not changed
	WhySession                  // qsid: session IDs were removed
	whyDropped                  // q-drop: a rule of the lists removed fields
	whyEmpty                    // q-noempty: fields without name and value were removed
	whyEq                       // q-eq: "a=" became "a"
	whyForm                     // q-form: the encoding of names or values changed
	whySorted                   // q-sort-name: the order of fields changed
	whyRepeated                 // q-once: repeated fields were removed
	numWhy      = iota
)

var whyNames = [numWhy]string{"q-signed", "qsid", "q-drop", "q-noempty", "q-eq", "q-form", "q-sort-name", "q-once"}

// String returns the names of the rules in the set, in order, separated by
// commas.
func (w Why) String() string {
	var names []string
	for i, name := range whyNames {
		if w>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// Dropped is a removed field and the rule that removed it.
// Not covered by the stability page.
type Dropped struct {
	Pair Pair // position of the field in the query
	Rule int  // see Matcher.Rule; -1 for qsid
}

// Dropped returns the fields that the last AppendChanged or AppendFiltered
// with s removed, in order and without empty ones. The result is valid until
// the next call with s.
func (s *Scratch) Dropped() []Dropped { return s.drops[:len(s.drops):len(s.drops)] }

// AppendChanged appends the query of a key to dst: the significant fields, in a
// canonical encoding and order. If why is 0 or WhySigned, the query of the key
// is query itself, and AppendChanged appends nothing. It takes these steps:
//
//	q-split      split at '&', and at ';' if the site says so; the result has
//	             only '&'; a signed query (see Signed) is left unchanged, with
//	             WhySigned
//	qsid         remove session IDs, unless an exception that is not from an
//	             import keeps them
//	q-drop       remove the fields that m drops on the site
//	q-noempty    remove fields without name and value
//	q-eq         change "a=" to "a"
//	q-form       encode names and values as a form does (URL Standard §5.2)
//	q-sort-name  sort by the bytes of the name; fields with the same name keep
//	             their order
//
// query is raw, without its '?', and must be shorter than 4 GiB; AppendChanged
// does not modify or retain it. If present is false, the URL has no query,
// because no field remains. AppendChanged is idempotent. site must come from m
// and s, or be zero. m may be nil. Not covered by the stability page.
func AppendChanged(dst, query []byte, m *Matcher, site Site, s *Scratch) (out []byte, present bool, why Why) {
	if s.Recorder == nil && !m.anyName(site) {
		if out, present, why, ok := appendTidy(dst, slices.Clip(query), m, s); ok {
			return out, present, why
		}
	}
	return s.appendUntidy(dst, query, m, site)
}

// appendUntidy implements AppendChanged for any query.
func (s *Scratch) appendUntidy(dst, query []byte, m *Matcher, site Site) (out []byte, present bool, why Why) {
	s.draw(query)
	t := s.read(query, m)
	if t.marks.signed() {
		return dst, true, WhySigned
	}
	rec := s.record(query)
	if every := m.anyName(site); every || t.look {
		why |= s.drop(query, m, site, every, t.cfid && t.cftoken, &rec)
	}
	if t.blank {
		why |= s.clean(&rec)
	}
	if t.unsorted && s.sort(query) {
		why |= whySorted
		rec.fields(whySorted, s.fields)
	}
	if len(s.fields) == 0 {
		return dst, false, why
	}
	if why == 0 && !t.odd {
		return dst, true, 0
	}
	out, form := s.appendFields(dst, query)
	rec.written(form, out[len(dst):])
	if why |= form; why == 0 {
		out = out[:len(dst)]
	}
	return out, true, why
}

// appendFields appends s.fields in form encoding. It returns whyForm if that
// changed them.
func (s *Scratch) appendFields(dst, query []byte) (_ []byte, why Why) {
	for i := range s.fields {
		if i > 0 {
			dst = append(dst, '&')
		}
		f := &s.fields[i]
		raw, mark := query[f.Start:f.End], len(dst)
		if !f.oddName && !f.oddValue {
			dst = append(dst, raw...)
			continue
		}
		if dst = s.appendField(dst, query, f); !bytes.Equal(dst[mark:], raw) {
			why = whyForm
		}
	}
	return dst, why
}

// appendField appends one field in form encoding.
func (s *Scratch) appendField(dst, query []byte, f *field) []byte {
	if len(s.charts) == 1 {
		return appendOdd(dst, query, f.Start, f.End, s.charts[0].oddOf(f))
	}
	dst = appendForm(dst, query[f.Start:f.NameEnd])
	if f.Eq {
		dst = append(dst, '=')
		dst = appendForm(dst, query[f.NameEnd+1:f.End])
	}
	return dst
}

// AppendFiltered appends query to dst without the fields that m drops on the
// site. Use it for URLs to fetch: the remaining fields keep their bytes, order
// and separators, and a signed query (see Signed) stays unchanged. present is
// false if all fields were removed. The other parameters are as in
// AppendChanged. Not covered by the stability page.
func AppendFiltered(dst, query []byte, m *Matcher, site Site, s *Scratch) (out []byte, present bool, why Why) {
	s.draw(query)
	if t := s.read(query, m); t.marks.signed() {
		return append(dst, query...), true, WhySigned
	}
	start, first := len(dst), true
	rec := s.record(query)
	for i := range s.fields {
		f := &s.fields[i]
		if rule, drop := m.Match(site, s.nameOf(f, query), s.valueOf(f, query)); drop {
			s.drops = append(s.drops, Dropped{f.Pair, rule})
			rec.filtered(dst[start:], !first, s.fields[i+1:], s.drops[len(s.drops)-1])
			continue
		}
		if !first {
			dst = append(dst, query[f.Start-1])
		}
		first = false
		dst = append(dst, query[f.Start:f.End]...)
	}
	if len(s.drops) == 0 {
		return dst, true, 0
	}
	return dst, len(dst) > start, whyDropped
}

// drop removes session IDs and the fields that m drops from s.fields, and lists
// them in s.drops. If every is set, it checks all fields, otherwise only those
// with look set.
func (s *Scratch) drop(query []byte, m *Matcher, site Site, every, coldFusion bool, rec *recording) (why Why) {
	kept := 0
	for i := range s.fields {
		f := &s.fields[i]
		if f.look || every {
			rule, cause := f.dropBy-1, whyDropped
			if rule < 0 || every {
				rule, cause = s.judge(f, s.nameOf(f, query), query, m, site, coldFusion)
			}
			if cause != 0 {
				why |= cause
				s.drops = append(s.drops, Dropped{f.Pair, rule})
				rec.dropped(cause, s.drops[len(s.drops)-1], s.fields[:kept], s.fields[i+1:])
				continue
			}
		}
		if kept != i {
			s.fields[kept] = *f
		}
		kept++
	}
	s.fields = s.fields[:kept]
	return why
}

// judge returns whether a field is dropped, and why.
func (s *Scratch) judge(f *field, name, query []byte, m *Matcher, site Site, coldFusion bool) (rule int, why Why) {
	value := s.valueOf(f, query)
	kind := sessionOf(bare(name), value)
	if (kind == isSession || kind != noSession && coldFusion) && !m.keepsSession(site, name, value) {
		return -1, WhySession
	}
	if rule, drop := m.Match(site, name, value); drop {
		return rule, whyDropped
	}
	return -1, 0
}

// keepsSession reports whether an exception without a group keeps a field.
func (m *Matcher) keepsSession(site Site, name, value []byte) bool {
	return m != nil && m.keeps(site, bare(name), value, 0) != none
}

// clean removes the '=' of empty values from s.fields, and then empty fields.
func (s *Scratch) clean(rec *recording) (why Why) {
	empty := false
	for i := range s.fields {
		f := &s.fields[i]
		if f.Eq && f.NameEnd+1 == f.End {
			why = whyEq
			f.Eq, f.End = false, f.NameEnd
		}
		empty = empty || f.Start == f.End
	}
	rec.fields(why, s.fields)
	if !empty {
		return why
	}
	s.fields = slices.DeleteFunc(s.fields, func(f field) bool { return f.Start == f.End })
	rec.fields(whyEmpty, s.fields)
	return why | whyEmpty
}
