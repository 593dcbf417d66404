package textlog

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// LogFormat is one of the named access-log formats: clf, combined,
// vhost_combined and vhost_common.
type LogFormat struct {
	ID            string
	Quoted, Vhost bool // quoted fields follow the request; a virtual host precedes the client
}

// Name implements [locate.Format].
func (l LogFormat) Name() string { return l.ID }

// Detect implements [locate.Format].
func (l LogFormat) Detect(s *locate.Sample) locate.Fit {
	sure := uint8(locate.LooksLikeCLF)
	switch {
	case l.Vhost && l.Quoted:
		sure = locate.LooksLikeVhost
	case l.Vhost:
		sure = locate.LooksLikeVhostCommon
	case l.Quoted:
		sure = locate.LooksLikeCombined
	}
	return s.Count(sure, l.fits)
}

// fits reports whether body is a record of the format.
func (l LogFormat) fits(body []byte) bool {
	open := requestQuote(body)
	if open < 0 {
		return false
	}
	_, end := requestRange(body, open, true)
	if end < 0 || l.Quoted && bytes.Count(body[end+1:], []byte(`"`)) < 2 {
		return false
	}
	if !l.Vhost {
		return true
	}
	first, rest, _ := bytes.Cut(body[:open], []byte(" "))
	return VhostLen(body[:open]) > 0 && bytes.Count(rest, []byte(" ")) >= 4 && looksVhost(first, rest)
}

// looksVhost reports whether the first word of a record is a virtual host, which rest
// follows: it has a port, or is a name with a dot before the address of the client.
func looksVhost(first, rest []byte) bool {
	if locate.IsAuthority(first) {
		return first[0] == '[' || bytes.Count(first, []byte(":")) == 1
	}
	last := first[bytes.LastIndexByte(first, '.')+1:]
	if len(last) == len(first) || len(last) == 0 || !locate.IsLetter(last[0]) || !locate.IsHost(first) || bytes.IndexByte(first, ':') >= 0 {
		return false
	}
	second, user, _ := bytes.Cut(rest, []byte(" "))
	client, _, isList := bytes.Cut(second, []byte(","))
	return isAddress(client) && (isList || bytes.HasPrefix(user, []byte("- ")))
}

// Open implements [locate.Format].
func (l LogFormat) Open(c *locate.Settings) (locate.Reader, error) {
	r := &LogReader{Format: l, Dialect: locate.UnionDialect, Request: c.Target != locate.TargetReferer, Referer: c.Target != locate.TargetRequest}
	if d, given := c.NamedDialect(); given {
		r.Dialect = d
	}
	// TargetAll is valid: it reads the URLs that the record has.
	errTarget := locate.WrongIf(!l.Quoted && c.Target == locate.TargetReferer, "Target", "the format "+l.ID+" has no referer; use combined")
	return r, errors.Join(errTarget, c.RefuseFields(), c.CheckRequestHost(l.Vhost), c.RefuseExtend())
}

// LogReader reads access logs.
type LogReader struct {
	locate.LineFraming
	Format           LogFormat
	Dialect          *locate.Dialect
	Request, Referer bool // the wanted URLs
}

// Locator implements [locate.Reader].
func (l *LogReader) Locator() locate.Locator { return l }

