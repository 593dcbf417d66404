package purell

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/ip"
)

// parse splits src as url.Parse of Go 1.26 does with its default settings.
func (u *parts) parse(src []byte) bool {
	*u = parts{spare: u.spare, scheme: u.scheme[:0], user: u.user[:0], rawHost: u.rawHost[:0], path: u.path[:0], fragment: u.fragment[:0]}
	rest, fragment, _ := bytes.Cut(src, []byte("#"))
	if !u.parseWithoutFragment(rest) {
		return false
	}
	var ok bool
	u.fragment, ok = appendUnescaped(u.fragment, fragment, false)
	return ok
}

func (u *parts) parseWithoutFragment(src []byte) bool {
	for _, c := range src {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	rest, ok := u.parseScheme(src)
	if !ok {
		return false
	}
	// The query may be empty: purell drops an empty query, even if there is a '?'.
	rest, u.query, _ = bytes.Cut(rest, []byte("?"))
	if !bytes.HasPrefix(rest, []byte("/")) {
		if len(u.scheme) > 0 {
			u.opaque = rest
			return true
		}
		if segment, _, _ := bytes.Cut(rest, []byte("/")); bytes.IndexByte(segment, ':') >= 0 {
			return false
		}
	}
	if bytes.HasPrefix(rest, []byte("//")) && (len(u.scheme) > 0 || !bytes.HasPrefix(rest, []byte("///"))) {
		authority := rest[2:]
		if i := bytes.IndexByte(authority, '/'); i >= 0 {
			authority, rest = authority[:i], authority[i:]
		} else {
			rest = nil
		}
		if !u.parseAuthority(authority) {
			return false
		}
	}
	u.path, ok = appendUnescaped(u.path, rest, false)
	return ok
}

// parseScheme cuts the scheme off.
func (u *parts) parseScheme(src []byte) (rest []byte, ok bool) {
	n := ascii.SchemeEnd(src)
	if n == 0 {
		return src, !bytes.HasPrefix(src, []byte(":"))
	}
	u.scheme = ascii.AppendLower(u.scheme, src[:n])
	return src[n+1:], true
}

func (u *parts) parseAuthority(authority []byte) (ok bool) {
	at := bytes.LastIndexByte(authority, '@')
	if ok := u.parseHost(authority[at+1:]); !ok || at < 0 {
		return ok
	}
	userinfo := authority[:at]
	for _, c := range userinfo {
		if !validUser[c] {
			return false
		}
	}
	u.hasUser = true
	name, password, hasPassword := bytes.Cut(userinfo, []byte(":"))
	if ok = u.addUser(name); !ok || !hasPassword {
		return ok
	}
	u.user = append(u.user, ':')
	return u.addUser(password)
}

// addUser appends a name or a password to the userinfo, decoded and encoded again.
func (u *parts) addUser(text []byte) (ok bool) {
	if u.spare, ok = appendUnescaped(u.spare[:0], text, false); ok {
		u.user = ascii.AppendEscaped(u.user, u.spare, inUser)
	}
	return ok
}

// parseHost decodes a host with its port.
func (u *parts) parseHost(host []byte) (ok bool) {
	switch open := bytes.LastIndexByte(host, '['); {
	case open > 0:
		return false
	case open == 0:
		return u.parseLiteral(host)
	}
	if colon := bytes.IndexByte(host, ':'); colon >= 0 {
		if !u.isHTTP() { // several colons are accepted, as in lists of hosts
			colon = bytes.LastIndexByte(host, ':')
		}
		if !isPort(host[colon:]) {
			return false
		}
	}
	u.rawHost, ok = appendHost(u.rawHost, host, false)
	return ok
}

func (u *parts) isHTTP() bool { return string(u.scheme) == "http" || string(u.scheme) == "https" }

// isPort reports whether text is empty, or a colon and digits.
func isPort(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	for _, c := range text[1:] {
		if !ascii.IsDigit(c) {
			return false
		}
	}
	return text[0] == ':'
}

// parseLiteral decodes "[address%25zone]:port".
func (u *parts) parseLiteral(host []byte) (ok bool) {
	end := bytes.LastIndexByte(host, ']')
	if end < 0 {
		return false
	}
	port := host[end+1:]
	if !isPort(port) {
		return false
	}
	address, zone := host[1:end], []byte(nil)
	if i := bytes.Index(address, []byte("%25")); i >= 0 {
		address, zone = address[:i], address[i:]
	}
	u.rawHost = append(u.rawHost, '[')
	start := len(u.rawHost)
	if u.rawHost, ok = appendHost(u.rawHost, address, false); !ok {
		return false
	}
	if u.rawHost, ok = appendHost(u.rawHost, zone, true); !ok {
		return false
	}
	literal, zone, hasZone := bytes.Cut(u.rawHost[start:], []byte("%"))
	if _, ok = ip.ParseV6(literal); !ok || hasZone && len(zone) == 0 {
		return false
	}
	u.rawHost = append(append(u.rawHost, ']'), port...)
	return true
}

// appendHost appends a part of a host, decoded. A zone may contain escapes of
// the characters of a host, and of spaces; elsewhere only escapes of '%' and of
// bytes above 7F are allowed.
func appendHost(dst, text []byte, zone bool) ([]byte, bool) {
	for len(text) > 0 {
		c, n := ascii.Unescape(text)
		allowed := c >= 0x80 || inHost[c] // '%' is not in the set
		if n > 1 {
			allowed = c == '%' || !zone && c >= 0x80 || zone && (c == ' ' || inHost[c])
		}
		if !allowed {
			return dst, false
		}
		dst, text = append(dst, c), text[n:]
	}
	return dst, true
}
