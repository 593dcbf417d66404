package codec

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/codec/internal/idna"
)

// This file is the readable twin of the normalizer: it applies the rules of RFC
// 3986 one after the other, to strings. The tests use it as an oracle for the
// fast implementation.

var (
	slowURL     = regexp.MustCompile(`(?s)^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$`)
	slowPort    = regexp.MustCompile(`(?s)^(.*?)(?::([0-9]*))?$`)
	slowTriplet = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
)

type slowParts struct {
	scheme, user, host, port, path, query, fragment string
	hasScheme, hasAuth, hasUser, hasPort, hasQuery  bool
	hasFragment                                     bool
}

const (
	slowUnreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	slowSubDelims  = "!$&'()*+,;="
	slowPchar      = slowUnreserved + slowSubDelims + ":@"
)

// slowBytes returns a string whose runes are the bytes of s, so that regexp and
// strings work byte by byte.
func slowBytes(s string) string {
	r := make([]rune, len(s))
	for i := range len(s) {
		r[i] = rune(s[i])
	}
	return string(r)
}

func slowUnbytes(s string) string {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

func slowSplit(s string) (p slowParts, ok bool) {
	m := slowURL.FindStringSubmatchIndex(s)
	group := func(i int) (string, bool) {
		if m[2*i] < 0 {
			return "", false
		}
		return s[m[2*i]:m[2*i+1]], true
	}
	var auth string
	p.scheme, p.hasScheme = group(1)
	auth, p.hasAuth = group(2)
	p.path, _ = group(3)
	p.query, p.hasQuery = group(4)
	p.fragment, p.hasFragment = group(5)
	if i := strings.LastIndex(auth, "@"); i >= 0 {
		p.user, p.hasUser, auth = auth[:i], true, auth[i+1:]
	}
	pm := slowPort.FindStringSubmatchIndex(auth)
	p.host = auth[pm[2]:pm[3]]
	if pm[4] >= 0 {
		p.port, p.hasPort = auth[pm[4]:pm[5]], true
	}
	open, last := strings.Index(p.host, "["), strings.Index(p.host, "]")
	if open >= 0 || last >= 0 {
		return p, open == 0 && last == len(p.host)-1
	}
	return p, true
}

// slowEscapes applies malformed-encode, add, esc-upper and esc-unres.
func slowEscapes(s, allowed string) string {
	var b strings.Builder
	for s != "" {
		if loc := slowTriplet.FindStringIndex(s); loc != nil && loc[0] == 0 {
			t := strings.ToUpper(s[:3])
			c, _ := strconv.ParseUint(t[1:], 16, 8)
			if strings.IndexByte(slowUnreserved, byte(c)) >= 0 {
				t = string(rune(c))
			}
			b.WriteString(t)
			s = s[3:]
			continue
		}
		r := []rune(s)[0]
		if strings.ContainsRune(allowed, r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "%%%02X", r)
		}
		s = s[len(string(r)):]
	}
	return b.String()
}

func slowLower(s string) string {
	return slowTriplet.ReplaceAllStringFunc(strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 32
		}
		return r
	}, s), strings.ToUpper)
}

// slowDots implements RFC 3986 §5.2.4, step by step.
func slowDots(in string) string {
	out := ""
	for in != "" {
		switch {
		case strings.HasPrefix(in, "../"):
			in = in[3:]
		case strings.HasPrefix(in, "./"):
			in = in[2:]
		case strings.HasPrefix(in, "/./"):
			in = in[2:]
		case in == "/.":
			in = "/"
		case strings.HasPrefix(in, "/../"):
			in = in[3:]
			out = out[:max(0, strings.LastIndex(out, "/"))]
		case in == "/..":
			in = "/"
			out = out[:max(0, strings.LastIndex(out, "/"))]
		case in == "." || in == "..":
			in = ""
		default:
			end := strings.Index(in[1:], "/") + 1
			if end == 0 {
				end = len(in)
			}
			out, in = out+in[:end], in[end:]
		}
	}
	return out
}

// slowLiteral normalizes a bracketed host.
func slowLiteral(s string) string {
	var b strings.Builder
	for s != "" {
		if loc := slowTriplet.FindStringIndex(s); loc != nil && loc[0] == 0 {
			b.WriteString(s[:3])
			s = s[3:]
			continue
		}
		r := []rune(s)[0]
		if strings.ContainsRune(slowUnreserved+slowSubDelims+":[]", r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "%%%02X", r)
		}
		s = s[len(string(r)):]
	}
	return slowLower(b.String())
}

