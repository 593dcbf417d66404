package codec

import (
	"slices"

	"github.com/urlfold/urlfold/codec/internal/scan"
	"github.com/urlfold/urlfold/codec/percent"
)

// This file is the second of three ways to a normal form:
//
//	parseClean   nothing to change and nothing to report: the URL is copied
//	onePass      an http or https URL with common defects: one walk over its
//	             bytes writes the normal form, flags and diagnostics
//	the parsers  everything else: split.go and inspect.go, or whatwg.go
//
// Like parseClean, onePass may give up but must not decide differently: its
// result is that of the parsers, to the last diagnostic (FuzzOnePass). It
// accepts
//
//	scheme     "http://" or "https://", in any case
//	userinfo   none
//	host       as parseClean, but in any case, and any ASCII that the standard allows
//	port       none, or up to five digits, the first of which is not '0'
//	the rest   anything; but with WHATWG no tabs and newlines, nothing at the end
//	           that would be trimmed, no '\' next to a dot in the path, and no
//	           escaped hex digit to decode after a '%' that starts no escape

// escapeFlags are the flags of escapes that rules change.
var escapeFlags = Flags{}.With(LowerHex).With(NeedlessEscape)

// onePass appends the normal form of src, of at most n.maxLen bytes, to dst and
// fills r. It continues where parseClean gave up: end and entity are the results
// of that call for src, r.In and the survey of r. If onePass gives up, r is
// undefined, and the slice returned is dst.
func (n *Normalizer) onePass(dst, src []byte, end, entity int, r *Result) ([]byte, bool) {
	if n.table == nil || n.queries != nil {
		return dst, false
	}
	if end > 0 && end == len(src) && r.In.Has(Path) && n.removesDefaultPort() {
		return n.appendPortless(dst, src, entity, r), true
	}
	r.begin()
	var p pass
	p.Normalizer, p.r = n, r
	p.marks = r.Diagnostics[:min(cap(r.Diagnostics), n.maxDiagnostics)]
	p.in, p.out, p.survey = &r.In, &r.Out, &r.scratch.survey
	if !p.run(dst, src, end, entity) {
		return dst, false
	}
	r.Flags, r.Diagnostics = p.flags, p.marks[:p.marked]
	s := &r.scratch
	s.plainHost = p.plainHost
	if n.profile.Standard == RFC {
		s.applied = p.applied
		r.judge(src, p.dst[p.base:])
		return p.dst, true
	}
	escaped := !p.rules.hasAll(escapeRules) && !r.Flags.Intersect(escapeFlags).IsZero()
	s.canonical = len(s.kept) == 0 && !escaped
	s.patched = !escaped
	s.unjudged, s.applied = true, p.applied
	if n.rules&lossyRules != 0 {
		p.dst = n.drop(p.dst, p.base, r)
	}
	return p.dst, true
}

// appendPortless is onePass for a URL that parseClean accepted except for the port
// of its scheme, which n removes.
func (n *Normalizer) appendPortless(dst, src []byte, entity int, r *Result) []byte {
	r.setClean(entity)
	start, u, s := len(dst), &r.Out, &r.scratch
	colon, path := u.spans[Host].End, u.spans[Path].Start
	dst = append(append(dst, src[:colon]...), src[path:]...)
	u.clearPort()
	u.shift(Path, colon-path)
	s.call, s.kept = call{applied: 1 << DefaultPort, plainHost: s.plainHost}, s.kept[:0]
	if n.profile.Standard == RFC {
		s.change = SchemeEqual
		return dst
	}
	s.canonical, s.patched, s.unjudged = true, true, true
	if n.rules&lossyRules != 0 {
		dst = n.drop(dst, start, r)
	}
	return dst
}

// clearPort removes the port from u.
func (u *URL) clearPort() {
	u.clear(Port)
	u.port, u.flags = 0, u.flags&^portOK
}

// inspectOnePass is onePass for a call that needs no normal form. It gives up
// on very long URLs, which are not worth copying.
func (n *Normalizer) inspectOnePass(src []byte, end, entity int, r *Result) bool {
	if len(src) > keepBytes {
		return false
	}
	s := &r.scratch
	s.text = slices.Grow(s.text[:0], len(src)+wide)
	_, ok := n.onePass(s.text, src, end, entity, r)
	r.Out = URL{}
	return ok
}

