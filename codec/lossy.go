package codec

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/urlfold/urlfold/codec/internal/ip"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/percent"
)

// This file computes the canonical strings of the levels that merge URLs which
// the standards keep apart. K2 is computed from K1, and K3 from K2.

// A rewriter derives the canonical string of one level from the string of the
// level before.
type rewriter struct {
	dst    []byte
	src    []byte
	u      *URL // components of src
	policy *Policy
	keys   Standard
	s      *scratch
	known  knownScheme
	out    *URL    // components of dst; K2 only
	hits   ruleSet // rules that changed something
}

func (n *Normalizer) rewriter(dst, src []byte, u *URL, s *scratch) rewriter {
	return rewriter{
		dst: dst, src: src, u: u, policy: n.policy, keys: n.keys, s: s, known: lookupScheme(u.Bytes(src, Scheme)),
	}
}

// appendK2 appends the K2 of k1, a K1 with the components u, to dst, which must
// be empty. A crawler needs to fetch only one of the URLs with the same K2.
// appendK2 stores the components in s.out, and reports whether the query is
// signed and was therefore left unchanged.
//
// It removes userinfo and fragment and applies, in this order: host-rootdot,
// host-ip4, psid, q-split, qsid, q-drop, q-noempty, q-eq, q-form, q-sort-name,
// https-http.
func (n *Normalizer) appendK2(dst, k1 []byte, u *URL, s *scratch) (_ []byte, signed bool) {
	w := n.rewriter(dst, k1, u, s)
	w.out = &s.out
	w.frontK2()
	at := len(w.dst)
	if signed = w.query(w.policy.Params); len(w.dst) > at {
		w.out.set(Query, at+1, len(w.dst))
	}
	w.pageFragment()
	s.keyHits |= w.hits
	if u.Has(Username) && w.keys == RFC3986 { // w.userinfo may have written the username
		_, _ = split(w.dst, w.out)
	}
	return w.dst, signed
}

// rewrote records that r changed component c from before to after. Equal texts
// are not recorded.
func (w *rewriter) rewrote(r Rule, c Component, before, after []byte) {
	if !bytes.Equal(before, after) {
		w.hits |= 1 << r
		w.s.rec.change(r, c, before, after)
	}
}

// pageFragment writes the fragment if it identifies a page.
func (w *rewriter) pageFragment() {
	if !w.u.Has(Fragment) {
		return
	}
	f := cutDirective(w.u.Bytes(w.src, Fragment))
	keep := w.policy.keepsFragment(w.u.Bytes(w.src, Host), f)
	if keep {
		w.dst = append(append(w.dst, '#'), f...)
		w.out.set(Fragment, len(w.dst)-len(f), len(w.dst))
	}
	switch text := w.u.Bytes(w.src, Fragment); {
	case !keep:
		w.hits |= 1 << RuleDropFragment
		w.s.rec.remove(RuleDropFragment, Fragment, text)
	default:
		w.rewrote(RuleDropFragment, Fragment, text, f)
	}
}

// frontK2 writes everything up to the end of the path.
func (w *rewriter) frontK2() {
	u := w.u
	*w.out = URL{}
	if u.Has(Scheme) {
		w.dst = append(w.dst, w.foldedScheme()...)
		w.out.set(Scheme, 0, len(w.dst))
		w.dst = append(w.dst, ':')
	}
	if u.HasAuthority() {
		w.dst = append(w.dst, "//"...)
		w.out.flags |= hasAuthority
		w.userinfo()
		at := len(w.dst)
		w.hostK2()
		w.out.set(Host, at, len(w.dst))
		w.port()
	}
	at := len(w.dst)
	w.pathK2()
	w.out.set(Path, at, len(w.dst))
}

// userinfo writes the userinfo only if it contains an escaped '\' and keys are
// computed by RFC 3986. By that standard "http://evil.com\@good.com/" is a page
// of good.com with unusual credentials. Without the credentials, the URL would
// get the key of good.com's own page, although browsers go to evil.com.
func (w *rewriter) userinfo() {
	if !w.u.Has(Username) {
		return
	}
	text := w.src[w.u.Span(Username).Start:w.u.Span(Host).Start]
	if w.keys == RFC3986 && bytes.Contains(text, escapedBackslash) {
		w.dst = append(w.dst, text...)
		return
	}
	w.hits |= 1 << RuleDropUserinfo
	w.s.rec.removeUserinfo(w.src, w.u)
}

var escapedBackslash = []byte("%5C")