// Locate implements [locate.Locator]. The records of the four formats have this
// layout:
//
//	[vhost[:port] ]["host" ]host ident user [time] ["host" ]"request" status bytes "referer" "agent"…
//
// Locate looks for anchors instead of fields. It therefore tolerates user names
// with spaces, additional fields at the start, in quotes before the request and
// at the end, lighttpd's counters between bytes and referer, and lines that end
// early.
func (l *LogReader) Locate(f *locate.Found, body []byte, _ *locate.Position) (locate.Reason, int) {
	open := requestQuote(body)
	if open < 0 {
		return locate.Unparsed, 0
	}
	start, end := requestRange(body, open, l.Dialect.EscapesQuotes())
	if end < 0 {
		return locate.Unparsed, open
	}
	if l.Format.Vhost {
		if n := VhostLen(body[:open]); !isUnnamed(body[:n]) {
			f.Hosts[0].End = n
		}
	}
	host := locate.Span{}
	if start > open {
		before := start - len(`" "`)
		host = locate.Between(bytes.LastIndexByte(body[:before], '"')+1, before)
	} else if body[0] == '"' {
		host = locate.Between(1, 1+bytes.IndexByte(body[1:], '"'))
	}
	if host.End > 0 {
		name, port, _ := bytes.Cut(host.In(body), []byte(":"))
		if isCapturedHost(host.In(body)) || string(name) == "localhost" && (len(port) == 0 || locate.AllDigits(port)) {
			f.Hosts[0] = host
		}
	}
	if f.Attrs.Wanted {
		l.addAttrs(f, body, open, end)
	}
	if l.Request {
		f.AddRequest(body, WithoutNumber(body, locate.Between(start, end)), l.Dialect)
	}
	if l.Referer {
		if s := refererSpan(body, end+1, l.Dialect.EscapesQuotes()); s.End > s.Start {
			f.TakeReferer(body, s, l.Dialect)
		}
	}
	return 0, 0
}

// addAttrs adds the attributes of a record whose request is body[open:end].
func (l *LogReader) addAttrs(f *locate.Found, body []byte, open, end int) {
	if f.Attrs.Needed&ofNumbers != 0 {
		addNumbers(f, body, end+2)
	}
	if f.Attrs.Needed&^(ofNumbers|1<<locate.AttrMethod) != 0 {
		l.addTexts(f, body, open, end)
	}
}

// ofNumbers are the attributes that addNumbers adds.
const ofNumbers = 1<<locate.AttrStatus | 1<<locate.AttrBytes

// addTexts adds the attributes that are not numbers.
func (l *LogReader) addTexts(f *locate.Found, body []byte, open, end int) {
	if f.NeedsAny(locate.AttrClient, locate.AttrTime) {
		l.addPrefix(f, body, open)
	}
	if !f.NeedsAny(locate.AttrReferer, locate.AttrAgent) {
		return
	}
	from := end + 1
	if referer := refererSpan(body, from, l.Dialect.EscapesQuotes()); referer.End > 0 {
		f.AddAttr(locate.AttrReferer, locate.Attr{Span: referer, Dialect: l.Dialect})
		from = min(referer.End+1, len(body))
	}
	if agent := agentSpan(body, from, l.Dialect.EscapesQuotes()); agent.End > 0 {
		f.AddAttr(locate.AttrAgent, locate.Attr{Span: agent, Dialect: l.Dialect})
	}
}

// addNumbers adds the status at pos, which isStatus has found, and the next
// word, which is the number of bytes.
func addNumbers(f *locate.Found, body []byte, pos int) {
	end := locate.WordEnd(body, pos)
	f.AddNumber(locate.AttrStatus, locate.Between(pos, end))
	if !f.Needs(locate.AttrBytes) {
		return
	}
	for end < len(body) && body[end] == ' ' {
		end++
	}
	f.AddNumber(locate.AttrBytes, locate.Between(end, locate.WordEnd(body, end)))
}

// addPrefix adds the attributes before the request.
func (l *LogReader) addPrefix(f *locate.Found, body []byte, open int) {
	client := 0
	if n := VhostLen(body[:open]); l.Format.Vhost && n > 0 {
		client = n + 1
	}
	t := bytes.LastIndexByte(body[:open], '[')
	if t < 0 {
		return
	}
	if s := clientSpan(body[:t], client); s.End > s.Start {
		f.AddText(locate.AttrClient, s)
	}
	f.AddText(locate.AttrTime, locate.Between(t+1, max(t+1, open-len(`] "`))))
}

