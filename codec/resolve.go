package codec

import "bytes"

// AppendRef is Append for a relative or absolute reference: it resolves src
// against base and appends the normal form of the target. It resolves by the
// URL Standard if that is the profile's standard, otherwise by RFC 3986 §5.2
// (strict), with one exception: a src with a scheme is not resolved, and so not
// stripped of its dot segments as in §5.2.2. So the normal form and the keys of
// an absolute URL do not depend on whether there is a base. By the URL
// Standard, however, a src such as "http:a", without "//", does depend on a
// base of the same scheme.
//
// r.In, r.Flags and r.Diagnostics describe src. If base is empty, AppendRef is
// Append. The error ErrBase means that src has no scheme, and that base has no
// scheme either or cannot be parsed. Append describes the other errors.
// AppendRef does not keep base.
func (n *Normalizer) AppendRef(dst, base, src []byte, r *Result) ([]byte, error) {
	if len(base) == 0 || isWeb(src) {
		return n.Append(dst, src, r)
	}
	r.scratch.seal.open()
	start, ok := len(dst), false
	var err error
	if n.match != nil {
		dst, err = n.appendMatch(dst, base, src, r)
	} else if dst, ok = n.onePassRef(dst, base, src, r); !ok {
		dst, err = n.appendRef(dst, base, src, r)
	}
	return n.finish(dst, src, start, err, r)
}

// onePassRef tries the two fast paths for a relative reference against a clean
// base. Both fast paths read the front of the base (the part with which the
// target begins), followed by the reference. onePassRef then removes the front
// from their findings.
func (n *Normalizer) onePassRef(dst, base, src []byte, r *Result) ([]byte, bool) {
	s, browser := &r.scratch, n.profile.Standard == WHATWG
	b := n.readBase(base, s)
	front := b.front(src)
	if front == 0 || front+len(src) > n.maxLen {
		return dst, false
	}
	s.text = append(append(s.text[:0], b.text[:front]...), src...)
	start := len(dst)
	o, entity, ok := parseClean(s.text, &r.In, &s.survey)
	if ok && entity < 0 {
		r.setClean(o)
		s.copied, s.canonical, s.unjudged = false, browser, browser
		if dst = append(dst, s.text...); n.rules.Has(RuleDropFragment) && r.In.Has(Fragment) {
			dst = n.drop(dst, start, r)
		}
	} else {
		dst, ok = n.onePass(dst, s.text, o, r)
	}
	if !ok || !r.takeFront(front, browser) {
		return dst[:start], false // dst may have grown in onePass
	}
	return dst, true
}

// front returns the length of the part of b.text with which the target of the reference
// ref begins, before dot segments are removed. It returns 0 if only the parsers can tell.
func (b *baseURL) front(ref []byte) int {
	path := b.u.Span(Path)
	switch {
	case !b.clean || schemeEnd(ref) > 0:
		return 0
	case len(ref) == 0 || ref[0] == '#':
		return int(max(path.End, b.u.Span(Query).End))
	case ref[0] == '?':
		return int(path.End)
	case ref[0] <= ' ' || bytes.IndexByte(ref[:min(2, len(ref))], '\\') >= 0:
		return 0 // the standards may see different hosts
	case bytes.HasPrefix(ref, slashes):
		return int(b.u.Span(Scheme).End) + 1
	case ref[0] == '/':
		return int(path.Start)
	case colonInFirstSegment(ref) >= 0:
		return 0 // FlagSchemeInvalid in RFC 3986
	}
	return bytes.LastIndexByte(b.text[:path.End], '/') + 1
}

// takeFront changes r from a description of the target of a reference to a description of
// the reference itself, which begins at offset front of the target. It returns false if
// the parsers report something else for the reference.
func (r *Result) takeFront(front int, browser bool) bool {
	unlike := Flags{}.With(FlagRawBackslash)
	if !browser {
		unlike = unlike.With(FlagRawControl).With(FlagDotSegments)
	}
	if !r.Flags.Intersect(unlike).IsZero() {
		return false
	}
	for i := range r.Diagnostics {
		r.Diagnostics[i].At -= uint32(front)
	}
	var u URL
	for c := Host; c <= Fragment; c++ {
		start, end := int(r.In.Span(c).Start)-front, int(r.In.Span(c).End)-front
		if start > 0 || c == Path && (end > 0 || !browser) {
			u.set(c, max(0, start), max(0, end))
		}
	}
	if u.Has(Host) {
		u.kind, u.port, u.flags = r.In.kind, r.In.port, r.In.flags
	}
	r.In = u
	c := &r.scratch.call
	c.applied, c.clean, c.resolved = c.applied|1<<ruleResolve, false, true
	return true
}

// appendRef is AppendRef with a base, without the fast paths.
func (n *Normalizer) appendRef(dst, base, src []byte, r *Result) ([]byte, error) {
	if n.policy == nil {
		return dst, unmade(r)
	}
	if n.profile.Standard == WHATWG {
		b := n.readBase(base, &r.scratch)
		if from, _ := trimEnds(src); b.err != 0 && schemeEnd(src[from:]) == 0 {
			r.reset()
			return dst, ErrBase
		} else if b.err != 0 {
			b = nil
		}
		return n.appendBrowser(dst, b, src, r)
	}
	var b URL
	if _, err := split(base, &b); (err != 0 || !b.Has(Scheme)) && schemeEnd(src) == 0 {
		r.reset()
		return dst, ErrBase
	}
	if err := n.read(base, src, r); err != 0 {
		return dst, err
	}
	s := &r.scratch
	if r.In.Has(Scheme) {
		start := len(dst)
		dst, s.applied = n.appendURL(dst, src, &r.In, &r.Out, s.plain, s.rec)
		r.judge(src, dst[start:])
		return dst, nil
	}
	s.text = appendResolved(s.text[:0], base, &b, src, &r.In)
	s.resolved = true
	r.Flags = r.Flags.Without(FlagRelative)
	_, _ = split(s.text, &s.in)
	start := len(dst)
	s.rec.change(ruleResolve, WholeURL, src, s.text)
	dst, s.applied = n.appendURL(dst, s.text, &s.in, &r.Out, 0, s.rec)
	s.applied.set(ruleResolve, !bytes.Equal(src, s.text))
	r.judge(s.text, dst[start:])
	return dst, nil
}

