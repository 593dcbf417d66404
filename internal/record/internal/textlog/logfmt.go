package textlog

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// LogfmtFormat is logfmt (https://brandur.org/logfmt): a line of fields key=value
// with spaces between them, as Heroku's router and many Go programs write it.
// Values with spaces are in quotes.
type LogfmtFormat struct{}

// Name implements [locate.Format].
func (LogfmtFormat) Name() string { return "logfmt" }

// logfmtShare sets how many records must have a URL: one in logfmtShare.
// Firewalls write all events to one log.
const logfmtShare = 10

// Detect implements [locate.Format].
func (LogfmtFormat) Detect(s *locate.Sample) locate.Fit {
	urls := 0
	fit := s.Count(locate.LooksLogfmt, func(rec []byte) bool {
		fits, hasURL := fitsLogfmt(rec)
		if fits && hasURL {
			urls++
		}
		return fits
	})
	if urls == 0 || urls*logfmtShare < len(s.Records) {
		return locate.Fit{}
	}
	return fit
}

// fitsLogfmt reports whether body has three or more fields, and whether any of
// them is a URL or a path.
func fitsLogfmt(body []byte) (fits, hasURL bool) {
	n := 0
	scan := logfmtScanner{rec: body, marks: logfmtBytes.Mark(nil, body)}
	for scan.next() {
		if isLabel(scan.key) {
			n++
		}
		if u := logfmtNames.find(scan.key); u.isURL() {
			v := scan.value.In(body)
			hasURL = hasURL || !locate.IsBlank(v) && u.holdsURL(v) && (locate.LooksURL(v) || u.use == locate.UseRequest || locate.IsRequestLine(v))
		}
	}
	return n > 2 && !scan.broken, hasURL
}

// Open implements [locate.Format].
func (LogfmtFormat) Open(c *locate.Settings) (locate.Reader, error) {
	r := &logfmtReader{openNamed(c, logfmtNames)}
	return r, errors.Join(c.RefuseBaseField(), c.CheckRequestHost(true), c.RefuseDialect(), c.RefuseExtend())
}

// logfmtNames maps keys to what they hold. Durations without a unit are not read
// unless the key implies one.
var logfmtNames = newNameTable(byName(`
	target          url http_url http.url url.full request_url
	target:1        request_uri
	target:2        uri request.uri
	target:3        http.target
	request:4       request req request_line http_request
	request:9       msg message
	target:5        path request_path http.path url.path
	query           query_string url.query
	host            host http_host vhost http.host request.host request_host authority
	host:1          hostname domain
	host:3          server_name
	scheme          scheme protocol http.scheme url.scheme
	tls             tls
	method          method request_method http_method httpmethod http.method request.method http.request.method
	referer         referer referrer http_referer http_refer referralurl
	time            time ts t timestamp @timestamp eventtime
	status          status status_code http.status_code code
	bytes           bytes size body_bytes_sent bytes_sent resp_size rcvdbyte
	duration:stated service duration elapsed took
	duration        request_time duration_s
	duration:ms     duration_ms time_ms
	client          fwd remote_addr remote_ip client_ip client ip srcip src_ip
	agent           user_agent useragent agent ua http_user_agent http_agent
	request_id      request_id req_id requestId`))

// logfmtReader reads logfmt.
type logfmtReader struct{ namedReader }

// Locator implements [locate.Reader].
func (r *logfmtReader) Locator() locate.Locator { return &LogfmtLocator{logfmtReader: r} }

// LogfmtLocator is a logfmtReader with scratch memory.
type LogfmtLocator struct {
	*logfmtReader
	scan  logfmtScanner
	Forms locate.Forms
}

// Locate implements [locate.Locator]. It skips words that are not fields, such as the
// time and program that a syslog puts before a line.
func (r *LogfmtLocator) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	return r.LocateForm(f, rec, r.FormOf(rec))
}

// FormOf implements [locate.Former].
func (r *LogfmtLocator) FormOf(rec []byte) *locate.Form {
	r.scan = logfmtScanner{rec: rec, marks: logfmtBytes.Mark(r.scan.marks, rec)}
	return r.Forms.Match(rec, r.scan.marks)
}

// LocateForm implements [locate.Former].
func (r *LogfmtLocator) LocateForm(f *locate.Found, rec []byte, h *locate.Form) (locate.Reason, int) {
	var p namedParts
	if h != nil {
		p.takeForm(f, rec, h, r.names, nil)
	} else if !r.read(f, &p) {
		return locate.Unparsed, r.scan.pos
	}
	why, at := r.add(f, rec, &p)
	if why == 0 && f.Attrs.Wanted {
		addPrefixTime(f, rec)
	}
	return why, at
}

// read takes the fields of the record, and learns from it. It returns false if
// there are no fields, or if a quoted value does not end and no field is the URL.
func (r *LogfmtLocator) read(f *locate.Found, p *namedParts) bool {
	s, fields := &r.scan, false
	learns := r.Forms.Learns(s.rec)
	if learns {
		s.forms = &r.Forms
	}
	for s.next() {
		fields = true
		if u := r.names.find(s.key); u.isRead(f) {
			p.take(f, s.rec, u, s.value, s.way.Dialect)
		}
		if learns {
			addNamed(&r.Forms, f, r.names, s.key, s.value, s.way, r.target)
		}
	}
	if learns && fields && !s.broken {
		r.Forms.Learn(s.rec)
	}
	return fields && !(s.broken && p.target.End == 0)
}