// onePassPlain is onePass without flags and diagnostics, after a call of
// parseClean with s.in and s.survey. It uses the fields in and out of s.
func (n *Normalizer) onePassPlain(dst, src []byte, end, entity int, s *scratch) ([]byte, bool) {
	if n.table == nil || n.queries != nil {
		return dst, false
	}
	var p pass
	p.Normalizer, p.in, p.out, p.survey = n, &s.in, &s.out, &s.survey
	if !p.run(dst, src, end, entity) {
		return dst, false
	}
	return p.dst, true
}

// appendPatched appends K0 and K1 of norm, a URL that onePass wrote for WHATWG.
// It escapes the bytes at the offsets kept, which RFC 3986 does not allow.
func appendPatched(dst, norm []byte, kept []uint32) []byte {
	from := uint32(0)
	for _, at := range kept {
		if int(at) >= len(norm) {
			break // in the dropped part
		}
		dst = append(dst, norm[from:at]...)
		dst = percent.AppendEscape(dst, norm[at])
		from = at + 1
	}
	return append(dst, norm[from:]...)
}

// patch changes the spans of u, components of a text, to those of the text that
// appendPatched makes of it.
func (u *URL) patch(kept []uint32) {
	n := 0
	added := func(at uint32) uint32 {
		for n < len(kept) && kept[n] < at {
			n++
		}
		return at + 2*uint32(n)
	}
	for c := Username; c <= Fragment; c++ {
		if u.Has(c) {
			u.spans[c] = Span{added(u.spans[c].Start), added(u.spans[c].End)}
		}
	}
}

// A pass is one walk over a URL. It goes from one byte that the survey marks to
// the next. What is between two changes is copied in one move.
type pass struct {
	*Normalizer
	r       *Result // nil if flags and diagnostics are not wanted
	survey  *scan.Survey
	src     []byte
	clean   int // length of the prefix that parseClean accepted, or 0
	from    int // src[from:] is not copied yet; all of it up to the current byte is unchanged
	dst     []byte
	base    int  // start of the normal form in dst
	in, out *URL // components of src and of dst[base:]
	flags   Flags
	marks   []Diagnostic // room for diagnostics, of which there are marked
	marked  int
	applied Rules // rules that changed something
	giveUp  bool
	// plainHost is that of a call.
	plainHost bool
	walker
}

// webClasses marks the bytes of http and https URLs. The plain ones are clean in
// path, query and fragment, except that a '.' may begin a dot segment of a path,
// and '#' must not be in a fragment.
var webClasses = scan.NewClasses(
	func(c byte) bool {
		const everywhere = cleanPath | cleanQuery | cleanFrag
		return class[c]&everywhere == everywhere || c == '.' || c == '?' || c == '#'
	},
	func(c byte) bool { return class[c]&ldhByte != 0 },
)

// run appends the normal form of src to dst. clean and entity are the results of
// parseClean. run reports whether the walk reached the end of src.
func (p *pass) run(dst, src []byte, clean, entity int) bool {
	p.src, p.clean, p.dst, p.base = src, clean, dst, len(dst)
	start := webScheme(src)
	if start == 0 || len(src) > keepBytes {
		return false
	}
	if clean == 0 { // otherwise parseClean has done it
		p.survey.Read(src, 0, webClasses)
	}
	i, end := p.authority(start), len(src)
	if i == 0 || p.src[end-1] <= ' ' && p.profile.Standard == WHATWG {
		return false
	}
	if !p.in.Has(Path) { // otherwise parseClean has done it
		splitWeb(p.src, i, p.in, p.survey)
	}
	if entity >= 0 {
		p.c, p.entity = Query, true
		p.mark(entity, HTMLEntity, Kept, 0)
	}
	p.path()
	if p.in.Has(Query) {
		p.component(Query)
	}
	if p.in.Has(Fragment) {
		p.component(Fragment)
	}
	p.flush(end, end)
	return !p.giveUp
}

