// Package gsb canonicalizes URLs as Google Safe Browsing specifies it, for the
// versions 4 and 5 of its protocol:
// https://developers.google.com/safe-browsing/v4/urls-hashing and
// https://developers.google.com/safe-browsing/reference/URLs.and.Hashing.
//
// There is no program to compare with: clients of version 5 are parts of
// browsers. The specification leaves open what is not a URL. This package
// decides:
//
//   - White space at both ends is removed. A URL without a scheme is an http URL.
//     A colon before a port ends no scheme.
//   - A scheme must be followed by "//". Userinfo and port are removed, and the
//     host must not be empty.
//   - The host is found after the escapes are decoded, as the order of the steps
//     in the specification requires: an escaped '/' or '@' is a delimiter.
//   - The name of an internationalized host is converted by UTS 46, as the URL
//     Standard does. If that fails, its bytes are escaped.
//   - A host with a number too large for an IPv4 address is a name.
//   - "/.." and "/." at the end of the path are resolved as if a slash followed.
package gsb

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/idna"
	"github.com/urlfold/urlfold/codec/internal/ip"
	"github.com/urlfold/urlfold/codec/internal/peer"
)

// A canonicalizer keeps its buffers between calls.
type canonicalizer struct {
	version int

	text  []byte   // the URL without escapes
	round []uint16 // in which round of decoding each byte of text appeared
	name  []byte   // the host in ASCII
	host  []byte
	path  []byte
}

// NewV4 returns a canonicalizer by the specification of version 4.
func NewV4() peer.Canonicalizer { return &canonicalizer{version: 4} }

// NewV5 returns a canonicalizer by the specification of version 5, which
// differs in IPv6 addresses.
func NewV5() peer.Canonicalizer { return &canonicalizer{version: 5} }

// Append implements peer.Canonicalizer. It returns false if src has no host, or
// more than 1,023 layers of percent-encoding.
func (c *canonicalizer) Append(dst, src []byte, t peer.Trace) ([]byte, bool) {
	chain := t.From(src)
	src, _, _ = bytes.Cut(src, []byte("#"))
	src = bytes.Trim(src, " \t\n\v\f\r")
	if !c.unescape(src) {
		return dst, false
	}
	chain.Step("unescape", c.text)
	scheme, rest, ok := splitScheme(c.text)
	if !ok {
		return dst, false
	}
	rest, query, hasQuery := bytes.Cut(rest, []byte("?"))
	authority, path := rest, []byte(nil)
	if i := bytes.IndexByte(rest, '/'); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if !c.setHost(hostOf(authority)) {
		return dst, false
	}
	c.setPath(path)
	if len(scheme) == 0 {
		scheme = []byte("http")
	}
	start := len(dst)
	dst = append(ascii.AppendLower(dst, scheme), "://"...)
	dst = peer.AppendGoogle(dst, c.host)
	dst = peer.AppendGoogle(dst, c.path)
	if hasQuery {
		dst = peer.AppendGoogle(append(dst, '?'), query)
	}
	chain.Step("canonicalize", dst[start:])
	return dst, true
}

// maxRounds is the number of rounds of decoding after which a URL is rejected. The last
// round changes nothing.
const maxRounds = 1024

// unescape sets c.text to text without tabs and line ends, decoded until no
// escape remains. It returns false if that takes more than maxRounds rounds.
//
// It decodes all rounds in one pass: escapes do not overlap, so the result does
// not depend on the order, and an escape is decoded one round after its last
// character appeared.
func (c *canonicalizer) unescape(text []byte) bool {
	c.text, c.round = c.text[:0], c.round[:0]
	for _, b := range text {
		if b == '\t' || b == '\n' || b == '\r' {
			continue
		}
		c.text, c.round = append(c.text, b), append(c.round, 0)
		for n := len(c.text) - 3; n >= 0 && ascii.IsEscape(c.text[n:]); n = len(c.text) - 3 {
			c.text[n], _ = ascii.Unescape(c.text[n:])
			c.round[n] = max(c.round[n], c.round[n+1], c.round[n+2]) + 1
			if c.round[n] >= maxRounds {
				return false
			}
			c.text, c.round = c.text[:n+1], c.round[:n+1]
		}
	}
	return true
}

// splitScheme cuts the scheme and its slashes. scheme is empty if text has no
// scheme.
func splitScheme(text []byte) (scheme, rest []byte, ok bool) {
	n := ascii.SchemeEnd(text)
	if n == 0 || startsWithPort(text[n:]) {
		return nil, text, true
	}
	rest, ok = bytes.CutPrefix(text[n+1:], []byte("//"))
	return text[:n], rest, ok
}

// startsWithPort reports whether text, which starts with a colon, continues with
// only digits up to a slash or the end of text.
func startsWithPort(text []byte) bool {
	port, _, _ := bytes.Cut(text[1:], []byte("/"))
	for _, c := range port {
		if !ascii.IsDigit(c) {
			return false
		}
	}
	return len(port) > 0
}

// hostOf returns the host of an authority: without userinfo and port.
func hostOf(authority []byte) []byte {
	host := authority[bytes.LastIndexByte(authority, '@')+1:]
	end := len(host)
	for end > 0 && ascii.IsDigit(host[end-1]) {
		end--
	}
	if end > 0 && host[end-1] == ':' {
		host = host[:end-1]
	}
	return host
}

// setHost sets the canonical host. It returns false if the host is empty.
func (c *canonicalizer) setHost(host []byte) bool {
	host = bytes.Trim(c.nameOf(host), ".")
	c.host = c.host[:0]
	for _, b := range host {
		if b != '.' || c.host[len(c.host)-1] != '.' {
			c.host = append(c.host, ascii.Lower(b))
		}
	}
	if address, ok := parseIPv4(c.host); ok {
		c.host = ip.AppendV4(c.host[:0], address)
	} else if n := len(c.host); n > 2 && c.host[0] == '[' && c.host[n-1] == ']' && c.version >= 5 {
		if groups, ok := ip.ParseV6(c.host[1 : n-1]); ok {
			c.host = appendIPv6(c.host[:0], groups)
		}
	}
	return len(c.host) > 0
}

// nameOf returns the ASCII form of a host that contains other bytes, or the host
// itself if all are ASCII.
func (c *canonicalizer) nameOf(host []byte) []byte {
	if ascii.Only(host) {
		return host
	}
	name, err := idna.AppendASCII(c.name[:0], host)
	if err != nil {
		return host
	}
	c.name = name
	return name
}

// setPath sets the canonical path: dot segments are resolved first, and repeated
// slashes removed afterwards, in this order.
func (c *canonicalizer) setPath(path []byte) {
	out := append(c.path[:0], '/')
	for rest, more := path, len(path) > 0; more; {
		var segment []byte
		rest = rest[1:] // skip the slash
		segment, _, more = bytes.Cut(rest, []byte("/"))
		rest = rest[len(segment):]
		switch string(segment) {
		case ".":
		case "..":
			if len(out) > 1 {
				out = out[:bytes.LastIndexByte(out[:len(out)-1], '/')+1]
			}
		default:
			out = append(out, segment...)
			if more {
				out = append(out, '/')
			}
		}
	}
	c.path = out[:1]
	for _, b := range out[1:] {
		if b != '/' || c.path[len(c.path)-1] != '/' {
			c.path = append(c.path, b)
		}
	}
}
