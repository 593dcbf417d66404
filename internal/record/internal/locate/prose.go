package locate

import (
	"bytes"
	"unicode/utf8"
)

// This file finds URLs in prose. A URL begins with a scheme, a colon and two
// slashes. Where it ends is a matter of convention, because '.', ',' and ')' are
// valid in URLs:
//
//   - White space, controls and the bytes that RFC 3986 does not allow
//     (" < > \ ^ ` { | }) end it, and so does the punctuation of other scripts.
//     Other characters beyond ASCII belong to it (RFC 3987).
//   - In quotes or <…> it extends to the closing delimiter (RFC 3986, appendix
//     C). Otherwise brackets without their counterpart end it, and punctuation
//     in the last place does not belong to it.
//
// A backslash ends a URL unless it starts an escape of a JSON string, as in
// "http:\/\/h\/?a\u0026b".

// FindURL returns the range of the first URL in line that begins at or after
// from.
func FindURL(line []byte, from int) (s Span, ok bool) {
	for pos := from; ; {
		i := bytes.IndexByte(line[pos:], ':')
		if i < 0 {
			return Span{}, false
		}
		colon := pos + i
		pos = colon + 1
		slashes := SlashesAt(line, pos)
		if slashes == 0 {
			continue
		}
		start := schemeBefore(line, from, colon)
		if start < 0 {
			continue
		}
		t := textScan{line: line, start: start, host: pos + slashes}
		if end := t.end(); end > 0 {
			return Between(start, end), true
		}
	}
}

// schemeBefore returns the offset of the scheme before the colon, at least
// from, or -1. The whole word before the colon must be in textSchemes: "sftp"
// is not. The word must not follow a '+', as in "git+http". The end of a longer
// word counts if it is "http" or "https", because a space is probably missing
// there.
func schemeBefore(line []byte, from, colon int) int {
	word := colon
	for word > from && IsAlnum(line[word-1]) {
		word--
	}
	if w := line[word:colon]; IsTextScheme(w) {
		if word-from >= 2 && line[word-1] == '+' && IsAlnum(line[word-2]) {
			return -1
		}
		return word
	} else if len(w) > 0 && word > from && line[word-1] == '\\' && isControlEscape(w[0]) && IsTextScheme(w[1:]) {
		return word + 1 // "\nhttp:", as in a dump
	}
	for _, scheme := range []string{"https", "http"} {
		if n := colon - len(scheme); n > word && EqualLower(line[n:colon], scheme) {
			return n
		}
	}
	return -1
}

// isControlEscape reports whether a backslash and c are the escape of a control
// character.
func isControlEscape(c byte) bool {
	return c == 'n' || c == 'r' || c == 't' || c == 'f' || c == 'b' || c == 'v'
}

// textScan finds the end of one URL.
type textScan struct {
	line  []byte
	start int // start of the scheme
	host  int // offset after the slashes
}

// end returns where the URL ends, or 0 if it has no host.
func (t *textScan) end() int {
	if closing := t.closing(); closing != 0 {
		if end := t.quoted(closing); end > 0 && t.hasHost(end) {
			return end
		}
	}
	end, more := t.authority()
	if more {
		end = t.rest(end)
	}
	if end = trimProse(t.line, t.host, end); t.hasHost(end) {
		return end
	}
	return 0
}

// hasHost reports whether the authority, which ends at end, begins like a host
// or a user name. Otherwise the text is not a URL.
func (t *textScan) hasHost(end int) bool {
	a := t.line[t.host:end]
	if len(a) == 0 {
		return false
	}
	switch a[0] {
	case '%':
		return len(a) > 2 && Unhex[a[1]] < 16 && Unhex[a[2]] < 16
	case '_', '-', '~': // in a user name, or in names that resolvers accept
		return len(a) > 1 && IsAlnum(a[1])
	case '[':
		return bytes.IndexByte(a, ']') > 2
	}
	return IsAlnum(a[0]) || a[0] >= utf8.RuneSelf
}

