package record

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// logfmtFormat is logfmt (https://brandur.org/logfmt): a line of fields key=value
// with spaces between them, as Heroku's router and many Go programs write it.
// Values with spaces are in quotes.
type logfmtFormat struct{}

// Name implements [Format].
func (logfmtFormat) Name() string { return "logfmt" }

// logfmtShare sets how many records must have a URL: one in logfmtShare.
// Firewalls write all events to one log.
const logfmtShare = 10

// Detect implements [Format].
func (logfmtFormat) Detect(s *Sample) Fit {
	urls := 0
	fit := s.count(looksLogfmt, func(rec []byte) bool {
		fits, hasURL := fitsLogfmt(rec)
		if fits && hasURL {
			urls++
		}
		return fits
	})
	if urls == 0 || urls*logfmtShare < len(s.Records) {
		return Fit{}
	}
	return fit
}

// fitsLogfmt reports whether body has three or more fields, and whether one of
// them is a URL or a path.
func fitsLogfmt(body []byte) (fits, hasURL bool) {
	n := 0
	scan := logfmtScanner{rec: body, marks: logfmtBytes.Mark(nil, body)}
	for scan.next() {
		if isLabel(scan.key) {
			n++
		}
		if u := logfmtNames.find(scan.key); u.kind == namedTarget || u.kind == namedRequest {
			v := scan.value.in(body)
			hasURL = hasURL || !isBlank(v) && (looksURL(v) || u.kind == namedRequest)
		}
	}
	return n > 2 && !scan.broken, hasURL
}

// Open implements [Format].
func (logfmtFormat) Open(c *Config) (Reader, error) {
	r := &logfmtReader{target: c.Target}
	r.names, r.named = c.namedFields(logfmtUses, logfmtNames)
	errs := []error{c.refuseBaseField(), c.checkRequestHost(true), c.refuseDialect()}
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	return r, errors.Join(errs...)
}

// logfmtUses maps keys to what they hold. Durations without a unit are not read
// unless the key implies one.
var logfmtUses = map[string]namedUse{
	"url": {kind: namedTarget}, "http_url": {kind: namedTarget}, "http.url": {kind: namedTarget}, "url.full": {kind: namedTarget}, "request_url": {kind: namedTarget},
	"request_uri": {kind: namedTarget, rank: 1}, "uri": {kind: namedTarget, rank: 2}, "request.uri": {kind: namedTarget, rank: 2},
	"http.target": {kind: namedTarget, rank: 3}, "request": {kind: namedRequest, rank: 4}, "req": {kind: namedRequest, rank: 4},
	"path": {kind: namedTarget, rank: 5}, "request_path": {kind: namedTarget, rank: 5}, "http.path": {kind: namedTarget, rank: 5}, "url.path": {kind: namedTarget, rank: 5},
	"query_string": {kind: namedQuery}, "url.query": {kind: namedQuery},
	"host": {kind: namedHost}, "http_host": {kind: namedHost}, "vhost": {kind: namedHost}, "http.host": {kind: namedHost}, "request.host": {kind: namedHost},
	"request_host": {kind: namedHost}, "authority": {kind: namedHost}, "hostname": {kind: namedHost, rank: 1}, "domain": {kind: namedHost, rank: 1}, "server_name": {kind: namedHost, rank: 3},
	"scheme": {kind: namedScheme}, "protocol": {kind: namedScheme}, "http.scheme": {kind: namedScheme}, "tls": {kind: namedTLS}, "url.scheme": {kind: namedScheme},
	"method": {kind: namedMethod}, "request_method": {kind: namedMethod}, "http_method": {kind: namedMethod}, "httpmethod": {kind: namedMethod}, "http.method": {kind: namedMethod}, "request.method": {kind: namedMethod}, "http.request.method": {kind: namedMethod},
	"referer": {kind: namedReferer}, "referrer": {kind: namedReferer}, "http_referer": {kind: namedReferer}, "http_refer": {kind: namedReferer}, "referralurl": {kind: namedReferer},
	"time": {kind: namedAttr, attr: attrTime}, "ts": {kind: namedAttr, attr: attrTime}, "t": {kind: namedAttr, attr: attrTime}, "timestamp": {kind: namedAttr, attr: attrTime}, "@timestamp": {kind: namedAttr, attr: attrTime}, "eventtime": {kind: namedAttr, attr: attrTime},
	"status": {kind: namedAttr, attr: attrStatus}, "status_code": {kind: namedAttr, attr: attrStatus}, "http.status_code": {kind: namedAttr, attr: attrStatus}, "code": {kind: namedAttr, attr: attrStatus},
	"bytes": {kind: namedAttr, attr: attrBytes}, "size": {kind: namedAttr, attr: attrBytes}, "body_bytes_sent": {kind: namedAttr, attr: attrBytes}, "bytes_sent": {kind: namedAttr, attr: attrBytes}, "resp_size": {kind: namedAttr, attr: attrBytes}, "rcvdbyte": {kind: namedAttr, attr: attrBytes},
	"service": {kind: namedAttr, attr: attrDuration, unit: noUnit}, "duration": {kind: namedAttr, attr: attrDuration, unit: noUnit}, "elapsed": {kind: namedAttr, attr: attrDuration, unit: noUnit}, "took": {kind: namedAttr, attr: attrDuration, unit: noUnit},
	"request_time": {kind: namedAttr, attr: attrDuration}, "duration_s": {kind: namedAttr, attr: attrDuration}, "duration_ms": {kind: namedAttr, attr: attrDuration, unit: 3}, "time_ms": {kind: namedAttr, attr: attrDuration, unit: 3},
	"fwd": {kind: namedAttr, attr: attrClient}, "remote_addr": {kind: namedAttr, attr: attrClient}, "remote_ip": {kind: namedAttr, attr: attrClient}, "client_ip": {kind: namedAttr, attr: attrClient}, "client": {kind: namedAttr, attr: attrClient}, "ip": {kind: namedAttr, attr: attrClient}, "srcip": {kind: namedAttr, attr: attrClient}, "src_ip": {kind: namedAttr, attr: attrClient},
	"user_agent": {kind: namedAttr, attr: attrAgent}, "useragent": {kind: namedAttr, attr: attrAgent}, "agent": {kind: namedAttr, attr: attrAgent}, "ua": {kind: namedAttr, attr: attrAgent}, "http_user_agent": {kind: namedAttr, attr: attrAgent}, "http_agent": {kind: namedAttr, attr: attrAgent},
	"request_id": {kind: namedAttr, attr: attrRequestID}, "req_id": {kind: namedAttr, attr: attrRequestID}, "requestId": {kind: namedAttr, attr: attrRequestID},
}

