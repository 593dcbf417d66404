// Package crawlercommons normalizes URLs as the BasicURLNormalizer of
// crawler-commons 1.6 does on Java 17, byte for byte, including its bugs. The
// normalizer has its default settings: it removes no parameter and writes
// internationalized hosts in Punycode.
//
// Java strings are sequences of characters, so the input is decoded as UTF-8
// first, with U+FFFD for malformed bytes, as new String(bytes, UTF_8) does it.
//
// The files follow the classes that the normalizer uses: uri.go is the grammar
// of java.net.URI, url.go the grammar of java.net.URL, host.go java.net.IDN and
// URLDecoder.
package crawlercommons

import (
	"bytes"
	"strconv"

	"github.com/urlfold/urlfold/codec/internal/peer"
)

// A normalizer keeps its buffers between calls.
type normalizer struct {
	escaped []byte // the input, escaped
	prefix  []byte // the input after "http://"
	host    hostBuffers
	file    []byte // path and query
	spare   []byte
	whole   []byte // the URL put together
	fields  []field
	starts  []int
}

// New returns a normalizer.
func New() peer.Canonicalizer { return &normalizer{} }

// Append implements peer.Canonicalizer. It returns false where filter returns
// null or throws an exception.
func (n *normalizer) Append(dst, src []byte, t peer.Trace) ([]byte, bool) {
	if len(src) == 0 {
		return dst, true
	}
	chain := t.From(src)
	n.escaped = appendEscaped(n.escaped[:0], trim(src))
	chain.Step("escape", n.escaped)
	u, ok := n.parse(n.escaped)
	if !ok {
		return dst, false
	}
	out, ok := n.normalize(&u, &chain)
	return append(dst, out...), ok
}

// trim cuts spaces and controls at both ends, and the fragment.
func trim(src []byte) []byte {
	src = bytes.TrimFunc(src, func(r rune) bool { return r <= ' ' })
	src, _, _ = bytes.Cut(src, []byte("#"))
	return src
}

// parse parses text as a URL. If that fails and text has no scheme, it parses
// "http://" followed by text.
func (n *normalizer) parse(text []byte) (u javaURL, ok bool) {
	if u, ok = toURL(text); ok {
		return u, true
	}
	if hasScheme(text) {
		return u, false
	}
	n.prefix = append(append(n.prefix[:0], "http://"...), text...)
	return toURL(n.prefix)
}

// hasScheme reports whether text starts with a scheme, a colon and a slash.
func hasScheme(text []byte) bool {
	scheme, rest, ok := bytes.Cut(text, []byte(":"))
	return ok && isScheme(scheme) && bytes.HasPrefix(rest, []byte("/"))
}

// normalize is the rest of filter. It follows the order of filter, because
// the results depend on when something counts as changed.
func (n *normalizer) normalize(u *javaURL, chain *peer.Chain) (out []byte, ok bool) {
	// If the input has no scheme, this compares the host with "http", as
	// crawler-commons does.
	changed := !bytes.HasPrefix(n.escaped, u.protocol)
	normalizePath, ok := n.normalizeServer(u, &changed)
	if !ok {
		return nil, false
	}
	chain.Step("scheme-host-port", n.join(u))
	file, ok := n.normalizeFile(u.file)
	if !ok {
		return nil, false
	}
	changed = changed || !bytes.Equal(file, u.file)
	u.file = file
	chain.Step("escapes-and-query", n.join(u))
	if normalizePath {
		text := n.escaped
		if changed {
			text = n.join(u)
		}
		if file, ok = n.normalizePath(text); !ok {
			return nil, false
		}
		changed = changed || !bytes.Equal(file, u.file)
		u.file = file
	}
	if changed {
		v, ok := toURL(n.join(u))
		if !ok {
			return nil, false
		}
		n.escaped = v.appendTo(n.escaped[:0])
	}
	chain.Step("dot-segments-and-slashes", n.escaped)
	return n.escaped, true
}

// normalizeServer normalizes host, port and the start of the path, and reports
// whether the path is to be normalized, which is never the case for a path that
// had to be completed.
func (n *normalizer) normalizeServer(u *javaURL, changed *bool) (path, ok bool) {
	defaultPort := defaultPorts[string(u.protocol)]
	if defaultPort == 0 {
		return string(u.protocol) == "file", true
	}
	if u.hasAuthority {
		if u.host, ok = n.host.normalize(u.host); !ok {
			return false, false
		}
		*changed = *changed || !bytes.Equal(u.host, u.authority)
	} else {
		*changed = true
	}
	if u.port == defaultPort {
		u.port, *changed = -1, true
	}
	if len(u.file) > 0 && u.file[0] == '/' {
		return true, true
	}
	n.file = append(append(n.file[:0], '/'), u.file...)
	u.file, *changed = n.file, true
	return false, true
}

// defaultPorts are the ports of the schemes that are normalized.
var defaultPorts = map[string]int{"http": 80, "https": 443, "ftp": 21}

// join puts a URL together.
func (n *normalizer) join(u *javaURL) []byte {
	n.whole = append(append(append(n.whole[:0], u.protocol...), "://"...), u.host...)
	if u.port != -1 {
		n.whole = strconv.AppendInt(append(n.whole, ':'), int64(u.port), 10)
	}
	n.whole = append(n.whole, u.file...)
	return n.whole
}