// closing returns the delimiter that ends the URL if an opening delimiter precedes
// the URL, or 0.
func (t *textScan) closing() byte {
	at := t.start
	if at >= len("<URL:") && EqualLower(t.line[at-len("<URL:"):at], "<url:") { // RFC 3986, appendix C
		return '>'
	}
	if at == 0 {
		return 0
	}
	switch c := t.line[at-1]; c {
	case '<':
		return '>'
	case '"', '\'', '`':
		return c
	}
	return 0
}

// quoted returns where the URL ends at the closing delimiter. It returns 0 if
// something else ends the URL before that delimiter.
func (t *textScan) quoted(closing byte) int {
	for i := t.host; i < len(t.line); {
		if textClass[t.line[i]]&^textHost == 0 {
			i++
			continue
		}
		c, n := t.next(i)
		switch {
		case c == closing:
			return i
		case textClass[c]&textEnd != 0, textClass[c]&textComma != 0 && t.isList(i):
			return 0
		}
		i += n
	}
	return 0
}

// next returns the character at i and its length. For a character beyond ASCII, it
// returns 'a' if the character can be in a URL, and ' ' if the character ends a URL.
// For a byte of invalid UTF-8 it returns 'a', because such a byte is more likely to
// be part of a URL in a different encoding than to be punctuation.
func (t *textScan) next(i int) (c byte, n int) {
	c = t.line[i]
	switch {
	case c == '\\':
		return escapeAt(t.line[i:])
	case c == '&':
		if isEscapedDelimiter(t.line[i:]) {
			return ' ', 1
		}
	case c >= utf8.RuneSelf:
		r, n := utf8.DecodeRune(t.line[i:])
		if endsURL(r) && n > 1 {
			return ' ', n
		}
		return 'a', n
	}
	return c, 1
}

// escapeAt returns the character of the JSON escape at the start of s, as next
// does, or a backslash if there is no escape.
func escapeAt(s []byte) (c byte, n int) {
	if len(s) > 1 && (s[1] == '/' || s[1] == '"') {
		return s[1], 2
	}
	switch r, ok := Hex4(s); {
	case !ok:
		return '\\', 1
	case r < utf8.RuneSelf:
		return byte(r), 6
	case endsURL(r):
		return ' ', 6
	}
	return 'a', 6
}

// authority returns where the authority ends, and whether the URL can continue
// there.
func (t *textScan) authority() (end int, more bool) {
	i := t.userinfo()
	if i < len(t.line) && t.line[i] == '[' {
		n := bytes.IndexByte(t.line[i:min(i+maxLiteral, len(t.line))], ']') + 1
		if n == 0 || !isLiteral(t.line[i+1:i+n-1]) {
			return i, false
		}
		i += n
	}
	for i < len(t.line) {
		if textClass[t.line[i]] == textHost {
			i++
			continue
		}
		c, n := t.next(i)
		switch {
		case c == '/' || c == '?' || c == '#':
			return i, true
		case c == ':' && t.isPort(i+1):
		case textClass[c]&textHost == 0:
			return i, false
		}
		i += n
	}
	return i, false
}

// userinfo returns the offset after the user name and its '@', or t.host
// without a user name.
func (t *textScan) userinfo() int {
	for i := t.host; i < len(t.line); {
		if textClass[t.line[i]] == textHost {
			i++
			continue
		}
		c, n := t.next(i)
		switch {
		case c == '@':
			return i + n
		case c == '/' || c == '?' || c == '#', textClass[c]&(textEnd|textOpen|textClose) != 0:
			return t.host
		}
		i += n
	}
	return t.host
}

// isPort reports whether the text at i, after the colon of a host, begins a
// port or ends the authority. Otherwise the colon belongs to the prose.
func (t *textScan) isPort(i int) bool {
	if i == len(t.line) {
		return false
	}
	c, _ := t.next(i)
	return IsDigit(c) || c == '/' || c == '?' || c == '#'
}

// maxLiteral is larger than the length of an address in brackets.
const maxLiteral = 128

