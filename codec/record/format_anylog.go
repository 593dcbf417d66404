package record

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// anyLogFormat reads the lines of logs that no other format describes: error
// logs, audit logs, logs of applications. It finds the request in a line,
// wherever it is (requestscan.go), or the absolute URLs if there is no request.
// Lines without either are events without a URL.
type anyLogFormat struct{}

// Name implements [Format].
func (anyLogFormat) Name() string { return "log" }

// anyLogShare sets how many lines must have a URL: one in anyLogShare.
const anyLogShare = 10

// Detect implements [Format]. A line fits if it has a time or a request, which
// few lines of prose have. Only some of them must have a URL.
func (anyLogFormat) Detect(s *Sample) Fit {
	urls := 0
	fit := s.count(looksLikeAnyLog, func(rec []byte) bool {
		_, request := findRequest(rec)
		timed := hasClock(rec)
		if (timed || request) && HoldsURL(rec) {
			urls++
		}
		return timed || request
	})
	if urls*anyLogShare < len(s.Records) || urls == 0 {
		return Fit{}
	}
	return fit
}

// HoldsURL reports whether a line of text has a request, or an absolute URL.
func HoldsURL(line []byte) bool {
	if HoldsRequest(line) {
		return true
	}
	_, ok := findLogURL(line, 0)
	return ok
}

// HoldsRequest reports whether a line of text has a request, such as GET /a.
func HoldsRequest(line []byte) bool {
	_, ok := findRequest(line)
	return ok
}

// Open implements [Format].
func (anyLogFormat) Open(c *Config) (Reader, error) {
	r := anyLogReader{all: c.Target == TargetAll, dialect: unionDialect}
	if d, given := c.dialect(); given {
		r.dialect = d
	}
	errs := append(c.refuseFields(), c.checkRequestHost(true))
	if c.Target == TargetReferer {
		errs = append(errs, wrong("Target", "the format log cannot tell which URL is the referer; use all"))
	}
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	return &r, errors.Join(errs...)
}

// anyLogReader reads lines of any log.
type anyLogReader struct {
	LineFraming
	all     bool     // also the absolute URLs of lines with a request
	dialect *Dialect // escapes of a request
}

// Locator implements [Reader].
func (r *anyLogReader) Locator() Locator { return r }

// Locate implements [Locator].
func (r *anyLogReader) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	req, ok := findRequest(rec)
	r.take(f, rec, req, ok)
	return 0, 0
}

// take stores what a line has. ok says that it has the request req.
func (r *anyLogReader) take(f *Found, rec []byte, req requestSpan, ok bool) {
	if !ok || r.all {
		r.addURLs(f, rec, req.target)
	}
	if ok {
		f.method = req.method
		f.place(site{span: req.target, role: roleTarget, dialect: r.dialectOf(req)})
		f.hosts[0] = hostAfter(rec, req.end)
	}
	if f.attrs.wanted {
		addLogAttrs(f, rec, req)
	}
}

// dialectOf returns the escapes of a request: none without quotes.
func (r *anyLogReader) dialectOf(req requestSpan) *Dialect {
	if req.quoted {
		return r.dialect
	}
	return nil
}

// addURLs adds the absolute URLs of rec outside the request target, which is
// empty if there is none.
func (r *anyLogReader) addURLs(f *Found, rec []byte, target span) {
	for pos := 0; ; {
		s, ok := findLogURL(rec, pos)
		if !ok {
			return
		}
		if s.end <= target.start || s.start >= target.end {
			f.add(s, roleURL, jsonDialect) // every backslash in a URL is an escape of JSON
		}
		pos = s.end
	}
}

// findLogURL is findURL without URLs whose end is not certain, and without the
// names of XML namespaces, which are URLs in form only.
func findLogURL(rec []byte, from int) (span, bool) {
	for {
		s, ok := findURL(rec, from)
		if !ok || endsPlainly(rec, s) && !isNamespace(rec[:s.start]) {
			return s, ok
		}
		from = s.end
	}
}

