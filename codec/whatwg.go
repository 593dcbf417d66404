package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/percent"
)

// This file is the entry point of the parser of the WHATWG URL Standard, in its
// edition of 2026-07-02 (commit 6ae8486). The state machine is in
// whatwg_states.go, with the states named and ordered as in the standard; hosts
// are in whatwg_host.go.
//
//	src ─ strip: ends trimmed, tabs and newlines removed ─▶ states ─▶ normal form
//	        └──────── offsets of diagnostics and spans are mapped back ────────┘

// A parser is one run of the basic URL parser
// (https://url.spec.whatwg.org/#concept-basic-url-parser). It writes the
// serialized URL while it parses, because the states come in the order of the
// components.
type parser struct {
	in    []byte // the input after strip
	i     int    // the standard's pointer
	base  *baseURL
	dst   []byte
	start int // where the URL begins in dst
	path  int // where the path of the URL begins in dst
	front int // offset in the input of the slashes before the authority
	marks int // the largest number of diagnostics wanted

	u, out *URL // components of in and of dst[start:]
	esc    *[whatwgSets]percent.EscapeRules
	r      *Result

	known   knownScheme // scheme of the URL, if it is a known one
	checked int         // the code points of the path are checked up to this offset
	opaque  bool        // the path is opaque
	noPipe  bool        // '|' will be escaped
	queries QueryEncoding
	err     Error
	changes
}

// A baseURL is a parsed base.
type baseURL struct {
	by     *Normalizer
	src    []byte // the input
	text   []byte // serialized
	u      URL    // components of text
	known  knownScheme
	opaque bool // the path is opaque
	clean  bool // text has no flag and no work for a rule; with RFC 3986, text is src
	err    Error
	res    Result // result of parsing src; kept for its scratch

	rfcHost rfcHost // the host by RFC 3986
}

// The percent-encode sets, named after their use.
const (
	setUserinfo = iota
	setPath
	setQuery
	setSpecialQuery
	setFragment
	setOpaque // opaque paths and hosts
	whatwgSets
)

// whatwgEscapes returns how WHATWG treats the bytes of each component: the
// percent-encode sets and, except in opaque paths and hosts, the rules of RFC 3986
// §6.2.2 that the profile adds. A malformed '%' that the rule rfc-clean escapes is
// escaped here, because it would otherwise prevent esc-unres.
func whatwgEscapes(rules ruleSet) (esc [whatwgSets]percent.EscapeRules) {
	for i, set := range [whatwgSets]percent.ByteSet{
		setUserinfo: percent.WHATWGUserinfo, setPath: percent.WHATWGPath, setQuery: percent.WHATWGQuery,
		setSpecialQuery: percent.WHATWGSpecialQuery, setFragment: percent.WHATWGFragment, setOpaque: percent.WHATWGC0,
	} {
		malformed := percent.MalformedKeep
		if rules.Has(RuleRFCClean) && i != setOpaque {
			malformed = percent.MalformedEncode
		}
		esc[i] = percent.EscapeRules{
			Add:        set,
			Malformed:  malformed,
			Upper:      rules.Has(RuleUpperEscapes) && i != setOpaque,
			Unreserved: rules.Has(RuleDecodeUnreserved) && i != setOpaque,
		}
	}
	return esc
}

// appendWHATWG appends the serialized URL of src, resolved against base if that
// is not nil, and fills r.
func (n *Normalizer) appendWHATWG(dst []byte, base *baseURL, src []byte, r *Result) ([]byte, Error) {
	s := &r.scratch
	in := s.strip(src, r)
	s.parsed = s.parsed[:0]
	p := parser{in: in, base: base, dst: dst, start: len(dst), u: &r.In, out: &r.Out, esc: &n.whatwg, r: r, marks: n.maxDiagnostics, noPipe: n.rules.Has(RuleRFCClean), queries: n.queries, changes: changes{rec: s.rec}}
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

// canonical reports whether the serialized URL is certainly its own K0 and K1
// by RFC 3986. That requires a domain as the host, and no flag for something
// that serialization keeps. Otherwise the rules of RFC 3986 still have to treat
// bytes that browsers keep and RFC 3986 does not allow (in hosts too: '"' is
// not forbidden there), malformed '%', IP addresses, and the variants of other
// schemes.
func (p *parser) canonical() bool {
	esc := p.esc[setPath]
	if p.base != nil && !p.base.res.Flags.Intersect(keptIllegal).IsZero() {
		return false
	}
	return p.err == 0 && p.special() && p.known != schemeFile && p.out.kind == HostRegName && esc.Upper && esc.Unreserved &&
		p.r.Flags.Intersect(keptIllegal).IsZero() &&
		dirtOf(p.out.Bytes(p.dst[p.start:], Host))&(dirtHost|dirtPercent) == 0
}

// keptIllegal holds the flags of bytes that RFC 3986 does not allow and WHATWG
// may keep.
var keptIllegal = Flags{}.With(FlagTruncated).With(FlagNonHex).With(FlagPercentU).With(FlagRawIllegal).With(FlagRawBackslash)

// readBase parses a base by WHATWG. The last base is cached in s, and its
// memory is reused for the next, because each record may have its own base. The
// base gets the escape rules of the profile, since a reference can inherit its
// path or query unchanged.
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
	survey := &b.res.scratch.survey
	_, entity, clean := parseClean(base, &b.u, survey)
	if clean {
		b.text, b.err = append(b.text[:0], base...), 0
	} else {
		b.text, b.err = n.bases.appendWHATWG(b.text[:0], nil, base, &b.res)
		_, entity, clean = parseClean(b.text, &b.u, survey)
		clean = clean && n.profile.Standard == WHATWG && n.keys == WHATWG
		b.u = b.res.Out
	}
	b.clean = clean && entity < 0 && !b.res.Flags.Has(FlagHostAmbiguous)
	if b.err != 0 {
		return b
	}
	b.known = lookupScheme(b.u.Bytes(b.text, Scheme))
	b.opaque = !b.u.HasAuthority() && !hasPrefix(b.u.Bytes(b.text, Path), '/')
	b.readRFCHost(s)
	return b
}