// isLiteral reports whether s can be an address in brackets.
func isLiteral(s []byte) bool {
	for _, c := range s {
		if !IsAlnum(c) && c != ':' && c != '.' && c != '%' && c != '-' && c != '_' {
			return false
		}
	}
	return bytes.IndexByte(s, ':') >= 0 || bytes.IndexByte(s, '.') >= 0
}

// maxOpen is the number of open brackets that are tracked.
const maxOpen = 32

// rest returns the end of the path, query and fragment that start at i.
func (t *textScan) rest(i int) int {
	var open [maxOpen]struct {
		c  byte
		at int
	}
	depth, query, apostrophe := 0, false, t.start > 0 && t.line[t.start-1] == '\''
scan:
	for i < len(t.line) {
		if textClass[t.line[i]]&^textHost == 0 {
			i++
			continue
		}
		c, n := t.next(i)
		class := textClass[c]
		switch {
		case class&textEnd != 0, c == '\'' && apostrophe:
			break scan
		case class&textOpen != 0:
			if depth == maxOpen || c == '[' && i+1 < len(t.line) && t.line[i+1] == '/' { // "[/url]", as in forums
				break scan
			}
			open[depth].c, open[depth].at = c, i
			depth++
		case class&textClose != 0:
			if depth == 0 || textClosing[open[depth-1].c] != c {
				break scan
			}
			depth--
		case class&textComma != 0 && !query && t.isList(i):
			break scan
		}
		query = query || c == '?'
		i += n
	}
	if depth > 0 {
		return open[0].at
	}
	return i
}

// isList reports whether another URL follows the separator at i.
func (t *textScan) isList(i int) bool {
	rest := t.line[i+1:]
	n := 0
	for n < len(rest) && n < len("https") && IsAlnum(rest[n]) {
		n++
	}
	return n < len(rest) && rest[n] == ':' && IsTextScheme(rest[:n]) && SlashesAt(rest, n+1) > 0
}

// trimProse returns end without the preceding punctuation. It also leaves out a
// character reference at the end, as GitHub does: the text was escaped once
// more, and the reference is punctuation.
func trimProse(line []byte, from, end int) int {
	for end > from && textClass[line[end-1]]&textTrail != 0 {
		near := max(from, end-MaxReference)
		amp := bytes.LastIndexByte(line[near:end], '&')
		if line[end-1] == ';' && amp >= 0 && isReference(line[near+amp:end]) {
			end = near + amp
		} else {
			end--
		}
	}
	return end
}

// isReference reports whether s has the form "&name;".
func isReference(s []byte) bool {
	for _, c := range s[1 : len(s)-1] {
		if !IsAlnum(c) && c != '#' {
			return false
		}
	}
	return len(s) > 3
}

// escapedDelimiters are character references of bytes that end a URL, without
// their '&'. Text that was escaped for HTML has them.
var escapedDelimiters = [...]string{"lt;", "gt;", "quot;", "apos;", "nbsp;", "#34;", "#39;", "#60;", "#62;", "#x22;", "#x27;", "#x3c;", "#x3e;", "#160;"}

// isEscapedDelimiter reports whether s, which starts with '&', starts with one
// of escapedDelimiters.
func isEscapedDelimiter(s []byte) bool {
	for _, name := range escapedDelimiters {
		if len(s) > len(name) && EqualLower(s[1:1+len(name)], name) {
			return true
		}
	}
	return false
}

// EndsPlainly reports whether FindURL would find the same end for the URL at s
// after the URL has been rewritten. It would not if the text that follows could
// belong to the path, because http://h becomes http://h/, or if the URL ends in
// an escape of punctuation, as in http://h/%7e.
func EndsPlainly(line []byte, s Span) bool {
	t := textScan{line: line, start: s.Start}
	if c := t.closing(); c != 0 && s.End < len(line) && c == line[s.End] {
		return true
	}
	if hidesEnd(s.In(line)) {
		return false
	}
	for i := s.End; i < len(line); {
		c, n := t.next(i)
		switch {
		case textClass[c]&(textEnd|textClose) != 0, textClass[c]&textComma != 0 && t.isList(i):
			return true
		case textClass[c]&textTrail == 0:
			return false
		}
		i += n
	}
	return true
}

