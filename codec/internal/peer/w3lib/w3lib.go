// Package w3lib reproduces canonicalize_url of w3lib 2.5.0, the URL library of
// Scrapy, with its default arguments, as it works on Python 3.11.
//
// The result differs from the URL Standard and from RFC 3986 in these ways:
//
//   - default ports stay: http://h:80/ keeps its port;
//   - "?a" becomes "?a=", and "?" and "#" disappear;
//   - '*' in a query is escaped, and "[]|" in a path are not;
//   - params (after a ';' in the last segment) keep their escapes and dots;
//   - an IPvFuture literal without ':' loses its brackets;
//   - a host that IDNA2003 rejects stays raw, in UTF-8 and lower case;
//   - a URL without a scheme and a path gets the path "/".
package w3lib

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/idna2003"
	"github.com/urlfold/urlfold/codec/internal/peer"
	"github.com/urlfold/urlfold/codec/internal/peer/python"
)

// New returns a canonicalizer.
func New() peer.Canonicalizer { return new(canonicalizer) }

type canonicalizer struct {
	text, host, netloc, path, params, query, spare []byte
	pairs                                          []pair
}

// A pair is a decoded parameter.
type pair struct{ name, value []byte }

// Append implements [peer.Canonicalizer].
func (c *canonicalizer) Append(dst, src []byte, t peer.Trace) ([]byte, bool) {
	c.text = appendText(c.text[:0], src)
	u, ok := splitURL(c.text, &c.host)
	if !ok || !c.safeSplit(&u) {
		return dst, false
	}
	if t != nil {
		safe := appendUnsplit(nil, u.scheme, c.netloc, slices.Concat(c.path, c.params), c.query)
		t.Step("safe_url_string", src, safe)
		src = safe
	}
	c.sortQuery()
	c.requotePath()
	c.netloc = lowerHost(c.netloc, &c.spare)
	start := len(dst)
	if len(c.params) == 1 {
		c.params = c.params[:0] // the parameters consist of the ';' only
	}
	c.path = append(c.path, c.params...)
	dst = appendUnsplit(dst, u.scheme, c.netloc, c.path, c.query)
	t.Step("canonicalize_url", src, dst[start:])
	return dst, true
}

