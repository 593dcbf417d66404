package codec

import (
	"bytes"
	"slices"

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
// fills r. If end is not 0, parseClean accepted the first end bytes of src, and
// r.In has scheme and host. If onePass gives up, r is undefined, and the slice
// returned is dst.
func (n *Normalizer) onePass(dst, src []byte, end int, r *Result) ([]byte, bool) {
	if n.table == nil || n.queries != nil {
		return dst, false
	}
	r.reset()
	p := pass{Normalizer: n, r: r, src: src, clean: end, dst: dst, base: len(dst), in: &r.In, out: &r.Out, marks: r.Diagnostics}
	if !p.run() {
		return dst, false
	}
	r.Flags, r.Diagnostics = p.flags, p.marks
	s := &r.scratch
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

// inspectOnePass is onePass for a call that needs no normal form. It gives up
// on very long URLs, which are not worth copying.
func (n *Normalizer) inspectOnePass(src []byte, end int, r *Result) bool {
	if len(src) > keepBytes {
		return false
	}
	s := &r.scratch
	s.text = slices.Grow(s.text[:0], len(src))
	_, ok := n.onePass(s.text, src, end, r)
	r.Out = URL{}
	return ok
}

// onePassPlain is onePass without flags and diagnostics. It uses the fields in
// and out of s.
func (n *Normalizer) onePassPlain(dst, src []byte, s *scratch) ([]byte, bool) {
	if n.table == nil || n.queries != nil {
		return dst, false
	}
	p := pass{Normalizer: n, src: src, dst: dst, base: len(dst), in: &s.in, out: &s.out}
	if !p.run() {
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

// A pass is one walk over a URL.
type pass struct {
	*Normalizer
	r       *Result // nil if flags and diagnostics are not wanted
	src     []byte
	clean   int // length of the prefix that parseClean accepted
	dst     []byte
	base    int  // start of the normal form in dst
	in, out *URL // components of src and of dst[base:]
	flags   Flags
	marks   []Diagnostic
	applied Rules // rules that changed something
	giveUp  bool
	walker
}

// run reports whether the walk reached the end of src.
func (p *pass) run() bool {
	i, end := p.authority(), len(p.src)
	if i == 0 || p.src[end-1] <= ' ' && p.profile.Standard == WHATWG {
		return false
	}
	fragment := indexFrom(p.src[:end], i, '#')
	if fragment >= 0 {
		end = fragment
	}
	query := indexFrom(p.src[:end], i, '?')
	if query >= 0 {
		p.path(i, query)
		p.tail(Query, query, end)
	} else {
		p.path(i, end)
	}
	if fragment >= 0 {
		p.tail(Fragment, fragment, len(p.src))
	}
	return !p.giveUp
}

// note records that a rule changed something.
func (p *pass) note(r Rule) { p.applied |= 1 << r }

// indexFrom returns the offset in b of the first c in b[i:], or -1.
func indexFrom(b []byte, i int, c byte) int {
	n := bytes.IndexByte(b[i:], c)
	if n < 0 {
		return -1
	}
	return i + n
}

// authority parses and writes scheme, host and port. It returns the offset
// after them, or 0 to give up.
func (p *pass) authority() int {
	i := 0
	if p.clean > 0 {
		i = p.cleanHost()
	} else {
		i = p.host()
	}
	switch src := p.src; {
	case i == 0 || i == len(src) || src[i] == '/' || src[i] == '?' || src[i] == '#':
		return i
	case src[i] == ':':
		return p.port(i + 1)
	}
	return 0
}

// cleanHost writes the scheme and host that p.in already describes, and returns
// the offset after them.
func (p *pass) cleanHost() int {
	*p.out = *p.in
	i := int(p.in.Span(Host).End)
	p.dst = append(p.dst, p.src[:i]...)
	return i
}

// port parses and writes the port that begins at i.
func (p *pass) port(i int) int {
	src, start := p.src, i
	n := 0
	for i < len(src) && isDigit(src[i]) && i-start <= 5 {
		n = n*10 + int(src[i]-'0')
		i++
	}
	if i == start || n > 65535 || src[start] == '0' || i < len(src) && src[i] != '/' && src[i] != '?' && src[i] != '#' {
		return 0
	}
	p.in.set(Port, start, i)
	p.in.port, p.in.flags = uint16(n), p.in.flags|portOK
	if p.defaultPort(n) {
		p.note(DefaultPort)
		return i
	}
	p.dst = append(p.dst, src[start-1:i]...)
	p.out.set(Port, start, i) // nothing before it has changed its length
	p.out.port, p.out.flags = p.in.port, p.in.flags
	return i
}

// defaultPort reports whether port n has to be removed.
func (p *pass) defaultPort(n int) bool {
	secure := p.in.Span(Scheme).Len() == len("https")
	return (n == 443 && secure || n == 80 && !secure) && (p.profile.Standard == WHATWG || p.rules.Has(DefaultPort))
}

// path parses and writes the path src[i:end].
func (p *pass) path(i, end int) {
	at := len(p.dst)
	if p.in.set(Path, i, end); i < end {
		p.pathAt = at
		p.component(Path, i, end)
	} else if p.profile.Standard == WHATWG || p.rules.Has(EmptyPath) {
		p.note(EmptyPath)
		p.dst = append(p.dst, '/')
	}
	p.out.set(Path, at-p.base, len(p.dst)-p.base)
}

// tail parses and writes the query or fragment; src[i] is its delimiter.
func (p *pass) tail(c Component, i, end int) {
	p.dst = append(p.dst, p.src[i])
	at := len(p.dst)
	p.in.set(c, i+1, end)
	p.component(c, i+1, end)
	p.out.set(c, at-p.base, len(p.dst)-p.base)
}
