package record

import (
	"bytes"
	"errors"
	"fmt"
)

// logFormat is one of the named access-log formats: clf, combined,
// vhost_combined and vhost_common.
type logFormat struct {
	name          string
	quoted, vhost bool // quoted fields follow the request; a virtual host precedes the client
}

// Name implements [Format].
func (l logFormat) Name() string { return l.name }

// Detect implements [Format].
func (l logFormat) Detect(s *Sample) Fit {
	sure := uint8(looksLikeCLF)
	switch {
	case l.vhost && l.quoted:
		sure = looksLikeVhost
	case l.vhost:
		sure = looksLikeVhostCommon
	case l.quoted:
		sure = looksLikeCombined
	}
	return s.count(sure, l.fits)
}

// fits reports whether body is a record of the format.
func (l logFormat) fits(body []byte) bool {
	open := requestQuote(body)
	if open < 0 {
		return false
	}
	end := requestEnd(body, open, true)
	if end < 0 || l.quoted && bytes.Count(body[end+1:], []byte(`"`)) < 2 {
		return false
	}
	if !l.vhost {
		return true
	}
	first, rest, _ := bytes.Cut(body[:open], []byte(" "))
	return vhostLen(body[:open]) > 0 && bytes.Count(rest, []byte(" ")) >= 4 && looksVhost(first, rest)
}

// looksVhost reports whether the first word of a record is a virtual host, which rest
// follows: it has a port, or is a name with a dot before the address of the client.
func looksVhost(first, rest []byte) bool {
	if isAuthority(first) {
		return first[0] == '[' || bytes.Count(first, []byte(":")) == 1
	}
	last := first[bytes.LastIndexByte(first, '.')+1:]
	if len(last) == len(first) || len(last) == 0 || !isLetter(last[0]) || !isHost(first) || bytes.IndexByte(first, ':') >= 0 {
		return false
	}
	second, user, _ := bytes.Cut(rest, []byte(" "))
	client, _, isList := bytes.Cut(second, []byte(","))
	return isAddress(client) && (isList || bytes.HasPrefix(user, []byte("- ")))
}

// Open implements [Format].
func (l logFormat) Open(c *Config) (Reader, error) {
	r := &logReader{format: l, dialect: unionDialect, request: c.Target != TargetReferer, referer: c.Target != TargetRequest}
	if d, given := c.dialect(); given {
		r.dialect = d
	}
	var errs []error
	if !l.quoted && c.Target == TargetReferer { // TargetAll reads those that exist
		errs = append(errs, wrong("Target", "the format "+l.name+" has no referer; use combined"))
	}
	errs = append(errs, c.refuseFields()...)
	errs = append(errs, c.checkRequestHost(l.vhost))
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	return r, errors.Join(errs...)
}

// checkRequestHost checks that an access-log format can supply the host that
// c.Base asks for. known says whether its records contain the host of the
// request.
func (c *Config) checkRequestHost(known bool) error {
	name, alone, ok := c.baseHost()
	switch {
	case !ok:
		return nil
	case name != "host" && name != "vhost":
		return in("Base", fmt.Errorf("invalid field {%s} in the base URL: for an access log it must be {host}", name))
	case !alone:
		return wrong("Base", "invalid base URL: for an access log {host} must be the whole authority, as in https://{host}/")
	case !known:
		return wrong("Base", "the format has no host for the base URL: use vhost_combined or vhost_common, or a log format with $host, %v or similar")
	}
	return nil
}

// logReader reads access logs.
type logReader struct {
	LineFraming
	format           logFormat
	dialect          *Dialect
	request, referer bool // the wanted URLs
}

// Locator implements [Reader].
func (l *logReader) Locator() Locator { return l }

// Locate implements [Locator]. The records of the three formats have this
// layout:
//
//	[vhost[:port] ]host ident user [time] "request" status bytes "referer" "agent"…
//
// Locate looks for anchors instead of fields. It therefore tolerates user names
// with spaces, additional fields at the start and end, lighttpd's counters
// between bytes and referer, and lines that end early.
func (l *logReader) Locate(f *Found, body []byte, _ *Position) (Reason, int) {
	open := requestQuote(body)
	if open < 0 {
		return Unparsed, 0
	}
	end := requestEnd(body, open, l.dialect.escapesQuotes())
	if end < 0 {
		return Unparsed, open
	}
	if l.format.vhost {
		if n := vhostLen(body[:open]); !isUnnamed(body[:n]) {
			f.hosts[0].end = n
		}
	}
	if f.attrs.wanted {
		l.addAttrs(f, body, open, end)
	}
	if l.request {
		f.addRequest(body, withoutNumber(body, span{open, end}), l.dialect)
	}
	if l.referer {
		if s := refererSpan(body, end+1, l.dialect.escapesQuotes()); s.end > s.start {
			f.addReferer(body, s, l.dialect)
		}
	}
	return 0, 0
}

