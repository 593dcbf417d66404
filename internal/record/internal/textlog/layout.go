package textlog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// LayoutFormat is the text that describes the lines of a log: see layouttext.go. The text
// is also its name.
type LayoutFormat struct{ Text string }

// Name implements [locate.Format].
func (l LayoutFormat) Name() string { return l.Text }

// Detect implements [locate.Format]. A layout cannot be recognized from its records.
func (LayoutFormat) Detect(*locate.Sample) locate.Fit { return locate.Fit{} }

// Open implements [locate.Format].
func (l LayoutFormat) Open(c *locate.Settings) (locate.Reader, error) {
	r := &LayoutReader{request: c.Target != locate.TargetReferer, referer: c.Target != locate.TargetRequest}
	d, given := c.NamedDialect()
	compiled, err := compileLayout(l.Text, d, given)
	if err == nil {
		r.layout = *compiled
		err = r.checkTarget(c.Target)
	}
	return r, errors.Join(locate.About("Format", err), c.RefuseFields(), c.CheckRequestHost(compiled == nil || compiled.hasHost()), c.RefuseExtend())
}

// checkTarget checks that the layout contains the wanted URLs.
func (l *LayoutReader) checkTarget(t locate.Target) error {
	if l.request && !l.hasRequest && !(t == locate.TargetAll && l.hasReferer) {
		return fmt.Errorf("the log format has no request: add one of %s", requestDirectives)
	}
	if l.referer && !l.hasReferer && !(t == locate.TargetAll && l.hasRequest) {
		return errors.New("the log format has no referer: add $http_referer (nginx) or %{Referer}i (Apache)")
	}
	return nil
}

// LayoutReader reads records by their layout.
type LayoutReader struct {
	locate.LineFraming
	layout
	request, referer bool // the wanted URLs
}

// Locator implements [locate.Reader].
func (l *LayoutReader) Locator() locate.Locator { return l }

// literalAfter returns the literal after field i, or nil.
func (l *layout) literalAfter(i int) []byte {
	if i+1 == len(l.elems) {
		return nil
	}
	return l.elems[i+1].lit
}

// add stores field i, whose range is at.
func (l *LayoutReader) add(f *locate.Found, i int, rec []byte, at locate.Span) {
	n := f.N
	take(f, &l.elems[i], rec, at, l)
	if f.N > n && i+1 < len(l.elems) {
		f.Sites[n].Stop = l.elems[i+1].lit[0]
	}
}

// Locate implements [locate.Locator]. It reads a record against the layout from left to right,
// without backtracking. A field ends at the next unescaped occurrence of the literal that
// follows it. The last literal must be at the end of the record, so that raw quotes in a
// user agent do no harm.
func (l *LayoutReader) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	pos := l.start(rec)
	if l.elems[0].use == locate.UseNone { // fieldEnd finds the other elements
		if !bytes.HasPrefix(rec[pos:], l.elems[0].lit) {
			return locate.Unparsed, pos
		}
		pos += len(l.elems[0].lit)
	}
	query, stop := locate.Span{}, byte(0)
	for i := range l.elems {
		e := &l.elems[i]
		if e.use == locate.UseNone {
			continue
		}
		if l.isAbsent(i, rec, pos) {
			lit := l.afterAbsent(i)
			if !bytes.HasPrefix(rec[pos:], lit) {
				return locate.Unparsed, pos
			}
			pos += len(lit)
			continue
		}
		pos = l.unpadded(rec, pos)
		end := l.fieldEnd(i, rec, pos)
		if end < 0 {
			return locate.Unparsed, pos
		}
		lit := l.literalAfter(i)
		if e.use == locate.UseQuery && len(lit) > 0 {
			stop = lit[0]
		}
		if e.use == locate.UseQuery {
			query = locate.Between(pos, end)
		} else if e.use != useSkipped && (!e.use.IsAttr() || f.Attrs.Wanted) {
			l.add(f, i, rec, locate.Between(pos, end))
		}
		pos = end + len(lit)
	}
	if pos != len(rec) {
		return locate.Unparsed, pos
	}
	if l.request && query.End > query.Start && string(query.In(rec)) != "-" {
		if f.AddQuery(query, l.dialect); f.Split {
			f.Part(locate.RoleQuery).Stop = stop
		}
	}
	return 0, 0
}

