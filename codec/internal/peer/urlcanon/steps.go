package urlcanon

import (
	"bytes"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/ip"
	"github.com/urlfold/urlfold/codec/internal/peer"
	"github.com/urlfold/urlfold/codec/internal/peer/idna2008"
	"github.com/urlfold/urlfold/codec/internal/peer/python"
)

func removeJunk(c *canonicalizer) {
	c.url.leading, c.url.trailing = nil, nil
}

func removeTabs(c *canonicalizer) {
	for _, p := range c.url.parts() {
		c.drop(p, func(_, b byte) bool { return isTabOrNewline(b) })
	}
}

func lowerScheme(c *canonicalizer) {
	c.lowerPart(&c.url.scheme)
}

func elidePort(c *canonicalizer) {
	u := &c.url
	if port, special := defaultPort(u.scheme); special && port != "" && string(u.port) == port {
		u.colonPort, u.port = nil, nil
	}
}

func cleanUserinfo(c *canonicalizer) {
	u := &c.url
	if len(u.password) == 0 {
		u.colonPassword = nil
		if len(u.username) == 0 {
			u.at = nil
		}
	}
}

// hasAuthority reports whether any part of the authority has text.
func (u *parsed) hasAuthority() bool {
	return len(u.username)+len(u.colonPassword)+len(u.password)+len(u.at)+len(u.host)+len(u.colonPort)+len(u.port) > 0
}

var slashSlash, slash, http, colon = []byte("//"), []byte("/"), []byte("http"), []byte(":")

func twoSlashesStep(c *canonicalizer) {
	if u := &c.url; len(u.slashes) > 0 || u.hasAuthority() || string(u.scheme) == "file" {
		u.slashes = slashSlash
	}
}

func decodeHost(c *canonicalizer) {
	if isSpecial(c.url.scheme) {
		c.decode(&c.url.host, false)
	}
}

func reparseHost(c *canonicalizer) {
	c.url.ip = parseIP(c.url.host)
}

// normalizeIP writes the IP address. A negative number is an error.
func normalizeIP(c *canonicalizer) {
	start := len(c.arena)
	switch address := &c.url.ip; address.kind {
	case negative:
		c.failed = true
		return
	case ip4:
		c.arena = ip.AppendV4(c.arena, address.v4)
	case ip6:
		c.arena = append(ip.AppendV6(append(c.arena, '['), address.v6), ']')
	default:
		return
	}
	c.url.host = c.since(start)
}

// punycodeHost writes the host in ASCII: by IDNA2008 or, if that fails, by UTS 46
// and IDNA2003. If that fails too, the host stays.
func punycodeHost(c *canonicalizer) {
	u := &c.url
	if len(u.host) == 0 || !isSpecial(u.scheme) || !utf8.Valid(u.host) {
		return
	}
	if isPlainHost(u.host) {
		c.lowerPart(&u.host) // the general steps give the same result
		return
	}
	start := len(c.arena)
	host := []rune(string(u.host))
	ascii, ok := idna2008.AppendEncode(c.arena, host)
	if !ok {
		ascii, ok = appendIDNA2003(c.arena, host)
	}
	if ok {
		c.arena = ascii
		u.host = c.since(start)
	}
}

// isPlainHost reports whether a host consists of letters, digits and hyphens, in
// labels of 1 to 63 bytes.
func isPlainHost(host []byte) bool {
	n := 0
	for _, b := range host {
		switch {
		case ascii.IsAlpha(b), ascii.IsDigit(b), b == '-':
			if n++; n > 63 {
				return false
			}
		case b == '.' && n > 0:
			n = 0
		default:
			return false
		}
	}
	return n > 0 && len(host) <= 253
}

func appendIDNA2003(dst []byte, host []rune) ([]byte, bool) {
	host, ok := idna2008.Remap(host, true)
	if !ok || len(host) == 0 || host[len(host)-1] == '.' {
		return dst, false
	}
	return python.AppendIDNA(dst, host)
}

func encodeHost(c *canonicalizer) {
	c.encode(&c.url.host, hostSet)
}

func fixBackslashes(c *canonicalizer) {
	u := &c.url
	if !isSpecial(u.scheme) {
		return
	}
	start := len(c.arena)
	for range u.slashes {
		c.arena = append(c.arena, '/')
	}
	u.slashes = c.since(start)
	if bytes.IndexByte(u.path, '\\') < 0 {
		return
	}
	start = len(c.arena)
	for _, b := range u.path {
		if b == '\\' {
			b = '/'
		}
		c.arena = append(c.arena, b)
	}
	u.path = c.since(start)
}

func encodePath(c *canonicalizer) {
	s := c0Set
	if bytes.HasPrefix(c.url.path, slash) || isSpecial(c.url.scheme) {
		s = pathSet
	}
	c.encode(&c.url.path, s)
}

func leadingSlash(c *canonicalizer) {
	if u := &c.url; isSpecial(u.scheme) && !bytes.HasPrefix(u.path, slash) {
		start := len(c.arena)
		c.arena = append(append(c.arena, '/'), u.path...)
		u.path = c.since(start)
	}
}

// removeDots removes dot segments as resolve_path_dots does: each with its
// separator, and ".." also with the preceding segment and its separator, except
// the first separator.
func removeDots(c *canonicalizer) {
	u := &c.url
	special := isSpecial(u.scheme)
	isSep := func(b byte) bool { return b == '/' || special && b == '\\' }
	if len(u.path) == 0 || !isSep(u.path[0]) || !mayHaveDots(u.path) {
		return
	}
	c.stack = c.stack[:0]
	for rest := u.path; len(rest) > 0; {
		n := 1
		for n < len(rest) && !isSep(rest[n]) {
			n++
		}
		c.stack = append(c.stack, rest[:1], rest[1:n])
		rest = rest[n:]
	}
	kept := c.stack[:0]
	for i := 0; i < len(c.stack); i++ {
		switch dots(c.stack[i]) {
		case 0:
			kept = append(kept, c.stack[i])
			continue
		case 2:
			for range min(2, len(kept)-1) {
				kept = kept[:len(kept)-1]
			}
		}
		i++ // the separator after the segment
	}
	start := len(c.arena)
	for _, text := range kept {
		c.arena = append(c.arena, text...)
	}
	u.path = c.since(start)
}