// addAttrs adds the attributes of a record whose request is body[open:end].
func (l *logReader) addAttrs(f *Found, body []byte, open, end int) {
	if f.attrs.needed&ofNumbers != 0 {
		addNumbers(f, body, end+2)
	}
	if f.attrs.needed&^ofNumbers != 0 {
		l.addTexts(f, body, open, end)
	}
}

// ofNumbers are the attributes that addNumbers adds.
const ofNumbers = 1<<attrStatus | 1<<attrBytes

// addTexts adds the attributes that are no numbers.
func (l *logReader) addTexts(f *Found, body []byte, open, end int) {
	if f.needsAny(attrClient, attrTime) {
		l.addPrefix(f, body, open)
	}
	if !f.needsAny(attrReferer, attrAgent) {
		return
	}
	from := end + 1
	if referer := refererSpan(body, from, l.dialect.escapesQuotes()); referer.end > 0 {
		f.addAttr(attrReferer, attr{span: referer, dialect: l.dialect})
		from = min(referer.end+1, len(body))
	}
	if agent := agentSpan(body, from, l.dialect.escapesQuotes()); agent.end > 0 {
		f.addAttr(attrAgent, attr{span: agent, dialect: l.dialect})
	}
}

// addNumbers adds the status at pos, which isStatus has found, and the word after it.
func addNumbers(f *Found, body []byte, pos int) {
	end := pos + len("-")
	if body[pos] != '-' {
		end = pos + len("200")
	}
	f.addNumber(attrStatus, span{pos, end})
	if !f.needs(attrBytes) {
		return
	}
	for end < len(body) && body[end] == ' ' {
		end++
	}
	f.addNumber(attrBytes, span{end, wordEnd(body, end)})
}

// addPrefix adds the attributes before the request.
func (l *logReader) addPrefix(f *Found, body []byte, open int) {
	client := 0
	if n := vhostLen(body[:open]); l.format.vhost && n > 0 {
		client = n + 1
	}
	t := bytes.LastIndexByte(body[:open], '[')
	if t < 0 {
		return
	}
	if s := clientSpan(body[:t], client); s.end > s.start {
		f.addText(attrClient, s)
	}
	f.addText(attrTime, span{t + 1, max(t+1, open-len(`] "`))})
}

// vhostLen returns the length of the virtual host with which head begins, the part of a
// record before the request. It returns 0 if there is none: the record begins with a
// client, "-" and a user.
func vhostLen(head []byte) int {
	n := bytes.IndexByte(head, ' ')
	if n < 0 || isIdentAbsent(head[n:]) && bytes.Count(head[:max(0, timeBracket(head))], []byte(" ")) == 3 {
		return 0
	}
	return n
}

// isUnnamed reports whether vhost, with or without a port, is a placeholder for an unknown
// virtual host: "-", or "_" in nginx.
func isUnnamed(vhost []byte) bool {
	return len(vhost) > 0 && (vhost[0] == '-' || vhost[0] == '_') && (len(vhost) == 1 || vhost[1] == ':')
}

// requestQuote returns the offset after the quote that opens the request: the
// first quote after "[time] " with text before the time. It returns -1 if there
// is none.
func requestQuote(body []byte) int {
	for from := 0; ; {
		q := bytes.IndexByte(body[from:], '"')
		if q < 0 {
			return -1
		}
		q += from
		from = q + 1
		if q < 4 || body[q-1] != ' ' || body[q-2] != ']' {
			continue
		}
		t := timeBracket(body[:q-2])
		if t >= 2 && body[t-1] == ' ' && t+1 < q-2 {
			return from
		}
	}
}

// timeBracket returns the offset of the last '[' of text, or -1. It looks first
// where it is in front of a time such as 02/Nov/2026:06:25:15 +0100:
// bytes.LastIndexByte has no vectors.
func timeBracket(text []byte) int {
	const usual = len("[02/Nov/2026:06:25:15 +0100")
	if t := len(text) - usual; t >= 0 && text[t] == '[' && bytes.IndexByte(text[t+1:], '[') < 0 {
		return t
	}
	return bytes.LastIndexByte(text, '[')
}

// requestEnd returns the offset of the quote that closes the request starting
// at from: the first unescaped quote that is followed by a status. Old logs can
// contain raw quotes and backslashes that escape nothing, so if no unescaped
// quote matches, an escaped one does. requestEnd returns -1 if there is
// neither, or if another quoted field follows the version of the request.
func requestEnd(body []byte, from int, backslash bool) int {
	escaped := -1
	for i := from; ; i++ {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return escaped
		}
		i += n
		if !isStatus(body[i+1:]) {
			if bytes.HasPrefix(body[i+1:], []byte(` "`)) && endsInVersion(body[from:i]) {
				return -1
			}
			continue
		}
		if !backslash || !isEscaped(body[from:i]) {
			return i
		}
		if escaped < 0 {
			escaped = i
		}
	}
}