// start returns the offset at which the layout begins in a line.
func (l *layout) start(rec []byte) int {
	if !l.syslog {
		return 0
	}
	return max(0, locate.SyslogPrefix(rec))
}

// isAbsent reports whether the headers in field i are missing at pos, with the space
// after them.
func (l *layout) isAbsent(i int, rec []byte, pos int) bool {
	return l.elems[i].use == useHeaders && (pos == len(rec) || rec[pos] != '{')
}

// afterAbsent returns the literal after field i, which is missing, without a space.
func (l *layout) afterAbsent(i int) []byte { return bytes.TrimPrefix(l.literalAfter(i), []byte(" ")) }

// unpadded returns the offset of the first byte at or after pos that is no padding.
func (l *layout) unpadded(rec []byte, pos int) int {
	for l.pads && pos < len(rec) && rec[pos] == ' ' {
		pos++
	}
	return pos
}

// hasHost reports whether the log format has a field for the host.
func (l *layout) hasHost() bool {
	for i := range l.elems {
		if u := l.elems[i].use; u == locate.UseHost || u == useHostTarget || u == useHeaders {
			return true
		}
	}
	return false
}

// Uses of the fields of a log format alone. An element with UseNone is text.
const (
	useSkipped    = locate.NumUses + iota // a field that is not used
	useIsArgs                             // "?" or nothing; only before mergeElements, like UsePath and UseQuery
	useProtocol                           // "HTTP/1.1"
	useHostTarget                         // "h/a?b"
	useSubsecond                          // milliseconds of the preceding time; only before mergeElements
	useHeaders                            // headers in braces, one of which can be the host; absent without braces
	numLayoutUses
)

// element is a literal or a field of a log format.
type element struct {
	namedUse
	text string // the literal, or the directive as written, for error messages
	lit  []byte // the literal
}

// layout is a compiled log format, in which no two fields are adjacent.
type layout struct {
	elems      []element
	dialect    *locate.Dialect
	hasRequest bool
	hasReferer bool
	syslog     bool // the header of a syslog message can precede the line
	cuts       bool // the log cuts long requests, without a mark
	strips     bool // the log can remove queries, and leave the '?'
	pads       bool // spaces can precede a field
}

const requestDirectives = "$request, $request_uri or $uri (nginx), %r or %U (Apache)"

// compileLayout compiles the text of a layout. The dialect is d if given is set, and
// otherwise the dialect that the text selects.
func compileLayout(text string, d *locate.Dialect, given bool) (*layout, error) {
	l := &layout{dialect: d}
	own, err := l.parse(text)
	if err != nil {
		return nil, err
	}
	if !given {
		l.dialect = own
	}
	l.elems = mergeElements(l.elems)
	if err := l.check(); err != nil {
		return nil, err
	}
	return l, nil
}

// check sets the fields of l that describe what the layout contains, and
// ignores all but the first request and referer. It returns an error for
// adjacent fields, and for a layout without a URL.
func (l *layout) check() error {
	var seen [numLayoutUses]bool
	var errs []error
	for i := range l.elems {
		e := &l.elems[i]
		switch e.use {
		case locate.UseNone:
			e.lit = []byte(e.text)
		case locate.UseRequest, locate.UseTarget, locate.UseURL, useHostTarget:
			if l.hasRequest {
				e.use = useSkipped
			}
			l.hasRequest = true
		case locate.UseReferer, locate.UseMethod, locate.UseScheme, locate.UsePort, locate.UseQuery:
			if seen[e.use] {
				e.use = useSkipped
			}
		}
		seen[e.use] = true
		l.hasReferer = l.hasReferer || e.use == locate.UseReferer
		if i > 0 && e.use != locate.UseNone && l.elems[i-1].use != locate.UseNone {
			errs = append(errs, fmt.Errorf("invalid log format: no text separates %s and %s", l.elems[i-1].text, e.text))
		}
	}
	if !l.hasRequest && !l.hasReferer {
		errs = append(errs, errors.New("the log format has no URL: add one of "+requestDirectives+", or $http_referer or %{Referer}i for the referer"))
	}
	return errors.Join(errs...)
}

