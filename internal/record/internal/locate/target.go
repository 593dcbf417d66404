package locate

import "bytes"

// TargetForm is the form of a request target (RFC 9112 §3.2), or says why there
// is no target.
type TargetForm uint8

// Forms of a request target. Only FormOrigin and FormAbsolute hold a URL.
const (
	FormNone      TargetForm = iota // no request target is wanted
	FormOrigin                      // /path?query
	FormAbsolute                    // http://host/path?query
	FormAuthority                   // host:port, used by CONNECT
	formAsterisk                    // *
	FormDash                        // -, logged if the server saw no request
	formEmpty                       // empty
	formGarbage                     // not a request: TLS on a plain port, scanners, other protocols
)

var formNames = []string{"none", "origin", "absolute", "authority", "asterisk", "dash", "empty", "garbage"}

// String returns the form's name: "origin".
func (f TargetForm) String() string { return nameOf(formNames, int(f)) }

// AddRequest parses a request line: method, target and version (RFC 9112 §3),
// or method and target (HTTP/0.9). Everything between the first space and the
// version belongs to the target, because servers log raw spaces in targets. If
// there is no target, AddRequest sets only the form.
func (f *Found) AddRequest(body []byte, s Span, d *Dialect) {
	line := s.In(body)
	sp := methodEnd(line)
	switch {
	case len(line) == 0:
		f.Form = formEmpty
	case len(line) == 1 && line[0] == '-':
		f.Form = FormDash
	case line[0] == '\x1b' && ColorsEnd(line, 0) > 0:
		f.AddRequest(body, WithoutColors(body, s), d)
	case sp == 0:
		f.Form = formGarbage
	default:
		f.Method = Span{s.Start, s.Start + sp}
		f.TakeTarget(body, Span{s.Start + sp, s.Start + VersionAt(line)}, d)
	}
}

// methodEnd returns the offset of the space after the method with which a request
// line begins, or 0.
func methodEnd(line []byte) int {
	if len(line) >= 4 && string(line[:4]) == "GET " {
		return 3 // the most common case
	}
	if sp := bytes.IndexByte(line, ' '); sp > 0 && IsToken(line[:sp]) {
		return sp
	}
	return 0
}

// TakeTarget adds a request target without the spaces around it.
func (f *Found) TakeTarget(body []byte, s Span, d *Dialect) {
	for s.Start < s.End && body[s.Start] == ' ' {
		s.Start++
	}
	for s.End > s.Start && body[s.End-1] == ' ' {
		s.End--
	}
	t := s.In(body)
	switch {
	case len(t) == 0:
		f.Form = formEmpty
	case len(t) == 1 && t[0] == '-':
		f.Form = FormDash
	default:
		f.Add(s, RoleTarget, d)
	}
}

// AddField adds the URL with role r in a field. If the field holds a request line,
// AddField adds its target.
func (f *Found) AddField(body []byte, s Span, r Role, d *Dialect) {
	switch {
	case IsRequestLine(s.In(body)):
		f.AddRequest(body, s, d)
	case r == RoleTarget:
		f.TakeTarget(body, s, d)
	default:
		f.Add(s, r, d)
	}
}

// IsRequestLine reports whether text is a request line with a method in upper case and a
// version. No URL starts with a letter in upper case and has a space before " HTTP/1.1".
func IsRequestLine(text []byte) bool {
	return len(text) > 0 && text[0]-'A' < 26 && methodEnd(text) > 0 && VersionAt(text) < len(text)
}

