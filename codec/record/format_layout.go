package record

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// layoutFormat is the text of an nginx log_format or an Apache LogFormat, which
// is also its name.
type layoutFormat struct{ text string }

// Name implements [Format].
func (l layoutFormat) Name() string { return l.text }

// Detect implements [Format]. A layout cannot be recognized from its records.
func (layoutFormat) Detect(*Sample) Fit { return Fit{} }

// Open implements [Format].
func (l layoutFormat) Open(c *Config) (Reader, error) {
	r := &layoutReader{request: c.Target != TargetReferer, referer: c.Target != TargetRequest}
	d, given := c.dialect()
	compiled, err := compileLayout(l.text, d, given)
	if err == nil {
		r.layout = *compiled
		err = r.checkTarget(c.Target)
	}
	errs := append([]error{in("Format", err)}, c.refuseFields()...)
	errs = append(errs, c.checkRequestHost(compiled == nil || compiled.hasHost()))
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	return r, errors.Join(errs...)
}

// checkTarget checks that the layout contains the wanted URLs.
func (l *layoutReader) checkTarget(t Target) error {
	if l.request && !l.hasRequest && !(t == TargetAll && l.hasReferer) {
		return fmt.Errorf("the log format has no request: add one of %s", requestDirectives)
	}
	if l.referer && !l.hasReferer && !(t == TargetAll && l.hasRequest) {
		return errors.New("the log format has no referer: add $http_referer (nginx) or %{Referer}i (Apache)")
	}
	return nil
}

// layoutReader reads records by their layout.
type layoutReader struct {
	LineFraming
	layout
	request, referer bool // the wanted URLs
}

// Locator implements [Reader].
func (l *layoutReader) Locator() Locator { return l }

// literalAfter returns the literal after field i, or nil.
func (l *layout) literalAfter(i int) []byte {
	if i+1 == len(l.elems) {
		return nil
	}
	return l.elems[i+1].lit
}

// add stores field i, whose range is at.
func (l *layoutReader) add(f *Found, i int, rec []byte, at span) {
	n := f.n
	f.take(&l.elems[i], rec, at, l)
	if f.n > n && i+1 < len(l.elems) {
		f.sites[n].stop = l.elems[i+1].lit[0]
	}
}

// Locate implements [Locator]. It reads a record against the layout from left to right,
// without backtracking. A field ends at the next unescaped occurrence of the literal that
// follows it. The last literal must be at the end of the record, so that raw quotes in a
// user agent do no harm.
func (l *layoutReader) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	pos := 0
	if l.elems[0].kind == fkLiteral { // fieldEnd finds the others
		if !bytes.HasPrefix(rec, l.elems[0].lit) {
			return Unparsed, 0
		}
		pos = len(l.elems[0].lit)
	}
	for i := range l.elems {
		e := &l.elems[i]
		if e.kind == fkLiteral {
			continue
		}
		end := l.fieldEnd(i, rec, pos)
		if end < 0 {
			return Unparsed, pos
		}
		if e.kind > fkSkip && (e.kind != fkAttr || f.attrs.wanted) {
			l.add(f, i, rec, span{pos, end})
		}
		pos = end + len(l.literalAfter(i))
	}
	if pos != len(rec) {
		return Unparsed, pos
	}
	return 0, 0
}

// hasHost reports whether the log format has a field for the host.
func (l *layout) hasHost() bool {
	for i := range l.elems {
		if k := l.elems[i].kind; k == fkHost || k == fkHostTarget {
			return true
		}
	}
	return false
}

// fieldKind classifies the directives of a log format.
type fieldKind uint8

const (
	fkLiteral    fieldKind = iota // text
	fkSkip                        // a field that is not used
	fkRequest                     // "GET /a HTTP/1.1"
	fkTarget                      // "/a?b"
	fkPath                        // "/a"; only before mergeElements
	fkQuery                       // "b" or "?b"; only before mergeElements
	fkIsArgs                      // "?" or nothing; only before mergeElements
	fkMethod                      // "GET"
	fkProto                       // "HTTP/1.1"
	fkReferer                     // a URL
	fkScheme                      // "https"
	fkPort                        // "443"
	fkHost                        // a host; see element.rank
	fkWhole                       // "https://h/a?b"
	fkHostTarget                  // "h/a?b"
	fkAttr                        // an attribute; see element.attr
)