// strip returns src without C0 controls and spaces at its ends and without tabs
// and newlines, and records what it removed.
func (s *scratch) strip(src []byte, r *Result) []byte {
	s.cuts, s.gaps = s.cuts[:0], s.gaps[:0]
	start, end := trimEnds(src)
	s.lead, s.end = uint32(start), uint32(end)
	if start > 0 {
		s.cut(r, 0, FlagTrimmedEnds)
	}
	in := src[start:end]
	s.rec.change(ruleTrim, WholeURL, src, in)
	if i := indexTab(in); i >= 0 {
		s.cut(r, start+i, FlagTabOrNewline)
		s.cleaned = appendWithoutTabs(s.cleaned[:0], in, &s.gaps)
		s.rec.change(ruleTabs, WholeURL, in, s.cleaned)
		in = s.cleaned
	}
	if end < len(src) {
		s.cut(r, end, FlagTrimmedEnds)
	}
	return in
}

// trimEnds returns the start and end of src without C0 controls and spaces at
// its ends.
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

// isTab reports whether c is a byte that browsers remove from URLs.
func isTab(c byte) bool { return c <= '\r' && (c == '\t' || c == '\n' || c == '\r') }

// cut records that bytes were removed at offset at of src.
func (s *scratch) cut(r *Result, at int, f Flag) {
	s.applied.set(ruleTrim, f == FlagTrimmedEnds)
	s.applied.set(ruleTabs, f == FlagTabOrNewline)
	r.Flags = r.Flags.With(f).With(FlagInvalidURLUnit)
	s.cuts = append(s.cuts,
		Diagnostic{At: uint32(at), Flag: f, Component: Path, Action: ActionRemoved},
		Diagnostic{At: uint32(at), Flag: FlagInvalidURLUnit, Component: Path, Action: ActionRemoved})
}

// appendWithoutTabs appends in without tabs and newlines, and appends their
// offsets in in to gaps.
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

// at converts an offset in the cleaned text to an offset in src.
func (s *scratch) at(i uint32) uint32 {
	for _, gap := range s.gaps {
		if gap > i {
			break
		}
		i++
	}
	return i + s.lead
}

// unclean collects the diagnostics, and converts their offsets, the spans and
// the offset of an error from the cleaned text to src.
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
		r.Flags = r.Flags.With(FlagDiagnosticsDropped)
	}
}

// mark records a validation error at in[at].
func (p *parser) mark(f Flag, at int, c Component, a Action) {
	p.r.Flags = p.r.Flags.With(f)
	if s := &p.r.scratch; len(s.parsed) <= p.marks {
		s.parsed = append(s.parsed, Diagnostic{At: uint32(at), Flag: f, Component: c, Action: a})
	}
}

// fail records the validation error that ends the run.
func (p *parser) fail(f Flag, at int, c Component, err Error) state {
	p.mark(f, at, c, ActionRejected)
	p.err, p.r.ErrAt = err, uint32(at)
	return stateEnd
}

// added records that r added component c.
func (p *parser) added(r Rule, c Component, text []byte) {
	p.applied |= 1 << r
	p.rec.add(r, c, text)
}

// removed records that r removed component c.
func (p *parser) removed(r Rule, c Component) {
	p.applied |= 1 << r
	p.rec.remove(r, c, p.u.Bytes(p.in, c))
}

// escaped appends text, a piece of component c, and applies the escape rules
// esc.
func (p *parser) escaped(c Component, text []byte, esc percent.EscapeRules) {
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

// guard inserts the "/." that keeps a path from being parsed as a host
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
	p.applied |= 1 << RuleGuardPath
	p.rec.change(RuleGuardPath, Path, before, p.out.Bytes(p.dst[p.start:], Path))
	for c := Query; c <= Fragment; c++ {
		if p.out.Has(c) {
			p.out.spans[c].Start += 2
			p.out.spans[c].End += 2
		}
	}
}

// compare classifies the change from src to norm, its serialized URL, by the
// RFC 3986 keys of both.
func (s *scratch) compare(src, norm []byte) Change {
	if bytes.Equal(src, norm) {
		return ChangeUnchanged
	}
	if s.by.match != nil {
		return s.compareMatch(src, norm)
	}
	if s.resolved {
		text, err := s.target(src)
		if err != 0 {
			return ChangeRepaired
		}
		src = text
	}
	if _, err := split(src, &s.in); err != 0 {
		return ChangeRepaired
	}
	return s.compareKeys(src, norm, ChangeRepaired)
}

// compareKeys is compare for URLs that RFC 3986 can parse. It returns other if all keys
// differ.
func (s *scratch) compareKeys(src, norm []byte, other Change) Change {
	for class, n := range [...]*Normalizer{syntax, scheme} {
		s.key = n.appendPlain(s.key[:0], src, s)
		at := len(s.key)
		s.key = n.appendPlain(s.key, norm, s)
		if bytes.Equal(s.key[:at], s.key[at:]) {
			return ChangeCosmetic + Change(class)
		}
	}
	return other
}
