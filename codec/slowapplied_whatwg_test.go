package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/percent"
)

// This file distinguishes the changes of the URL Standard's parser from those
// of the rules that a profile adds, which change escapes only.

// hitsWHATWG is hits for WHATWG. full is the serialized URL, including what the
// profile drops, and out holds its components.
func (n *Normalizer) hitsWHATWG(src, full []byte, out *URL, r *Result) ruleSet {
	var base *baseURL
	if r.scratch.resolved {
		base = r.scratch.base
	}
	cut, known := r.Flags.Has(FlagTrimmedEnds), lookupScheme(out.Bytes(full, Scheme))
	cleaned := n.rules.Has(RuleRFCClean) && (base != nil || known == schemeOther || !r.Flags.Intersect(uncleanFlags).IsZero())
	if cleaned || r.Flags.Has(FlagTabOrNewline) || n.queries != nil {
		return n.climb(base, src, r)
	}
	w := comparison{in: src, out: full, known: known, malformed: !r.Flags.Intersect(malformedFlags).IsZero()}
	if cut {
		w.cut(src)
	}
	w.hits.set(ruleTrim, cut)
	if r.Flags.Intersect(escapeFlags).IsZero() { // so no escape rule was applied
		w.split(w.in, full)
		return w.hits
	}
	w.compare(&r.In, out)
	if w.lost {
		return n.climb(base, src, r)
	}
	return w.hits &^ (ProfileRules().set &^ n.rules)
}

// uncleanFlags are the flags of URLs with a special scheme that RuleRFCClean may
// change. With other schemes it also changes escapes, those of opaque hosts and
// paths.
var uncleanFlags = rawFlags.Union(malformedFlags).With(FlagDomainPercentEncoded)

// A comparison walks through the input and the output of a URL in parallel.
type comparison struct {
	in, out   []byte
	from      int // offset in the text that in was cut from
	known     knownScheme
	malformed bool // there is a '%' that starts no escape
	hits      ruleSet
	lost      bool // there are escapes whose replacement cannot be determined
}

// cut removes the ends that the parser ignores.
func (w *comparison) cut(src []byte) {
	for len(w.in) > 0 && w.in[0] <= ' ' {
		w.in = w.in[1:]
		w.from++
	}
	for len(w.in) > 0 && w.in[len(w.in)-1] <= ' ' {
		w.in = w.in[:len(w.in)-1]
	}
}

// compare compares the components, and the text between them.
func (w *comparison) compare(u, v *URL) {
	at, to := 0, 0 // text after these offsets has not been compared yet
	for c := range Component(numComponents) {
		a, b := w.span(u, c), v.Span(c)
		if !u.Has(c) || !v.Has(c) {
			w.parser(u.Has(c) != v.Has(c))
			continue
		}
		w.split(w.in[min(at, int(a.Start)):a.Start], w.out[to:b.Start])
		w.parser(int(a.Start) < at) // the second '/' of "file://" also belongs to the path
		w.component(c, a.In(w.in), b.In(w.out))
		at, to = int(a.End), int(b.End)
	}
	w.split(w.in[at:], w.out[to:])
}

// span returns the range of a component of the input in w.in.
func (w *comparison) span(u *URL, c Component) Span {
	s := u.Span(c)
	if u.Has(c) {
		s.Start, s.End = s.Start-uint32(w.from), s.End-uint32(w.from)
	}
	return s
}

// split records a difference that only the parser can have made.
func (w *comparison) split(in, out []byte) { w.parser(!bytes.Equal(in, out)) }

// parser records whether the parser made a difference.
func (w *comparison) parser(so bool) { w.hits |= asParser * ruleSet(b2i(so)) }

// component compares a component that both have.
func (w *comparison) component(c Component, in, out []byte) {
	if c == Scheme || c == Host || c == Port || bytes.Equal(in, out) {
		w.split(in, out)
		return
	}
	hits, ok := compareEscapes(in, out)
	if !ok {
		hits = w.segments(in) | asParser
	}
	w.hits |= hits
}

// segments returns the escape rules applied to a path that lost segments,
// inherited some of a base, or had '\\' for '/'. It walks from the last segment
// to the first: each ".." removes one segment that is neither ".." nor ".".
func (w *comparison) segments(path []byte) (hits ruleSet) {
	if bytes.IndexByte(path, '%') < 0 {
		return 0
	}
	if w.known == schemeFile || w.malformed { // drive letters stay; a malformed '%' prevents decoding
		w.lost = true
		return 0
	}
	for end, gone := len(path), 0; end >= 0; {
		start := end
		for start > 0 && path[start-1] != '/' && (path[start-1] != '\\' || w.known == schemeOther) {
			start--
		}
		seg := path[start:end]
		switch n := dotSegmentLen(seg); {
		case n == 2:
			gone++
		case n == 1:
		case gone > 0:
			gone--
		default:
			hits |= escapeHits(seg)
		}
		end = start - 1
	}
	return hits
}

// escapeHits returns the escape rules applied to text, which contains no
// malformed '%'.
func escapeHits(text []byte) (hits ruleSet) {
	for i := 0; i < len(text); i++ {
		if text[i] == '%' {
			hits.set(RuleUpperEscapes, text[i+1] >= 'a' || text[i+2] >= 'a')
			hits.set(RuleDecodeUnreserved, percent.IsUnreserved(percent.Unhex(text[i+1])<<4|percent.Unhex(text[i+2])))
			i += 2
		}
	}
	return hits
}

// compareEscapes returns the rules that changed the bytes and escapes of in to
// those of out, if the two correspond.
func compareEscapes(in, out []byte) (hits ruleSet, ok bool) {
	for len(in) > 0 && len(out) > 0 {
		c := in[0]
		escaped := isTriplet(in)
		if escaped {
			c = percent.Unhex(in[1])<<4 | percent.Unhex(in[2])
		}
		if !escaped && c == out[0] {
			in, out = in[1:], out[1:]
			continue
		}
		same := isTriplet(out) && c == percent.Unhex(out[1])<<4|percent.Unhex(out[2])
		switch {
		case !escaped:
			hits |= asParser
		case same && in[1] == out[1] && in[2] == out[2]:
		case same || in[1] >= 'a' || in[2] >= 'a':
			hits |= 1 << RuleUpperEscapes
		}
		switch {
		case same:
			out = out[3:]
		case escaped && c == out[0] && percent.IsUnreserved(c):
			hits |= 1 << RuleDecodeUnreserved
			out = out[1:]
		default:
			return 0, false
		}
		in = in[1+2*b2i(escaped):]
	}
	return hits, len(in)+len(out) == 0
}
