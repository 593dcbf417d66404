package codec

import (
	"bytes"
	"slices"

	"github.com/urlfold/urlfold/codec/internal/idna"
	"github.com/urlfold/urlfold/codec/internal/ip"
	"github.com/urlfold/urlfold/codec/percent"
)

// Parse finds the components of src by RFC 3986, extended so that any byte
// string has components, and fills r.In, r.Flags and r.Diagnostics. Each
// diagnostic has the action ActionKept. The error, if any, is ErrHostInvalid or
// ErrTooLong, with its offset in r.ErrAt. After ErrHostInvalid, r.In is filled
// as well. src may be up to MaxLen bytes long. Parse keeps no reference to src.
func Parse(src []byte, r *Result) error {
	r.scratch.seal.open()
	o, entity, ok := parseClean(src, &r.In, &r.scratch.survey)
	if ok && len(src) <= MaxLen {
		r.setClean(o)
		r.markEntity(entity)
		r.scratch.seal.leave()
		return nil
	}
	if verbatim.inspectOnePass(src, o, r) {
		r.scratch.seal.leave()
		return nil
	}
	err := verbatim.read(nil, src, r)
	r.scratch.seal.leave()
	if err != 0 {
		return err
	}
	return nil
}

// verbatim is a Normalizer without rules.
var verbatim = compile(Profile{Name: "verbatim", Standard: RFC3986, MaxLen: MaxLen})

// undone sets the action of all diagnostics to Kept, except for the diagnostic
// that caused the error: without a normal form nothing was changed.
func (r *Result) undone() {
	for i := range r.Diagnostics {
		if m := &r.Diagnostics[i]; m.Action != ActionRejected {
			m.Action = ActionKept
		}
	}
}

// inspect finds the flags and diagnostics of the URL r.In in src. In an RFC
// 3986 profile, src may be a reference with a base. inspect returns the offset
// of the first '%' that starts no escape, or -1.
func (n *Normalizer) inspect(base, src []byte, r *Result) (malformed int) {
	i := inspector{Normalizer: n, r: r, base: base, src: src, u: &r.In, malformed: -1}
	for c := Username; c <= Fragment; c++ {
		if i.u.Has(c) && c != Port {
			i.component(c)
		}
	}
	i.whole()
	return i.malformed
}

// An inspector examines one URL.
type inspector struct {
	*Normalizer
	r         *Result
	base      []byte // base of a reference in an RFC 3986 profile, otherwise nil
	src       []byte
	u         *URL
	malformed int
}

// component finds the defects of component c, in raw bytes and escapes, and
// adds the diagnostics in order of their offset.
func (i *inspector) component(c Component) {
	s := &i.r.scratch
	s.marks = s.marks[:0]
	text := i.u.Bytes(i.src, c)
	d := dirtOf(text)
	switch {
	case c == Host:
		i.host(text, d)
	case c == Path && d&(dirtDot|dirtPercent) != 0:
		i.path(text)
	case c == Query && d&dirtSemicolon != 0:
		i.query(text)
	}
	if d&dirtRaw[c] != 0 && (c != Host || i.u.kind < HostIPv6) {
		i.raw(c, text)
	}
	if d&dirtPercent != 0 {
		i.percent(c, text)
	}
	if d&(dirtRaw[c]|dirtPercent) == 0 {
		s.plain |= 1 << c
	}
	if len(s.marks) > 0 {
		i.merge()
	}
}

// raw records diagnostics for the runs of bytes that are not allowed raw in c.
func (i *inspector) raw(c Component, text []byte) {
	last := Flag(numFlags)
	for at, b := range text {
		if dirt[b]&dirtRaw[c] == 0 {
			last = numFlags
			continue
		}
		if f := rawFlag(b); f != last {
			last = f
			i.mark(c, at, f, i.onRaw(c, b))
		}
	}
}

// onRaw returns the action on a raw byte b of component c that RFC 3986 does
// not allow.
func (i *inspector) onRaw(c Component, b byte) Action {
	if i.profile.Standard == RFC3986 {
		return i.encoded()
	}
	p := parser{u: i.u, known: lookupAnyCase(i.u.Bytes(i.src, Scheme))}
	switch {
	case b == '\\' && p.special() && c <= Path:
		return ActionReplaced
	case c == Host && b >= 0x80:
		return ActionEncoded
	}
	if a := p.unitAction(c, b); a != ActionKept || !i.rules.Has(RuleRFCClean) {
		return a
	}
	return ActionEncoded
}