// appendText appends src as text: a byte that is not part of UTF-8 becomes an
// escape. Controls and spaces at the ends, tabs and newlines are removed.
func appendText(dst, src []byte) []byte {
	src = bytes.TrimFunc(src, func(r rune) bool { return r <= ' ' })
	for i := 0; i < len(src); {
		b := src[i]
		if b < utf8.RuneSelf {
			if b != '\t' && b != '\n' && b != '\r' {
				dst = append(dst, b)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			dst = ascii.AppendEscape(dst, b)
		} else {
			dst = append(dst, src[i:i+n]...)
		}
		i += n
	}
	return dst
}

// safeSplit sets the components as _safe_url_split does. params is the ';' of
// the last segment and what follows it. It returns false if the program raises
// an error.
func (c *canonicalizer) safeSplit(u *splitResult) bool {
	c.netloc = c.netloc[:0]
	if u.hasUser {
		c.netloc = ascii.AppendEscaped(c.netloc, c.unquote(u.username), userinfoSafe)
		if u.hasPassword {
			c.netloc = append(c.netloc, ':')
			c.netloc = ascii.AppendEscaped(c.netloc, c.unquote(u.password), userinfoSafe)
		}
		c.netloc = append(c.netloc, '@')
	}
	if !c.appendHost(u.hostname) {
		return false
	}
	if u.hasPort {
		c.netloc = strconv.AppendUint(append(c.netloc, ':'), uint64(u.port), 10)
	}
	c.path = ascii.AppendEscaped(c.path[:0], u.path, pathSafe)
	safe := pathSafe
	if isSpecial(u.scheme) {
		safe = specialQuerySafe
	}
	c.query = ascii.AppendEscaped(c.query[:0], u.query, safe)
	if len(c.path) == 0 && len(c.query) > 0 && isSpecial(u.scheme) {
		c.path = append(c.path, '/')
	}
	c.params = c.params[:0]
	if usesParams(u.scheme) {
		last := bytes.LastIndexByte(c.path, '/') + 1
		if i := bytes.IndexByte(c.path[last:], ';'); i >= 0 {
			c.params = append(c.params, c.path[last+i:]...)
			c.path = c.path[:last+i]
		}
	}
	return true
}

func (c *canonicalizer) unquote(text []byte) []byte {
	c.spare = ascii.AppendUnescaped(c.spare[:0], text)
	return c.spare
}

// appendHost appends the host to the netloc.
func (c *canonicalizer) appendHost(host []byte) bool {
	if bytes.IndexByte(host, ':') >= 0 {
		c.netloc = append(append(append(c.netloc, '['), host...), ']')
		return ascii.Only(host)
	}
	if ascii.Only(host) {
		c.netloc = append(c.netloc, host...)
		return true
	}
	text := idna2003.AppendNFKC(nil, stripped(host))
	out, ok := python.AppendIDNA(c.netloc, text)
	if !ok {
		out = append(c.netloc, host...)
	}
	c.netloc = out
	return true
}

// sortQuery sorts the parameters and encodes them in one way.
func (c *canonicalizer) sortQuery() {
	c.pairs, c.spare = c.pairs[:0], slices.Grow(c.spare[:0], len(c.query)) // pairs keep slices of spare
	for field := range bytes.SplitSeq(c.query, ampersand) {
		if len(field) == 0 {
			continue
		}
		name, value, _ := bytes.Cut(field, equals)
		var p pair
		p.name, c.spare = decoded(c.spare, name)
		p.value, c.spare = decoded(c.spare, value)
		c.pairs = append(c.pairs, p)
	}
	slices.SortFunc(c.pairs, func(a, b pair) int {
		if order := bytes.Compare(a.name, b.name); order != 0 {
			return order
		}
		return bytes.Compare(a.value, b.value)
	})
	c.query = c.query[:0]
	for i, p := range c.pairs {
		if i > 0 {
			c.query = append(c.query, '&')
		}
		c.query = append(ascii.AppendForm(c.query, p.name), '=')
		c.query = ascii.AppendForm(c.query, p.value)
	}
}

var ampersand, equals = []byte{'&'}, []byte{'='}

// decoded appends the decoded text to buf, with '+' as a space, and returns it and buf.
func decoded(buf, text []byte) (out, grown []byte) {
	start := len(buf)
	for len(text) > 0 {
		c, n := ascii.Unescape(text)
		if text[0] == '+' {
			c = ' '
		}
		buf, text = append(buf, c), text[n:]
	}
	return buf[start:], buf
}

// requotePath decodes all escapes of the path but four, encodes it again, and
// removes dot segments.
func (c *canonicalizer) requotePath() {
	if len(c.path) == 0 {
		c.path = append(c.path, '/')
		return
	}
	c.spare = c.spare[:0]
	for rest := c.path; len(rest) > 0; {
		b, n := ascii.Unescape(rest)
		if n > 1 && (b == '%' || b == '/' || b == ';' || b == '?') {
			c.spare = ascii.AppendEscape(c.spare, b)
		} else {
			c.spare = append(c.spare, b)
		}
		rest = rest[n:]
	}
	c.path = ascii.AppendEscaped(c.path[:0], c.spare, rawPathSafe)
	if c.path[0] == '/' {
		c.path = removeDots(c.path)
	}
}

// removeDots removes dot segments in place. The path starts with '/'.
func removeDots(path []byte) []byte {
	if !bytes.Contains(path, []byte("/.")) {
		return path
	}
	out := path[:0] // the output is never longer than the input read so far
	for rest, more := path[1:], true; more; {
		var segment []byte
		segment, rest, more = bytes.Cut(rest, []byte{'/'})
		switch string(segment) {
		case "..":
			out = out[:max(0, bytes.LastIndexByte(out, '/'))]
			fallthrough
		case ".":
			if !more {
				out = append(out, '/')
			}
		default:
			out = append(append(out, '/'), segment...)
		}
	}
	return out
}

// lowerHost lowers the case of the host of a netloc and shortens an IPv6
// address.
func lowerHost(netloc []byte, spare *[]byte) []byte {
	host := bytes.LastIndexByte(netloc, '@') + 1
	*spare = python.AppendLower((*spare)[:0], netloc[host:])
	netloc = append(netloc[:host], bytes.TrimSuffix(*spare, []byte{':'})...)
	start := bytes.IndexByte(netloc, '[')
	if start < 0 {
		return netloc
	}
	n := bytes.IndexByte(netloc[start:], ']')
	if n < 0 {
		return netloc
	}
	text := append((*spare)[:0], netloc[start:]...)
	*spare = text
	ip, ok := python.ParseIPv6(text[1:n])
	if !ok {
		return netloc
	}
	return append(ip.AppendTo(netloc[:start+1]), text[n:]...)
}

// appendUnsplit joins components as urlunsplit does.
func appendUnsplit(dst, scheme, netloc, path, query []byte) []byte {
	if len(scheme) > 0 {
		dst = append(append(dst, scheme...), ':')
	}
	rooted := len(path) > 0 && path[0] == '/'
	switch {
	case len(netloc) > 0:
		dst = append(append(dst, "//"...), netloc...)
		if len(path) > 0 && !rooted {
			dst = append(dst, '/')
		}
	case len(path) > 1 && rooted && path[1] == '/', usesNetloc(scheme) && (len(path) == 0 || rooted):
		dst = append(dst, "//"...)
	}
	dst = append(dst, path...)
	if len(query) > 0 {
		dst = append(append(dst, '?'), query...)
	}
	return dst
}
