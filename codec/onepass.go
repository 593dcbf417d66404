package codec

import (
	"encoding/binary"
	"slices"

	"github.com/urlfold/urlfold/internal/ground/scan"
)

// This file is the second of three ways to a normal form:
//
//	parseClean   nothing to change and nothing to report: the URL is copied
//	onePass      an http or https URL with common defects, or a reference to one:
//	             one walk over its bytes writes the normal form, flags and
//	             diagnostics
//	the parsers  everything else: split.go and inspect.go, or whatwg.go
//
// Like parseClean, onePass may give up but must not decide differently: its
// result equals the parsers', to the last diagnostic (FuzzOnePass). It accepts
//
//	scheme     "http://" or "https://", in any case
//	userinfo   none
//	host       as parseClean, but in any case, and any ASCII that the standard allows
//	port       none, or up to five digits, the first of which is not '0'
//	the rest   anything; but with WHATWG no tabs and newlines, nothing at the end
//	           that would be trimmed, no '\' next to a dot in the path, and no
//	           escaped hex digit to decode after a '%' that starts no escape

// escapeFlags are the flags of escapes that rules change.
var escapeFlags = Flags{}.With(FlagLowerHex).With(FlagNeedlessEscape)

// onePass appends the normal form of src, of at most n.maxLen bytes, to dst and
// fills r. It continues where parseOpening ended: the caller has passed src, r.In
// and the survey of r to parseOpening, which has filled them and returned o. If
// onePass gives up, r is undefined, and the returned slice is dst.
func (n *Normalizer) onePass(dst, src []byte, o opening, r *Result) ([]byte, bool) {
	if n.table == nil {
		return dst, false
	}
	r.begin()
	s := &r.scratch
	var p pass
	p.Normalizer, p.s, p.in, p.out = n, s, &r.In, &r.Out
	p.marks, p.kept = r.Diagnostics[:cap(r.Diagnostics)], s.kept[:cap(s.kept)]
	ok := p.run(dst, src, o)
	r.Flags, r.Diagnostics, s.kept = p.flags, p.marks[:p.marked], p.kept[:p.keeps]
	if !ok {
		return dst, false
	}
	s.plainHost, s.plainPath, s.applied = p.plainHost, o.special >= int(r.In.spans[Path].End), p.applied
	dst = p.dst[:p.at]
	if n.profile.Standard == RFC3986 {
		r.judge(src, dst[p.base:])
		return dst, true
	}
	s.unjudged, s.patched, s.canonical = true, true, p.keeps == 0
	s.clean = p.flags.IsZero() && p.applied == 0
	if !p.rules.hasAll(escapeRules) && !r.Flags.Intersect(escapeFlags).IsZero() {
		s.patched, s.canonical = false, false
	}
	if n.rules.Has(RuleDropFragment) && r.Out.Has(Fragment) {
		dst = n.drop(dst, p.base, r)
	}
	return dst, true
}

// clearPort removes the port from u.
func (u *URL) clearPort() {
	u.clear(Port)
	u.port, u.flags = 0, u.flags&^portOK
}

// inspectOnePass is onePass for a call that needs no normal form. It gives up
// on very long URLs, which are not worth copying.
func (n *Normalizer) inspectOnePass(src []byte, o opening, r *Result) bool {
	if len(src) > keepBytes {
		return false
	}
	s := &r.scratch
	s.text = slices.Grow(s.text[:0], roomFor(src))
	_, ok := n.onePass(s.text, src, o, r)
	r.Out = URL{}
	return ok
}

// onePassPlain is onePass without flags and diagnostics, after a call of
// parseOpening with s.in and s.survey. It uses the fields in and out of s.
func (n *Normalizer) onePassPlain(dst, src []byte, o opening, s *scratch) ([]byte, bool) {
	if n.table == nil {
		return dst, false
	}
	var p pass
	p.Normalizer, p.s, p.in, p.out = n, s, &s.in, &s.out
	p.marks, p.kept = s.marks[:cap(s.marks)], s.spare[:cap(s.spare)]
	ok := p.run(dst, src, o)
	s.marks, s.spare = p.marks, p.kept
	if !ok {
		return dst, false
	}
	return p.dst[:p.at], true
}

// appendPatched appends the canonical string of K0 and K1 (they are equal) of
// norm, a URL that onePass wrote for WHATWG. It escapes the bytes at the
// offsets kept, which RFC 3986 does not allow.
func appendPatched(dst, norm []byte, kept []uint32) []byte {
	dst = slices.Grow(dst, len(norm)+2*len(kept)+2*wide)
	from := 0
	for _, at := range kept {
		at := int(at)
		if at >= len(norm) {
			break // at is in the dropped part
		}
		dst = appendRun(dst, norm, from, at)
		n := len(dst)
		binary.LittleEndian.PutUint32(dst[n:n+4], triplets[norm[at]])
		dst, from = dst[:n+3], at+1
	}
	return appendRun(dst, norm, from, len(norm))
}

// appendRun appends src[from:to] to dst, which must have room for it and another
// 2*wide bytes. Most runs are short: copying more than needed is faster than
// calling memmove, and needs no branch that could be mispredicted.
func appendRun(dst, src []byte, from, to int) []byte {
	n := to - from
	if n > wide || from+wide > cap(src) {
		return append(dst, src[from:to]...)
	}
	at := len(dst)
	copyWide((*[wide]byte)(dst[at:at+wide]), (*[wide]byte)(src[from:from+wide]))
	return dst[:at+n]
}