// rawFlag returns the flag of an illegal byte b.
func rawFlag(b byte) Flag {
	switch {
	case b == ' ':
		return FlagRawSpace
	case b < 0x20 || b == 0x7F:
		return FlagRawControl
	case b >= 0x80:
		return FlagRawNonASCII
	case b == '\\':
		return FlagRawBackslash
	}
	return FlagRawIllegal
}

// encoded returns the action on a raw byte that the grammar does not allow.
func (i *inspector) encoded() Action {
	if i.rules.Has(RuleEncodeIllegal) {
		return ActionEncoded
	}
	return ActionKept
}

// percent records the defects of the escapes in c.
func (i *inspector) percent(c Component, text []byte) {
	s := &i.r.scratch
	want := percent.AllKinds
	if c != Path {
		want &^= 1 << percent.EncodedTraversal
	}
	var kinds percent.Kinds
	s.defects, kinds = percent.AppendDefectsOf(s.defects[:0], text, want, i.maxDiagnostics+1)
	i.r.Flags.lo |= uint64(kinds & want) // kinds are numbered like the first flags
	for _, d := range s.defects {
		f := Flag(d.Kind)
		if f <= FlagPercentU && i.malformed < 0 {
			i.malformed = int(i.u.Span(c).Start + d.At)
		}
		i.mark(c, int(d.At), f, i.onEscape(f))
		s.marks[len(s.marks)-1].Info = escapeInfo(d)
	}
}

// escapeInfo returns the Info of the diagnostic for a defect.
func escapeInfo(d percent.Defect) uint8 { return min(d.Depth, WouldBeUTF8-1) | d.Bits }

// onEscape returns the action on an escape defect.
func (n *Normalizer) onEscape(f Flag) Action {
	switch {
	case f <= FlagPercentU && (n.profile.Malformed == percent.MalformedEncode || n.rules.Has(RuleRFCClean)):
		return ActionEncoded
	case f <= FlagPercentU && n.profile.Malformed == percent.MalformedReject:
		return ActionRejected
	case f == FlagLowerHex && n.rules.Has(RuleUpperEscapes):
		return ActionRecased
	case f == FlagNeedlessEscape && n.rules.Has(RuleDecodeUnreserved):
		return ActionDecoded
	}
	return ActionKept
}

// mark records a diagnostic at text[at:] of component c.
func (i *inspector) mark(c Component, at int, f Flag, a Action) {
	i.markAt(c, int(i.u.Span(c).Start)+at, f, a)
}

// markAt records a diagnostic at src[at:] of component c.
func (i *inspector) markAt(c Component, at int, f Flag, a Action) {
	i.r.Flags = i.r.Flags.With(f)
	s := &i.r.scratch
	s.marks = append(s.marks, Diagnostic{At: uint32(at), Flag: f, Component: c, Action: a})
}

// merge adds the diagnostics of one component to the result, sorted by offset.
func (i *inspector) merge() {
	marks := i.r.scratch.marks
	sortDiagnostics(marks)
	if room := i.maxDiagnostics - len(i.r.Diagnostics); len(marks) > room {
		marks = marks[:room]
		i.r.Flags = i.r.Flags.With(FlagDiagnosticsDropped)
	}
	i.r.Diagnostics = append(i.r.Diagnostics, marks...)
}

func sortDiagnostics(marks []Diagnostic) {
	if len(marks) < 2 {
		return
	}
	slices.SortStableFunc(marks, func(a, b Diagnostic) int { return int(a.At) - int(b.At) })
}

// whole finds the defects that concern more than one component.
func (i *inspector) whole() {
	i.r.scratch.marks = i.r.scratch.marks[:0]
	u := i.u
	if u.Has(Username) && i.src[u.Span(Username).Start] != '@' {
		i.mark(Username, 0, FlagCredentials, ActionKept)
	}
	if i.profile.Standard == RFC3986 && !u.Has(Scheme) {
		i.r.Flags = i.r.Flags.With(FlagRelative)
		i.schemeless()
	}
	if i.profile.Standard == RFC3986 && u.Span(Host).Len() == 0 && lookupAnyCase(u.Bytes(i.src, Scheme)).isWeb() {
		i.hostless()
	}
	if i.profile.Standard == RFC3986 {
		i.hosts()
	}
	if len(i.r.scratch.marks) > 0 {
		i.merge()
		sortDiagnostics(i.r.Diagnostics)
	}
}

// hostless records a diagnostic where the host of a web URL was expected.
func (i *inspector) hostless() {
	at := i.u.Span(Path).Start
	if i.u.HasAuthority() {
		at = i.u.Span(Host).Start
	}
	i.markAt(Host, int(at), FlagHostMissing, ActionKept)
}

