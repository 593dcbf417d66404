package record

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// textLog describes the text log of a load balancer or proxy. It is a Format.
type textLog struct {
	name      string                 // value of Config.Format
	product   string                 // what writes the log
	reference string                 // address of the vendor's description
	layouts   []string               // order of the fields, by version; see textLayout
	url       string                 // what the URL is, as the documents say it
	escapes   string                 // how the URL is escaped, as the documents say it
	dialect   *Dialect               // the same
	cuts      bool                   // the log cuts long requests, without a mark
	strips    bool                   // the log can remove queries, and leave the '?'
	event     func(line []byte) bool // whether a line that fits no layout belongs to the log, but reports no request; nil: none does
	sample    string                 // a line in the form that the vendor documents

	compiled []textLayout
}

// textFormat returns the entry of textLogs with a name, ready for use.
func textFormat(name string) Format {
	for _, t := range textLogs {
		if t.name != name {
			continue
		}
		for _, source := range t.layouts {
			t.compiled = append(t.compiled, newTextLayout(source))
		}
		return &t
	}
	panic("no text log has the name " + name)
}

// Name implements [Format].
func (t *textLog) Name() string { return t.name }

// Detect implements [Format].
func (t *textLog) Detect(s *Sample) Fit {
	r := textReader{textLog: t}
	l := r.locator()
	return s.count(looksLikeProduct, func(rec []byte) bool {
		var f Found
		why, _ := l.Locate(&f, rec, nil)
		return why == 0
	})
}

// Open implements [Format].
func (t *textLog) Open(c *Config) (Reader, error) {
	r := &textReader{textLog: t, request: c.Target != TargetReferer, referer: c.Target != TargetRequest}
	var errs []error
	if !t.has(useReferer) {
		errs = append(errs, c.refuseReferer())
	}
	errs = append(errs, c.refuseFields()...)
	errs = append(errs, c.refuseDialect(), c.checkRequestHost(t.has(useHost, useCaptures, usePrefix)))
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	return r, errors.Join(errs...)
}

// has reports whether the newest layout has a field with one of the uses.
func (t *textLog) has(uses ...textUse) bool { return t.compiled[0].has(uses...) }

// textReader reads a text log.
type textReader struct {
	LineFraming
	*textLog
	request, referer bool // the wanted URLs
}

// Locator implements [Reader].
func (r *textReader) Locator() Locator { return r.locator() }

func (r *textReader) locator() *textLocator {
	l := &textLocator{textReader: r, marks: scan.NewBlock(func(c byte) bool { return c == ' ' }, '"')}
	n := 0
	for i := range r.compiled {
		n = max(n, len(r.compiled[i].fields))
	}
	l.spans = make([]span, n)
	return l
}

// textLocator holds the fields of a record.
type textLocator struct {
	*textReader
	spans    []span
	marks    *scan.Block // of spaces, and of quotes
	captured []byte      // the host among headers that hostAmong found last
}

// Locate implements [Locator].
func (l *textLocator) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	l.marks.Read(rec)
	at := 0
	for i := range l.compiled {
		layout := &l.compiled[i]
		wanted := layout.url
		if f.attrs.wanted {
			wanted = max(wanted, layout.all)
		}
		n, pos := layout.split(l.spans[:wanted], rec, l.marks, l.cuts)
		if n >= layout.must {
			l.take(f, layout, n, rec)
			return 0, 0
		}
		at = max(at, pos)
	}
	if l.event != nil && l.event(rec) {
		return 0, 0
	}
	return Unparsed, at
}

// isHAProxyEvent reports whether line is about a connection that failed before a
// request, in the error log format of HAProxy (section 8.2.6 of its manual):
//
//	… client:port [date] frontend/bind: message
func isHAProxyEvent(line []byte) bool {
	open := bytes.Index(line, []byte(" ["))
	length := bytes.IndexByte(line[max(open, 0):], ']')
	if open < 0 || length != len(" [06/Feb/2009:12:14:14.655") {
		return false
	}
	client := line[bytes.LastIndexByte(line[:open], ' ')+1 : open]
	port := bytes.LastIndexByte(client, ':')
	at := open + length + len("] ")
	if port < 1 || !allDigits(client[port+1:]) || at >= len(line) || line[at-1] != ' ' {
		return false
	}
	var t stamp
	name := line[at:wordEnd(line, at)]
	return t.parse(line[open+len(" ["):at-len("] ")], nil) && bytes.HasSuffix(name, []byte(":")) && bytes.IndexByte(name, '/') > 0
}

// take adds what the first n fields of a record hold.
func (l *textLocator) take(f *Found, layout *textLayout, n int, rec []byte) {
	for _, i := range layout.found {
		if i >= n {
			break
		}
		l.takeURL(f, &layout.fields[i], l.spans[i], rec)
	}
	if !f.attrs.wanted {
		return
	}
	for _, i := range layout.attributes {
		if i >= n {
			break
		}
		if fd := &layout.fields[i]; f.needs(fd.attr) {
			f.takeAttr(fd, l.spans[i], rec, l.dialectOf(fd))
		}
	}
}