// hidesEnd reports whether rewriting a URL can change where FindURL ends it:
// its host has escapes or characters beyond ASCII, or an invalid port, or the
// URL ends in an escape of punctuation.
func hidesEnd(url []byte) bool {
	host := url[bytes.IndexByte(url, ':')+1:]
	host = host[SlashesAt(host, 0):]
	if n := bytes.IndexAny(host, `/?#\`); n >= 0 {
		host = host[:n]
	}
	for _, c := range host {
		if c == '%' || c >= utf8.RuneSelf {
			return true
		}
	}
	host = host[bytes.LastIndexByte(host, '@')+1:]
	host = host[bytes.IndexByte(host, ']')+1:]
	if _, port, ok := bytes.Cut(host, []byte(":")); ok && len(port) > 0 && !AllDigits(port) {
		return true
	}
	last := url[len(url)-len("%7e"):]
	return last[0] == '%' && bytes.IndexByte([]byte("._~"), Unhex[last[1]]<<4|Unhex[last[2]]) >= 0
}

// Classes of bytes in prose.
const (
	textEnd   uint8 = 1 << iota // ends a URL
	textHost                    // can be in a host
	textOpen                    // opening bracket
	textClose                   // closing bracket
	textTrail                   // not part of a URL at its end
	textComma                   // can separate URLs
	textMore                    // has a special meaning, or starts a longer character
)

var textClass = func() (t [256]uint8) {
	for c := range 256 {
		if c <= ' ' || c == 0x7F {
			t[c] = textEnd
		} else if c < utf8.RuneSelf && IsAlnum(byte(c)) {
			t[c] = textHost
		}
	}
	set := func(bytes string, class uint8) {
		for _, c := range []byte(bytes) {
			t[c] |= class
		}
	}
	set("\"<>\\^`{|}", textEnd)
	set("-._%", textHost)
	set("([", textOpen)
	set(")]", textClose)
	set(".,:;!?*_~'", textTrail)
	set(",;", textComma)
	set("&?", textMore)
	for c := utf8.RuneSelf; c < 256; c++ {
		t[c] = textMore
	}
	return t
}()

var textClosing = [256]byte{'(': ')', '[': ']'}

// endsURL reports whether a character beyond ASCII is white space, a control or
// punctuation that does not belong to URLs in prose. Letters, marks, digits and
// symbols do.
func endsURL(r rune) bool {
	switch {
	case r < 0xA1, r == 0xAB, r == 0xAD, r == 0xBB: // C1 controls, no-break space, guillemets, soft hyphen
		return true
	case r >= 0x2000 && r <= 0x206F: // spaces, dashes, quotes, ellipsis, directional controls
		return r != 0x200C && r != 0x200D && r != 0x2010 && r != 0x2011 && r != 0x2012 && r != 0x2013 // joiners occur inside words, and short dashes in the titles that URLs contain
	case r >= 0x3000 && r <= 0x301F: // 、。〈》「』【】〔〕〜〝
		return r < 0x3004 || r > 0x3007
	case r >= 0xFF01 && r <= 0xFF0F, r >= 0xFF1A && r <= 0xFF20, r >= 0xFF3B && r <= 0xFF3D, r >= 0xFF5B && r <= 0xFF65: // fullwidth and halfwidth punctuation
		return true
	case r >= 0xFE10 && r <= 0xFE1F, r >= 0xFE30 && r <= 0xFE4F, r >= 0xFE50 && r <= 0xFE6B: // vertical and small forms
		return true
	}
	switch r {
	case 0x1680, 0x2329, 0x232A, 0x27E8, 0x27E9, 0x061B, 0x061F, 0x060C, 0x06D4, 0x0964, 0x0965, 0xFEFF, 0xFFFC, 0xFFFD:
		return true // space of Ogham; angle brackets; Arabic and Devanagari punctuation; byte order mark; replacements
	}
	return false
}
