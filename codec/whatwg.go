package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/percent"
)

// This file is the entrance to the reading of the WHATWG URL Standard, snapshot
// of 2026-07-02 (commit 6ae8486). The state machine is in whatwg_states.go, with
// the states named and ordered as in the standard; hosts are in whatwg_host.go.
//
//	src ─ strip: ends trimmed, tabs and newlines out ─▶ states ─▶ normal form
//	        └─────────── offsets of marks and spans are mapped back ──┘

// A Standard says which standard decides where the components of a URL lie.
type Standard uint8

// The readings.
const (
	RFC    Standard = iota // RFC 3986, on the raw bytes
	WHATWG                 // the WHATWG URL Standard: what browsers do
)

var standardNames = []string{"rfc3986", "whatwg"}

// String returns the standard's name: "whatwg".
func (std Standard) String() string { return nameOf(std, standardNames) }

// ParseStandard returns the standard of that name.
func ParseStandard(name string) (Standard, error) {
	return parseName[Standard]("standard", name, standardNames)
}

// SpecDate is the date of the text of the WHATWG URL Standard that the whatwg
// reading follows.
const SpecDate = "2026-07-02"

// A parser is one run of the basic URL parser
// (https://url.spec.whatwg.org/#concept-basic-url-parser). It writes the
// serialized URL while it reads: the states come in the order of the components.
type parser struct {
	in    []byte // without what strip has taken out
	i     int    // the pointer
	base  *baseURL
	dst   []byte
	start int // where the URL begins in dst
	path  int // where its path begins in dst
	front int // where the slashes in front of the authority begin in in
	marks int // how many marks are wanted

	u, out *URL // components of in and of dst[start:]
	esc    *[whatwgSets]percent.Rules
	r      *Result

	known   knownScheme // of the URL
	checked int         // no code point of the path before this offset is checked
	opaque  bool        // the path is opaque
	noPipe  bool        // '|' will be escaped
	queries QueryEncoding
	err     Error
	applied Rules // what has changed something
	rec     *recorder
}

// A baseURL is a base that has been read.
type baseURL struct {
	by     *Normalizer
	src    []byte // as it was given
	text   []byte // serialized
	u      URL    // of text
	known  knownScheme
	opaque bool // the path is opaque
	err    Error
	res    Result // of reading it; there for its scratch

	rfcHost rfcHost // the host that RFC 3986 sees
}

// The percent-encode sets, by what they are used for.
const (
	setUserinfo = iota
	setPath
	setQuery
	setSpecialQuery
	setFragment
	setOpaque // opaque paths and hosts
	whatwgSets
)

// whatwgEscapes returns what the reading does with the bytes of each component:
// the percent-encode sets, and for lists and strings (not for what is opaque)
// the rules of RFC 3986 §6.2.2 that the profile adds. A stray '%' that rfc-clean
// escapes in the end is escaped at once: kept, it would hold back esc-unres.
func whatwgEscapes(rules Rules) (esc [whatwgSets]percent.Rules) {
	for i, set := range [whatwgSets]percent.Set{
		setUserinfo: percent.WHATWGUserinfo, setPath: percent.WHATWGPath, setQuery: percent.WHATWGQuery,
		setSpecialQuery: percent.WHATWGSpecialQuery, setFragment: percent.WHATWGFragment, setOpaque: percent.WHATWGC0,
	} {
		malformed := percent.MalformedKeep
		if rules.Has(RFCClean) && i != setOpaque {
			malformed = percent.MalformedEncode
		}
		esc[i] = percent.Rules{
			Add:        set,
			Malformed:  malformed,
			Upper:      rules.Has(UpperEscapes) && i != setOpaque,
			Unreserved: rules.Has(DecodeUnreserved) && i != setOpaque,
		}
	}
	return esc
}

// appendWHATWG appends the serialized URL of src, read against base if that is
// not nil, and fills r.
func (n *Normalizer) appendWHATWG(dst []byte, base *baseURL, src []byte, r *Result) ([]byte, Error) {
	s := &r.scratch
	in := s.strip(src, r)
	s.parsed = s.parsed[:0]
	p := parser{in: in, base: base, dst: dst, start: len(dst), u: &r.In, out: &r.Out, esc: &n.whatwg, r: r, marks: n.maxDiagnostics, noPipe: n.rules.Has(RFCClean), queries: n.queries, rec: s.rec}
	*p.u, *p.out = URL{}, URL{}
	p.run()
	if p.err == 0 {
		p.guard()
	}
	s.applied |= p.applied
	n.inspect(nil, in, r)
	s.canonical = p.canonical()
	p.compareHosts(src[s.lead:s.end])
	r.unclean(n.maxDiagnostics)
	if p.err != 0 {
		r.undone()
		return dst, p.err
	}
	return p.dst, 0
}