// foldedScheme returns the scheme, with https replaced by http and wss by ws.
func (w *rewriter) foldedScheme() []byte {
	name := w.u.Bytes(w.src, Scheme)
	if !w.policy.KeepHTTPS && (w.known == schemeHTTPS || w.known == schemeWSS) {
		w.rewrote(ruleHTTPS, Scheme, name, name[:len(name)-1])
		return name[:len(name)-1]
	}
	return name
}

// hostK2 writes the host without a trailing dot, and an IPv4 address in any
// notation as dotted decimal.
func (w *rewriter) hostK2() {
	host := w.u.Bytes(w.src, Host)
	if n := len(host); n > 1 && host[n-1] == '.' {
		w.rewrote(ruleRootDot, Host, host, host[:n-1])
		host = host[:n-1]
	}
	if w.known != schemeOther && w.u.kind == HostRegName && endsInNumber(host) {
		if addr, ok := ipv4Value(host); ok {
			at := len(w.dst)
			w.dst = ip.AppendV4(w.dst, addr)
			w.rewrote(ruleIPv4, Host, host, w.dst[at:])
			return
		}
	}
	w.dst = append(w.dst, host...)
}

func (w *rewriter) port() {
	if !w.u.Has(Port) {
		return
	}
	w.dst = append(append(w.dst, ':'), w.u.Bytes(w.src, Port)...)
	if w.out != nil {
		w.out.set(Port, len(w.dst)-w.u.Span(Port).Len(), len(w.dst))
	}
}

func (w *rewriter) pathK2() {
	at := len(w.dst)
	from := w.u.Bytes(w.src, Path)
	w.dst, _ = params.CutPathSession(w.dst, from)
	path := w.dst[at:]
	if !w.u.HasAuthority() && len(path) > 1 && path[0] == '/' && path[1] == '/' {
		w.dst = append(w.dst, "/."...)
		copy(w.dst[at+2:], w.dst[at:])
		copy(w.dst[at:], "/.")
	}
	w.rewrote(rulePathSession, Path, from, w.dst[at:])
}

// query writes the query by the key rules, with the parameter list m.
func (w *rewriter) query(m *params.Matcher) (signed bool) {
	if !w.u.Has(Query) {
		return false
	}
	out, hits, signed := appendKeyQuery(w.dst, w.src, w.u, m, w.s)
	if w.dst = out; hits == 0 {
		w.dst = append(append(w.dst, '?'), w.u.Bytes(w.src, Query)...)
	}
	w.hits |= hits
	return signed
}

// appendKeyQuery appends the query of src, whose components are u, by the key
// rules and the list m, preceded by '?' if the query is still present. It
// escapes "'", which only one of the standards escapes. If hits is 0, the query
// stays the same, and appendKeyQuery appends nothing.
func appendKeyQuery(dst, src []byte, u *URL, m *params.Matcher, s *scratch) (_ []byte, hits ruleSet, signed bool) {
	q := u.spans[Query].In(src)
	if !s.clean && bytes.IndexByte(q, '\'') >= 0 { // a clean query contains none
		s.query = appendEscaped(s.query[:0], q, '\'')
		s.rec.change(RuleEncodeIllegal, Query, q, s.query)
		q = s.query
		hits.set(RuleEncodeIllegal, true)
	}
	site := m.Site(u.spans[Host].In(src), u.spans[Path].In(src), &s.params)
	at := len(dst)
	s.params.Recorder = s.rec.query(Query, nil, m)
	dst, present, why := params.AppendChanged(append(dst, '?'), q, m, site, &s.params)
	unchanged := queryRules(why) == 0
	hits |= queryRules(why)
	if len(q) == 0 {
		hits |= 1 << ruleNoEmpty
		s.rec.remove(ruleNoEmpty, Query, nil)
	}
	switch {
	case !present || hits == 0:
		dst = dst[:at]
	case unchanged:
		dst = append(dst, q...)
	}
	return dst, hits, why&params.WhySigned != 0
}

func appendEscaped(dst, src []byte, c byte) []byte {
	for _, b := range src {
		if b == c {
			dst = percent.AppendEscape(dst, c)
			continue
		}
		dst = append(dst, b)
	}
	return dst
}