// addPrefixTime adds the time at the start of a line without a field for it.
func addPrefixTime(f *locate.Found, rec []byte) {
	if end := bytes.IndexByte(rec, ' '); end > 0 && locate.IsDigit(rec[0]) && bytes.IndexByte(rec[:end], '=') < 0 {
		f.AddAttr(locate.AttrTime, locate.Attr{Span: locate.Between(0, end)})
	}
}

// logfmtScanner finds the fields of a line.
type logfmtScanner struct {
	rec    []byte
	marks  scan.Marks // marks of logfmtBytes
	pos    int
	broken bool // a quoted value does not end; pos is where it starts

	// The current field.
	key   []byte // not empty
	value locate.Span
	way   *locate.Way

	forms *locate.Forms // learn from the words that are not fields, if not nil
}

// logfmtBytes is the set of ASCII bytes in keys. All others are marked: white
// space and controls, which end words, '=', '"', and bytes that are not ASCII,
// which end nothing.
var logfmtBytes = scan.NewSet(func(c byte) bool { return c > ' ' && c != '=' && c != '"' })

// logfmtKeyEnd returns the end of the key at pos.
func logfmtKeyEnd(rec []byte, marks scan.Marks, pos int) int {
	pos = marks.Next(pos)
	for pos < len(rec) && rec[pos] >= utf8.RuneSelf {
		pos = marks.Next(pos + 1)
	}
	return pos
}

// logfmtEnd returns the end of the word or value at pos, before white space.
func logfmtEnd(rec []byte, marks scan.Marks, pos int) int {
	pos = marks.Next(pos)
	for pos < len(rec) && rec[pos] > ' ' {
		pos = marks.Next(pos + 1)
	}
	return pos
}

// next finds the next field. It returns false at the end of the line and at a
// quoted value without an end.
func (s *logfmtScanner) next() bool {
	rec, pos := s.rec, s.pos
	for pos < len(rec) {
		if rec[pos] <= ' ' {
			pos++
			continue
		}
		start := pos
		pos = logfmtKeyEnd(rec, s.marks, pos)
		if pos == start || pos == len(rec) || rec[pos] != '=' {
			if s.forms != nil && (pos == len(rec) || rec[pos] <= ' ') {
				s.forms.Add(locate.Value{Span: locate.Between(start, pos), Way: wayWord, Use: -1})
			}
			pos = logfmtEnd(rec, s.marks, pos)
			continue
		}
		s.key = rec[start:pos]
		pos++
		if pos < len(rec) && rec[pos] == '"' {
			end := logfmtQuote(rec, pos+1)
			if s.pos = end + 1; end < 0 {
				s.pos, s.broken = pos, true
				return false
			}
			s.value, s.way = locate.Between(pos+1, end), wayQuoted
			return true
		}
		s.pos = logfmtEnd(rec, s.marks, pos)
		s.value, s.way = locate.Between(pos, s.pos), wayPlain
		return true
	}
	s.pos = pos
	return false
}

// logfmtQuote returns the offset of the quote that closes a value that starts at
// pos, or -1. White space or the end of the line must follow it, because some
// programs do not escape quotes.
func logfmtQuote(rec []byte, pos int) int {
	for i := pos; ; i++ {
		n := bytes.IndexByte(rec[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		if (i+1 == len(rec) || rec[i+1] <= ' ') && !locate.IsEscaped(rec[pos:i]) {
			return i
		}
	}
}

// decodeLogfmt decodes JSON escapes and the escapes of Go's strconv.Quote.
func decodeLogfmt(dst, s []byte) ([]byte, int) {
	if len(s) < 2 {
		return append(dst, s...), len(s)
	}
	switch s[1] {
	case 'x':
		return locate.DecodeHex(dst, s)
	case 'a':
		return append(dst, '\a'), 2
	case 'v':
		return append(dst, '\v'), 2
	}
	return locate.DecodeJSON(dst, s)
}

// encodeLogfmt encodes text as a value.
func encodeLogfmt(dst, text []byte, stop byte) []byte {
	for _, c := range text {
		if c <= ' ' || c == '"' || c == 0x7F {
			return append(encodeLogfmtQuoted(append(dst, '"'), text, stop), '"')
		}
	}
	return append(dst, text...)
}

// encodeLogfmtQuoted encodes text as the inside of a quoted value. It keeps
// bytes that are not ASCII, because readers decode escapes of such bytes
// differently.
func encodeLogfmtQuoted(dst, text []byte, _ byte) []byte {
	for _, c := range text {
		if locate.PlainJSON[c] || c >= utf8.RuneSelf {
			dst = append(dst, c)
		} else {
			dst = locate.AppendJSONByte(dst, c)
		}
	}
	return dst
}

// Mapped implements [locate.Mapped].
func (*logfmtReader) Mapped() {}
