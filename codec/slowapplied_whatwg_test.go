package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/percent"
)

// This file tells what the parser of the URL Standard has changed of a URL from
// what the rules have that a profile adds, which change escapes only.

// hitsWHATWG is Hits for the whatwg reading. full is the serialized URL, with what
// the profile leaves out, and out its components.
func (n *Normalizer) hitsWHATWG(src, full []byte, out *URL, r *Result) Rules {
	var base *baseURL
	if r.scratch.resolved {
		base = r.scratch.base
	}
	cut, known := r.Flags.Has(TrimmedEnds), lookupScheme(out.Bytes(full, Scheme))
	cleaned := n.rules.Has(RFCClean) && (base != nil || known == schemeOther || !r.Flags.Intersect(uncleanFlags).IsZero())
	if cleaned || r.Flags.Has(TabOrNewline) || n.queries != nil {
		return n.climb(base, src, r)
	}
	w := comparison{in: src, out: full, known: known, malformed: !r.Flags.Intersect(malformedFlags).IsZero()}
	if cut {
		w.cut(src)
	}
	w.hits.set(ruleTrim, cut)
	if r.Flags.Intersect(escapeFlags).IsZero() { // so no rule on escapes has found any
		w.split(w.in, full)
		return w.hits
	}
	w.compare(&r.In, out)
	if w.lost {
		return n.climb(base, src, r)
	}
	return w.hits &^ (ProfileRules() &^ n.rules)
}

// uncleanFlags are the flags of URLs with a special scheme in which RFCClean may find
// something. In others it changes escapes too: those of opaque hosts and paths.
var uncleanFlags = rawFlags.Union(malformedFlags).With(DomainPercentEncoded)

// A comparison goes through a URL as it came and as it is written, side by side.
type comparison struct {
	in, out   []byte
	from      int // offset in what in was cut from
	known     knownScheme
	malformed bool // there are '%' that start no escape
	hits      Rules
	lost      bool // there are escapes of which it cannot be told what they became
}

// cut takes off the ends what the parser does not look at.
func (w *comparison) cut(src []byte) {
	for len(w.in) > 0 && w.in[0] <= ' ' {
		w.in = w.in[1:]
		w.from++
	}
	for len(w.in) > 0 && w.in[len(w.in)-1] <= ' ' {
		w.in = w.in[:len(w.in)-1]
	}
}

// compare looks at each component, and at what stands between them.
func (w *comparison) compare(u, v *URL) {
	at, to := 0, 0 // what is behind these offsets is yet to be looked at
	for c := range Component(numComponents) {
		a, b := w.span(u, c), v.Span(c)
		if !u.Has(c) || !v.Has(c) {
			w.parser(u.Has(c) != v.Has(c))
			continue
		}
		w.split(w.in[min(at, int(a.Start)):a.Start], w.out[to:b.Start])
		w.parser(int(a.Start) < at) // the second '/' of "file://" is its path too
		w.component(c, a.In(w.in), b.In(w.out))
		at, to = int(a.End), int(b.End)
	}
	w.split(w.in[at:], w.out[to:])
}

// span returns where a component of the URL as it came is in w.in.
func (w *comparison) span(u *URL, c Component) Span {
	s := u.Span(c)
	if u.Has(c) {
		s.Start, s.End = s.Start-uint32(w.from), s.End-uint32(w.from)
	}
	return s
}

// split notes a difference that only the parser can have made.
func (w *comparison) split(in, out []byte) { w.parser(!bytes.Equal(in, out)) }

// parser notes whether the parser has made a difference.
func (w *comparison) parser(so bool) { w.hits |= asParser * Rules(b2i(so)) }

// component looks at a component that both have.
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

// segments returns the hits of the rules on escapes in a path that has lost
// segments, got some of a base in front, or had '\\' for '/'. It goes from the last
// segment to the first: each ".." takes away one that is neither it nor ".".
func (w *comparison) segments(path []byte) (hits Rules) {
	if bytes.IndexByte(path, '%') < 0 {
		return 0
	}
	if w.known == schemeFile || w.malformed { // drive letters stay; stray '%' hold back escapes
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

// escapeHits returns the hits of the rules on escapes in text, which has no stray
// '%'.
func escapeHits(text []byte) (hits Rules) {
	for i := 0; i < len(text); i++ {
		if text[i] == '%' {
			hits.set(UpperEscapes, text[i+1] >= 'a' || text[i+2] >= 'a')
			hits.set(DecodeUnreserved, percent.IsUnreserved(percent.Unhex(text[i+1])<<4|percent.Unhex(text[i+2])))
			i += 2
		}
	}
	return hits
}

// compareEscapes tells by which rules the bytes and escapes of in have become those
// of out, if each has.
func compareEscapes(in, out []byte) (hits Rules, ok bool) {
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
			hits |= 1 << UpperEscapes
		}
		switch {
		case same:
			out = out[3:]
		case escaped && c == out[0] && percent.IsUnreserved(c):
			hits |= 1 << DecodeUnreserved
			out = out[1:]
		default:
			return 0, false
		}
		in = in[1+2*b2i(escaped):]
	}
	return hits, len(in)+len(out) == 0
}
