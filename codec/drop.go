package codec

import "bytes"

// drop removes the userinfo and the fragment, if the profile drops them, from the
// normal form dst[start:], whose components are r.Out. The full URL stays in r for the
// keys of the lower levels.
func (n *Normalizer) drop(dst []byte, start int, r *Result) []byte {
	s, u := &r.scratch, &r.Out
	norm := dst[start:]
	fragment := n.rules.Has(RuleDropFragment) && u.Has(Fragment) && !n.policy.keepsFragment(u.Bytes(norm, Host), u.Bytes(norm, Fragment))
	userinfo := n.rules.Has(RuleDropUserinfo) && u.Has(Username)
	if !fragment && !userinfo {
		return dst
	}
	s.full = append(s.full[:0], norm...)
	s.dropped, s.whole = true, *u
	s.change, s.unjudged = ChangeLossy, false
	s.applied.set(RuleDropFragment, fragment)
	s.applied.set(RuleDropUserinfo, userinfo)
	for i := range r.Diagnostics {
		switch m := &r.Diagnostics[i]; m.Component {
		case Username, Password:
			m.removedIf(userinfo)
		case Fragment:
			m.removedIf(fragment)
		}
	}
	if fragment {
		s.rec.remove(RuleDropFragment, Fragment, u.Bytes(norm, Fragment))
		dst = dst[:start+int(u.spans[Fragment].Start)-1]
		u.clear(Fragment)
	}
	if userinfo {
		s.rec.removeUserinfo(norm, u)
		from, to := u.spans[Username].Start, u.spans[Host].Start
		copy(dst[start+int(from):], dst[start+int(to):])
		dst = dst[:len(dst)-int(to-from)]
		u.clear(Username)
		u.clear(Password)
		u.shift(Host, from-to)
	}
	return dst
}

// removedIf sets the action to Removed, if the component of m was dropped.
func (m *Diagnostic) removedIf(dropped bool) {
	if dropped {
		m.Action = ActionRemoved
	}
}

// clear marks c as absent.
func (u *URL) clear(c Component) {
	u.spans[c] = Span{}
	u.present &^= 1 << c
}

// shift moves the spans from component c on by delta, which may be negative in
// uint32 arithmetic.
func (u *URL) shift(c Component, delta uint32) {
	for ; c <= Fragment; c++ {
		if u.Has(c) {
			u.spans[c].Start += delta
			u.spans[c].End += delta
		}
	}
}

// backslashInAuthority reports whether the authority of src, by RFC 3986,
// contains a '\\'. Browsers see another host there, so parsing by RFC 3986 must
// not assign the URL to a host that browsers do not see.
func backslashInAuthority(src []byte) bool {
	i := bytes.Index(src, slashes)
	if i < 0 {
		return false
	}
	authority := src[i+2:]
	return bytes.IndexByte(authority[:authorityEnd(authority)], '\\') >= 0
}

var slashes = []byte("//")

// appendFallback parses by RFC 3986 a URL that browsers cannot parse, and drops
// from it what the profile drops. Browsers may be able to parse the result: in
// "a:// :", the space becomes an escape, which they accept as a host. The
// normal form is then the result as browsers serialize it, because normalizing
// a normal form must not change it.
//
// The URL stays rejected if ui-drop cannot remove the credentials that browsers
// see, because RFC 3986 parses the credentials as part of the path or finds no
// host after them.
func (n *Normalizer) appendFallback(dst []byte, base *baseURL, src []byte, why Error, r *Result) ([]byte, error) {
	flags, at := r.Flags, r.ErrAt
	s := &r.scratch
	start := len(dst)
	var err error
	if base == nil {
		dst, err = syntax.appendFull(dst, src, r)
	} else {
		dst, err = syntax.appendRef(dst, base.src, src, r)
	}
	r.Flags = r.Flags.Union(flags).With(FlagWHATWGReject)
	s.fallback, s.applied = true, 0
	if err != nil {
		return dst, err
	}
	kept := flags.Has(FlagInvalidCredentials) // credentials that drop would keep
	if r.Out.Has(Username) {
		kept = r.Out.Span(Host).Len() == 0
	}
	if kept && n.rules.Has(RuleDropUserinfo) {
		r.ErrAt = at
		r.undone()
		return dst[:start], why
	}
	s.rec.replace(RuleFallbackRFC, src, dst[start:])
	s.applied.set(RuleFallbackRFC, !bytes.Equal(src, dst[start:]))
	dst = n.drop(dst, start, r)
	if s.other == nil {
		s.other = new(Result)
	}
	s.other.reset()
	s.key = append(s.key[:0], dst[start:]...)
	out, failed := n.appendWHATWG(dst[:start], nil, s.key, s.other)
	if failed != 0 {
		return append(dst[:start], s.key...), nil
	}
	r.Out, s.fallback = s.other.Out, false
	s.unjudged = !s.dropped
	s.applied.set(RuleFallbackRFC, !bytes.Equal(s.key, out[start:]))
	s.rec.change(RuleFallbackRFC, WholeURL, s.key, out[start:])
	return out, nil
}
