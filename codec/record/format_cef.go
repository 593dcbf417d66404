package record

import (
	"bytes"
	"errors"
)

// cefFormat is the Common Event Format of ArcSight, which firewalls, proxies and
// gateways write, often after a syslog header:
//
//	CEF:0|vendor|product|version|class|name|severity|key=value key=value
//
// A value ends before the next key, and can contain spaces
// (https://www.microfocus.com/documentation/arcsight/arcsight-smartconnectors-8.4/cef-implementation-standard/).
type cefFormat struct{}

// Name implements [Format].
func (cefFormat) Name() string { return "cef" }

// Detect implements [Format]. Most events of a firewall have no URL, but one
// must.
func (cefFormat) Detect(s *Sample) Fit {
	r := (&cefReader{names: cefNames, target: TargetAll}).Locator()
	urls := 0
	fit := s.count(looksLikeProduct, func(rec []byte) bool {
		var f Found
		why, _ := r.Locate(&f, rec, nil)
		urls += f.n
		return why == 0
	})
	if urls == 0 {
		return Fit{}
	}
	return fit
}

// Open implements [Format].
func (cefFormat) Open(c *Config) (Reader, error) {
	r := &cefReader{target: c.Target}
	r.names, r.named = c.namedFields(cefUses, cefNames)
	errs := []error{c.refuseBaseField(), c.checkRequestHost(true), c.refuseDialect()}
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	return r, errors.Join(errs...)
}

// cefUses maps keys to what they hold: those of the standard, and those that
// vendors write in their place.
var cefUses = map[string]namedUse{
	"request": {kind: namedTarget}, "requestUrl": {kind: namedTarget, rank: 1}, "url": {kind: namedTarget, rank: 2},
	"requestMethod": {kind: namedMethod}, "requestmethod": {kind: namedMethod}, "method": {kind: namedMethod},
	"app":   {kind: namedScheme},
	"dhost": {kind: namedHost, rank: 1}, "dpt": {kind: namedPort}, "qstr": {kind: namedQuery},
	"requestContext": {kind: namedReferer, rank: 1}, "ref": {kind: namedReferer}, "PanOSReferer": {kind: namedReferer},
	"rt": {kind: namedAttr, attr: attrTime}, "end": {kind: namedAttr, attr: attrTime}, "start": {kind: namedAttr, attr: attrTime},
	"src": {kind: namedAttr, attr: attrClient}, "requestClientApplication": {kind: namedAttr, attr: attrAgent},
	"externalId": {kind: namedAttr, attr: attrRequestID},
}

var cefNames = newNameTable(cefUses)

// cefReader reads CEF.
type cefReader struct {
	LineFraming
	names  *nameTable
	named  bool // the job names the key of the URL
	target Target
}

// Locator implements [Reader].
func (r *cefReader) Locator() Locator { return &cefLocator{cefReader: r} }

// cefLocator is a cefReader with scratch memory.
type cefLocator struct {
	*cefReader
	rec   []byte
	forms forms
}

// Locate implements [Locator].
func (r *cefLocator) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	return r.locateForm(f, rec, r.formOf(rec))
}

// formOf implements [former].
func (r *cefLocator) formOf(rec []byte) *form {
	r.rec = rec
	return r.forms.match(&marked{rec: rec})
}

// locateForm implements [former].
func (r *cefLocator) locateForm(f *Found, rec []byte, h *form) (Reason, int) {
	var p namedParts
	if h != nil {
		p.takeForm(f, rec, h, r.names, nil)
	} else if !r.read(f, &p) {
		return Unparsed, 0
	}
	p.splitHost(f, rec)
	if r.named && p.target.end == 0 || !p.add(f, rec, r.target) {
		return NoField, 0
	}
	return 0, 0
}

// read takes the fields of the record, and learns from it. It returns false if the record
// has no extension.
func (r *cefLocator) read(f *Found, p *namedParts) bool {
	rec := r.rec
	pos := cefExtension(rec)
	if pos < 0 {
		return false
	}
	learns := r.forms.learns(rec)
	if learns {
		r.addHeader()
	}
	for key, value := cefKey(rec, pos); key.end > 0; {
		next, after := cefKey(rec, value)
		at := cefValue(rec, value, next)
		if name := key.in(rec); at.end > value {
			if u := r.names.find(name); u.kind != namedNone {
				p.take(f, rec, u, at, cefDialect)
			}
			if learns {
				r.forms.addNamed(f, r.names, name, at, wayCEF, r.target)
			}
		}
		key, value = next, after
	}
	if learns {
		r.forms.learn(rec)
	}
	return true
}

