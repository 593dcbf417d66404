// Package surt reproduces surt.surt of surt 0.3.1, which computes the keys of
// web archives (CDX), with its default options, on Python 3.11. This package
// uses no DNS: where the program asks the resolver for a number that is not
// an IPv4 address, the host stays.
//
// The bugs of the program:
//
//   - "example.com:80/x" has the scheme example.com;
//   - a port 0 disappears, and any other invalid port is an error;
//   - brackets of IPv6 addresses disappear;
//   - ".." above the root stays;
//   - a number as host wraps at 32 bits;
//   - session ids are found anywhere, as in "?classid=" with 32 characters;
//   - escapes are decoded before the query is split, so "%26" separates fields.
package surt

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/ip"
	"github.com/urlfold/urlfold/codec/internal/peer"
	"github.com/urlfold/urlfold/codec/internal/peer/python"
)

// New returns a canonicalizer.
func New() peer.Canonicalizer { return new(canonicalizer) }

// A canonicalizer holds the parts of a handyurl. A nil part is None.
type canonicalizer struct {
	scheme, host, path, query []byte
	port                      int // 0: none
	text, hostBuf, pathBuf    []byte
	queryBuf, normal, spare   []byte
	fields                    [][]byte
}

// Append implements [peer.Canonicalizer].
func (c *canonicalizer) Append(dst, src []byte, t peer.Trace) ([]byte, bool) {
	start := len(dst)
	switch {
	case len(src) == 0:
		dst = append(dst, '-')
	case bytes.HasPrefix(src, []byte("filedesc")):
		return append(dst, src...), true
	case !c.parse(src):
		return dst, false
	default:
		if !c.google() {
			return dst, false
		}
		if t != nil {
			google := c.appendTo(nil)
			t.Step("GoogleURLCanonicalizer", src, google)
			src = google
		}
		c.archive()
		dst = c.appendTo(dst)
	}
	t.Step("IAURLCanonicalizer", src, dst[start:])
	return dst, true
}