// VhostLen returns the length of the virtual host with which head begins, the part
// of a record before the request. It returns 0 if the record starts with a client,
// "-" and a user instead.
func VhostLen(head []byte) int {
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
// first quote after "[time] " with text before the time. It returns -1 without
// such a quote.
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

// timeBracket returns the offset of the last '[' of text, or -1. It first looks
// at the place where the bracket precedes a time such as 02/Nov/2026:06:25:15
// +0100, because bytes.LastIndexByte uses no vector instructions.
func timeBracket(text []byte) int {
	const usual = len("[02/Nov/2026:06:25:15 +0100")
	if t := len(text) - usual; t >= 0 && text[t] == '[' && bytes.IndexByte(text[t+1:], '[') < 0 {
		return t
	}
	return bytes.LastIndexByte(text, '[')
}

// requestRange returns the range of the request. open is the offset of the
// quoted field that holds the request, or of an earlier quoted field. The request
// is the last quoted field before the status. If that field is "-", there was no
// request, whatever the other fields hold.
//
// The request ends at the first unescaped quote that a status follows. Old logs
// can contain raw quotes and backslashes that escape nothing, so without such a
// quote the request ends at the first escaped quote that a status follows. The
// end is -1 if no status follows any quote, or if another quoted field follows
// the version of the request.
func requestRange(body []byte, open int, backslash bool) (start, end int) {
	start = open
	escaped := -1
	for i := open; ; i++ {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return start, escaped
		}
		i += n
		bare := !backslash || !locate.IsEscaped(body[start:i])
		switch field := body[start:i]; {
		case isStatus(body[i+1:]):
			if bare {
				return start, i
			}
			if escaped < 0 {
				escaped = i
			}
		case !bytes.HasPrefix(body[i+1:], []byte(` "`)):
		case endsInVersion(field):
			return start, -1
		case bare && escaped < 0 && !beginsRequest(field): // a field before the request, such as the host
			i += len(` "`)
			start = i + 1
		}
	}
}

// beginsRequest reports whether field contains first a method and then a path
// or an absolute URL.
func beginsRequest(field []byte) bool {
	n := bytes.IndexByte(field, ' ')
	return n > 0 && locate.IsToken(field[:n]) && locate.BeginsTarget(field[n+1:])
}

// WithoutNumber returns the request line s without a version that is only a
// number, which Hypercorn writes: 1.0, 1.1, 2 or 3. If the version is a single
// digit, the target must have no space, because the digit could belong to a
// target with spaces.
func WithoutNumber(body []byte, s locate.Span) locate.Span {
	line, size := s.In(body), 0
	switch n := len(line); {
	case n > len(" 1.1") && string(line[n-len(" 1.1"):n-1]) == " 1." && line[n-1]-'0' < 2:
		size = len(" 1.1")
	case n > len(" 2") && line[n-2] == ' ' && line[n-1]-'2' < 2 && bytes.Count(line, []byte(" ")) == 2:
		size = len(" 2")
	}
	line = line[:len(line)-size]
	if sp := bytes.IndexByte(line, ' '); size > 0 && sp > 0 && locate.BeginsTarget(line[sp+1:]) {
		s.End -= size
	}
	return s
}

// endsInVersion reports whether request ends in a version such as HTTP/1.1 or HTTP/2.
func endsInVersion(request []byte) bool {
	i := bytes.LastIndexByte(request, ' ')
	version, found := bytes.CutPrefix(request[i+1:], []byte("HTTP/"))
	return found && len(version) > 0 && len(version) <= len("1.1") && locate.IsDigit(version[0]) && locate.IsDigit(version[len(version)-1])
}

// isStatus reports whether s starts with a space and a status, followed by a
// space or the end of s.
func isStatus(s []byte) bool {
	if len(s) < 2 || s[0] != ' ' {
		return false
	}
	if len(s) > 4 && s[4] == ' ' && locate.IsDigit(s[1]) && locate.IsDigit(s[2]) && locate.IsDigit(s[3]) { // the form of most lines
		return true
	}
	return isCode(s[1:locate.WordEnd(s, 1)])
}