// element is a literal or a field of a log format.
type element struct {
	kind fieldKind
	rank uint8  // rank of a host, if kind is fkHost
	attr attrID // the attribute, if kind is fkAttr
	unit int8   // its unit; see attr.unit
	text string // the literal, or the directive as written, for error messages
	lit  []byte // the literal
}

// layout is a compiled log format, in which no two fields are adjacent.
type layout struct {
	elems      []element
	dialect    *Dialect
	hasRequest bool
	hasReferer bool
}

const requestDirectives = "$request, $request_uri or $uri (nginx), %r or %U (Apache)"

// compileLayout compiles the text of an nginx log_format or an Apache
// LogFormat. The dialect is d if given is set, and otherwise the one that the
// text selects.
func compileLayout(text string, d *Dialect, given bool) (*layout, error) {
	l := &layout{dialect: d}
	var err error
	if dollar := strings.IndexByte(text, '$'); dollar >= 0 && dollar+1 < len(text) && (isNameByte(text[dollar+1]) || text[dollar+1] == '{') {
		var own *Dialect
		l.elems, own, err = nginxElements(text)
		if !given {
			l.dialect = own
		}
	} else {
		l.elems, err = apacheElements(text)
		if !given {
			l.dialect = apacheDialect
		}
	}
	if err != nil {
		return nil, err
	}
	l.elems = mergeElements(l.elems)
	if err := l.check(); err != nil {
		return nil, err
	}
	return l, nil
}

// version is the start of an HTTP version (RFC 9112 §2.3) with the space before
// it.
var version = []byte(" HTTP/")

// check sets the fields of l that describe what the layout contains, and
// ignores all but the first request and referer. It returns an error for
// adjacent fields, and for a layout without a URL.
func (l *layout) check() error {
	var seen [fkAttr + 1]bool
	var errs []error
	for i := range l.elems {
		e := &l.elems[i]
		switch e.kind {
		case fkLiteral:
			e.lit = []byte(e.text)
		case fkRequest, fkTarget, fkWhole, fkHostTarget:
			if l.hasRequest {
				e.kind = fkSkip
			}
			l.hasRequest = true
		case fkReferer, fkMethod, fkScheme, fkPort:
			if seen[e.kind] {
				e.kind = fkSkip
			}
		}
		seen[e.kind] = true
		l.hasReferer = l.hasReferer || e.kind == fkReferer
		if i > 0 && e.kind != fkLiteral && l.elems[i-1].kind != fkLiteral {
			errs = append(errs, fmt.Errorf("invalid log format: no text separates %s and %s", l.elems[i-1].text, e.text))
		}
	}
	if !l.hasRequest && !l.hasReferer {
		errs = append(errs, errors.New("the log format has no URL: add one of "+requestDirectives+", or $http_referer or %{Referer}i for the referer"))
	}
	return errors.Join(errs...)
}

// mergeElements joins the elements that form one URL, and adjacent fields that
// are not used. The result contains no fkPath, fkQuery or fkIsArgs.
func mergeElements(in []element) []element {
	var out []element
	last := func(n int) element {
		if len(out) >= n {
			return out[len(out)-n]
		}
		return element{}
	}
	push := func(n int, kind fieldKind, e element) {
		for i := n; i > 0; i-- {
			e.text = last(1).text + e.text
			out = out[:len(out)-1]
		}
		e.kind = kind
		out = append(out, e)
	}
	for _, e := range in {
		if e.kind == fkPath {
			e.kind = fkTarget
		}
		switch {
		case e.kind == fkLiteral && len(out) > 0 && last(1).kind == fkLiteral:
			push(1, fkLiteral, e)
		case e.kind == fkQuery && isURLKind(last(1).kind):
			push(1, last(1).kind, e)
		case e.kind == fkQuery && last(1).text == "?" && isURLKind(last(2).kind):
			push(2, last(2).kind, e)
		case e.kind == fkIsArgs && isURLKind(last(1).kind):
			push(1, last(1).kind, e)
		case e.kind == fkTarget && last(1).kind == fkHost && last(2).text == "://" && last(3).kind == fkScheme:
			push(3, fkWhole, e)
		case e.kind == fkTarget && last(1).kind == fkHost:
			push(1, fkHostTarget, e)
		case e.kind == fkQuery || e.kind == fkIsArgs:
			push(0, fkSkip, e)
		case isUnread(e.kind) && isUnread(last(1).kind):
			push(1, fkSkip, e)
		default:
			out = append(out, e)
		}
	}
	return out
}

