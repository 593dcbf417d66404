package textlog

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// ZeekFormat is the text format of Zeek's logs
// (https://docs.zeek.org/en/master/log-formats.html). http.log is the log with
// URLs. The directive #fields names the columns and occurs again after a
// restart or in joined logs.
type ZeekFormat struct{}

// Name implements [locate.Format].
func (ZeekFormat) Name() string { return "zeek" }

// Detect implements [locate.Format]. Only this format starts with these
// directives.
func (ZeekFormat) Detect(s *locate.Sample) locate.Fit {
	for _, r := range s.Records {
		switch {
		case bytes.HasPrefix(r, []byte(ZeekFields)):
			return s.All(locate.LooksUnmistakable)
		case r[0] != '#':
			return locate.Fit{}
		}
	}
	return locate.Fit{}
}

// ZeekFields begins the line that names the fields.
const ZeekFields = "#fields"

// Open implements [locate.Format].
func (ZeekFormat) Open(c *locate.Settings) (locate.Reader, error) {
	return &ZeekReader{locate.DirectiveLines{Prefix: ZeekFields}, c.Target}, errors.Join(c.RefuseFields(), c.CheckRequestHost(true), c.RefuseDialect(), c.RefuseExtend())
}

// ZeekReader reads logs of Zeek.
type ZeekReader struct {
	locate.DirectiveLines
	target locate.Target
}

// CheckHead implements [locate.HeadChecker].
func (r *ZeekReader) CheckHead(head []byte) error {
	l := ZeekLocator{ZeekReader: r}
	l.read(head)
	has := func(k locate.Use) bool {
		for _, u := range l.columns {
			if u.use == k {
				return true
			}
		}
		return false
	}
	switch {
	case r.target == locate.TargetRequest && !has(locate.UseTarget):
		return locate.Wrong("Format", "missing column in the directive #fields: must have uri, as Zeek's http.log has")
	case r.target == locate.TargetReferer && !has(locate.UseReferer):
		return locate.Wrong("Target", "missing column in the directive #fields: the target referer needs referrer")
	}
	return nil
}

// Locator implements [locate.Reader].
func (r *ZeekReader) Locator() locate.Locator { return &ZeekLocator{ZeekReader: r} }

// zeekUses maps the columns of http.log to what they hold. Zeek takes the port
// from the host, but logs the port of the server.
var zeekUses = byName(`
	target      uri
	host        host
	referer     referrer
	method      method
	port        id.resp_p
	time        ts
	status      status_code
	bytes       response_body_len
	client      id.orig_h
	agent       user_agent`)

// ZeekLocator holds the columns of the current directive.
type ZeekLocator struct {
	*ZeekReader
	head    []byte // directive that the columns belong to
	known   bool
	sep     byte
	columns []namedUse // columns up to the last column that is used
}

// read sets the columns from a header. The byte after #fields is the separator.
func (l *ZeekLocator) read(head []byte) {
	l.head, l.known = append(l.head[:0], head...), true
	l.columns, l.sep = l.columns[:0], '\t'
	line := bytes.TrimPrefix(locate.TrimEnd(l.Directive(nil, head)), []byte(ZeekFields))
	if len(line) == 0 {
		return
	}
	l.sep = line[0]
	last := 0
	for i, name := range bytes.Split(line[1:], line[:1]) {
		use := zeekUses[string(name)]
		l.columns = append(l.columns, use)
		if use.use != locate.UseNone {
			last = i + 1
		}
	}
	l.columns = l.columns[:last]
}

// Locate implements [locate.Locator]. A number sign at the start of a value is
// escaped, so every line that starts with one is a directive.
func (l *ZeekLocator) Locate(f *locate.Found, rec []byte, at *locate.Position) (locate.Reason, int) {
	if !l.known || !bytes.Equal(at.Head, l.head) {
		l.read(at.Head)
	}
	if rec[0] == '#' {
		f.PassThrough()
		return 0, 0
	}
	if len(l.columns) == 0 {
		return locate.NoField, 0
	}
	var p namedParts
	if !l.split(f, rec, &p) {
		return locate.Unparsed, len(rec)
	}
	// Zeek sees only requests without TLS. URLs without the default port take
	// the codec's fast path.
	f.Plain = true
	if string(f.Port.In(rec)) == "80" {
		f.Port = locate.Span{}
	}
	if !p.add(f, rec, l.target) {
		return locate.NoField, 0
	}
	for i := range f.N {
		f.Sites[i].Stop = l.sep
	}
	return 0, 0
}

// split takes the fields of a record. It returns false if there are too few
// fields.
func (l *ZeekLocator) split(f *locate.Found, rec []byte, p *namedParts) bool {
	pos := 0
	for _, use := range l.columns {
		if pos > len(rec) {
			return false
		}
		end := len(rec)
		if n := bytes.IndexByte(rec[pos:], l.sep); n >= 0 {
			end = pos + n
		}
		if at := (locate.Between(pos, end)); use.isRead(f) && !isUnset(at.In(rec)) {
			p.take(f, rec, use, at, zeekDialect)
		}
		pos = end + 1
	}
	return true
}

// isUnset reports whether value means no value or an empty one.
func isUnset(value []byte) bool {
	return len(value) == 1 && value[0] == '-' || string(value) == "(empty)"
}

// zeekDialect writes backslashes and everything that is not printable ASCII as
// \xhh.
var zeekDialect = &locate.Dialect{Mark: '\\', Decode: locate.DecodeHex, Encode: EncodeZeek}

// EncodeZeek is Encode of the dialect of Zeek.
func EncodeZeek(dst, text []byte, stop byte) []byte {
	return locate.EncodeBytes(dst, text, stop, plainInZeek, locate.AppendHex)
}

var plainInZeek = scan.NewSet(func(c byte) bool { return c >= ' ' && c < 0x7F && c != '\\' })

var _ locate.Director = (*ZeekReader)(nil)
