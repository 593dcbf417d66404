package textlog

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// AnyLogFormat reads the lines of logs that no other format describes: error
// logs, audit logs, logs of applications. It finds the request in a line,
// wherever it is (requestscan.go), or the absolute URLs if there is no request
// (anylogpages.go). Lines without either are events without a URL.
type AnyLogFormat struct{}

// Name implements [locate.Format].
func (AnyLogFormat) Name() string { return "log" }

// anyLogShare sets how many lines must have a URL: one in anyLogShare.
const anyLogShare = 10

// Detect implements [locate.Format]. A line fits if it has a time or a request,
// which few lines of prose have. Only some of the lines must have a URL.
func (AnyLogFormat) Detect(s *locate.Sample) locate.Fit {
	urls := 0
	fit := s.Count(locate.LooksLikeAnyLog, func(rec []byte) bool {
		_, request := FindRequest(rec)
		timed := locate.HasClock(rec)
		if (timed || request) && HoldsURL(rec) {
			urls++
		}
		return timed || request
	})
	if urls*anyLogShare < len(s.Records) || urls == 0 {
		return locate.Fit{}
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
	_, ok := FindRequest(line)
	return ok
}

// Open implements [locate.Format].
func (AnyLogFormat) Open(c *locate.Settings) (locate.Reader, error) {
	r := AnyLogReader{all: c.Target == locate.TargetAll, dialect: locate.UnionDialect}
	if d, given := c.NamedDialect(); given {
		r.dialect = d
	}
	errTarget := locate.WrongIf(c.Target == locate.TargetReferer, "Target", "the format log cannot tell which URL is the referer; use all")
	return &r, errors.Join(c.RefuseFields(), c.CheckRequestHost(true), errTarget, c.RefuseExtend())
}

// AnyLogReader reads lines of any log.
type AnyLogReader struct {
	locate.LineFraming
	all     bool            // read the absolute URLs of lines with a request, too
	dialect *locate.Dialect // escapes of a request
}

// Locator implements [locate.Reader].
func (r *AnyLogReader) Locator() locate.Locator { return r }

// Locate implements [locate.Locator].
func (r *AnyLogReader) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	req, ok := FindRequest(rec)
	r.Take(f, rec, req, ok)
	return 0, 0
}

// Take stores the URLs and the attributes of a line. ok says that the line has
// the request req.
func (r *AnyLogReader) Take(f *locate.Found, rec []byte, req requestSpan, ok bool) {
	head := rec
	if ok {
		head = rec[:req.method.Start]
	}
	if hasDash(head) {
		req, ok, f.Form = requestSpan{}, false, locate.FormDash
	}
	if r.all || !ok && f.Form != locate.FormDash && !isApart(rec) {
		r.addURLs(f, rec, req.target)
	}
	if ok {
		f.Method = req.method
		f.Place(locate.Site{Span: req.target, Role: locate.RoleTarget, Dialect: r.dialectOf(req)})
		f.Hosts[0] = hostAfter(rec, req.end)
	}
	if f.Attrs.Wanted {
		addLogAttrs(f, rec, req)
	}
}

// dialectOf returns the escapes of a request: none without quotes.
func (r *AnyLogReader) dialectOf(req requestSpan) *locate.Dialect {
	if req.quoted {
		return r.dialect
	}
	return nil
}

// addURLs adds the absolute URLs of rec outside target, the request target, which
// is empty if rec has no request. URLs that are no pages are added only for
// TargetAll.
func (r *AnyLogReader) addURLs(f *locate.Found, rec []byte, target locate.Span) {
	for pos := 0; ; {
		s, ok := findLogURL(rec, pos)
		if !ok {
			return
		}
		if (s.End <= target.Start || s.Start >= target.End) && (r.all || !isAside(rec[:s.Start])) {
			f.Add(s, locate.RoleURL, locate.JSONDialect) // every backslash in a URL begins a JSON escape
		}
		pos = s.End
	}
}

// findLogURL is FindURL without URLs whose end is not certain, and without the
// names of XML namespaces, which are URLs in form only.
func findLogURL(rec []byte, from int) (locate.Span, bool) {
	for {
		s, ok := locate.FindURL(rec, from)
		if !ok || locate.EndsPlainly(rec, s) && !isNamespace(rec[:s.Start]) {
			return s, ok
		}
		from = s.End
	}
}