// isUnread reports whether a field is not needed to find the URL.
func isUnread(k fieldKind) bool { return k == fkSkip || k == fkAttr }

func isURLKind(k fieldKind) bool { return k == fkTarget || k == fkWhole || k == fkHostTarget }

// fieldEnd returns the end of field i, which starts at pos, or -1.
func (l *layout) fieldEnd(i int, body []byte, pos int) int {
	if i+1 == len(l.elems) {
		return len(body)
	}
	lit := l.elems[i+1].lit
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
		if lit[0] != '"' || !l.dialect.escapesQuotes() || !isEscaped(body[pos:from]) {
			return from
		}
	}
}

// addressEnd returns the offset of the colon after the IPv6 address at pos, which
// has colons of its own. Without such an address or a colon, it returns pos. An
// address without brackets ends before the last colon, because its port follows.
func addressEnd(body []byte, pos int) int {
	at := body[pos:]
	end := 0
	if len(at) > 0 && at[0] == '[' {
		n := ipv6Len(at[1:])
		if end = n + len("[]"); len(at) <= end || at[end-1] != ']' {
			return pos
		}
	} else if end = bytes.LastIndexByte(at[:ipv6Len(at)], ':'); end < 0 || !isBareIPv6(at[:end]) {
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
	case l.elems[i].kind == fkRequest:
		if n = bytes.Index(body[pos:], version); n >= 0 {
			pos += n + 1
			n = bytes.Index(body[pos:], lit)
		}
	case l.seeksVersion(i):
		n = bytes.Index(body[pos:], version)
	}
	if n < 0 {
		return -1
	}
	return pos + n
}

// seeksVersion reports whether endAtVersion applies to field i, after which a space
// follows.
func (l *layout) seeksVersion(i int) bool {
	k := l.elems[i].kind
	return k == fkRequest || isURLKind(k) && l.elems[i+2].kind == fkProto && len(l.elems[i+1].lit) == 1
}

// take stores the field e, whose range is s.
func (f *Found) take(e *element, body []byte, s span, l *layoutReader) {
	switch e.kind {
	case fkRequest:
		if l.request {
			f.addRequest(body, s, l.dialect)
		}
	case fkTarget:
		if l.request {
			f.addTarget(body, s, l.dialect)
		}
	case fkWhole:
		if l.request {
			f.add(s, roleWhole, l.dialect)
		}
	case fkHostTarget:
		if l.request {
			n := max(0, bytes.IndexByte(s.in(body), '/'))
			f.hosts[0] = span{s.start, s.start + n}
			f.addTarget(body, span{s.start + n, s.end}, l.dialect)
		}
	case fkReferer:
		if l.referer {
			f.addReferer(body, s, l.dialect)
		}
		if f.needs(attrReferer) {
			f.addAttr(attrReferer, attr{span: s, dialect: l.dialect})
		}
	case fkAttr:
		if f.needs(e.attr) {
			f.addAttr(e.attr, attr{span: s, dialect: l.dialect, unit: e.unit})
		}
	case fkMethod:
		f.method = s
	case fkScheme:
		f.scheme = s
	case fkPort:
		f.port = s
	case fkHost:
		f.hosts[e.rank] = s
	}
}
