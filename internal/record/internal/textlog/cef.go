package textlog

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// CEFFormat is the Common Event Format of ArcSight, which firewalls, proxies and
// gateways write, often after a syslog header:
//
//	CEF:0|vendor|product|version|class|name|severity|key=value key=value
//
// A value ends before the next key, and can contain spaces
// (https://www.microfocus.com/documentation/arcsight/arcsight-smartconnectors-8.4/cef-implementation-standard/).
type CEFFormat struct{}

// Name implements [locate.Format].
func (CEFFormat) Name() string { return "cef" }

// Detect implements [locate.Format]. Most events of a firewall have no URL, but
// at least one event in the sample must have one.
func (CEFFormat) Detect(s *locate.Sample) locate.Fit {
	r := (&cefReader{namedReader{names: cefNames, target: locate.TargetAll}}).Locator()
	urls := 0
	fit := s.Count(locate.LooksLikeProduct, func(rec []byte) bool {
		var f locate.Found
		why, _ := r.Locate(&f, rec, nil)
		urls += f.N
		return why == 0
	})
	if urls == 0 {
		return locate.Fit{}
	}
	return fit
}

// Open implements [locate.Format].
func (CEFFormat) Open(c *locate.Settings) (locate.Reader, error) {
	r := &cefReader{openNamed(c, cefNames)}
	return r, errors.Join(c.RefuseBaseField(), c.CheckRequestHost(true), c.RefuseDialect(), c.RefuseExtend())
}

// cefNames maps keys to what they hold: keys of the standard, and keys that
// vendors write in their place.
var cefNames = newNameTable(byName(`
	target      request
	target:1    requestUrl
	target:2    url
	method      requestMethod requestmethod method
	scheme      app
	host:1      dhost
	port        dpt
	query       qstr
	referer:1   requestContext
	referer     ref PanOSReferer
	time        rt end start
	client      src
	agent       requestClientApplication
	request_id  externalId`))

// cefReader reads CEF.
type cefReader struct{ namedReader }

// Locator implements [locate.Reader].
func (r *cefReader) Locator() locate.Locator { return &CEFLocator{cefReader: r} }

// CEFLocator is a cefReader with scratch memory.
type CEFLocator struct {
	*cefReader
	Forms locate.Forms
}

// Locate implements [locate.Locator].
func (r *CEFLocator) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	return r.LocateForm(f, rec, r.FormOf(rec))
}

// FormOf implements [locate.Former].
func (r *CEFLocator) FormOf(rec []byte) *locate.Form { return r.Forms.Match(rec, nil) }

// LocateForm implements [locate.Former].
func (r *CEFLocator) LocateForm(f *locate.Found, rec []byte, h *locate.Form) (locate.Reason, int) {
	var p namedParts
	if h != nil {
		p.takeForm(f, rec, h, r.names, nil)
	} else if !r.read(f, rec, &p) {
		return locate.Unparsed, 0
	}
	p.splitHost(f, rec)
	return r.add(f, rec, &p)
}

// read takes the fields of the record, and learns from it. It returns false if
// the record has no extension.
func (r *CEFLocator) read(f *locate.Found, rec []byte, p *namedParts) bool {
	pos := cefExtension(rec)
	if pos < 0 {
		return false
	}
	learns := r.Forms.Learns(rec)
	if learns {
		r.addHeader(rec)
	}
	for key, value := cefKey(rec, pos); key.End > 0; {
		next, after := cefKey(rec, value)
		at := cefValue(rec, value, next)
		if name := key.In(rec); at.End > value {
			if u := r.names.find(name); u.use != locate.UseNone {
				p.take(f, rec, u, at, cefDialect)
			}
			if learns {
				addNamed(&r.Forms, f, r.names, name, at, wayCEF, r.target)
			}
		}
		key, value = next, after
	}
	if learns {
		r.Forms.Learn(rec)
	}
	return true
}

// cefValue returns the value at start, which ends before the key at next, if
// another key follows.
func cefValue(rec []byte, start int, next locate.Span) locate.Span {
	end := len(rec)
	if next.End > 0 {
		end = next.Start
	}
	for end > start && rec[end-1] == ' ' {
		end--
	}
	return locate.Between(start, end)
}

// addHeader adds the text before the header, and the fields of the header, to the values
// from which r.Forms learns.
func (r *CEFLocator) addHeader(rec []byte) {
	pos := bytes.Index(rec, cefMark)
	if pos > 0 {
		r.Forms.Add(locate.Value{Span: locate.Between(0, pos), Way: wayFront, Use: -1})
	}
	for i := range cefFields {
		end := locate.IndexUnescaped(rec, pos, '|')
		if i > 0 {
			r.Forms.Add(locate.Value{Span: locate.Between(pos, end), Way: wayHeader, Use: -1})
		}
		pos = end + 1
	}
}

// splitHost takes the host from the start of a target without a scheme, as in
// www.example.com/a, which Imperva writes.
func (p *namedParts) splitHost(f *locate.Found, rec []byte) {
	if n := hostBeforePath(p.target.In(rec)); n > 0 {
		f.Hosts[0] = locate.Between(p.target.Start, p.target.Start+n)
		p.target.Start += n
	}
}

// hostBeforePath returns the length of the host with which a target without a scheme
// begins, as in www.example.com/a, or 0.
func hostBeforePath(target []byte) int {
	if n := bytes.IndexByte(target, '/'); n > 0 && bytes.IndexByte(target[:n], '.') > 0 && locate.IsHostPort(target[:n]) {
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
		n := locate.IndexUnescaped(rec, pos, '|')
		if n < 0 {
			return -1
		}
		pos = n + 1
	}
	return pos
}

// cefKey returns the first key of rec at or after from, and the offset of its
// value. A key follows a space or the header. Many vendors do not escape the '='
// in a value, as in http://h/?a=b, where it ends no key.
func cefKey(rec []byte, from int) (key locate.Span, value int) {
	start := from // start of the current word
	for at := from; ; at++ {
		n := locate.IndexUnescaped(rec, at, '=')
		if n < 0 {
			return locate.Span{}, 0
		}
		space := bytes.LastIndexByte(rec[at:n], ' ')
		if space >= 0 {
			start = at + space + 1
		}
		first := space >= 0 || at == from // no other '=' in the word
		at = n
		if first && isLabel(rec[start:at]) && rec[start-1] != '=' {
			return locate.Between(start, at), at + 1
		}
	}
}

// cefDialect describes values of CEF.
var cefDialect = &locate.Dialect{Mark: '\\', Decode: decodeCEF, Encode: encodeCEF, Backslash: true}

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

// Divide implements [locate.Divider]. Its separators precede the keys, because
// a key, which can be the name of a secret, belongs to its value.
func (r *CEFLocator) Divide(dst []locate.Span, rec []byte, _ *locate.Found) []locate.Span {
	body, start := locate.TrimEnd(rec), len(dst)
	pos := bytes.Index(body, cefMark)
	if pos < 0 {
		return dst
	}
	for range cefFields {
		end := locate.IndexUnescaped(body, pos, '|')
		if end < 0 {
			return dst[:start]
		}
		dst, pos = append(dst, locate.Between(end, end+1)), end+1
	}
	for key, value := cefKey(body, pos); key.End > 0; key, value = cefKey(body, value) {
		dst = append(dst, locate.Between(max(pos, key.Start-1), key.Start))
	}
	return dst
}