// VersionAt returns the offset of the space before the HTTP version at the end
// of a request line. It returns len(line) if there is no version.
func VersionAt(line []byte) int {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		end--
	}
	if at := end - len(" HTTP/1.1"); at >= 0 && string(line[at:end-1]) == " HTTP/1." && IsDigit(line[end-1]) {
		return at // the most common case
	}
	at := bytes.LastIndexByte(line[:end], ' ')
	if at < 0 {
		return len(line)
	}
	number, found := bytes.CutPrefix(line[at:end], Version)
	if !found {
		number, found = bytes.CutPrefix(line[at:end], []byte(` HTTP\/`)) // JSON of PHP
	}
	if !found || len(number) == 0 {
		return len(line)
	}
	for _, c := range number {
		if !IsDigit(c) && c != '.' {
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

// IsToken reports whether s is a token, which a method must be.
func IsToken(s []byte) bool {
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

// FormOf returns the form of an unescaped target, which is not empty. method
// may be nil.
func FormOf(target, method []byte) TargetForm {
	switch {
	case target[0] == '/':
		return FormOrigin
	case string(method) == "CONNECT":
		return FormAuthority
	case len(target) == 1 && target[0] == '*':
		return formAsterisk
	}
	i := bytes.IndexByte(target, ':')
	switch {
	case i > 0 && bytes.HasPrefix(target[i:], []byte("://")) && IsScheme(target[:i]):
		return FormAbsolute
	case i > 0 && IsAuthority(target):
		return FormAuthority
	}
	return formGarbage
}

// IsScheme reports whether s is a scheme, RFC 3986 §3.1.
func IsScheme(s []byte) bool {
	for i, c := range s {
		letter := c|0x20-'a' < 26
		if !letter && (i == 0 || !IsDigit(c) && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return len(s) > 0
}

// IsAuthority reports whether s has the form host:port.
func IsAuthority(s []byte) bool {
	i := bytes.LastIndexByte(s, ':')
	if i <= 0 || i == len(s)-1 {
		return false
	}
	for _, c := range s[i+1:] {
		if !IsDigit(c) {
			return false
		}
	}
	return IsHost(s[:i])
}

// IsHost reports whether "scheme://" followed by s is a host, with an optional
// port, and nothing else. It is needed because servers log the Host header as
// sent.
func IsHost(s []byte) bool {
	seen := uint8(0)
	for _, c := range s {
		seen |= hostClass[c]
	}
	if seen != 0 {
		return seen&notInHost == 0 && IsBracketed(s)
	}
	return len(s) > 0
}

// IsBracketed reports whether s is an address in brackets, with an optional
// port.
func IsBracketed(s []byte) bool {
	end := bytes.IndexByte(s, ']')
	return s[0] == '[' && bytes.IndexByte(s[1:], '[') < 0 && end > 0 &&
		(end == len(s)-1 || s[end+1] == ':') && bytes.IndexByte(s[end+1:], ']') < 0
}

// IsBareIPv6 reports whether s looks like an IPv6 address, with an optional zone,
// without the brackets that it has in a URL. Some logs omit them, and then s
// cannot have a port. The codec checks the address itself.
func IsBareIPv6(s []byte) bool {
	n := IPv6Len(s)
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
		if !IsAlnum(c) && bytes.IndexByte([]byte("%-._~"), c) < 0 {
			return false
		}
	}
	return true
}

// AppendHost appends host. If bare says that it is an IPv6 address without brackets,
// AppendHost adds them.
func AppendHost(dst, host []byte, bare bool) []byte {
	if !bare {
		return append(dst, host...)
	}
	return append(append(append(dst, '['), host...), ']')
}

// IPv6Len returns the length of the longest prefix of s that has only bytes of IPv6
// addresses.
func IPv6Len(s []byte) int {
	n := 0
	for n < len(s) && (Unhex[s[n]] < 16 || s[n] == ':' || s[n] == '.') {
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

// IsHostPort reports whether s has the form of a host with an optional port.
// The codec checks the names and addresses themselves.
func IsHostPort(s []byte) bool {
	if !IsHost(s) {
		return false
	}
	name := bytes.LastIndexByte(s, ']') + 1
	colon := bytes.IndexByte(s[name:], ':')
	return colon < 0 || name+colon > 0 && AllDigits(s[name+colon+1:])
}

// Version is the start of an HTTP Version (RFC 9112 §2.3) with the space in
// front.
var Version = []byte(" HTTP/")

// BeginsTarget reports whether text starts with a path or an absolute URL.
func BeginsTarget(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	if text[0] == '/' {
		return true
	}
	n := 0
	for n < len(text) && n < len("https") && IsAlnum(text[n]) {
		n++
	}
	return n < len(text) && text[n] == ':' && IsTextScheme(text[:n]) && SlashesAt(text, n+1) > 0
}

// Slashes precede the authority of a URL.
var Slashes = []byte("//")

// textSchemes are the schemes that FindURL looks for, in lower case.
var textSchemes = [...]string{"http", "https", "ftp", "ws", "wss"}

// SlashesAt returns the length of the two slashes at pos, which can be escaped
// as in JSON, or 0.
func SlashesAt(line []byte, pos int) int {
	rest := line[pos:]
	switch {
	case len(rest) >= 2 && rest[0] == '/' && rest[1] == '/':
		return 2
	case len(rest) >= 4 && string(rest[:4]) == `\/\/`:
		return 4
	}
	return 0
}

// IsTextScheme reports whether w is one of the schemes that are looked for in text.
func IsTextScheme(w []byte) bool {
	if len(w) < 2 || len(w) > len("https") {
		return false
	}
	for _, scheme := range textSchemes {
		if EqualLower(w, scheme) {
			return true
		}
	}
	return false
}
