package textlog

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// FixedLog describes the text log of a load balancer or proxy. It is a Format.
type FixedLog struct {
	ID        string                 // value of Config.Format
	Product   string                 // what writes the log
	Reference string                 // address of the vendor's description
	layouts   []string               // order of the fields, by version; see fixedLayout
	URL       string                 // what the URL is, as the documents say it
	Escapes   string                 // how the URL is escaped, as the documents say it
	dialect   *locate.Dialect        // decodes and writes these escapes
	Cuts      bool                   // the log cuts long requests, without a mark
	strips    bool                   // the log can remove queries, and leave the '?'
	event     func(line []byte) bool // whether a line that fits no layout belongs to the log, but reports no request; nil: none does
	Sample    string                 // a line in the form that the vendor documents

	Compiled []fixedLayout
}

// Fixed returns the entry of FixedLogs called name, ready for use. It panics if
// no entry has the name.
func Fixed(name string) locate.Format {
	for _, t := range FixedLogs {
		if t.ID != name {
			continue
		}
		for _, source := range t.layouts {
			t.Compiled = append(t.Compiled, newTextLayout(source))
		}
		return &t
	}
	panic("no text log has the name " + name)
}

// Name implements [locate.Format].
func (t *FixedLog) Name() string { return t.ID }

// Detect implements [locate.Format].
func (t *FixedLog) Detect(s *locate.Sample) locate.Fit {
	r := FixedReader{FixedLog: t}
	l := r.locator()
	return s.Count(locate.LooksLikeProduct, func(rec []byte) bool {
		var f locate.Found
		why, _ := l.Locate(&f, rec, nil)
		return why == 0
	})
}

// Open implements [locate.Format].
func (t *FixedLog) Open(c *locate.Settings) (locate.Reader, error) {
	r := &FixedReader{FixedLog: t, request: c.Target != locate.TargetReferer, referer: c.Target != locate.TargetRequest}
	var errTarget error
	if !t.has(useReferer) {
		errTarget = c.RefuseReferer()
	}
	return r, errors.Join(errTarget, c.RefuseFields(), c.RefuseDialect(), c.CheckRequestHost(t.has(useHost, useCaptures, usePrefix)), c.RefuseExtend())
}

// has reports whether the newest layout has a field with one of the uses.
func (t *FixedLog) has(uses ...textUse) bool { return t.Compiled[0].has(uses...) }

// FixedReader reads a text log.
type FixedReader struct {
	locate.LineFraming
	*FixedLog
	request, referer bool // the wanted URLs
}

// Locator implements [locate.Reader].
func (r *FixedReader) Locator() locate.Locator { return r.locator() }

func (r *FixedReader) locator() *FixedLocator {
	l := &FixedLocator{FixedReader: r, Marks: scan.NewBlock(func(c byte) bool { return c == ' ' }, '"')}
	n := 0
	for i := range r.Compiled {
		n = max(n, len(r.Compiled[i].Fields))
	}
	l.Spans = make([]locate.Span, n)
	return l
}

// FixedLocator finds the URLs in the lines of a text log.
type FixedLocator struct {
	*FixedReader
	Spans    []locate.Span
	Marks    *scan.Block // marks of spaces, and of quotes
	captured []byte      // the host among headers that hostAmong found last
}

// Locate implements [locate.Locator].
func (l *FixedLocator) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	l.Marks.Read(rec)
	at := 0
	for i := range l.Compiled {
		layout := &l.Compiled[i]
		wanted := layout.url
		if f.Attrs.Wanted {
			wanted = max(wanted, layout.all)
		}
		n, pos := layout.Split(l.Spans[:wanted], rec, l.Marks, l.Cuts)
		if n >= layout.must {
			l.take(f, layout, n, rec)
			return 0, 0
		}
		at = max(at, pos)
	}
	if l.event != nil && l.event(rec) {
		return 0, 0
	}
	return locate.Unparsed, at
}