// dialectOf returns the dialect of a field.
func (t *textLog) dialectOf(fd *textField) *Dialect {
	if fd.dialect != nil {
		return fd.dialect
	}
	return t.dialect
}

// takeURL adds a field that is a URL or a part of one.
func (l *textLocator) takeURL(f *Found, fd *textField, s span, rec []byte) {
	switch fd.use {
	case useRequest:
		if l.request {
			l.takeRequest(f, s, rec)
		}
	case useMethod:
		f.method = s
	case useScheme:
		f.scheme = s
	case useURL:
		f.strips = l.strips
		if l.request {
			f.addTarget(rec, s, l.dialect)
		}
	case useReferer:
		if l.referer {
			f.addReferer(rec, s, l.dialectOf(fd))
		}
	case useHost:
		f.hosts[0] = s
	case useCaptures:
		f.hosts[0] = l.hostAmong(rec, s)
	case useTLS:
		f.setTLS(string(s.in(rec)) != "-")
	case useServer:
		if n := bytes.IndexByte(s.in(rec), '/'); n >= 0 {
			f.hosts[1] = span{s.start, s.start + n}
		}
	case usePrefix:
		f.hosts[0] = span{s.start, hostBefore(rec, s)}
	case useTransport:
		f.setTLS(bytes.HasSuffix(s.in(rec), []byte("~")))
	}
}

// hostBefore returns the end of the host in the prefix s of a line of uWSGI: the
// only word, or the only one before braces. If there is no host, it returns the
// start.
func hostBefore(rec []byte, s span) int {
	end := wordEnd(rec[:s.end], s.start)
	if end+1 < s.end && rec[end+1] != '{' {
		return s.start
	}
	return end
}

// setTLS says whether the request came over TLS.
func (f *Found) setTLS(tls bool) { f.tls, f.plain = tls, !tls }

// takeRequest adds the request line. A line without a method is one of a request
// that the server could not parse, or of a connection without HTTP.
func (l *textLocator) takeRequest(f *Found, s span, rec []byte) {
	if bytes.HasPrefix(s.in(rec), []byte("- ")) {
		f.form = formDash
		return
	}
	if l.cuts {
		s = f.uncut(s, rec)
	}
	f.addRequest(rec, s, l.dialect)
}

// uncut returns the request line s without a version that is not complete. If
// the end of the URL can be missing, it sets f.cut.
func (f *Found) uncut(s span, rec []byte) span {
	line := s.in(rec)
	if versionAt(line) < len(line) {
		return s
	}
	target := bytes.IndexByte(line, ' ') + 1
	last := bytes.LastIndexByte(line, ' ') + 1
	if last > target && bytes.HasPrefix(version[1:], line[last:]) {
		return span{s.start, s.start + last - 1}
	}
	f.cut = target > 0
	if s.end == len(rec) { // the cut can be inside an escape
		if n := bytes.LastIndexByte(line, '#'); n >= 0 && n > len(line)-len("#00") {
			s.end = s.start + n
		}
	}
	return s
}

// hostAmong returns the first host name among headers separated by '|', or an
// empty span.
func (l *textLocator) hostAmong(rec []byte, s span) span {
	for start := s.start; start < s.end; {
		end := s.end
		if n := bytes.IndexByte(rec[start:s.end], '|'); n >= 0 {
			end = start + n
		}
		header := rec[start:end]
		if len(header) > 0 && bytes.Equal(header, l.captured) {
			return span{start, end}
		}
		if isCapturedHost(header) {
			l.captured = append(l.captured[:0], header...)
			return span{start, end}
		}
		start = end + 1
	}
	return span{}
}

// takeAttr adds a field that is an attribute.
func (f *Found) takeAttr(fd *textField, s span, rec []byte, d *Dialect) {
	a := attr{span: s, dialect: d, unit: fd.unit}
	switch text := s.in(rec); fd.use {
	case useSum:
		a.sum = true
		if sum := &f.attrs.values[fd.attr]; f.attrs.set>>fd.attr&1 != 0 && sum.sum {
			sum.end = s.end
		}
	case useLast:
		a.start += bytes.LastIndexByte(text, '/') + 1
	case useValue:
		a.start += bytes.LastIndexByte(text, ' ') + 1
	case useCode:
		a.end--
	case useMillis:
		a.end, a.unit = s.end-len("ms"), 3
	case useForwarded:
		if n := bytes.IndexByte(text, ','); n >= 0 {
			a.end = s.start + n
		}
		if string(a.in(rec)) == "-" {
			return
		}
	case useTook:
		word := wordEnd(text, 0)
		if word == len(text) {
			return
		}
		switch a.end = s.start + word; string(text[word+1 : wordEnd(text, word+1)]) {
		case "msecs":
			a.unit = 3
		case "micros":
			a.unit = 6
		case "secs":
		default:
			return
		}
	case useClient:
		if n := bytes.LastIndexByte(text, ':'); n > 0 {
			a.end = s.start + n
		}
	}
	f.addAttr(fd.attr, a)
}