// mayHaveDots reports whether path contains a dot or its escape after a
// separator.
func mayHaveDots(path []byte) bool {
	for i := 1; i < len(path); i++ {
		if (path[i] == '.' || path[i] == '%') && isSlash(path[i-1]) {
			return true
		}
	}
	return false
}

// dots returns the number of dots that segment consists of, raw or escaped, if
// it is 1 or 2, otherwise 0.
func dots(segment []byte) int {
	n := 0
	for len(segment) > 0 {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) > 2 && segment[0] == '%' && segment[1] == '2' && segment[2]|0x20 == 'e':
			segment = segment[3:]
		default:
			return 0
		}
		if n++; n > 2 {
			return 0
		}
	}
	return n
}

func emptyPath(c *canonicalizer) {
	if u := &c.url; len(u.path) == 0 && u.hasAuthority() && isSpecial(u.scheme) {
		u.path = slash
	}
}

func encodeUserinfo(c *canonicalizer) {
	c.encode(&c.url.username, userinfoSet)
	c.encode(&c.url.password, userinfoSet)
}

func encodeQuery(c *canonicalizer) {
	c.encode(&c.url.query, querySet)
}

func encodeFragment(c *canonicalizer) {
	c.encode(&c.url.fragment, c0Set)
}

func removeFragment(c *canonicalizer) {
	c.url.hash, c.url.fragment = nil, nil
}

func removeUserinfo(c *canonicalizer) {
	u := &c.url
	u.username, u.colonPassword, u.password, u.at = nil, nil, nil, nil
}

func decodeAll(c *canonicalizer) {
	c.decode(&c.url.query, true)
	decodeExceptQuery(c)
}

func decodeExceptQuery(c *canonicalizer) {
	u := &c.url
	for _, p := range [...]*[]byte{&u.scheme, &u.username, &u.password, &u.host, &u.port, &u.path, &u.fragment} {
		c.decode(p, true)
	}
}

func googleEncode(c *canonicalizer) {
	u := &c.url
	for _, p := range [...]*[]byte{&u.scheme, &u.username, &u.password, &u.host, &u.port, &u.path, &u.query, &u.fragment} {
		c.encode(p, peer.Google)
	}
}

func lessDumbEncode(c *canonicalizer) {
	u := &c.url
	for _, p := range [...]*[]byte{&u.scheme, &u.host, &u.port, &u.fragment} {
		c.encode(p, peer.Google)
	}
	c.encode(&u.username, lessUserinfoSet)
	c.encode(&u.password, lessUserinfoSet)
	c.encode(&u.path, lessPathSet)
}

// recodeQuery decodes and encodes each name and value by itself.
func recodeQuery(c *canonicalizer) {
	u := &c.url
	if !bytes.ContainsFunc(u.query, func(r rune) bool { return r >= 0x7F || !peer.Google[byte(r)] || r == '=' }) {
		return
	}
	c.stack = c.stack[:0]
	for field := range bytes.SplitSeq(u.query, []byte{'&'}) {
		name, value, has := bytes.Cut(field, []byte{'='})
		c.decode(&name, true)
		c.encode(&name, lessQuerySet)
		c.decode(&value, true)
		c.encode(&value, lessQuerySet)
		if !has {
			value = nil
		} else if value == nil {
			value = []byte{}
		}
		c.stack = append(c.stack, name, value)
	}
	start := len(c.arena)
	for i := 0; i < len(c.stack); i += 2 {
		if i > 0 {
			c.arena = append(c.arena, '&')
		}
		c.arena = append(c.arena, c.stack[i]...)
		if value := c.stack[i+1]; value != nil {
			c.arena = append(append(c.arena, '='), value...)
		}
	}
	u.query = c.since(start)
}

func defaultScheme(c *canonicalizer) {
	u := &c.url
	if len(u.scheme) > 0 {
		return
	}
	u.scheme, u.colon = http, colon
	if len(u.path) > 0 {
		u.parsePathish(u.path)
	}
}

func collapseSlashes(c *canonicalizer) {
	if isSpecial(c.url.scheme) {
		c.drop(&c.url.path, func(before, b byte) bool { return before == '/' && b == '/' })
	}
}

// fixHostDots removes dots at the ends of the host, also before a newline at the
// end, and repeated dots.
func fixHostDots(c *canonicalizer) {
	u := &c.url
	u.host = bytes.TrimLeft(u.host, ".")
	if n := len(u.host); n > 0 && u.host[n-1] == '\n' {
		start := len(c.arena)
		c.arena = append(append(c.arena, bytes.TrimRight(u.host[:n-1], ".")...), '\n')
		u.host = c.since(start)
	}
	u.host = bytes.TrimRight(u.host, ".")
	c.drop(&u.host, func(before, b byte) bool { return before == '.' && b == '.' })
}

func sortQuery(c *canonicalizer) {
	u := &c.url
	if bytes.IndexByte(u.query, '&') < 0 {
		return
	}
	start := len(c.arena)
	c.arena, c.stack = peer.AppendSorted(c.arena, u.query, c.stack, bytes.Compare)
	u.query = c.since(start)
}
