package record

import "bytes"

// targetForm is the form of a request target (RFC 9112 §3.2), or says why there
// is no target.
type targetForm uint8

// Forms of a request target. Only formOrigin and formAbsolute hold a URL.
const (
	formNone      targetForm = iota // no request target is wanted
	formOrigin                      // /path?query
	formAbsolute                    // http://host/path?query
	formAuthority                   // host:port, used by CONNECT
	formAsterisk                    // *
	formDash                        // -, logged if the server saw no request
	formEmpty                       // empty
	formGarbage                     // not a request: TLS on a plain port, scanners, other protocols
)

var formNames = []string{"none", "origin", "absolute", "authority", "asterisk", "dash", "empty", "garbage"}

// String returns the form's name: "origin".
func (f targetForm) String() string { return nameOf(formNames, int(f)) }

// addRequest parses a request line: method, target and version (RFC 9112 §3),
// or method and target (HTTP/0.9). Everything between the first space and the
// version belongs to the target, because servers log raw spaces in targets. If
// there is no target, addRequest sets only the form.
func (f *Found) addRequest(body []byte, s span, d *Dialect) {
	line := s.in(body)
	sp := methodEnd(line)
	switch {
	case len(line) == 0:
		f.form = formEmpty
	case len(line) == 1 && line[0] == '-':
		f.form = formDash
	case line[0] == '\x1b' && colorsEnd(line, 0) > 0:
		f.addRequest(body, withoutColors(body, s), d)
	case sp == 0:
		f.form = formGarbage
	default:
		f.method = span{s.start, s.start + sp}
		f.addTarget(body, span{s.start + sp, s.start + versionAt(line)}, d)
	}
}

// methodEnd returns the offset of the space after the method with which a request
// line begins, or 0.
func methodEnd(line []byte) int {
	if bytes.HasPrefix(line, []byte("GET ")) {
		return len("GET") // the most common case
	}
	if sp := bytes.IndexByte(line, ' '); sp > 0 && isToken(line[:sp]) {
		return sp
	}
	return 0
}

// addTarget adds a request target without the spaces around it.
func (f *Found) addTarget(body []byte, s span, d *Dialect) {
	for s.start < s.end && body[s.start] == ' ' {
		s.start++
	}
	for s.end > s.start && body[s.end-1] == ' ' {
		s.end--
	}
	t := s.in(body)
	switch {
	case len(t) == 0:
		f.form = formEmpty
	case len(t) == 1 && t[0] == '-':
		f.form = formDash
	default:
		f.add(s, roleTarget, d)
	}
}

// versionAt returns the offset of the space before the HTTP version at the end
// of a request line. It returns len(line) if there is no version.
func versionAt(line []byte) int {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		end--
	}
	if at := end - len(" HTTP/1.1"); at >= 0 && string(line[at:end-1]) == " HTTP/1." && isDigit(line[end-1]) {
		return at // the most common case
	}
	at := bytes.LastIndexByte(line[:end], ' ')
	if at < 0 || !bytes.HasPrefix(line[at:end], version) || end-at == len(" HTTP/") {
		return len(line)
	}
	for _, c := range line[at+len(" HTTP/") : end] {
		if !isDigit(c) && c != '.' {
			return len(line)
		}
	}
	return at
}

// tchar is the set of bytes allowed in a token, RFC 9110 §5.6.2.
var tchar = func() (t [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		t[c] = true
	}
	return t
}()

// isToken reports whether s is a token, which a method must be.
func isToken(s []byte) bool {
	if string(s) == "GET" { // the most common method
		return true
	}
	for _, c := range s {
		if !tchar[c] {
			return false
		}
	}
	return len(s) > 0
}

// formOf returns the form of an unescaped target.
func formOf(target, method []byte) targetForm {
	switch {
	case target[0] == '/':
		return formOrigin
	case string(method) == "CONNECT":
		return formAuthority
	case len(target) == 1 && target[0] == '*':
		return formAsterisk
	}
	i := bytes.IndexByte(target, ':')
	switch {
	case i > 0 && bytes.HasPrefix(target[i:], []byte("://")) && isScheme(target[:i]):
		return formAbsolute
	case i > 0 && isAuthority(target):
		return formAuthority
	}
	return formGarbage
}

// isScheme reports whether s is a scheme, RFC 3986 §3.1.
func isScheme(s []byte) bool {
	for i, c := range s {
		letter := c|0x20-'a' < 26
		if !letter && (i == 0 || !isDigit(c) && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return len(s) > 0
}

// isAuthority reports whether s has the form host:port.
func isAuthority(s []byte) bool {
	i := bytes.LastIndexByte(s, ':')
	if i <= 0 || i == len(s)-1 {
		return false
	}
	for _, c := range s[i+1:] {
		if !isDigit(c) {
			return false
		}
	}
	return isHost(s[:i])
}

// isHost reports whether "scheme://" followed by s is a host, with an optional
// port, and nothing else. It is needed because servers log the Host header as
// sent.
func isHost(s []byte) bool {
	seen := uint8(0)
	for _, c := range s {
		seen |= hostClass[c]
	}
	if seen != 0 {
		return seen&notInHost == 0 && isBracketed(s)
	}
	return len(s) > 0
}

// isBracketed reports whether s is an address in brackets, with an optional
// port.
func isBracketed(s []byte) bool {
	end := bytes.IndexByte(s, ']')
	return s[0] == '[' && bytes.IndexByte(s[1:], '[') < 0 && end > 0 &&
		(end == len(s)-1 || s[end+1] == ':') && bytes.IndexByte(s[end+1:], ']') < 0
}

// isBareIPv6 reports whether s looks like an IPv6 address, with an optional zone,
// without the brackets that it has in a URL. Some logs omit them, and then s has no
// port. The codec checks the address itself.
func isBareIPv6(s []byte) bool {
	n := ipv6Len(s)
	if n < len(s) && !isIPv6Zone(s[n:]) {
		return false
	}
	s = s[:n]
	colons := bytes.Count(s, []byte(":"))
	return colons == 7 || colons == 6 && bytes.IndexByte(s, '.') > 0 || bytes.Contains(s, []byte("::"))
}

// isIPv6Zone reports whether s is the zone of an IPv6 address, as in fe80::1%eth0.
func isIPv6Zone(s []byte) bool {
	if len(s) < len("%1") || s[0] != '%' {
		return false
	}
	for _, c := range s {
		if !isAlnum(c) && bytes.IndexByte([]byte("%-._~"), c) < 0 {
			return false
		}
	}
	return true
}

// appendHost appends host. If bare says that it is an IPv6 address without brackets,
// appendHost adds them.
func appendHost(dst, host []byte, bare bool) []byte {
	if !bare {
		return append(dst, host...)
	}
	return append(append(append(dst, '['), host...), ']')
}

// ipv6Len returns the length of the longest prefix of s that has only bytes of IPv6
// addresses.
func ipv6Len(s []byte) int {
	n := 0
	for n < len(s) && (unhex[s[n]] < 16 || s[n] == ':' || s[n] == '.') {
		n++
	}
	return n
}

// Classes of bytes in a host.
const (
	notInHost uint8 = 1 << iota // ends a host or starts another component
	bracket
)

var hostClass = func() (t [256]uint8) {
	for c := range t {
		if c <= ' ' || c == 0x7F {
			t[c] = notInHost
		}
	}
	for _, c := range []byte("/?#@\\\"<>^`{|}") {
		t[c] = notInHost
	}
	t['['], t[']'] = bracket, bracket
	return t
}()
