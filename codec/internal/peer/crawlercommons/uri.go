package crawlercommons

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// A javaURI is what java.net.URI finds in a text.
type javaURI struct {
	scheme   []byte
	opaque   bool // something other than a slash follows the scheme
	path     []byte
	query    []byte
	hasQuery bool
}

// parseURI parses a text of ASCII as the constructor of java.net.URI does.
func parseURI(text []byte) (u javaURI, ok bool) {
	rest, fragment, hasFragment := bytes.Cut(text, []byte("#"))
	if hasFragment && !only(fragment, uric) {
		return u, false
	}
	if i := bytes.IndexAny(rest, ":/?"); i >= 0 && rest[i] == ':' {
		u.scheme, rest = rest[:i], rest[i+1:]
		if !isScheme(u.scheme) {
			return u, false
		}
		if len(rest) == 0 || rest[0] != '/' {
			u.opaque = true
			return u, len(rest) > 0 && only(rest, uric)
		}
	}
	if authority, ok := bytes.CutPrefix(rest, []byte("//")); ok {
		end := bytes.IndexAny(authority, "/?")
		if end < 0 {
			end = len(authority)
		}
		if end == 0 && len(authority) == 0 && !hasFragment || !isAuthority(authority[:end]) {
			return u, false
		}
		rest = authority[end:]
	}
	u.path, u.query, u.hasQuery = bytes.Cut(rest, []byte("?"))
	return u, only(u.path, pathChar) && only(u.query, uric)
}

// only reports whether text consists of escapes and characters of a set.
func only(text []byte, allowed *ascii.Set) bool {
	for i := 0; i < len(text); i++ {
		if ascii.IsEscape(text[i:]) {
			i += 2
		} else if !allowed[text[i]] {
			return false
		}
	}
	return true
}

func isScheme(text []byte) bool {
	if len(text) == 0 || !ascii.IsAlpha(text[0]) {
		return false
	}
	for _, c := range text {
		if !schemeChar[c] {
			return false
		}
	}
	return true
}

// isAuthority reports whether java.net.URI accepts an authority: text that has
// only characters of a registered name, or a server with an IPv6 address.
func isAuthority(text []byte) bool {
	if only(text, regName) {
		return true
	}
	if at := bytes.IndexByte(text, '@'); at >= 0 {
		if !only(text[:at], userChar) {
			return false
		}
		text = text[at+1:]
	}
	end := bytes.IndexByte(text, ']')
	if end < 2 || text[0] != '[' {
		return false
	}
	address, scope, hasScope := bytes.Cut(text[1:end], []byte("%"))
	if hasScope && (len(scope) == 0 || len(address) == 0) {
		return false
	}
	for _, c := range scope {
		if !scopeChar[c] {
			return false
		}
	}
	port := text[end+1:]
	if len(port) > 0 && port[0] != ':' {
		return false
	}
	if len(port) > 1 {
		if _, ok := parseInt(port[1:]); !ok || !ascii.IsDigit(port[1]) {
			return false
		}
	}
	return isIPv6(address)
}

// isIPv6 reports whether java.net.URI accepts an IPv6 address.
func isIPv6(text []byte) bool {
	count, gap := 0, false // count is in bytes of the address
	if rest, ok := bytes.CutPrefix(text, []byte("::")); ok {
		text, gap = rest, true
	}
	for len(text) > 0 {
		group, rest, more := bytes.Cut(text, []byte(":"))
		if bytes.IndexByte(group, '.') >= 0 {
			if more || !isIPv4(group) {
				return false
			}
			count += 4
			break
		}
		if len(group) == 0 || len(group) > 4 || more && len(rest) == 0 {
			return false
		}
		for _, c := range group {
			if !ascii.IsHex(c) {
				return false
			}
		}
		count += 2
		if more && rest[0] == ':' {
			if gap {
				return false
			}
			gap, rest = true, rest[1:]
		}
		text = rest
	}
	if gap {
		return count < 16
	}
	return count == 16
}

// isIPv4 reports whether text is four numbers up to 255. Leading zeros are
// allowed.
func isIPv4(text []byte) bool {
	for part := range 4 {
		number, rest, more := bytes.Cut(text, []byte("."))
		v, ok := parseInt(number)
		if !ok || v > 255 || !ascii.IsDigit(number[0]) || more != (part < 3) {
			return false
		}
		text = rest
	}
	return true
}
