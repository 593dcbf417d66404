package codec

import (
	"bytes"
	"slices"
)

// This file detects URLs in which the two standards see different hosts
// (FlagHostAmbiguous), and defines what that means:
//
//	RFC 3986  the host of the target: the URL's own if it has an
//	          authority; none if it has a scheme and no authority; otherwise the
//	          base's (RFC 3986 §5.2.2)
//	WHATWG    the host of the URL that the basic URL parser returns; it may come
//	          from the base, or from text that RFC 3986 parses as a path
//
// C0 controls and spaces at both ends are not part of the URL (RFC 3986
// appendix C). An absent host equals an empty one, and "localhost" in a file
// URL (RFC 8089 §2). Two hosts are equal if their bytes are equal, or if the
// host parser of the URL Standard gives the same result for both: case,
// escapes, IDNA and the notation of an address do not distinguish hosts.
//
// Hosts that RFC 3986 rejects are not compared. If browsers reject the URL, a
// WHATWG profile compares the host that the parser had read when it stopped,
// and an RFC 3986 profile compares nothing.

// compareHosts records a diagnostic if RFC 3986 and browsers see different hosts
// in src, whose ends are trimmed.
func (p *parser) compareHosts(src []byte) {
	if p.plainHost() {
		return
	}
	rfc := &p.r.scratch.in
	if _, _, err := splitFront(src, rfc); err != 0 || p.sameHost(src, rfc) {
		return
	}
	at := p.u.Span(Host).Start
	if !p.u.Has(Host) && p.u.Has(Scheme) {
		at = p.u.Span(Scheme).End + 1
	}
	p.mark(FlagHostAmbiguous, int(at), Host, ActionKept)
}

// plainHost reports whether both standards obviously see the same host: the
// host follows "://", and a byte that ends the authority in both standards
// follows the host and its port.
func (p *parser) plainHost() bool {
	host := p.u.Span(Host)
	start, end := int(host.Start), int(host.End)
	if p.err != 0 || len(p.r.scratch.gaps) != 0 || host.Len() == 0 || start < 3 || string(p.in[start-3:start]) != "://" {
		return false
	}
	if p.u.Has(Port) {
		end = int(p.u.Span(Port).End)
	}
	return int(p.u.Span(Scheme).End) == start-3 && p.in[start] != '[' && (end == len(p.in) || p.in[end] != '\\')
}

// sameHost reports whether RFC 3986 sees the host that the parser found. rfc
// holds the scheme and authority of src by RFC 3986.
func (p *parser) sameHost(src []byte, rfc *URL) bool {
	raw := rfc.Bytes(src, Host)
	if p.err != 0 || p.u.Has(Host) && rfc.HasAuthority() {
		if bytes.Equal(raw, p.u.Bytes(p.in, Host)) {
			return true
		}
	}
	if p.err != 0 {
		return false
	}
	host := p.out.Bytes(p.dst[p.start:], Host)
	if p.base != nil && !rfc.Has(Scheme) && !rfc.HasAuthority() {
		return p.base.rfcHost.is(host)
	}
	var other rfcHost
	p.r.scratch.readRFCHost(&other, raw, p.known)
	return other.is(host)
}

// An rfcHost is a host by RFC 3986, serialized by the host parser of the URL
// Standard.
type rfcHost struct {
	text    []byte
	refused bool // the host parser rejects it
	unknown bool // RFC 3986 rejects the URL: there is nothing to compare
}

// is reports whether host, the host of a serialized URL, is equal to h.
func (h *rfcHost) is(host []byte) bool {
	return h.unknown || !h.refused && bytes.Equal(h.text, host)
}

// A hostScratch is the work space for comparing hosts, reused from one
// comparison to the next.
type hostScratch struct {
	res     Result
	in, out URL
	dst     []byte
}

func (s *scratch) hostScratch() *hostScratch {
	if s.hosts == nil {
		s.hosts = new(hostScratch)
	}
	return s.hosts
}