var logfmtNames = newNameTable(logfmtUses)

// logfmtReader reads logfmt.
type logfmtReader struct {
	LineFraming
	names  *nameTable
	named  bool // the job names the key of the URL
	target Target
}

// Locator implements [Reader].
func (r *logfmtReader) Locator() Locator { return &logfmtLocator{logfmtReader: r} }

// logfmtLocator is a logfmtReader with scratch memory.
type logfmtLocator struct {
	*logfmtReader
	scan  logfmtScanner
	forms forms
}

// Locate implements [Locator]. It skips words that are not fields, such as the
// time and program that a syslog puts before a line.
func (r *logfmtLocator) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	return r.locateForm(f, rec, r.formOf(rec))
}

// formOf implements [former].
func (r *logfmtLocator) formOf(rec []byte) *form {
	r.scan = logfmtScanner{rec: rec, marks: logfmtBytes.Mark(r.scan.marks, rec)}
	return r.forms.match(&marked{rec: rec, marks: r.scan.marks})
}

// locateForm implements [former].
func (r *logfmtLocator) locateForm(f *Found, rec []byte, h *form) (Reason, int) {
	var p namedParts
	if h != nil {
		p.takeForm(f, rec, h, r.names, nil)
	} else if !r.read(f, &p) {
		return Unparsed, r.scan.pos
	}
	switch {
	case r.named && p.target.end == 0, !p.add(f, rec, r.target):
		return NoField, 0
	}
	if f.attrs.wanted {
		addPrefixTime(f, rec)
	}
	return 0, 0
}

// read takes the fields of the record, and learns from it. It returns false if there are
// none, or if a quoted value has no end and no field is the URL.
func (r *logfmtLocator) read(f *Found, p *namedParts) bool {
	s, fields := &r.scan, false
	learns := r.forms.learns(s.rec)
	if learns {
		s.forms = &r.forms
	}
	for s.next() {
		fields = true
		if u := r.names.find(s.key); u.isRead(f) {
			p.take(f, s.rec, u, s.value, wayDialects[s.way])
		}
		if learns {
			r.forms.addNamed(f, r.names, s.key, s.value, s.way, r.target)
		}
	}
	if learns && fields && !s.broken {
		r.forms.learn(s.rec)
	}
	return fields && !(s.broken && p.target.end == 0)
}

// addPrefixTime adds the time at the start of a line that has no field with it.
func addPrefixTime(f *Found, rec []byte) {
	if end := bytes.IndexByte(rec, ' '); end > 0 && isDigit(rec[0]) && bytes.IndexByte(rec[:end], '=') < 0 {
		f.addAttr(attrTime, attr{span: span{0, end}})
	}
}

// logfmtScanner finds the fields of a line.
type logfmtScanner struct {
	rec    []byte
	marks  scan.Marks // of logfmtBytes
	pos    int
	broken bool // a quoted value has no end; pos is where it starts

	// The current field.
	key   []byte // not empty
	value span
	way   way

	forms *forms // learn from the words that are not fields, if not nil
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
				s.forms.add(value{span: span{start, pos}, way: wayWord, use: -1})
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
			s.value, s.way = span{pos + 1, end}, wayQuoted
			return true
		}
		s.pos = logfmtEnd(rec, s.marks, pos)
		s.value, s.way = span{pos, s.pos}, wayPlain
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
		if (i+1 == len(rec) || rec[i+1] <= ' ') && !isEscaped(rec[pos:i]) {
			return i
		}
	}
}

// decodeLogfmt decodes the escapes of JSON and those of Go's strconv.Quote.
func decodeLogfmt(dst, s []byte) ([]byte, int) {
	if len(s) < 2 {
		return append(dst, s...), len(s)
	}
	switch s[1] {
	case 'x':
		return decodeHex(dst, s)
	case 'a':
		return append(dst, '\a'), 2
	case 'v':
		return append(dst, '\v'), 2
	}
	return decodeJSON(dst, s)
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
// bytes that are not ASCII, because readers differ in what they do with escapes
// of them.
func encodeLogfmtQuoted(dst, text []byte, _ byte) []byte {
	for _, c := range text {
		if plainJSON[c] || c >= utf8.RuneSelf {
			dst = append(dst, c)
		} else {
			dst = appendJSONByte(dst, c)
		}
	}
	return dst
}
