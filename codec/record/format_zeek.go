package record

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// zeekFormat is the text format of Zeek's logs
// (https://docs.zeek.org/en/master/log-formats.html). http.log is the one with
// URLs. The directive #fields names the columns and occurs again after a
// restart or in joined logs.
type zeekFormat struct{}

// Name implements [Format].
func (zeekFormat) Name() string { return "zeek" }

// Detect implements [Format]. No other format begins with such directives.
func (zeekFormat) Detect(s *Sample) Fit {
	for _, r := range s.Records {
		switch {
		case bytes.HasPrefix(r, []byte(zeekFields)):
			return Fit{len(s.Records), looksUnmistakable}
		case r[0] != '#':
			return Fit{}
		}
	}
	return Fit{}
}

const zeekFields = "#fields"

// Open implements [Format].
func (zeekFormat) Open(c *Config) (Reader, error) {
	errs := append(c.refuseFields(), c.checkRequestHost(true), c.refuseDialect())
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	return &zeekReader{directiveLines{prefix: zeekFields}, c.Target}, errors.Join(errs...)
}

// zeekReader reads logs of Zeek.
type zeekReader struct {
	directiveLines
	target Target
}

// checkHead implements [headChecker].
func (r *zeekReader) checkHead(head []byte) error {
	l := zeekLocator{zeekReader: r}
	l.read(head)
	has := func(k namedKind) bool {
		for _, u := range l.columns {
			if u.kind == k {
				return true
			}
		}
		return false
	}
	switch {
	case r.target == TargetRequest && !has(namedTarget):
		return wrong("Format", "missing column in the directive #fields: must have uri, as Zeek's http.log has")
	case r.target == TargetReferer && !has(namedReferer):
		return wrong("Target", "missing column in the directive #fields: the target referer needs referrer")
	}
	return nil
}

// Locator implements [Reader].
func (r *zeekReader) Locator() Locator { return &zeekLocator{zeekReader: r} }

// zeekUses maps the columns of http.log to what they hold. Zeek takes the port
// from the host, but logs the port of the server.
var zeekUses = map[string]namedUse{
	"uri": {kind: namedTarget}, "host": {kind: namedHost}, "referrer": {kind: namedReferer}, "method": {kind: namedMethod},
	"id.resp_p": {kind: namedPort},
	"ts":        {kind: namedAttr, attr: attrTime}, "status_code": {kind: namedAttr, attr: attrStatus},
	"response_body_len": {kind: namedAttr, attr: attrBytes}, "id.orig_h": {kind: namedAttr, attr: attrClient},
	"user_agent": {kind: namedAttr, attr: attrAgent},
}

// zeekLocator holds the columns of the current directive.
type zeekLocator struct {
	*zeekReader
	head    []byte // directive that the columns belong to
	known   bool
	sep     byte
	columns []namedUse // up to the last one that is used
}

// read sets the columns from a header. The byte after #fields is the separator.
func (l *zeekLocator) read(head []byte) {
	l.head, l.known = append(l.head[:0], head...), true
	l.columns, l.sep = l.columns[:0], '\t'
	line := bytes.TrimPrefix(trimEnd(l.Directive(nil, head)), []byte(zeekFields))
	if len(line) == 0 {
		return
	}
	l.sep = line[0]
	last := 0
	for i, name := range bytes.Split(line[1:], line[:1]) {
		use := zeekUses[string(name)]
		l.columns = append(l.columns, use)
		if use.kind != namedNone {
			last = i + 1
		}
	}
	l.columns = l.columns[:last]
}

// Locate implements [Locator]. A value that begins with a number sign is escaped, so every
// line that begins with one is a directive.
func (l *zeekLocator) Locate(f *Found, rec []byte, at *Position) (Reason, int) {
	if !l.known || !bytes.Equal(at.Head, l.head) {
		l.read(at.Head)
	}
	if rec[0] == '#' {
		f.PassThrough()
		return 0, 0
	}
	if len(l.columns) == 0 {
		return NoField, 0
	}
	var p namedParts
	if !l.split(f, rec, &p) {
		return Unparsed, len(rec)
	}
	// Zeek sees only requests without TLS. URLs without the default port take
	// the codec's fast path.
	f.plain = true
	if string(f.port.in(rec)) == "80" {
		f.port = span{}
	}
	if !p.add(f, rec, l.target) {
		return NoField, 0
	}
	for i := range f.n {
		f.sites[i].stop = l.sep
	}
	return 0, 0
}

// split takes the fields of a record. It returns false if there are too few.
func (l *zeekLocator) split(f *Found, rec []byte, p *namedParts) bool {
	pos := 0
	for _, use := range l.columns {
		if pos > len(rec) {
			return false
		}
		end := len(rec)
		if n := bytes.IndexByte(rec[pos:], l.sep); n >= 0 {
			end = pos + n
		}
		if at := (span{pos, end}); use.isRead(f) && !isUnset(at.in(rec)) {
			p.take(f, rec, use, at, zeekDialect)
		}
		pos = end + 1
	}
	return true
}

// isUnset reports whether value stands for no value or for an empty one.
func isUnset(value []byte) bool {
	return len(value) == 1 && value[0] == '-' || string(value) == "(empty)"
}

// zeekDialect writes backslashes and everything that is not printable ASCII as
// \xhh.
var zeekDialect = &Dialect{Mark: '\\', Decode: decodeHex, Encode: encodeZeek}

func encodeZeek(dst, text []byte, stop byte) []byte {
	for {
		n := plainEnd(plainInZeek, text, stop)
		if dst = append(dst, text[:n]...); n == len(text) {
			return dst
		}
		dst = append(dst, '\\', 'x', lowerHex[text[n]>>4], lowerHex[text[n]&15])
		text = text[n+1:]
	}
}

var plainInZeek = scan.NewSet(func(c byte) bool { return c >= ' ' && c < 0x7F && c != '\\' })