// parse sets the parts as handyurl.parse does.
func (c *canonicalizer) parse(src []byte) bool {
	src = bytes.TrimFunc(src, func(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' })
	if len(src) == 0 {
		return false
	}
	c.spare = c.spare[:0]
	for _, b := range src {
		if b != '\n' && b != '\r' && b != '\t' {
			c.spare = append(c.spare, b)
		}
	}
	c.text = c.text[:0]
	if ascii.SchemeEnd(c.spare) == 0 {
		c.text = append(c.text, "http://"...)
	}
	c.text = append(c.text, c.spare...)
	return c.split(lastProtocol(c.text))
}

// lastProtocol drops all but the last of repeated "http://" and "https://".
func lastProtocol(text []byte) []byte {
	for {
		n := protocol(text)
		if n == 0 || protocol(text[n:]) == 0 {
			return text
		}
		text = text[n:]
	}
}

func protocol(text []byte) int {
	for _, p := range []string{"http://", "https://"} {
		if bytes.HasPrefix(text, []byte(p)) {
			return len(p)
		}
	}
	return 0
}

// split sets the parts of a URL with a scheme.
func (c *canonicalizer) split(text []byte) bool {
	n := ascii.SchemeEnd(text)
	c.scheme, text = text[:n], text[n+1:]
	if i := bytes.IndexByte(text, '#'); i >= 0 {
		text = text[:i]
	}
	text, c.query, _ = bytes.Cut(text, []byte{'?'})
	c.path = text
	var netloc []byte
	if bytes.HasPrefix(text, []byte("//")) {
		end := 2
		for end < len(text) && text[end] != '/' {
			end++
		}
		netloc, c.path = text[2:end], text[end:]
	}
	if !c.splitNetloc(bytes.TrimRight(netloc, ":")) {
		return false
	}
	if len(c.host) == 0 && len(c.path) > 0 && bytes.HasPrefix(c.scheme, []byte("http")) {
		host, rest, _ := bytes.Cut(bytes.TrimLeft(c.path, "/"), []byte{'/'})
		c.host = host
		c.pathBuf = append(append(c.pathBuf[:0], '/'), rest...)
		c.path = c.pathBuf
	}
	return true
}

// splitNetloc sets host and port. It returns false if the port is invalid.
func (c *canonicalizer) splitNetloc(netloc []byte) bool {
	netloc = netloc[bytes.LastIndexByte(netloc, '@')+1:]
	_, bracketed, open := bytes.Cut(netloc, []byte{'['})
	host, port, hasPort := bytes.Cut(netloc, []byte{':'})
	if open {
		host, port, _ = bytes.Cut(bracketed, []byte{']'})
		_, port, hasPort = bytes.Cut(port, []byte{':'})
	}
	name, zone, zoned := bytes.Cut(host, []byte{'%'})
	c.hostBuf = ascii.AppendLower(c.hostBuf[:0], name)
	if zoned {
		c.hostBuf = append(append(c.hostBuf, '%'), zone...)
	}
	c.host, c.port = c.hostBuf, 0
	if !hasPort {
		return true
	}
	for _, b := range port {
		if b < '0' || b > '9' {
			return false
		}
		c.port = min(c.port*10+int(b-'0'), 1<<16)
	}
	return len(port) > 0 && len(port) <= maxDigits && c.port < 1<<16
}

// maxDigits is the number of digits above which int raises an error.
const maxDigits = 4300

// google applies GoogleURLCanonicalizer. It returns false if the program raises
// an error.
func (c *canonicalizer) google() bool {
	if len(c.query) > 0 {
		c.queryBuf = peer.AppendGoogle(c.queryBuf[:0], c.unescape(c.query))
		c.query = c.queryBuf
	}
	hasHost := len(c.host) > 0
	if hasHost && !c.googleHost() {
		return false
	}
	c.path = c.unescape(c.path)
	if len(c.host) > 0 {
		c.path = c.normalPath(c.path)
	}
	c.pathBuf = peer.AppendGoogle(c.pathBuf[:0], c.path)
	c.path = c.pathBuf
	return true
}

// unescape decodes the escapes of text until nothing changes. The result is
// valid until the next call.
func (c *canonicalizer) unescape(text []byte) []byte {
	c.spare = ascii.AppendAllUnescaped(c.spare[:0], text)
	return c.spare
}

func (c *canonicalizer) googleHost() bool {
	host := c.unescape(c.host)
	if !ascii.Only(host) {
		var text []rune
		for rest := host; len(rest) > 0; {
			r, n := utf8.DecodeRune(rest)
			if r != utf8.RuneError || n > 1 {
				text = append(text, r)
			}
			rest = rest[n:]
		}
		if ascii, ok := python.AppendIDNA(nil, text); ok {
			host = ascii
		}
	}
	c.hostBuf = c.hostBuf[:0]
	for i := 0; i < len(host); i++ { // one pass: "..." becomes ".."
		c.hostBuf = append(c.hostBuf, host[i])
		if host[i] == '.' && i+1 < len(host) && host[i+1] == '.' {
			i++
		}
	}
	host = bytes.Trim(c.hostBuf, ".")
	address, kind := parseIP(host)
	switch kind {
	case invalidNumber:
		return false
	case isIP:
		c.host = ip.AppendV4(c.hostBuf[:0], address)
	default:
		c.spare = ascii.AppendLower(c.spare[:0], host)
		c.host = peer.AppendGoogle(c.hostBuf[:0], c.spare)
	}
	c.hostBuf = c.host
	return true
}

// normalPath returns a path without dot and empty segments.
func (c *canonicalizer) normalPath(path []byte) []byte {
	c.fields = c.fields[:0]
	_, rest, more := bytes.Cut(path, slash)
	for more {
		var segment []byte
		segment, rest, more = bytes.Cut(rest, slash)
		switch string(segment) {
		case ".":
		case "..":
			if n := len(c.fields); n > 0 {
				c.fields = c.fields[:n-1]
			} else {
				c.fields = append(c.fields, segment)
			}
		default:
			c.fields = append(c.fields, segment)
		}
	}
	c.normal = append(c.normal[:0], '/')
	for i, segment := range c.fields {
		c.normal = append(c.normal, segment...)
		if i < len(c.fields)-1 && len(segment) > 0 {
			c.normal = append(c.normal, '/')
		}
	}
	return c.normal
}

var slash = []byte{'/'}

// archive applies IAURLCanonicalizer.
func (c *canonicalizer) archive() {
	ascii.LowerInPlace(c.host)
	if string(c.scheme) != "dns" {
		c.host = c.host[peer.WWW(c.host):]
	}
	if c.port == defaultPort(c.scheme) {
		c.port = 0
	}
	ascii.LowerInPlace(c.path)
	c.path = stripPathSession(c.path)
	if n := len(c.path); n > 1 && c.path[n-1] == '/' {
		c.path = c.path[:n-1]
	}
	if len(c.query) > 0 {
		c.query = stripQuerySessions(c.query)
		ascii.LowerInPlace(c.query)
		c.sortQuery()
	}
}

func defaultPort(scheme []byte) int {
	switch {
	case bytes.EqualFold(scheme, []byte("http")):
		return 80
	case bytes.EqualFold(scheme, []byte("https")):
		return 443
	}
	return 0
}

// sortQuery sorts the fields of the query by name, and then by value. A field
// without '=' comes first.
func (c *canonicalizer) sortQuery() {
	if len(c.query) <= 1 {
		return
	}
	c.spare, c.fields = peer.AppendSorted(c.spare[:0], c.query, c.fields, func(a, b []byte) int {
		nameA, valueA, hasA := bytes.Cut(a, []byte{'='})
		nameB, valueB, hasB := bytes.Cut(b, []byte{'='})
		switch order := bytes.Compare(nameA, nameB); {
		case order != 0:
			return order
		case hasA != hasB && hasB:
			return -1
		case hasA != hasB:
			return 1
		}
		return bytes.Compare(valueA, valueB)
	})
	c.query = c.spare
}

// appendTo appends the SURT.
func (c *canonicalizer) appendTo(dst []byte) []byte {
	if len(c.host) == 0 {
		dst = append(append(dst, c.scheme...), ':')
	} else {
		for rest := c.host; ; {
			i := bytes.LastIndexByte(rest, '.')
			dst = append(dst, rest[i+1:]...)
			if i < 0 {
				break
			}
			dst, rest = append(dst, ','), rest[:i]
		}
		if c.port != 0 {
			dst = strconv.AppendInt(append(dst, ':'), int64(c.port), 10)
		}
		dst = append(dst, ')')
	}
	if len(c.path) > 0 {
		dst = append(dst, c.path...)
	} else if len(c.query) > 0 {
		dst = append(dst, '/')
	}
	if len(c.query) > 0 {
		dst = append(append(dst, '?'), c.query...)
	}
	return dst
}