// mergeElements joins the elements that form one URL, and adjacent fields that
// are not used. The result contains no UsePath or useIsArgs, and UseQuery only if the
// first URL is a path that text separates from its query.
func mergeElements(in []element) []element {
	var out []element
	last := func(n int) element {
		if len(out) >= n {
			return out[len(out)-n]
		}
		return element{}
	}
	push := func(n int, use locate.Use, e element) {
		for i := n; i > 0; i-- {
			e.text = last(1).text + e.text
			out = out[:len(out)-1]
		}
		e.use = use
		out = append(out, e)
	}
	first := slices.IndexFunc(in, func(e element) bool { return e.use == locate.UsePath || e.use == locate.UseRequest || isURLUse(e.use) })
	apart := first >= 0 && in[first].use == locate.UsePath
	for _, e := range in {
		if e.use == locate.UsePath {
			e.use = locate.UseTarget
		}
		if e.use == locate.UseQuery && (isURLUse(last(1).use) || last(1).text == "?" && isURLUse(last(2).use)) {
			apart = false
		}
		switch {
		case e.use == locate.UseNone && len(out) > 0 && last(1).use == locate.UseNone:
			push(1, locate.UseNone, e)
		case e.use == locate.UseQuery && isURLUse(last(1).use):
			push(1, last(1).use, e)
		case e.use == locate.UseQuery && last(1).text == "?" && isURLUse(last(2).use):
			push(2, last(2).use, e)
		case e.use == useIsArgs && isURLUse(last(1).use):
			push(1, last(1).use, e)
		case e.use == locate.UseTarget && last(1).use == locate.UseHost && last(2).text == "://" && last(3).use == locate.UseScheme:
			push(3, locate.UseURL, e)
		case e.use == locate.UseTarget && last(1).use == locate.UseHost:
			push(1, useHostTarget, e)
		case e.use == useSubsecond && last(1).text == "." && last(2).use == locate.UseTime:
			push(2, locate.UseTime, e)
		case e.use == locate.UseQuery && apart:
			if last(1).text == "$is_args" {
				push(1, locate.UseQuery, e)
			} else {
				out = append(out, e)
			}
		case e.use == locate.UseQuery || e.use == useIsArgs || e.use == useSubsecond:
			push(0, useSkipped, e)
		case isUnread(e.use) && isUnread(last(1).use):
			push(1, useSkipped, e)
		default:
			out = append(out, e)
		}
	}
	return out
}

// isUnread reports whether a field is not needed to find the URL.
func isUnread(u locate.Use) bool { return u == useSkipped || u.IsAttr() }

func isURLUse(u locate.Use) bool {
	return u == locate.UseTarget || u == locate.UseURL || u == useHostTarget
}

// fieldEnd returns the end of field i, which starts at pos, or -1.
func (l *layout) fieldEnd(i int, body []byte, pos int) int {
	if i+1 == len(l.elems) {
		return len(body)
	}
	lit := l.elems[i+1].lit
	if l.elems[i].use == useHeaders { // the headers can contain spaces
		pos += max(0, bytes.IndexByte(body[pos:], '}'))
	}
	if i+2 == len(l.elems) {
		if end := len(body) - len(lit); end >= pos && bytes.Equal(body[end:], lit) {
			return end
		}
		return -1
	}
	switch lit[0] {
	case ' ':
		if end := l.endAtVersion(i, body, pos, lit); end >= 0 {
			return end
		}
	case ':':
		pos = addressEnd(body, pos)
	}
	for from := pos; ; from++ {
		n := bytes.IndexByte(body[from:], lit[0])
		if n < 0 {
			return -1
		}
		from += n
		if len(lit) > 1 && (from+1 == len(body) || body[from+1] != lit[1] || len(lit) > 2 && !bytes.HasPrefix(body[from:], lit)) {
			continue
		}
		if lit[0] != '"' || !l.dialect.EscapesQuotes() || !locate.IsEscaped(body[pos:from]) {
			return from
		}
	}
}

// addressEnd returns the offset of the colon after the IPv6 address at pos,
// which itself contains colons. Without such an address or a colon, it returns
// pos. An address without brackets ends before the last colon, because its port
// follows.
func addressEnd(body []byte, pos int) int {
	at := body[pos:]
	end := 0
	if len(at) > 0 && at[0] == '[' {
		n := locate.IPv6Len(at[1:])
		if end = n + len("[]"); len(at) <= end || at[end-1] != ']' {
			return pos
		}
	} else if end = bytes.LastIndexByte(at[:locate.IPv6Len(at)], ':'); end < 0 || !locate.IsBareIPv6(at[:end]) {
		return pos
	}
	if len(at) <= end || at[end] != ':' {
		return pos
	}
	return pos + end
}