// splitWeb finds path, query and fragment, which begin at i.
func splitWeb(src []byte, i int, u *URL, sv *scan.Survey) {
	end := sv.Delims.Next(i)
	u.set(Path, i, end)
	if end < len(src) && src[end] == '?' {
		i = end + 1
		for end = sv.Delims.Next(i); end < len(src) && src[end] == '?'; {
			end = sv.Delims.Next(end + 1)
		}
		u.set(Query, i, end)
	}
	if end < len(src) {
		u.set(Fragment, end+1, len(src))
	}
}

// note records that a rule changed something.
func (p *pass) note(r Rule) { p.applied |= 1 << r }

// wide is the number of bytes that flush copies at once.
const wide = 32

// flush copies the pending bytes before i; next is the start of the next run.
// Most runs are short: to copy more than needed is faster than to call memmove.
func (p *pass) flush(i, next int) {
	from, at, end := p.from, len(p.dst), len(p.dst)+i-p.from
	p.from = next
	if i+wide > len(p.src) || end+wide > cap(p.dst) {
		p.dst = append(p.dst, p.src[from:i]...)
		return
	}
	dst := p.dst[:end+wide]
	for at < end {
		copyWide(dst[at:], p.src[from:])
		at, from = at+wide, from+wide
	}
	p.dst = dst[:end]
}

// copyWide copies the first wide bytes of src to dst, 16 at a time. A hash of the
// copy soon reads words of eight bytes: it would wait for words that are not part of
// one store. An assignment of more bytes would call memmove, because the two might
// overlap.
func copyWide(dst, src []byte) {
	d, s := (*[wide]byte)(dst), (*[wide]byte)(src)
	*(*[16]byte)(d[:]) = *(*[16]byte)(s[:])
	*(*[16]byte)(d[16:]) = *(*[16]byte)(s[16:])
}

// outAt returns the offset in the normal form of src[i], which is pending or the
// next byte to be written.
func (p *pass) outAt(i int) int { return len(p.dst) - p.base + i - p.from }

// authority parses and writes scheme, host and port; the host begins at start.
// It returns the offset after them, or 0 to give up.
func (p *pass) authority(start int) int {
	i := 0
	if p.clean > 0 {
		i = int(p.in.spans[Host].End)
		*p.out = *p.in
		p.plainHost = p.in.kind == RegName
	} else {
		i = p.host(start)
	}
	switch src := p.src; {
	case i == 0 || i == len(src) || src[i] == '/' || src[i] == '?' || src[i] == '#':
		return i
	case src[i] == ':':
		return p.port(i + 1)
	}
	return 0
}

// port parses and writes the port that begins at i.
func (p *pass) port(i int) int {
	src, start := p.src, i
	i, n := readPort(src, start)
	if i == 0 || i < len(src) && src[i] != '/' && src[i] != '?' && src[i] != '#' {
		return 0
	}
	p.in.set(Port, start, i)
	p.in.port, p.in.flags = uint16(n), p.in.flags|portOK
	if p.in.isDefaultPort(n) && p.removesDefaultPort() {
		p.note(DefaultPort)
		p.out.clearPort()
		p.flush(start-1, i)
		return i
	}
	p.out.set(Port, start, i) // nothing before it has changed its length
	p.out.port, p.out.flags = p.in.port, p.in.flags
	return i
}

// removesDefaultPort reports whether n removes the port of the scheme.
func (n *Normalizer) removesDefaultPort() bool {
	return n.profile.Standard == WHATWG || n.rules.Has(DefaultPort)
}

// path writes the path.
func (p *pass) path() {
	span := p.in.spans[Path]
	if span.Len() > 0 {
		p.component(Path)
		return
	}
	at := p.outAt(int(span.Start))
	p.out.set(Path, at, at)
	if p.profile.Standard == WHATWG || p.rules.Has(EmptyPath) {
		p.note(EmptyPath)
		p.flush(int(span.Start), int(span.Start))
		p.dst = append(p.dst, '/')
		p.out.set(Path, at, at+1)
	}
}