// canonical reports whether the serialized URL is for certain its own K0 and K1,
// those of RFC 3986: it has a domain, and all that the flags name has gone. What is
// left to RFC 3986 otherwise: the bytes that browsers keep and it does not allow
// (in hosts too: '"' is not forbidden there), stray '%', IP addresses and the many
// freedoms of other schemes.
func (p *parser) canonical() bool {
	esc := p.esc[setPath]
	if p.base != nil && !p.base.res.Flags.Intersect(keptIllegal).IsZero() {
		return false
	}
	return p.err == 0 && p.special() && p.known != schemeFile && p.out.kind == RegName && esc.Upper && esc.Unreserved &&
		p.r.Flags.Intersect(keptIllegal).IsZero() &&
		dirtOf(p.out.Bytes(p.dst[p.start:], Host))&(dirtHost|dirtPercent) == 0
}

// keptIllegal are the flags of what RFC 3986 does not allow and the whatwg reading
// may keep.
var keptIllegal = Flags{}.With(Truncated).With(NonHex).With(PercentU).With(RawIllegal).With(RawBackslash)

// readBase reads a base for the whatwg reading. The last one is kept in s, and its
// memory serves the next: each record may bring a base of its own. Its escapes are
// those of the profile, since a reference may leave its path or query as they are.
func (n *Normalizer) readBase(base []byte, s *scratch) *baseURL {
	b := s.base
	if b != nil && b.by == n.bases && bytes.Equal(b.src, base) {
		return b
	}
	if b == nil {
		b = &baseURL{}
		s.base = b
	}
	b.by, b.src = n.bases, append(b.src[:0], base...)
	b.res.reset()
	b.text, b.err = n.bases.appendWHATWG(b.text[:0], nil, base, &b.res)
	if b.err != 0 {
		return b
	}
	b.u = b.res.Out
	b.known = lookupScheme(b.u.Bytes(b.text, Scheme))
	b.opaque = !b.u.HasAuthority() && !hasPrefix(b.u.Bytes(b.text, Path), '/')
	b.readRFCHost(s)
	return b
}

// strip returns src without C0 controls and spaces at its ends and without tabs
// and newlines, and notes what it took out.
func (s *scratch) strip(src []byte, r *Result) []byte {
	s.cuts, s.gaps = s.cuts[:0], s.gaps[:0]
	start, end := trimEnds(src)
	s.lead, s.end = uint32(start), uint32(end)
	if start > 0 {
		s.cut(r, 0, TrimmedEnds)
	}
	in := src[start:end]
	s.rec.change(ruleTrim, WholeURL, src, in)
	if i := indexTab(in); i >= 0 {
		s.cut(r, start+i, TabOrNewline)
		s.cleaned = appendWithoutTabs(s.cleaned[:0], in, &s.gaps)
		s.rec.change(ruleTabs, WholeURL, in, s.cleaned)
		in = s.cleaned
	}
	if end < len(src) {
		s.cut(r, end, TrimmedEnds)
	}
	return in
}

// trimEnds returns where src begins and ends without C0 controls and spaces at its
// ends.
func trimEnds(src []byte) (start, end int) {
	end = len(src)
	for start < end && src[start] <= ' ' {
		start++
	}
	for end > start && src[end-1] <= ' ' {
		end--
	}
	return start, end
}

// indexTab returns the offset of the first tab or newline in b, or -1.
func indexTab(b []byte) int {
	for i, c := range b {
		if isTab(c) {
			return i
		}
	}
	return -1
}

// isTab reports whether c is one of the bytes that browsers take out of URLs.
func isTab(c byte) bool { return c <= '\r' && (c == '\t' || c == '\n' || c == '\r') }

// cut notes that bytes were taken out of src at the offset at.
func (s *scratch) cut(r *Result, at int, f Flag) {
	s.applied.set(ruleTrim, f == TrimmedEnds)
	s.applied.set(ruleTabs, f == TabOrNewline)
	r.Flags = r.Flags.With(f).With(InvalidURLUnit)
	s.cuts = append(s.cuts,
		Diagnostic{At: uint32(at), Flag: f, Component: Path, Action: Removed},
		Diagnostic{At: uint32(at), Flag: InvalidURLUnit, Component: Path, Action: Removed})
}