// appendK3 appends the K3 of k2, a K2 with the components u. URLs with the same
// K3 count as one page to an analyst. K3 is host, port, path and query, without
// the scheme http or https.
//
// It applies, in this order: https-http, www-one, slash-one, dirindex,
// slash-trail, the site's parameters, and the options nfc, lower-path,
// lower-query and q-once.
func (n *Normalizer) appendK3(dst, k2 []byte, u *URL, s *scratch) []byte {
	w := n.rewriter(dst, k2, u, s)
	if u.Has(Scheme) && w.known != schemeHTTP && w.known != schemeHTTPS {
		w.dst = append(append(w.dst, u.Bytes(k2, Scheme)...), ':')
		if u.HasAuthority() {
			w.dst = append(w.dst, "//"...)
		}
	} else {
		w.dropScheme()
	}
	if u.HasAuthority() {
		w.userinfo()
		host := cutWWW(u.Bytes(k2, Host))
		w.dst = append(w.dst, host...)
		w.rewrote(ruleWWW, Host, u.Bytes(k2, Host), host)
		w.port()
	}
	at := len(w.dst)
	w.pathK3()
	w.fold(Path, at, w.policy.LowerPath, ruleLowerPath)
	at = len(w.dst)
	if w.policy.SiteParams != nil {
		w.query(w.policy.SiteParams)
	} else if u.Has(Query) {
		w.dst = append(append(w.dst, '?'), u.Bytes(k2, Query)...)
	}
	w.foldQuery(at)
	w.fragmentK3()
	s.keyHits |= w.hits
	return w.dst
}

// dropScheme omits the scheme http or https and its slashes.
func (w *rewriter) dropScheme() {
	switch {
	case w.u.Has(Scheme):
		w.hits |= 1 << ruleHTTPS
		w.s.rec.remove(ruleHTTPS, Scheme, w.u.Bytes(w.src, Scheme))
	case w.u.HasAuthority():
		w.rewrote(ruleHTTPS, WholeURL, w.src, w.src[len("//"):])
	}
}

// fold applies the option nfc and, if lower is set, the rule lower-path or
// lower-query to component c, dst[at:]. It reports whether that changed
// something.
func (w *rewriter) fold(c Component, at int, lower bool, rule Rule) bool {
	s, changed := w.s, false
	if w.policy.NFC && bytes.IndexByte(w.dst[at:], '%') >= 0 {
		if s.text2, changed = appendNFC(s.text2[:0], w.dst[at:], s); changed {
			w.hits |= 1 << ruleNFC
			s.rec.change(ruleNFC, c, w.dst[at:], s.text2)
			w.dst = append(w.dst[:at], s.text2...)
		}
	}
	if !lower {
		return changed
	}
	before := s.rec.copyOf(w.dst[at:])
	if lowerInPlace(w.dst[at:]) {
		changed = true
		w.hits |= 1 << rule
		s.rec.change(rule, c, before, w.dst[at:])
	}
	return changed
}

// foldQuery applies the options to dst[at:], which is a '?' and a query, or
// empty. The query is sorted again, since the options may change names. A
// signed query stays unchanged.
func (w *rewriter) foldQuery(at int) {
	if at == len(w.dst) || !w.policy.NFC && !w.policy.LowerQuery && !w.policy.Once {
		return
	}
	at++
	s := w.s
	if s.query = append(s.query[:0], w.dst[at:]...); params.Signed(s.query) {
		return
	}
	if !w.fold(Query, at, w.policy.LowerQuery, ruleLowerQuery) && !w.policy.Once {
		return
	}
	s.query = append(s.query[:0], w.dst[at:]...)
	s.params.Recorder = s.rec.query(Query, nil, nil)
	var why params.Why
	w.dst, why = params.AppendSorted(w.dst[:at], s.query, w.policy.Once, &s.params)
	w.hits |= queryRules(why)
}

// pathK3 writes the path with single slashes, without an index file, and
// without a trailing slash.
func (w *rewriter) pathK3() {
	at := len(w.dst)
	w.dst = appendSingleSlashes(w.dst, w.u.Bytes(w.src, Path))
	single := w.dst[at:]
	folder := cutIndexFile(single, single)
	path := folder
	for len(path) > 1 && path[len(path)-1] == '/' {
		path = path[:len(path)-1]
	}
	w.rewrote(ruleSlashes, Path, w.u.Bytes(w.src, Path), single)
	w.rewrote(ruleIndexFile, Path, single, folder)
	w.rewrote(ruleTrail, Path, folder, path)
	w.dst = w.dst[:at+len(path)]
}

