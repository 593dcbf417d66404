package crawlercommons

import (
	"bytes"
	"math"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// A javaURL is what java.net.URL finds in a text.
type javaURL struct {
	protocol     []byte
	authority    []byte
	hasAuthority bool
	host         []byte
	port         int // -1: none
	file         []byte
	ref          []byte
	hasRef       bool
}

// protocols lists the protocols that Java supports without configuration.
var protocols = [][]byte{
	[]byte("http"), []byte("https"), []byte("ftp"), []byte("file"), []byte("jar"), []byte("mailto"), []byte("jrt"), []byte("jmod"),
}

// toURL is new URI(text).toURL().
func toURL(text []byte) (u javaURL, ok bool) {
	uri, ok := parseURI(text)
	if !ok || len(uri.scheme) == 0 {
		return u, false
	}
	return parseURL(text)
}

// parseURL is new URL(text). text has no space or control at its ends.
func parseURL(text []byte) (u javaURL, ok bool) {
	rest, prefixed := text, false
	if len(text) >= 4 && bytes.EqualFold(text[:4], []byte("url:")) {
		rest, prefixed = text[4:], true
	}
	i := bytes.IndexAny(rest, ":/")
	if i < 0 || rest[i] != ':' || !u.setProtocol(rest[:i]) {
		return u, false
	}
	rest, u.ref, u.hasRef = bytes.Cut(rest[i+1:], []byte("#"))
	u.port = -1
	switch string(u.protocol) {
	case "mailto":
		u.file, u.hasAuthority = rest, true
		return u, len(rest) > 0
	case "jar":
		u.file, u.hasAuthority = rest, true
		return u, !prefixed && isJar(rest)
	}
	return u, u.parse(rest)
}

// setProtocol sets the protocol in lower case, if it is a protocol of Java.
func (u *javaURL) setProtocol(text []byte) bool {
	for _, name := range protocols {
		if len(text) == len(name) && bytes.EqualFold(text, name) {
			u.protocol = name
			return true
		}
	}
	return false
}

// isJar reports whether text is a URL, "!/" and an entry.
func isJar(text []byte) bool {
	if len(text) >= 4 && bytes.EqualFold(text[:4], []byte("jar:")) {
		return false
	}
	bang := bytes.LastIndex(text, []byte("!/"))
	if bang < 0 {
		return false
	}
	_, ok := parseURL(text[:bang])
	return ok
}

// parse is URLStreamHandler.parseURL for a text without protocol and ref.
func (u *javaURL) parse(text []byte) bool {
	path, _, _ := bytes.Cut(text, []byte("?"))
	u.file = text
	if !bytes.HasPrefix(path, []byte("//")) || bytes.HasPrefix(path, []byte("////")) {
		return true
	}
	u.hasAuthority = true
	u.authority = path[2:]
	if i := bytes.IndexByte(u.authority, '/'); i >= 0 {
		u.authority = u.authority[:i]
	}
	u.file = text[2+len(u.authority):]
	return u.parseAuthority()
}

// parseAuthority sets host and port. Java finds neither if there are two '@'.
func (u *javaURL) parseAuthority() (ok bool) {
	u.host = u.authority
	if first := bytes.IndexByte(u.authority, '@'); first >= 0 {
		u.host = u.authority[first+1:]
		if bytes.IndexByte(u.host, '@') >= 0 {
			u.host = nil
			return true
		}
	}
	port := []byte(nil)
	if len(u.host) > 0 && u.host[0] == '[' { // java.net.URI has checked the address
		end := bytes.IndexByte(u.host, ']')
		u.host, port = u.host[:end+1], u.host[end+1:]
	} else if i := bytes.IndexByte(u.host, ':'); i >= 0 {
		u.host, port = u.host[:i], u.host[i:]
	}
	if len(port) < 2 {
		return true
	}
	u.port, ok = parseInt(port[1:])
	return ok && u.port >= -1
}

// parseInt is Integer.parseInt.
func parseInt(text []byte) (v int, ok bool) {
	digits, n := text, int64(0)
	if len(text) > 1 && (text[0] == '-' || text[0] == '+') {
		digits = text[1:]
	}
	for _, c := range digits {
		if n = n*10 + int64(c-'0'); !ascii.IsDigit(c) || n > math.MaxInt32+1 {
			return 0, false
		}
	}
	if len(digits) > 0 && text[0] == '-' {
		return int(-n), true
	}
	return int(n), len(digits) > 0 && n <= math.MaxInt32
}

// appendTo appends the URL as URL.toString writes it: without the slashes of an
// empty authority.
func (u *javaURL) appendTo(dst []byte) []byte {
	dst = append(append(dst, u.protocol...), ':')
	if len(u.authority) > 0 {
		dst = append(append(dst, "//"...), u.authority...)
	}
	dst = append(dst, u.file...)
	if u.hasRef {
		dst = append(append(dst, '#'), u.ref...)
	}
	return dst
}