// endsPlainly reports whether the rewritten URL s would end where s ends. It
// would not if the text after it could belong to its path, as for http://h, which
// becomes http://h/, or if an escape hides what ends a URL, as in http://h/%7e.
func endsPlainly(rec []byte, s span) bool {
	t := textScan{line: rec, start: s.start}
	if c := t.closing(); c != 0 && s.end < len(rec) && c == rec[s.end] {
		return true
	}
	if hidesEnd(s.in(rec)) {
		return false
	}
	for i := s.end; i < len(rec); {
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

// hidesEnd reports whether a URL has an authority that would be escaped, or ends
// in an escape of punctuation that is left out at the end of a URL.
func hidesEnd(url []byte) bool {
	host := url[bytes.IndexByte(url, ':')+1:]
	host = host[slashesAt(host, 0):]
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
	if _, port, ok := bytes.Cut(host, []byte(":")); ok && len(port) > 0 && !allDigits(port) {
		return true
	}
	last := url[len(url)-len("%7e"):]
	return last[0] == '%' && bytes.IndexByte([]byte("._~"), unhex[last[1]]<<4|unhex[last[2]]) >= 0
}

// isNamespace reports whether before ends in the name of an attribute that
// declares an XML namespace, and the quote after it.
func isNamespace(before []byte) bool {
	eq := len(before) - len(`="`)
	if eq < 0 || before[eq] != '=' {
		if eq--; eq < 0 || before[eq] != '=' { // a quote that a JSON string escapes
			return false
		}
	}
	name := before[max(0, bytes.LastIndex(before[:eq], []byte("xmlns"))):eq]
	return bytes.HasPrefix(name, []byte("xmlns")) && (len(name) == len("xmlns") || name[len("xmlns")] == ':' && isToken(name[len("xmlns:"):]))
}

// addLogAttrs adds the attributes that can be recognized in any log: the time,
// the status after the request, and the fields with a label, which the error
// log of nginx has.
func addLogAttrs(f *Found, rec []byte, req requestSpan) {
	if s := clockSpan(rec); s.end > 0 && f.needs(attrTime) {
		f.addAttr(attrTime, attr{span: s})
	}
	if f.needs(attrStatus) {
		s := labeled(rec, 0, "status")
		if req.end > 0 && s.end == 0 {
			s = statusAfter(rec, req.end)
		}
		if s.end-s.start == len("200") && allDigits(s.in(rec)) {
			f.addAttr(attrStatus, attr{span: s})
		}
	}
	for _, l := range [...]struct {
		id    attrID
		label string
	}{{attrClient, "client"}, {attrReferer, "referrer"}} {
		if s := labeled(rec, 0, l.label); s.end > 0 && f.needs(l.id) {
			f.addAttr(l.id, attr{span: s, dialect: unionDialect})
		}
	}
	if s := clientBefore(rec, req); s.end > 0 && f.needs(attrClient) {
		f.addText(attrClient, s)
	}
}

// clientBefore returns the address before a request and " - ", as uvicorn and morgan
// write it, or an empty span. uvicorn writes a port after an IPv6 address without
// brackets; it is known by its fifth digit.
func clientBefore(rec []byte, req requestSpan) span {
	head := bytes.TrimSuffix(rec[:req.method.start], []byte(`"`))
	head, found := bytes.CutSuffix(head, []byte(" - "))
	start := bytes.LastIndexByte(head, ' ') + 1
	if !found || !isAddress(head[start:]) {
		return span{}
	}
	end := len(head)
	if colon := bytes.LastIndexByte(head, ':'); end-colon == len(":50000") && isBareIPv6(head[start:]) {
		end = colon
	}
	return span{start, end}
}

// statusAfter returns the word of a line after a request that ends at pos, without the
// quotes and colors around it.
func statusAfter(rec []byte, pos int) span {
	for {
		start := pos
		for pos < len(rec) && bytes.IndexByte([]byte(`'")] `), rec[pos]) >= 0 {
			pos++
		}
		if pos = colorsEnd(rec, pos); pos == start {
			break
		}
	}
	s := withoutColors(rec, span{pos, wordEnd(rec, pos)})
	if s.end > s.start && rec[s.end-1] == '"' {
		s.end--
	}
	return s
}

// hostAfter returns the value after the label "host" at or after from. It is often next,
// as in the error log of nginx.
func hostAfter(rec []byte, from int) span {
	const next = `, host: "`
	if start := from + len(next); start <= len(rec) && string(rec[from:start]) == next {
		if n := bytes.IndexByte(rec[start:], '"'); n >= 0 {
			return span{start, start + n}
		}
	}
	return labeled(rec, from, "host")
}

// labeled returns the value after the label at or after from, as in
// `, host: "example.com"`, or an empty span. The value ends at its closing quote
// or, without quotes, before a comma or a space.
func labeled(rec []byte, from int, label string) span {
	for {
		n := bytes.Index(rec[from:], []byte(label))
		if n < 0 {
			return span{}
		}
		at := from + n
		from = at + len(label)
		if at == 0 || rec[at-1] != ' ' && rec[at-1] != '[' || !bytes.HasPrefix(rec[from:], []byte(": ")) {
			continue
		}
		start := from + len(": ")
		if start < len(rec) && rec[start] == '"' {
			start++
			n = bytes.IndexByte(rec[start:], '"')
		} else {
			n = bytes.IndexAny(rec[start:], ", ]")
		}
		if n < 0 {
			n = len(rec) - start
		}
		return span{start, start + n}
	}
}