// isHAProxyEvent reports whether line is about a connection that failed before a
// request, in the HAProxy error log format (section 8.2.6 of the HAProxy manual):
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
	if port < 1 || !locate.AllDigits(client[port+1:]) || at >= len(line) || line[at-1] != ' ' {
		return false
	}
	var t locate.Stamp
	name := line[at:locate.WordEnd(line, at)]
	return t.Parse(line[open+len(" ["):at-len("] ")], nil) && bytes.HasSuffix(name, []byte(":")) && bytes.IndexByte(name, '/') > 0
}

// take adds what the first n fields of a record hold.
func (l *FixedLocator) take(f *locate.Found, layout *fixedLayout, n int, rec []byte) {
	for _, i := range layout.found {
		if i >= n {
			break
		}
		l.takeURL(f, &layout.Fields[i], l.Spans[i], rec)
	}
	if !f.Attrs.Wanted {
		return
	}
	for _, i := range layout.attributes {
		if i >= n {
			break
		}
		if fd := &layout.Fields[i]; f.Needs(fd.attr) {
			takeAttr(f, fd, l.Spans[i], rec, l.dialectOf(fd))
		}
	}
}

// dialectOf returns the dialect of a field.
func (t *FixedLog) dialectOf(fd *fixedField) *locate.Dialect {
	if fd.dialect != nil {
		return fd.dialect
	}
	return t.dialect
}

// takeURL adds a field that is a URL or a part of one.
func (l *FixedLocator) takeURL(f *locate.Found, fd *fixedField, s locate.Span, rec []byte) {
	switch fd.use {
	case useRequest:
		if l.request {
			l.takeRequest(f, s, rec)
		}
	case useMethod:
		f.Method = s
	case useScheme:
		f.Scheme = s
	case useURL:
		f.Strips = l.strips
		if l.request {
			f.TakeTarget(rec, s, l.dialect)
		}
	case useReferer:
		if l.referer {
			f.TakeReferer(rec, s, l.dialectOf(fd))
		}
	case useHost:
		f.Hosts[0] = s
	case useCaptures:
		f.Hosts[0] = l.hostAmong(rec, s)
	case useTLS:
		setTLS(f, string(s.In(rec)) != "-")
	case useServer:
		if n := bytes.IndexByte(s.In(rec), '/'); n >= 0 {
			f.Hosts[1] = locate.Between(s.Start, s.Start+n)
		}
	case usePrefix:
		f.Hosts[0] = locate.Between(s.Start, hostBefore(rec, s))
	case useTransport:
		setTLS(f, bytes.HasSuffix(s.In(rec), []byte("~")))
	}
}

// hostBefore returns the end of the host in s, the text before "[pid: " in a uWSGI
// log line. The host is the only word of s, or the only word before braces. If
// there is no host, hostBefore returns the start of s.
func hostBefore(rec []byte, s locate.Span) int {
	end := locate.WordEnd(rec[:s.End], s.Start)
	if end+1 < s.End && rec[end+1] != '{' {
		return s.Start
	}
	return end
}

// setTLS records in f whether the request used TLS.
func setTLS(f *locate.Found, tls bool) { f.TLS, f.Plain = tls, !tls }

// takeRequest adds the request line. A line without a method belongs to a
// request that the server could not parse, or to a connection without HTTP.
func (l *FixedLocator) takeRequest(f *locate.Found, s locate.Span, rec []byte) {
	if bytes.HasPrefix(s.In(rec), []byte("- ")) {
		f.Form = locate.FormDash
		return
	}
	if l.Cuts {
		s = uncut(f, s, rec)
	}
	f.AddRequest(rec, s, l.dialect)
}

// uncut returns the request line s without an incomplete version at its end. If
// the end of the URL can be missing, it sets f.Cut.
func uncut(f *locate.Found, s locate.Span, rec []byte) locate.Span {
	line := s.In(rec)
	if locate.VersionAt(line) < len(line) {
		return s
	}
	target := bytes.IndexByte(line, ' ') + 1
	last := bytes.LastIndexByte(line, ' ') + 1
	if last > target && bytes.HasPrefix(locate.Version[1:], line[last:]) {
		return locate.Between(s.Start, s.Start+last-1)
	}
	f.Cut = target > 0
	if s.End == len(rec) { // the cut can be inside an escape
		if n := bytes.LastIndexByte(line, '#'); n >= 0 && n > len(line)-len("#00") {
			s.End = s.Start + n
		}
	}
	return s
}

