package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/params"
)

// This file derives the canonical string of LevelShape from the string of K2.

// appendSurface appends the canonical string of LevelShape for k2, a K2 with
// the components u: host and port, the template of the path, and the names of
// the parameters, sorted and without repetition. It applies, in this order:
// scheme-drop, path-template, q-names. A URL without an authority keeps its
// scheme, because only the scheme distinguishes "mailto:{int}" from a path.
// signed reports whether the query is signed, so that K2 has not sorted it.
func (n *Normalizer) appendSurface(dst, k2 []byte, u *URL, signed bool, s *scratch) []byte {
	hits := ruleSet(0)
	host, path := u.spans[Host], u.spans[Path]
	switch {
	case !u.HasAuthority():
		dst = append(dst, k2[:path.Start]...)
	case u.Has(Username): // K2 keeps it only if rewriter.userinfo has found a reason
		dst = append(dst, k2[u.spans[Username].Start:path.Start]...)
	default:
		dst = append(dst, k2[host.Start:path.Start]...)
	}
	if u.HasAuthority() && u.Has(Scheme) {
		hits |= 1 << ruleSchemeDrop
		s.rec.remove(ruleSchemeDrop, Scheme, u.Bytes(k2, Scheme))
	}
	at := len(dst)
	dst = n.policy.Templates.Append(dst, path.In(k2))
	hits.set(ruleTemplate, s.rewrote(ruleTemplate, Path, path.In(k2), dst[at:]))
	if u.Has(Query) {
		query := u.spans[Query].In(k2)
		at = len(dst) + 1
		dst = appendNames(append(dst, '?'), query, signed, s)
		hits.set(ruleNames, s.rewrote(ruleNames, Query, query, dst[at:]))
	}
	if u.Has(Fragment) {
		hits |= 1 << RuleDropFragment
		s.rec.remove(RuleDropFragment, Fragment, u.Bytes(k2, Fragment))
	}
	s.keyHits |= hits
	return dst
}

// rewrote reports whether before and after differ, and records that r changed
// component c.
func (s *scratch) rewrote(r Rule, c Component, before, after []byte) bool {
	if bytes.Equal(before, after) {
		return false
	}
	s.rec.change(r, c, before, after)
	return true
}

// appendNames appends the names of the parameters in the query of a K2.
func appendNames(dst, query []byte, signed bool, s *scratch) []byte {
	if signed {
		return params.AppendNames(dst, query, &s.params)
	}
	return appendSortedNames(dst, query)
}

// appendSortedNames appends the names of a query that K2 has written: they are
// sorted and in their final spelling, so equal names are adjacent.
func appendSortedNames(dst, query []byte) []byte {
	var last []byte
	for first := true; ; first = false {
		end := bytes.IndexByte(query, '&')
		field := query
		if end >= 0 {
			field = query[:end]
		}
		name := field
		if before, _, ok := bytes.Cut(field, []byte{'='}); ok {
			name = before
		}
		if first || !bytes.Equal(name, last) {
			if !first {
				dst = append(dst, '&')
			}
			dst = append(dst, name...)
			last = name
		}
		if end < 0 {
			return dst
		}
		query = query[end+1:]
	}
}
