// Package urlcanon reproduces urlcanon 0.3.1, the URL canonicalization library
// of web archives, as it works on Python 3.11.
package urlcanon

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// A parsed holds the parts of a URL, urlcanon.ParsedUrl. Each part is a slice
// of the input or of scratch memory. Joined in order, they give the URL.
type parsed struct {
	leading, scheme, colon, slashes             []byte
	username, colonPassword, password, at, host []byte
	colonPort, port                             []byte
	path, questionMark, query                   []byte
	hash, fragment, trailing                    []byte

	ip ipAddress // address of the host when it was parsed
}

// parts returns pointers to all parts, in the order of the URL.
func (u *parsed) parts() [17]*[]byte {
	return [...]*[]byte{
		&u.leading, &u.scheme, &u.colon, &u.slashes, &u.username, &u.colonPassword, &u.password, &u.at, &u.host,
		&u.colonPort, &u.port, &u.path, &u.questionMark, &u.query, &u.hash, &u.fragment, &u.trailing,
	}
}

// appendTo appends the URL.
func (u *parsed) appendTo(dst []byte) []byte {
	for _, p := range u.parts() {
		dst = append(dst, *p...)
	}
	return dst
}

// parse sets u to the parts of src, as urlcanon.parse_url does.
func (u *parsed) parse(src []byte) {
	*u = parsed{}
	start := 0
	for start < len(src) && src[start] <= ' ' {
		start++
	}
	end := len(src)
	for end > start && src[end-1] <= ' ' {
		end--
	}
	u.leading, u.trailing = src[:start], src[end:]
	rest := src[start:end]
	// The scheme may contain any byte: the first ':' ends it, even one after a
	// '?' or '#'.
	if len(rest) > 0 && ascii.IsAlpha(rest[0]) {
		if i := bytes.IndexByte(rest, ':'); i >= 0 {
			u.scheme, u.colon, rest = rest[:i], rest[i:i+1], rest[i+1:]
		}
	}
	if i := bytes.IndexByte(rest, '#'); i >= 0 {
		rest, u.hash, u.fragment = rest[:i], rest[i:i+1], rest[i+1:]
	}
	if i := bytes.IndexByte(rest, '?'); i >= 0 {
		rest, u.questionMark, u.query = rest[:i], rest[i:i+1], rest[i+1:]
	}
	if len(rest) > 0 {
		u.parsePathish(rest)
	}
}

// parsePathish sets the authority and the path, as parse_pathish does.
func (u *parsed) parsePathish(text []byte) {
	var scheme [len("gopher") + 1]byte // longer schemes are not special
	clean := appendScheme(scheme[:0], u.scheme)
	n := 0
	switch {
	case string(clean) == "file":
		n = twoSlashes(text, true)
	case isSpecial(clean):
		n = 0
		for n < len(text) && (isSlash(text[n]) || isTabOrNewline(text[n])) {
			n++
		}
	default:
		n = twoSlashes(text, false)
	}
	if n < 0 {
		u.path = text
		return
	}
	special := isSpecial(clean)
	end := n
	for end < len(text) && text[end] != '/' && (text[end] != '\\' || !special) {
		end++
	}
	u.slashes, u.path = text[:n], text[end:]
	if string(clean) == "file" {
		u.host = text[n:end]
		return
	}
	u.parseAuthority(text[n:end])
}

// twoSlashes returns the offset after two slashes at the start of text, with
// tabs and newlines around them, or -1. Backslashes count if back is set.
func twoSlashes(text []byte, back bool) int {
	i, seen := 0, 0
	for i < len(text) {
		switch c := text[i]; {
		case isTabOrNewline(c):
		case seen < 2 && (c == '/' || back && c == '\\'):
			seen++
		default:
			if seen < 2 {
				return -1
			}
			return i
		}
		i++
	}
	if seen < 2 {
		return -1
	}
	return i
}

// parseAuthority sets userinfo, host, port and the IP address of the host. The
// password ends at the last '@', the user name at the first ':' before that.
func (u *parsed) parseAuthority(text []byte) {
	colon := bytes.IndexByte(text, ':')
	u.username, u.colonPassword, u.password, u.at = nil, nil, nil, nil
	if at := bytes.LastIndexByte(text, '@'); at >= 0 {
		u.username, u.at = text[:at], text[at:at+1]
		if colon >= 0 && colon < at {
			u.username, u.colonPassword, u.password = text[:colon], text[colon:colon+1], text[colon+1:at]
		}
		text = text[at+1:]
	}
	end := bytes.IndexByte(text, ':')
	if len(text) > 0 && text[0] == '[' {
		if i := bytes.IndexByte(text, ']'); i >= 0 && (i+1 == len(text) || text[i+1] == ':') {
			end = i + 1
			if end == len(text) {
				end = -1
			}
		}
	}
	u.host, u.colonPort, u.port = text, nil, nil
	if end >= 0 {
		u.host, u.colonPort, u.port = text[:end], text[end:end+1], text[end+1:]
	}
	u.ip = parseIP(u.host)
}

// appendScheme appends a scheme in lower case without tabs and newlines. It
// stops when dst is full: no special scheme is that long.
func appendScheme(dst, scheme []byte) []byte {
	for _, c := range scheme {
		if isTabOrNewline(c) {
			continue
		}
		if len(dst) == cap(dst) {
			break
		}
		dst = append(dst, ascii.Lower(c))
	}
	return dst
}

// defaultPort returns the default port of a special scheme.
func defaultPort(scheme []byte) (port string, special bool) {
	switch string(scheme) {
	case "ftp":
		return "21", true
	case "gopher":
		return "70", true
	case "http", "ws":
		return "80", true
	case "https", "wss":
		return "443", true
	case "file":
		return "", true
	}
	return "", false
}

// isSpecial reports whether a lower-case scheme is special.
func isSpecial(scheme []byte) bool {
	_, special := defaultPort(scheme)
	return special
}

func isSlash(c byte) bool        { return c == '/' || c == '\\' }
func isTabOrNewline(c byte) bool { return c == '\t' || c == '\n' || c == '\r' }