// withoutNumber returns the request line s without a version that is only a number,
// which Hypercorn writes: 1.0, 1.1, 2 or 3. Before one digit, the target must have no
// space, because it could end in a digit itself.
func withoutNumber(body []byte, s span) span {
	line, size := s.in(body), 0
	switch n := len(line); {
	case n > len(" 1.1") && string(line[n-len(" 1.1"):n-1]) == " 1." && line[n-1]-'0' < 2:
		size = len(" 1.1")
	case n > len(" 2") && line[n-2] == ' ' && line[n-1]-'2' < 2 && bytes.Count(line, []byte(" ")) == 2:
		size = len(" 2")
	}
	line = line[:len(line)-size]
	if sp := bytes.IndexByte(line, ' '); size > 0 && sp > 0 && beginsTarget(line[sp+1:]) {
		s.end -= size
	}
	return s
}

// endsInVersion reports whether request ends in a version such as HTTP/1.1 or HTTP/2.
func endsInVersion(request []byte) bool {
	i := bytes.LastIndexByte(request, ' ')
	version, found := bytes.CutPrefix(request[i+1:], []byte("HTTP/"))
	return found && len(version) > 0 && len(version) <= len("1.1") && isDigit(version[0]) && isDigit(version[len(version)-1])
}

// isStatus reports whether s starts with a space and either three digits or
// '-', followed by a space or the end of s.
func isStatus(s []byte) bool {
	if len(s) < 2 || s[0] != ' ' {
		return false
	}
	n := 2
	if s[1] != '-' {
		if len(s) < 4 || !isDigit(s[1]) || !isDigit(s[2]) || !isDigit(s[3]) {
			return false
		}
		n = 4
	}
	return len(s) == n || s[n] == ' '
}

// isEscaped reports whether the byte after before is escaped, that is, whether
// before ends in an odd number of backslashes.
func isEscaped(before []byte) bool {
	n := len(before)
	for n > 0 && before[n-1] == '\\' {
		n--
	}
	return (len(before)-n)&1 == 1
}

// refererSpan returns the inside of the first quoted field after from. The
// field ends at the first unescaped quote that is followed by another quoted
// field or by the end of the record. If there is none, it ends at the last
// quote of the record. The span is empty if this is the only quoted field and
// holds the agent.
func refererSpan(body []byte, from int, backslash bool) span {
	n := bytes.Index(body[from:], []byte(` "`))
	if n < 0 {
		return span{}
	}
	start := from + n + 2
	for i := start; ; i++ {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			break
		}
		i += n
		rest := body[i+1:]
		if len(rest) > 1 && rest[0] == ' ' && rest[1] == '"' && !(backslash && isEscaped(body[start:i])) {
			return span{start, i}
		}
	}
	last := span{start, max(start, bytes.LastIndexByte(body, '"'))}
	if isAgent(last.in(body)) {
		return span{}
	}
	return last
}

// isAgent reports whether the only quoted field after a request holds the agent: what is
// there is neither absent nor an absolute URL.
func isAgent(field []byte) bool {
	return len(field) > 0 && string(field) != "-" && !bytes.Contains(field, []byte("://"))
}

// agentSpan returns the inside of the first quoted field after from, the last one of
// the format. Unquoted and quoted fields may follow it. It ends at the first unescaped
// quote after which the line ends or, after a space, has pairs of quotes. A raw quote in
// the agent that follows a space opens such a pair.
func agentSpan(body []byte, from int, backslash bool) span {
	n := bytes.Index(body[from:], []byte(` "`))
	if n < 0 {
		return span{}
	}
	start := from + n + 2
	left := -1 // number of quotes from i on; -1: not counted
	for i := start; ; i++ {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return span{start, max(start, bytes.LastIndexByte(body, '"'))}
		}
		i += n
		switch {
		case backslash && isEscaped(body[start:i]):
			continue
		case i+1 == len(body):
			return span{start, i}
		case left < 0:
			left = countQuotes(body[i:], backslash)
		}
		left--
		if body[i+1] == ' ' && (i == start || body[i-1] != ' ') && left%2 == 0 {
			return span{start, i}
		}
	}
}

// countQuotes returns the number of quotes in text, without the escaped ones.
func countQuotes(text []byte, backslash bool) (n int) {
	for i, c := range text {
		if c == '"' && !(backslash && isEscaped(text[:i])) {
			n++
		}
	}
	return n
}