// endAtVersion returns the end of an unquoted request, or of a target followed
// by the protocol, or -1. Both may contain raw spaces, so endAtVersion searches
// for the HTTP version.
func (l *layout) endAtVersion(i int, body []byte, pos int, lit []byte) int {
	n := -1
	switch {
	case l.elems[i].use == locate.UseRequest:
		if n = bytes.Index(body[pos:], locate.Version); n >= 0 {
			pos += n + 1
			n = bytes.Index(body[pos:], lit)
		}
	case l.seeksVersion(i):
		n = bytes.Index(body[pos:], locate.Version)
	}
	if n < 0 {
		return -1
	}
	return pos + n
}

// seeksVersion reports whether endAtVersion applies to field i, after which a space
// follows.
func (l *layout) seeksVersion(i int) bool {
	u := l.elems[i].use
	return u == locate.UseRequest || isURLUse(u) && l.elems[i+2].use == useProtocol && len(l.elems[i+1].lit) == 1
}

// take stores the field e, whose range is s.
func take(f *locate.Found, e *element, body []byte, s locate.Span, l *LayoutReader) {
	switch e.use {
	case locate.UseRequest:
		if l.request {
			if l.cuts {
				s = uncut(f, s, body)
			}
			f.AddRequest(body, s, l.dialect)
		}
	case locate.UseTarget:
		f.Strips = l.strips
		if l.request {
			f.TakeTarget(body, s, l.dialect)
		}
	case locate.UseURL:
		if l.request {
			f.Add(s, locate.RoleWhole, l.dialect)
		}
	case useHostTarget:
		if l.request {
			n := max(0, bytes.IndexByte(s.In(body), '/'))
			f.Hosts[0] = locate.Between(s.Start, s.Start+n)
			f.TakeTarget(body, locate.Between(s.Start+n, s.End), l.dialect)
		}
	case locate.UseReferer:
		if l.referer {
			f.TakeReferer(body, s, l.dialect)
		}
		if f.Needs(locate.AttrReferer) {
			f.AddAttr(locate.AttrReferer, locate.Attr{Span: s, Dialect: l.dialect})
		}
	case locate.UseMethod:
		f.Method = s
	case locate.UseScheme:
		f.Scheme = s
	case locate.UsePort:
		f.Port = s
	case locate.UseHost:
		f.Hosts[e.rank] = s
	case useHeaders:
		for start := s.Start; start < s.End; {
			end := start + bytes.IndexAny(body[start:s.End], "{|}")
			if end < start {
				break
			}
			if isCapturedHost(body[start:end]) {
				f.Hosts[0] = locate.Between(start, end)
				break
			}
			start = end + 1
		}
	default:
		if e.use.IsAttr() && f.Needs(e.use.Attr()) {
			f.AddAttr(e.use.Attr(), locate.Attr{Span: s, Dialect: l.dialect, Unit: e.unit})
		}
	}
}

// Divide implements [locate.Divider].
func (l *LayoutReader) Divide(dst []locate.Span, rec []byte, _ *locate.Found) []locate.Span {
	body, start := locate.TrimEnd(rec), len(dst)
	pos := max(locate.MarkLen(body), l.start(body))
	for i := 0; i < len(l.elems); i++ {
		lit := l.elems[i].lit
		if l.isAbsent(i, body, pos) {
			lit = l.afterAbsent(i)
			if i++; len(lit) == 0 {
				continue
			}
		}
		if lit != nil {
			if !bytes.HasPrefix(body[pos:], lit) {
				return dst[:start]
			}
			dst = append(dst, locate.Between(pos, pos+len(lit)))
			pos += len(lit)
		} else if pos = l.fieldEnd(i, body, l.unpadded(body, pos)); pos < 0 {
			return dst[:start]
		}
	}
	return dst
}

// Attributes implements [locate.Attributed].
func (l *LayoutReader) Attributes() uint16 {
	s := locate.AttrsOf(locate.AttrVHost)
	for i := range l.elems {
		switch u := l.elems[i].use; {
		case u == locate.UseReferer:
			s |= locate.AttrsOf(locate.AttrReferer)
		case u == locate.UseMethod, u == locate.UseRequest:
			s |= locate.AttrsOf(locate.AttrMethod)
		case u.IsAttr():
			s |= locate.AttrsOf(u.Attr())
		}
	}
	return s
}