// schemeless looks for a ':' that should follow a scheme.
func (i *inspector) schemeless() {
	if i.u.HasAuthority() {
		return
	}
	if at := colonInFirstSegment(i.u.Bytes(i.src, Path)); at >= 0 {
		i.mark(Path, at, FlagSchemeInvalid, ActionKept)
	}
}

// host examines a host as a whole; d holds its dirt bits.
func (i *inspector) host(text []byte, d uint8) {
	switch i.u.kind {
	case HostNone:
	case HostIPv6, HostIPvFuture, HostBadLiteral:
		i.literal(text)
	default:
		i.regName(text, d)
	}
	if _, ok := i.u.PortNumber(); !ok && i.u.Span(Port).Len() > 0 && i.profile.Standard == RFC3986 {
		i.mark(Port, 0, FlagPortOutOfRange, ActionKept)
	}
}

// idna examines the domain of a scheme whose hosts are domains.
func (i *inspector) idna(text []byte, d uint8) {
	if d&dirtHost == 0 && d&dirtPercent == 0 && !bytes.Contains(text, aceDash) || !lookupAnyCase(i.u.Bytes(i.src, Scheme)).hasRoot() {
		return
	}
	s := &i.r.scratch
	s.host = percent.AppendDecode(s.host[:0], text)
	if isASCII(s.host) && !bytes.Contains(text, aceDash) {
		return
	}
	if at, err := idna.Valid(s.host); err != nil {
		i.mark(Host, encodedOffset(text, at), FlagIDNAInvalid, ActionKept)
	}
}

var aceDash = []byte("--") // part of "xn--" in any case

func (i *inspector) regName(text []byte, d uint8) {
	if i.u.kind != HostIPv4 && endsInNumber(text) {
		i.mark(Host, 0, FlagIPv4Nonstandard, ActionKept)
	}
	if i.profile.Standard == RFC3986 {
		i.idna(text, d)
	}
	if d&dirtNotLDH == 0 {
		return
	}
	if at := bytes.IndexByte(text, ':'); at >= 0 {
		i.mark(Host, at, FlagPortInvalid, i.encoded())
	}
	for at, c := range text {
		if class[c]&ldhByte == 0 && (c == '%' || class[c]&hostByte != 0) {
			i.mark(Host, at, FlagHostNotLDH, ActionKept)
			break
		}
	}
}

// literal examines a bracketed host.
func (i *inspector) literal(text []byte) {
	if i.u.kind != HostBadLiteral {
		return
	}
	f := FlagIPLiteralBad
	zone := bytes.IndexByte(text, '%')
	if zone > 0 {
		if _, ok := ip.ParseV6(text[1:zone]); ok {
			f = FlagZoneID
		}
	}
	i.mark(Host, max(zone, 0)*b2i(f == FlagZoneID), f, ActionKept)
	for at, c := range text {
		if !isLiteralByte(c) {
			i.mark(Host, at, rawFlag(c), i.encoded())
		}
	}
}

// path looks for dot segments, raw or escaped.
func (i *inspector) path(text []byte) {
	for at := 0; at < len(text); {
		n := dotSegment(text[at:])
		if n > 0 {
			action := ActionKept
			if i.profile.Standard == WHATWG || i.rules.Has(RuleRemoveDots) && i.u.Has(Scheme) && text[0] == '/' {
				action = ActionRemoved
			}
			i.mark(Path, at, FlagDotSegments, action)
			return
		}
		slash := bytes.IndexByte(text[at:], '/')
		if slash < 0 {
			return
		}
		at += slash + 1
	}
}

// dotSegment returns the length of the "." or ".." segment at the start of b,
// with each dot raw or escaped, or 0.
func dotSegment(b []byte) int {
	n := dotLen(b)
	if n > 0 {
		n += dotLen(b[n:])
	}
	if n > 0 && (n == len(b) || b[n] == '/') {
		return n
	}
	return 0
}

// dotLen returns the length of the dot, raw or escaped, at the start of b, or
// 0.
func dotLen(b []byte) int {
	switch {
	case hasPrefix(b, '.'):
		return 1
	case len(b) >= 3 && b[0] == '%' && b[1] == '2' && b[2]|0x20 == 'e':
		return 3
	}
	return 0
}

// query looks for "&amp;", which would make a parameter named "amp;…".
func (i *inspector) query(text []byte) {
	if at := bytes.Index(text, htmlAmp); at >= 0 {
		i.mark(Query, at, FlagHTMLEntity, ActionKept)
	}
}

var htmlAmp = []byte("&amp;")