// openQuote returns the offset after the first quote that follows a space in
// body[from:], or -1. It searches for the quote first, because spaces are more
// frequent.
func openQuote(body []byte, from int) int {
	for i := from; ; i++ {
		n := bytes.IndexByte(body[i:], '"')
		if i += n; n < 0 {
			return -1
		}
		if i > from && body[i-1] == ' ' {
			return i + 1
		}
	}
}

// refererSpan returns the inside of the first quoted field after from. The
// field ends at the first unescaped quote that is followed by another quoted
// field or by the end of the record. Otherwise it ends at the last quote of the
// record. The span is empty if this is the only quoted field and holds the
// agent.
func refererSpan(body []byte, from int, backslash bool) locate.Span {
	start := openQuote(body, from)
	if start < 0 {
		return locate.Span{}
	}
	for i := start; ; i++ {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			break
		}
		i += n
		rest := body[i+1:]
		if len(rest) > 1 && rest[0] == ' ' && rest[1] == '"' && !(backslash && locate.IsEscaped(body[start:i])) {
			return locate.Between(start, i)
		}
	}
	last := locate.Between(start, max(start, bytes.LastIndexByte(body, '"')))
	if isAgent(last.In(body)) {
		return locate.Span{}
	}
	return last
}

// isAgent reports whether field, the only quoted field after a request, holds the agent:
// it is not empty, not "-", and contains no absolute URL.
func isAgent(field []byte) bool {
	return len(field) > 0 && string(field) != "-" && !bytes.Contains(field, []byte("://"))
}

// agentSpan returns the inside of the first quoted field after from, which is
// the last quoted field of the format. Unquoted and quoted fields may follow.
// The agent ends at the first unescaped quote that is followed by the end of
// the line, or by a space and an even number of quotes. A raw quote in the
// agent that follows a space counts as an opening quote.
func agentSpan(body []byte, from int, backslash bool) locate.Span {
	start := openQuote(body, from)
	if start < 0 {
		return locate.Span{}
	}
	left := -1 // number of quotes from i on; -1: not counted
	for i := start; ; i++ {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return locate.Between(start, max(start, bytes.LastIndexByte(body, '"')))
		}
		i += n
		switch {
		case backslash && locate.IsEscaped(body[start:i]):
			continue
		case i+1 == len(body):
			return locate.Between(start, i)
		case left < 0:
			left = countQuotes(body[i:], backslash)
		}
		left--
		if body[i+1] == ' ' && (i == start || body[i-1] != ' ') && left%2 == 0 {
			return locate.Between(start, i)
		}
	}
}

// countQuotes returns the number of quotes in text, without the escaped ones.
func countQuotes(text []byte, backslash bool) (n int) {
	for i, c := range text {
		if c == '"' && !(backslash && locate.IsEscaped(text[:i])) {
			n++
		}
	}
	return n
}

// Divide implements [locate.Divider]. Only the time is in brackets.
func (l *LogReader) Divide(dst []locate.Span, rec []byte, _ *locate.Found) []locate.Span {
	open := requestQuote(rec)
	if open < 0 {
		return dst
	}
	const end = len(`] "`)
	time := timeBracket(rec[:open-end])
	dst = appendSpaces(dst, rec, 0, time)
	return append(dst, locate.Between(time, time+1), locate.Between(open-end, open))
}

// appendSpaces appends each space of rec[from:to].
func appendSpaces(dst []locate.Span, rec []byte, from, to int) []locate.Span {
	for i := from; i < to; i++ {
		if rec[i] == ' ' {
			dst = append(dst, locate.Between(i, i+1))
		}
	}
	return dst
}

// Attributes implements [locate.Attributed]. Lines of each of the four formats
// can have more fields than their format.
func (*LogReader) Attributes() uint16 {
	return locate.AttrsOf(locate.AttrTime, locate.AttrStatus, locate.AttrBytes, locate.AttrClient, locate.AttrVHost, locate.AttrReferer, locate.AttrAgent, locate.AttrMethod)
}