// patch changes u, which describes a text, so that it describes the text that
// appendPatched makes of the text.
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
// the next. The bytes between two changes are copied in one move.
type pass struct {
	*Normalizer
	s         *scratch
	src       []byte
	padded    []byte // src, three zeros, and bytes that can be read and copied
	in, out   *URL   // components of src and of dst[base:]
	from      int    // src[from:] is not copied yet, and is unchanged up to the current byte
	dst       []byte // the normal form is in dst[base:at]; there is room for the rest
	base, at  int
	flags     Flags
	applied   ruleSet      // rules that changed something
	marks     []Diagnostic // room for diagnostics; their number is marked
	marked    int
	kept      []uint32 // room for offsets of bytes in the normal form that RFC 3986 does not allow; their number is keeps
	keeps     int
	spoilt    uint // 1 to give up
	plainHost bool // plainHost of the current call
	walker
}

// webClasses marks the bytes of http and https URLs. The plain bytes are clean
// in path, query and fragment, except that a '.' may begin a dot segment of a
// path, and '#' must not be in a fragment. Plain bytes begin no session id in a
// path.
var webClasses = scan.NewClasses(isPlain, func(c byte) bool { return class[c]&ldhByte != 0 })

func isPlain(c byte) bool {
	const everywhere = cleanPath | cleanQuery | cleanFrag
	return class[c]&everywhere == everywhere && c != '(' || c == '.' || c == '?' || c == '#'
}

// run appends the normal form of src to dst; o is the opening of src. It
// reports whether the walk reached the end of src.
func (p *pass) run(dst, src []byte, o opening) bool {
	p.src, p.base, p.at = src, len(dst), len(dst)
	p.plainHost = p.in.kind == HostRegName
	if o.path == 0 {
		if o = p.oddOpening(); o.path == 0 {
			return false
		}
	}
	if src[len(src)-1] <= ' ' && p.profile.Standard == WHATWG {
		return false
	}
	p.padded = p.s.survey.Copy
	dst = slices.Grow(dst, roomFor(src))
	p.dst = dst[:cap(dst)]
	*p.out = *p.in
	if o.odd&(oddScheme|oddCapitals|oddName|oddPort) != 0 {
		p.opening(o)
	}
	if o.odd&oddHash != 0 {
		p.s.survey.HashesAreSpecial(int(p.in.spans[Fragment].Start), len(src))
		o.special = p.s.survey.Next(o.path)
	}
	at := p.outAt(o.path)
	p.pathAt = p.base + at
	if o.odd&oddPath != 0 && (p.profile.Standard == WHATWG || p.rules.Has(RuleEmptyPath)) {
		p.note(RuleEmptyPath)
		p.flush(o.path, o.path)
		p.write('/')
	}
	p.walk(o.special, o.path, at)
	if p.marked > p.maxDiagnostics {
		p.makeRoom()
	}
	return p.spoilt == 0
}

// note records that a rule changed something.
func (p *pass) note(r Rule) { p.applied |= 1 << r }

// wide is the number of bytes that flush copies at a time.
const wide = scan.Margin

// roomFor returns the number of bytes that onePass may write for src: an escape for
// each byte, a '/', and more than needed at the end.
func roomFor(src []byte) int { return 3*len(src) + 1 + 2*wide }

// flush copies the pending bytes before i; next is the start of the next run. Most
// runs are short: copying more than needed is faster than calling memmove, and needs
// no branch that could be mispredicted.
func (p *pass) flush(i, next int) {
	from, at := p.from, p.at
	end := at + i - from
	p.from, p.at = next, end
	for {
		copyWide((*[wide]byte)(p.dst[at:at+wide]), (*[wide]byte)(p.padded[from:from+wide]))
		if at += wide; at >= end {
			return
		}
		from += wide
	}
}

// write appends one byte to the normal form.
func (p *pass) write(c byte) {
	p.dst[p.at] = c
	p.at++
}

// writeEscape appends the escape of c to the normal form.
func (p *pass) writeEscape(c byte) {
	binary.LittleEndian.PutUint32(p.dst[p.at:], triplets[c])
	p.at += 3
}

// copyWide copies wide bytes, 16 at a time. A hash soon reads the copy in words
// of eight bytes, and would wait for each word that more than one store wrote.
// An assignment of more bytes would call memmove, because d and s might
// overlap. If copyWide were inlined, each address would be computed twice.
//
//go:noinline
func copyWide(d, s *[wide]byte) {
	*(*[16]byte)(d[:]) = *(*[16]byte)(s[:])
	*(*[16]byte)(d[16:]) = *(*[16]byte)(s[16:])
	*(*[16]byte)(d[32:]) = *(*[16]byte)(s[32:])
	*(*[16]byte)(d[48:]) = *(*[16]byte)(s[48:])
}

// outAt returns the offset that src[i] will have in the normal form. src[i] must be
// pending, or the next byte to be written.
func (p *pass) outAt(i int) int { return p.at - p.base + i - p.from }

// removesDefaultPort reports whether n removes the port of the scheme.
func (n *Normalizer) removesDefaultPort() bool {
	return n.profile.Standard == WHATWG || n.rules.Has(RuleDefaultPort)
}