// appendWithoutTabs appends in without tabs and newlines, and their offsets in
// in to gaps.
func appendWithoutTabs(dst, in []byte, gaps *[]uint32) []byte {
	for i, c := range in {
		if isTab(c) {
			*gaps = append(*gaps, uint32(i))
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// at returns the offset in src of an offset in the cleaned text.
func (s *scratch) at(i uint32) uint32 {
	for _, gap := range s.gaps {
		if gap > i {
			break
		}
		i++
	}
	return i + s.lead
}

// unclean brings the marks together and maps them, the spans and the place of an
// error from the cleaned text to src.
func (r *Result) unclean(maxDiagnostics int) {
	s := &r.scratch
	r.Diagnostics = append(r.Diagnostics, s.parsed...)
	if s.lead != 0 || len(s.gaps) != 0 {
		for i := range r.Diagnostics {
			r.Diagnostics[i].At = s.at(r.Diagnostics[i].At)
		}
		for c := range r.In.spans {
			if sp := &r.In.spans[c]; r.In.Has(Component(c)) {
				*sp = Span{s.at(sp.Start), s.at(sp.End)}
			}
		}
		r.ErrAt = s.at(r.ErrAt)
	}
	r.Diagnostics = append(r.Diagnostics, s.cuts...)
	sortDiagnostics(r.Diagnostics)
	if len(r.Diagnostics) > maxDiagnostics {
		r.Diagnostics = r.Diagnostics[:maxDiagnostics]
		r.Flags = r.Flags.With(DiagnosticsDropped)
	}
}

// mark notes a validation error at in[at].
func (p *parser) mark(f Flag, at int, c Component, a Action) {
	p.r.Flags = p.r.Flags.With(f)
	if s := &p.r.scratch; len(s.parsed) <= p.marks {
		s.parsed = append(s.parsed, Diagnostic{At: uint32(at), Flag: f, Component: c, Action: a})
	}
}

// fail notes the validation error that ends the run.
func (p *parser) fail(f Flag, at int, c Component, err Error) state {
	p.mark(f, at, c, Rejected)
	p.err, p.r.ErrAt = err, uint32(at)
	return stateEnd
}

// rewrote notes that r has made after of component c, if that is not before.
func (p *parser) rewrote(r Rule, c Component, before, after []byte) {
	if !bytes.Equal(before, after) {
		p.applied |= 1 << r
		p.rec.change(r, c, before, after)
	}
}

// added notes that r has given the URL component c.
func (p *parser) added(r Rule, c Component, text []byte) {
	p.applied |= 1 << r
	p.rec.add(r, c, text)
}

// removed notes that r has left out component c.
func (p *parser) removed(r Rule, c Component) {
	p.applied |= 1 << r
	p.rec.remove(r, c, p.u.Bytes(p.in, c))
}

// escaped appends text, a piece of component c, with its escapes by the rules esc.
func (p *parser) escaped(c Component, text []byte, esc percent.Rules) {
	at := len(p.dst)
	dst, applied, _ := percent.AppendApplied(p.dst, text, esc)
	p.dst = dst
	p.applied |= whatwgApplied[applied]
	if p.rec != nil {
		head := p.dst[at:at]
		if c == Path {
			head = p.dst[p.path:at]
		}
		p.rec.escapes(c, head, text, esc, applied, &browserEscapes)
	}
}

// guard writes the "/." that keeps a path from being read as a host
// (https://url.spec.whatwg.org/#concept-url-serializer).
func (p *parser) guard() {
	path := p.out.spans[Path]
	if p.out.HasAuthority() || p.opaque || path.Len() < 2 {
		return
	}
	at := p.start + int(path.Start)
	if p.dst[at] != '/' || p.dst[at+1] != '/' {
		return
	}
	before := p.rec.copyOf(path.In(p.dst[p.start:]))
	p.dst = append(p.dst, "/."...)
	copy(p.dst[at+2:], p.dst[at:])
	copy(p.dst[at:], "/.")
	p.out.spans[Path].End += 2
	p.applied |= 1 << GuardPath
	p.rec.change(GuardPath, Path, before, p.out.Bytes(p.dst[p.start:], Path))
	for c := Query; c <= Fragment; c++ {
		if p.out.Has(c) {
			p.out.spans[c].Start += 2
			p.out.spans[c].End += 2
		}
	}
}

// compare judges the change from src to its serialized URL by the keys of the rfc
// reading.
func (s *scratch) compare(src, norm []byte) Change {
	if bytes.Equal(src, norm) {
		return Unchanged
	}
	if s.resolved {
		text, err := Resolve(s.text[:0], s.base.src, src)
		if err != nil {
			return Repaired
		}
		s.text, src = text, text
	}
	if _, err := split(src, &s.in); err != 0 {
		return Repaired
	}
	for lv, n := range [...]*Normalizer{K0: syntax, K1: scheme} {
		s.key = n.appendPlain(s.key[:0], src, s)
		at := len(s.key)
		s.key = n.appendPlain(s.key, norm, s)
		if bytes.Equal(s.key[:at], s.key[at:]) {
			return Cosmetic + Change(lv)
		}
	}
	return Repaired
}