func (p *slowParts) syntax() {
	p.scheme = slowLower(p.scheme)
	p.user = slowEscapes(p.user, slowUnreserved+slowSubDelims+":")
	if strings.HasPrefix(p.host, "[") {
		p.host = slowLiteral(p.host)
	} else {
		p.host = slowLower(slowEscapes(p.host, slowUnreserved+slowSubDelims))
	}
	p.path = slowEscapes(p.path, slowPchar+"/")
	p.query = slowEscapes(p.query, slowPchar+"/?")
	p.fragment = slowEscapes(p.fragment, slowPchar+"/?")
	if p.hasScheme && strings.HasPrefix(p.path, "/") {
		p.path = slowDots(p.path)
	}
}

func (p *slowParts) schemeBased() {
	defaults := map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}
	def, known := defaults[p.scheme]
	if p.hasPort {
		for len(p.port) > 1 && p.port[0] == '0' {
			p.port = p.port[1:]
		}
		if p.port == "" || p.port == def {
			p.hasPort, p.port = false, ""
		}
	}
	if known {
		p.host = slowASCII(p.host)
	}
	if known && p.hasAuth && p.path == "" {
		p.path = "/"
	}
	if p.scheme == "file" && strings.HasPrefix(p.path, "/") {
		p.hasAuth = true
		if p.host == "localhost" && !p.hasUser && !p.hasPort {
			p.host = ""
		}
	}
	if known && p.scheme != "ftp" && p.hasUser && p.user == "" {
		p.hasUser = false
	}
	if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(p.host, "["), "]")); err == nil && strings.HasPrefix(p.host, "[") && a.Is6() && a.Zone() == "" {
		p.host = "[" + slowShort(a) + "]"
	}
}

// slowASCII returns the ASCII form of a domain with escaped non-ASCII bytes, if
// it has one.
func slowASCII(host string) string {
	domain, err := url.PathUnescape(host)
	if err != nil || isASCII([]byte(domain)) || strings.HasPrefix(host, "[") {
		return host
	}
	ascii, err := idna.AppendASCII(nil, []byte(domain))
	if err != nil || len(ascii) == 0 || strings.ContainsAny(string(ascii), "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f #%/:<>?@[\\]^|\x7f") {
		return host
	}
	return strings.NewReplacer(`"`, "%22", "`", "%60", "{", "%7B", "}", "%7D").Replace(string(ascii))
}

// slowShort formats an IPv6 address in hex groups, with the first of the
// longest runs of zeros compressed.
func slowShort(a netip.Addr) string {
	var groups []string
	b := a.As16()
	for i := 0; i < 16; i += 2 {
		groups = append(groups, strconv.FormatUint(uint64(b[i])<<8|uint64(b[i+1]), 16))
	}
	for n := 8; n >= 2; n-- {
		for i := 0; i+n <= 8; i++ {
			if strings.Join(groups[i:i+n], "") == strings.Repeat("0", n) {
				return strings.Join(groups[:i], ":") + "::" + strings.Join(groups[i+n:], ":")
			}
		}
	}
	return strings.Join(groups, ":")
}

func (p *slowParts) String() string {
	s := ""
	if p.hasScheme {
		s = p.scheme + ":"
	}
	path := p.path
	if p.hasAuth {
		s += "//"
		if p.hasUser {
			s += p.user + "@"
		}
		s += p.host
		if p.hasPort {
			s += ":" + p.port
		}
	} else if strings.HasPrefix(path, "//") {
		path = "/." + path
	} else if first, _, _ := strings.Cut(path, "/"); !p.hasScheme && strings.Contains(first, ":") {
		path = "./" + path
	}
	s += path
	if p.hasQuery {
		s += "?" + p.query
	}
	if p.hasFragment {
		s += "#" + p.fragment
	}
	return s
}

// slowNormalize implements E1 (K0) and, if scheme is set, E2 (K1).
func slowNormalize(src string, scheme bool) (norm string, ok bool) {
	p, ok := slowSplit(slowBytes(src))
	if !ok {
		return "", false
	}
	p.syntax()
	if scheme {
		p.schemeBased()
	}
	return slowUnbytes(p.String()), true
}

// slowResolve is the pseudocode of RFC 3986 §5.2.2 and §5.2.3.
func slowResolve(b, r slowParts) string {
	t := r
	switch {
	case r.hasScheme:
		t.path = slowDots(r.path)
	case r.hasAuth:
		t.path = slowDots(r.path)
	default:
		t.hasAuth, t.hasUser, t.user, t.host, t.hasPort, t.port = b.hasAuth, b.hasUser, b.user, b.host, b.hasPort, b.port
		switch {
		case r.path == "":
			t.path = b.path
			if !r.hasQuery {
				t.query, t.hasQuery = b.query, b.hasQuery
			}
		case strings.HasPrefix(r.path, "/"):
			t.path = slowDots(r.path)
		case b.hasAuth && b.path == "":
			t.path = slowDots("/" + r.path)
		default:
			t.path = slowDots(b.path[:strings.LastIndex(b.path, "/")+1] + r.path)
		}
	}
	if !r.hasScheme {
		t.scheme, t.hasScheme = b.scheme, true
	}
	return t.String()
}