// hostAmong returns the first host name among headers separated by '|', or an
// empty span.
func (l *FixedLocator) hostAmong(rec []byte, s locate.Span) locate.Span {
	for start := s.Start; start < s.End; {
		end := s.End
		if n := bytes.IndexByte(rec[start:s.End], '|'); n >= 0 {
			end = start + n
		}
		header := rec[start:end]
		if len(header) > 0 && bytes.Equal(header, l.captured) {
			return locate.Between(start, end)
		}
		if isCapturedHost(header) {
			l.captured = append(l.captured[:0], header...)
			return locate.Between(start, end)
		}
		start = end + 1
	}
	return locate.Span{}
}

// takeAttr adds a field that is an attribute.
func takeAttr(f *locate.Found, fd *fixedField, s locate.Span, rec []byte, d *locate.Dialect) {
	a := locate.Attr{Span: s, Dialect: d, Unit: fd.unit}
	switch text := s.In(rec); fd.use {
	case useSum:
		a.Sum = true
		if sum := &f.Attrs.Values[fd.attr]; f.Attrs.Set>>fd.attr&1 != 0 && sum.Sum {
			sum.End = s.End
		}
	case useLast:
		a.Start += bytes.LastIndexByte(text, '/') + 1
	case useValue:
		a.Start += bytes.LastIndexByte(text, ' ') + 1
	case useCode:
		a.End--
	case useMillis:
		a.End, a.Unit = s.End-len("ms"), 3
	case useForwarded:
		if n := bytes.IndexByte(text, ','); n >= 0 {
			a.End = s.Start + n
		}
		if string(a.In(rec)) == "-" {
			return
		}
	case useTook:
		word := locate.WordEnd(text, 0)
		if word == len(text) {
			return
		}
		switch a.End = s.Start + word; string(text[word+1 : locate.WordEnd(text, word+1)]) {
		case "msecs":
			a.Unit = 3
		case "micros":
			a.Unit = 6
		case "secs":
		default:
			return
		}
	case useClient:
		if n := bytes.LastIndexByte(text, ':'); n > 0 {
			a.End = s.Start + n
		}
	}
	f.AddAttr(fd.attr, a)
}

// Divide implements [locate.Divider].
func (l *FixedLocator) Divide(dst []locate.Span, rec []byte, _ *locate.Found) []locate.Span {
	body := locate.TrimEnd(rec)
	l.Marks.Read(body)
	for i := range l.Compiled {
		layout := &l.Compiled[i]
		n, _ := layout.Split(l.Spans[:len(layout.Fields)], body, l.Marks, l.Cuts)
		if n < layout.must {
			continue
		}
		pos := 0
		for i, s := range l.Spans[:n] {
			if i > 0 || !layout.Floats {
				dst = append(dst, locate.Between(pos, s.Start))
			}
			if sep := layout.Fields[i].use.separator(); sep != 0 {
				for at := s.Start; at < s.End; at++ {
					if body[at] == sep {
						dst = append(dst, locate.Between(at, at+1))
					}
				}
			}
			pos = s.End
		}
		if pos < len(body) {
			dst = append(dst, locate.Between(pos, pos+1)) // a quote, a bracket or a space
		}
		break
	}
	return dst
}

// separator returns the byte that separates the parts of a field, or 0.
func (u textUse) separator() byte {
	switch u {
	case useCaptures:
		return '|'
	case useLast, useServer:
		return '/'
	case useForwarded:
		return ','
	}
	return 0
}

// Attributes implements [locate.Attributed].
func (r *FixedReader) Attributes() uint16 {
	s := locate.AttrsOf(locate.AttrVHost)
	for i := range r.Compiled {
		l := &r.Compiled[i]
		for _, k := range l.attributes {
			s |= locate.AttrsOf(l.Fields[k].attr)
		}
		for k := range l.Fields {
			if u := l.Fields[k].use; u == useRequest || u == useMethod {
				s |= locate.AttrsOf(locate.AttrMethod)
			}
		}
	}
	return s
}