// readRFCHost sets h to raw, the host of a URL with the scheme known. The text
// of h is valid until the next call.
func (s *scratch) readRFCHost(h *rfcHost, raw []byte, known knownScheme) {
	*h = rfcHost{}
	if len(raw) == 0 {
		return
	}
	b := s.hostScratch()
	b.res.reset()
	b.in, b.out = URL{}, URL{}
	p := parser{in: raw, dst: b.dst[:0], u: &b.in, out: &b.out, esc: &browser.whatwg, r: &b.res, known: known}
	h.refused = !p.parseHost(0, len(raw), !p.special())
	b.dst = p.dst
	if h.text = p.dst; known == schemeFile && string(h.text) == "localhost" {
		h.text = nil
	}
}

// readRFCHost sets b.rfcHost of a base that browsers can parse.
func (b *baseURL) readRFCHost(s *scratch) {
	text := b.rfcHost.text[:0]
	start, end := trimEnds(b.src)
	src := b.src[start:end]
	var u URL
	if _, _, err := splitFront(src, &u); err != 0 {
		b.rfcHost = rfcHost{text: text, unknown: true}
		return
	}
	if !b.res.Flags.Has(FlagHostAmbiguous) {
		b.rfcHost = rfcHost{text: append(text, b.u.Bytes(b.text, Host)...)}
		return
	}
	var h rfcHost
	s.readRFCHost(&h, u.Bytes(src, Host), b.known)
	b.rfcHost = rfcHost{text: append(text, h.text...), refused: h.refused}
}

// hosts records a diagnostic in an RFC 3986 profile if browsers see another
// host. The offset of the diagnostic is the offset of the byte that the
// standards treat differently or, if there is no such byte, the offset at which
// a host was expected.
func (i *inspector) hosts() {
	if !i.suspect() || !i.differ() {
		return
	}
	u := i.u
	path := int(u.Span(Path).Start)
	front := 0
	if u.HasAuthority() {
		front = int(u.Span(Scheme).End)
	}
	for at := front; at < path; at++ {
		if c := i.src[at]; c == '\\' || isTab(c) {
			i.markAt(Host, at, FlagHostAmbiguous, i.encoded())
			return
		}
	}
	if u.HasAuthority() {
		path = int(u.Span(Host).Start)
	}
	i.markAt(Host, path, FlagHostAmbiguous, ActionKept)
}

// suspect reports whether browsers may see another host. It may return true although
// browsers see the same host, but never false if they see another one. Browsers may see
// another host where bytes are removed or trimmed, where a '\' ends or begins an
// authority, where a URL of a special scheme has no host, and in file URLs.
func (i *inspector) suspect() bool {
	u := i.u
	front := i.src[:u.Span(Path).Start]
	if u.Has(Scheme) {
		known := lookupAnyCase(u.Bytes(i.src, Scheme))
		switch {
		case known == schemeFile || known != schemeOther && u.Span(Host).Len() == 0:
			return true
		case u.HasAuthority():
			return i.r.Flags.Has(FlagRawControl) && indexTab(front) >= 0 || known != schemeOther && bytes.IndexByte(front, '\\') >= 0
		}
		return i.r.Flags.Has(FlagRawControl) && indexTab(i.src) >= 0
	}
	switch {
	case len(i.src) > 0 && i.src[0] <= ' ', i.r.Flags.Has(FlagRawControl) && indexTab(i.src) >= 0:
		return true
	case len(i.base) == 0:
		return false
	case u.HasAuthority() && u.Span(Host).Len() == 0 || bytes.IndexByte(front, '\\') >= 0 || bytes.IndexByte(i.src[:min(2, len(i.src))], '\\') >= 0:
		return true
	}
	return !i.readBase(i.base, &i.r.scratch).clean
}

// differ reports whether browsers find another host in the URL than RFC 3986
// does.
func (i *inspector) differ() bool {
	s := &i.r.scratch
	var base *baseURL
	if len(i.base) > 0 {
		if base = i.readBase(i.base, s); base.err != 0 {
			return false
		}
	}
	b := s.hostScratch()
	b.res.reset()
	if cap(b.dst) > keepBytes {
		b.dst = nil
	}
	// Grow the buffer here, because on an error appendWHATWG returns b.dst
	// without the memory that it added.
	b.dst = slices.Grow(b.dst[:0], 3*len(i.src)+len("https://"))
	out, err := browser.appendWHATWG(b.dst, base, i.src, &b.res)
	b.dst = out
	return err == 0 && b.res.Flags.Has(FlagHostAmbiguous)
}