// isNamespace reports whether before ends in the name of an attribute that
// declares an XML namespace, and a quote.
func isNamespace(before []byte) bool {
	eq := len(before) - len(`="`)
	if eq < 0 || before[eq] != '=' {
		if eq--; eq < 0 || before[eq] != '=' { // a quote that a JSON string escapes
			return false
		}
	}
	name := before[max(0, bytes.LastIndex(before[:eq], []byte("xmlns"))):eq]
	return bytes.HasPrefix(name, []byte("xmlns")) && (len(name) == len("xmlns") || name[len("xmlns")] == ':' && locate.IsToken(name[len("xmlns:"):]))
}

// addLogAttrs adds the attributes that can be recognized in any log: the time,
// the status after the request, and the labeled fields of an nginx error log.
func addLogAttrs(f *locate.Found, rec []byte, req requestSpan) {
	if s := locate.ClockSpan(rec); s.End > 0 && f.Needs(locate.AttrTime) {
		f.AddAttr(locate.AttrTime, locate.Attr{Span: s})
	}
	if f.Needs(locate.AttrStatus) {
		s := labeled(rec, 0, "status")
		if req.end > 0 && s.End == 0 {
			s = statusAfter(rec, req.end)
		}
		if s.End-s.Start == len("200") && locate.AllDigits(s.In(rec)) {
			f.AddAttr(locate.AttrStatus, locate.Attr{Span: s})
		}
	}
	for _, l := range [...]struct {
		id    locate.AttrID
		label string
	}{{locate.AttrClient, "client"}, {locate.AttrReferer, "referrer"}} {
		if s := labeled(rec, 0, l.label); s.End > 0 && f.Needs(l.id) {
			f.AddAttr(l.id, locate.Attr{Span: s, Dialect: locate.UnionDialect})
		}
	}
	if s := clientBefore(rec, req); s.End > 0 && f.Needs(locate.AttrClient) {
		f.AddText(locate.AttrClient, s)
	}
}

// clientBefore returns the address at the start of a line before " - ", or
// before a request and " - ", as uvicorn and morgan write it, or an empty span.
// uvicorn writes a port after an IPv6 address without brackets. A fifth digit
// shows that the last number is a port.
func clientBefore(rec []byte, req requestSpan) locate.Span {
	if n := bytes.IndexByte(rec, ' '); n > 0 && isIdentAbsent(rec[n:]) && isAddress(rec[:n]) {
		return locate.Between(0, n)
	}
	head := bytes.TrimSuffix(rec[:req.method.Start], []byte(`"`))
	head, found := bytes.CutSuffix(head, []byte(" - "))
	start := bytes.LastIndexByte(head, ' ') + 1
	if !found || !isAddress(head[start:]) {
		return locate.Span{}
	}
	end := len(head)
	if colon := bytes.LastIndexByte(head, ':'); end-colon == len(":50000") && locate.IsBareIPv6(head[start:]) {
		end = colon
	}
	return locate.Between(start, end)
}

// statusAfter returns the first word after the request, which ends at pos,
// without the quotes and colors around the word.
func statusAfter(rec []byte, pos int) locate.Span {
	for {
		start := pos
		for pos < len(rec) && bytes.IndexByte([]byte(`'")] `), rec[pos]) >= 0 {
			pos++
		}
		if pos = locate.ColorsEnd(rec, pos); pos == start {
			break
		}
	}
	s := locate.WithoutColors(rec, locate.Between(pos, locate.WordEnd(rec, pos)))
	if s.End > s.Start && rec[s.End-1] == '"' {
		s.End--
	}
	return s
}

// hostAfter returns the value after the label "host" at or after from. The
// label is often at from, as in an nginx error log.
func hostAfter(rec []byte, from int) locate.Span {
	const next = `, host: "`
	if start := from + len(next); start <= len(rec) && string(rec[from:start]) == next {
		if n := bytes.IndexByte(rec[start:], '"'); n >= 0 {
			return locate.Between(start, start+n)
		}
	}
	return labeled(rec, from, "host")
}

// labeled returns the value after the label at or after from, as in
// `, host: "example.com"`, or an empty span. The value ends at its closing quote
// or, without quotes, before a comma or a space.
func labeled(rec []byte, from int, label string) locate.Span {
	for {
		n := bytes.Index(rec[from:], []byte(label))
		if n < 0 {
			return locate.Span{}
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
		return locate.Between(start, start+n)
	}
}