// cefValue returns the value at start, after which the key next begins, if there is one.
func cefValue(rec []byte, start int, next span) span {
	end := len(rec)
	if next.end > 0 {
		end = next.start
	}
	for end > start && rec[end-1] == ' ' {
		end--
	}
	return span{start, end}
}

// addHeader adds the fields of the header, and what precedes it, to learn from them.
func (r *cefLocator) addHeader() {
	pos := bytes.Index(r.rec, cefMark)
	if pos > 0 {
		r.forms.add(value{span: span{0, pos}, way: wayFront, use: -1})
	}
	for i := range cefFields {
		end := unescapedByte(r.rec, pos, '|')
		if i > 0 {
			r.forms.add(value{span: span{pos, end}, way: wayHeader, use: -1})
		}
		pos = end + 1
	}
}

// splitHost takes the host from the start of a target without a scheme, as in
// www.example.com/a, which Imperva writes.
func (p *namedParts) splitHost(f *Found, rec []byte) {
	if n := hostBeforePath(p.target.in(rec)); n > 0 {
		f.hosts[0] = span{p.target.start, p.target.start + n}
		p.target.start += n
	}
}

// hostBeforePath returns the length of the host with which a target without a scheme
// begins, as in www.example.com/a, or 0.
func hostBeforePath(target []byte) int {
	if n := bytes.IndexByte(target, '/'); n > 0 && bytes.IndexByte(target[:n], '.') > 0 && isHostPort(target[:n]) {
		return n
	}
	return 0
}

// cefMark begins the header, which has cefFields fields.
var cefMark = []byte("CEF:")

const cefFields = 7

// cefExtension returns the offset after the header, which has seven fields and
// can follow other text, or -1.
func cefExtension(rec []byte) int {
	pos := bytes.Index(rec, cefMark)
	if pos < 0 {
		return -1
	}
	for range cefFields {
		n := unescapedByte(rec, pos, '|')
		if n < 0 {
			return -1
		}
		pos = n + 1
	}
	return pos
}

// unescapedByte returns the offset of the first c in rec at or after from that
// no backslash escapes, or -1.
func unescapedByte(rec []byte, from int, c byte) int {
	for at := from; ; at++ {
		n := bytes.IndexByte(rec[at:], c)
		if n < 0 {
			return -1
		}
		if at += n; !isEscaped(rec[from:at]) {
			return at
		}
	}
}

// cefKey returns the first key of rec at or after from, and the offset of its
// value. A key follows a space or the header. Many vendors do not escape the '='
// in a value, as in http://h/?a=b, where it ends no key.
func cefKey(rec []byte, from int) (key span, value int) {
	start := from // of the word
	for at := from; ; at++ {
		n := unescapedByte(rec, at, '=')
		if n < 0 {
			return span{}, 0
		}
		space := bytes.LastIndexByte(rec[at:n], ' ')
		if space >= 0 {
			start = at + space + 1
		}
		first := space >= 0 || at == from // no other '=' in the word
		at = n
		if first && isLabel(rec[start:at]) && rec[start-1] != '=' {
			return span{start, at}, at + 1
		}
	}
}

// cefDialect describes values of CEF.
var cefDialect = &Dialect{Mark: '\\', Decode: decodeCEF, Encode: encodeCEF, backslash: true}

// decodeCEF decodes \=, \\, \n and \r, and \| as in headers.
func decodeCEF(dst, s []byte) ([]byte, int) {
	if len(s) > 1 {
		switch c := s[1]; c {
		case '=', '\\', '|':
			return append(dst, c), 2
		case 'n':
			return append(dst, '\n'), 2
		case 'r':
			return append(dst, '\r'), 2
		}
	}
	return append(dst, '\\'), 1
}

// encodeCEF encodes text as a value.
func encodeCEF(dst, text []byte, _ byte) []byte {
	for _, c := range text {
		switch c {
		case '=', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