// fragmentK3 writes the fragment of K2, and treats parameters in it like query
// parameters.
func (w *rewriter) fragmentK3() {
	if !w.u.Has(Fragment) {
		return
	}
	f := w.u.Bytes(w.src, Fragment)
	w.dst = append(w.dst, '#')
	before, after, ok := bytes.Cut(f, []byte{'?'})
	if !ok {
		w.dst = append(w.dst, f...)
		return
	}
	w.dst = append(w.dst, before...)
	m := w.policy.Params
	site := m.Site(w.u.Bytes(w.src, Host), w.u.Bytes(w.src, Path), &w.s.params)
	at := len(w.dst)
	w.dst = append(w.dst, '?')
	w.s.params.Recorder = w.s.rec.query(Fragment, f[:len(before)+1], m)
	out, present, why := params.AppendFiltered(w.dst, after, m, site, &w.s.params)
	w.hits |= queryRules(why)
	w.dst = out
	if !present {
		w.dst = w.dst[:at]
	}
}

// appendSingleSlashes appends path with repeated slashes replaced by one,
// except after a scheme: "/http://x" stays.
func appendSingleSlashes(dst, path []byte) []byte {
	if !bytes.Contains(path, slashes) {
		return append(dst, path...)
	}
	for i, c := range path {
		if c == '/' && i > 0 && path[i-1] == '/' && !endsInScheme(path[:i]) {
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

// endsInScheme reports whether b, which ends in '/', ends in a scheme of 2 to
// 50 characters and ":/". Another slash would belong to the nested URL.
func endsInScheme(b []byte) bool {
	if len(b) < 4 || b[len(b)-2] != ':' {
		return false
	}
	i := len(b) - 2
	n := 0
	for i > 0 && n < 51 && isSchemeByte(b[i-1]) {
		i--
		n++
	}
	for n > 0 && !isAlpha(b[i]) {
		i++
		n--
	}
	return n >= 2 && n <= 50
}

// cutIndexFile removes the last segment of path if it is the name of a file
// that servers return for a directory. path must be the end of text.
func cutIndexFile(text, path []byte) []byte {
	if len(path) <= len("index.pl") || len(text) > 16 && !mayEndInIndexFile(text) {
		return path
	}
	i := bytes.LastIndexByte(path, '/')
	var buf [len("default.shtml")]byte
	seg := path[i+1:]
	if i < 0 || len(seg) < len("index.pl") || len(seg) > len(buf) || !indexFirst[seg[0]|0x20] {
		return path
	}
	name, ext, ok := bytes.Cut(appendLower(buf[:0], seg), dot)
	if ok && isIndexFile(string(name), string(ext)) {
		return path[:i+1]
	}
	return path
}

// mayEndInIndexFile reports whether text, of more than 16 bytes, may end in a
// name and an extension for which isIndexFile reports true. It rules out most
// texts, without a branch, because the CPU cannot predict whether a path ends
// in an extension.
func mayEndInIndexFile(text []byte) bool {
	const (
		spaces   = 0x20_20_20_20_20_20_20_20 // the bits that distinguish upper and lower case
		places   = 0x00_00_80_80_80_80_00_00 // where the dot of an extension of two to five bytes may be
		index    = '/' | 'i'<<8 | 'n'<<16 | 'd'<<24 | 'e'<<32 | 'x'<<40
		home     = '/' | 'h'<<8 | 'o'<<16 | 'm'<<24 | 'e'<<32
		fallback = '/' | 'd'<<8 | 'e'<<16 | 'f'<<24 | 'a'<<32 | 'u'<<40 | 'l'<<48 | 't'<<56
	)
	end := len(text) - 8
	dots := equalBytes(binary.LittleEndian.Uint64(text[end:]), '.') & places
	name := binary.LittleEndian.Uint64(text[end-1-bits.LeadingZeros64(dots)/8:]) | spaces // up to the last dot
	return b2i(name>>16 == index)|b2i(name>>24 == home)|b2i(name == fallback) != 0
}

// indexFirst holds the first bytes of the names in isIndexFile.
var indexFirst = [256]bool{'i': true, 'd': true, 'h': true}

// isIndexFile reports whether the rule dirindex applies to a file name.
func isIndexFile(name, ext string) bool {
	switch ext {
	case "html", "htm":
		return name == "index" || name == "default" || name == "home"
	case "asp", "aspx":
		return name == "index" || name == "default"
	case "xhtml", "shtml", "php", "php3", "php4", "php5", "php6", "php7", "php8", "jsp", "jspx", "cfm", "cgi", "pl":
		return name == "index"
	}
	return false
}