// target returns the URL that src denotes, for keys by RFC 3986: src itself if it
// has a scheme, otherwise its target against the base.
func (s *scratch) target(src []byte) (_ []byte, err Error) {
	if schemeEnd(src) > 0 {
		return src, 0
	}
	s.text, _, err = appendTarget(s.text[:0], s.base.src, src)
	return s.text, err
}

// Resolve appends the target of the reference ref against base, by RFC 3986
// §5.2 (strict), and changes nothing else. The error, if any, is a *URLError with
// ErrBase or ErrHostInvalid; the slice returned is then dst, unchanged.
func Resolve(dst, base, ref []byte) ([]byte, error) {
	dst, at, err := appendTarget(dst, base, ref)
	if err != 0 {
		return dst, &URLError{err, at}
	}
	return dst, nil
}

// appendTarget is Resolve with the offset of the error.
func appendTarget(dst, base, ref []byte) (_ []byte, at int, _ Error) {
	var b, u URL
	if at, err := split(base, &b); err != 0 || !b.Has(Scheme) {
		return dst, at, ErrBase
	}
	if at, err := split(ref, &u); err != 0 {
		return dst, at, err
	}
	return appendResolved(dst, base, &b, ref, &u), 0, 0
}

// appendResolved transforms a reference (RFC 3986 §5.2.2) and recomposes the
// target (§5.3).
func appendResolved(dst, base []byte, b *URL, ref []byte, u *URL) []byte {
	t := target{dst: dst}
	switch {
	case u.Has(Scheme):
		t.scheme(ref, u)
		t.authority(ref, u)
		t.path(u.Bytes(ref, Path), nil)
		t.query(ref, u)
	case u.HasAuthority():
		t.scheme(base, b)
		t.authority(ref, u)
		t.path(u.Bytes(ref, Path), nil)
		t.query(ref, u)
	default:
		t.scheme(base, b)
		t.authority(base, b)
		t.relative(base, b, ref, u)
	}
	if u.Has(Fragment) {
		t.dst = append(append(t.dst, '#'), u.Bytes(ref, Fragment)...)
	}
	return t.dst
}

// A target is the target of a reference while it is being written.
type target struct {
	dst          []byte
	hasAuthority bool
}

func (t *target) scheme(src []byte, u *URL) {
	t.dst = append(append(t.dst, u.Bytes(src, Scheme)...), ':')
}

func (t *target) authority(src []byte, u *URL) {
	if !u.HasAuthority() {
		return
	}
	t.hasAuthority = true
	start := u.Span(Scheme).End
	if u.Has(Scheme) {
		start++ // the ':'
	}
	t.dst = append(t.dst, src[start:u.Span(Path).Start]...)
}

func (t *target) query(src []byte, u *URL) {
	if u.Has(Query) {
		t.dst = append(append(t.dst, '?'), u.Bytes(src, Query)...)
	}
}

// relative writes the path and query of a reference without scheme and
// authority.
func (t *target) relative(base []byte, b *URL, ref []byte, u *URL) {
	path := u.Bytes(ref, Path)
	switch {
	case len(path) == 0:
		t.dst = append(t.dst, b.Bytes(base, Path)...)
		if !u.Has(Query) {
			t.query(base, b)
			return
		}
	case path[0] == '/':
		t.path(path, nil)
	default:
		t.path(path, directory(b, b.Bytes(base, Path)))
	}
	t.query(ref, u)
}

var root = []byte{'/'}

// directory returns the path of the base up to its last '/' (RFC 3986 §5.2.3).
func directory(b *URL, path []byte) []byte {
	if len(path) == 0 && b.HasAuthority() {
		return root
	}
	for i := len(path); i > 0; i-- {
		if path[i-1] == '/' {
			return path[:i]
		}
	}
	return nil
}

// path writes dir and path without dot segments.
func (t *target) path(path, dir []byte) {
	start := len(t.dst)
	t.dst = append(append(t.dst, dir...), path...)
	n := len(trimDots(t.dst[start:]))
	t.dst = append(t.dst[:start], t.dst[len(t.dst)-n:]...)
	t.dst = t.dst[:start+len(removeDots(t.dst[start:]))]
	if p := t.dst[start:]; !t.hasAuthority && len(p) > 1 && p[0] == '/' && p[1] == '/' {
		t.dst = append(t.dst, "/."...)
		copy(t.dst[start+2:], t.dst[start:])
		copy(t.dst[start:], "/.")
	}
}

// trimDots removes leading "./" and "../", and a path that consists of "." or
// ".." (RFC 3986 §5.2.4, steps A and D).
func trimDots(path []byte) []byte {
	for {
		n := dotSegmentRaw(path)
		if n == 0 {
			return path
		}
		path = path[n:]
		if len(path) > 0 {
			path = path[1:]
		}
	}
}

// dotSegmentRaw returns the length of the "." or ".." segment at the start of
// path, or 0.
func dotSegmentRaw(path []byte) int {
	n := 0
	for n < len(path) && n < 2 && path[n] == '.' {
		n++
	}
	if n == len(path) || path[n] == '/' {
		return n
	}
	return 0
}
