package record

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// w3cFormat is the W3C extended log format (https://www.w3.org/TR/WD-logfile),
// which IIS, CloudFront, Blue Coat and others write. The directive #Fields
// names the columns and can occur more than once.
type w3cFormat struct{}

// Name implements [Format].
func (w3cFormat) Name() string { return "w3c" }

// Detect implements [Format]. No other format begins with such a directive.
func (w3cFormat) Detect(s *Sample) Fit {
	for _, r := range s.Records {
		switch {
		case bytes.HasPrefix(r, fieldsDirective):
			return Fit{len(s.Records), looksUnmistakable}
		case r[0] != '#':
			return Fit{}
		}
	}
	return Fit{}
}

var fieldsDirective = []byte("#Fields:")

// Open implements [Format].
func (w3cFormat) Open(c *Config) (Reader, error) {
	r := &w3cReader{directiveLines: directiveLines{prefix: string(fieldsDirective)}, target: c.Target}
	r.dialect, r.given = c.dialect()
	errs := append(c.refuseFields(), c.checkRequestHost(true))
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	return r, errors.Join(errs...)
}

// w3cReader reads W3C extended logs.
type w3cReader struct {
	directiveLines
	target  Target
	dialect *Dialect // nil if not configured; see given
	given   bool
}

// checkHead implements [headChecker].
func (r *w3cReader) checkHead(head []byte) error {
	l := w3cLocator{w3cReader: r}
	l.read(head)
	switch {
	case r.target == TargetReferer && l.columns[w3cReferer] < 0:
		return wrong("Target", "missing column in the directive #Fields: the target referer needs cs(Referer)")
	case r.target == TargetRequest && l.columns[w3cTarget] < 0:
		return wrong("Format", "missing column in the directive #Fields: must have cs-uri-stem, cs-uri-path or cs-uri")
	}
	return nil
}

// Locator implements [Reader].
func (r *w3cReader) Locator() Locator { return &w3cLocator{w3cReader: r} }

// w3cColumn identifies a column that is used.
type w3cColumn uint8

const (
	w3cSkip w3cColumn = iota // not used
	w3cTarget
	w3cQuery
	w3cMethod
	w3cReferer
	w3cScheme
	w3cPort
	w3cDate
	w3cTime
	w3cStatus
	w3cBytes
	w3cTaken
	w3cClient
	w3cAgent
	w3cRequestID
	w3cHost // and the lower ranks of hosts after it
	numW3C  = w3cHost + numHosts
)

// w3cColumns maps lower-case column names to the columns used. In CloudFront
// logs x-host-header is the site, and cs(Host) the name of the distribution.
var w3cColumns = map[string]w3cColumn{
	"cs-uri-stem": w3cTarget, "cs-uri-path": w3cTarget, "cs-uri": w3cTarget,
	"cs-uri-query": w3cQuery,
	"cs-method":    w3cMethod,
	"cs(referer)":  w3cReferer, "cs(referrer)": w3cReferer,
	"cs-protocol": w3cScheme, "cs-uri-scheme": w3cScheme,
	"s-port": w3cPort, "cs-uri-port": w3cPort,
	"x-host-header": w3cHost, "cs(host)": w3cHost + 1, "cs-host": w3cHost + 2,
	"date": w3cDate, "time": w3cTime,
	"sc-status": w3cStatus, "sc-bytes": w3cBytes, "time-taken": w3cTaken,
	"c-ip": w3cClient, "cs(user-agent)": w3cAgent, "x-edge-request-id": w3cRequestID,
}

// w3cLocator holds the columns of the current directive.
type w3cLocator struct {
	*w3cReader
	head    []byte // directive that columns belongs to
	known   bool
	edge    bool         // the log is one of CloudFront
	whole   bool         // the target is that of cs-uri, which can begin with the host
	layer   *Dialect     // dialect of unquoted fields
	columns [numW3C]int  // index of each column; -1 if there is none
	order   []w3cColumn  // what each column holds, up to the last one that is used
	marks   scan.Marks   // of the bytes that can end a field of the record; scratch
	spans   [numW3C]span // its fields
	quoted  [numW3C]bool
}

// read sets the columns from a header.
func (l *w3cLocator) read(head []byte) {
	l.head, l.known = append(l.head[:0], head...), true
	for i := range l.columns {
		l.columns[i] = -1
	}
	l.spans, l.quoted = [numW3C]span{}, [numW3C]bool{}
	l.layer, l.edge, l.whole, l.order = nil, false, false, l.order[:0]
	line := trimEnd(l.Directive(nil, head))
	last := 0
	for i, name := range strings.Fields(string(line[min(len(line), len(fieldsDirective)):])) {
		name = strings.ToLower(strings.Trim(name, `"`))
		if name == "x-edge-location" {
			l.layer, l.edge = percentDialect, true
		}
		l.order = append(l.order, w3cSkip)
		if c, ok := w3cColumns[name]; ok && l.columns[c] < 0 {
			l.columns[c], l.order[i], last = i, c, i+1
			l.whole = l.whole || name == "cs-uri"
		}
	}
	l.order = l.order[:last]
	if l.given {
		l.layer = l.dialect
	}
}

// Locate implements [Locator].
func (l *w3cLocator) Locate(f *Found, rec []byte, at *Position) (Reason, int) {
	if rec[0] == '#' {
		f.PassThrough()
		return 0, 0
	}
	if !l.known || !bytes.Equal(at.Head, l.head) {
		l.read(at.Head)
	}
	target, query, referer := l.columns[w3cTarget], l.columns[w3cQuery], l.columns[w3cReferer]
	if l.target == TargetRequest && target < 0 || l.target == TargetReferer && referer < 0 || len(l.order) == 0 || query >= 0 && query < target {
		return NoField, 0
	}
	if !l.split(rec) {
		return Unparsed, len(rec)
	}
	f.method, f.scheme, f.port = l.spans[w3cMethod], l.spans[w3cScheme], l.spans[w3cPort]
	copy(f.hosts[:], l.spans[w3cHost:])
	if f.attrs.wanted {
		l.addAttrs(f, rec)
	}
	tunnel := l.isTunnel(rec)
	if tunnel {
		f.form = formAuthority
	}
	first, second := w3cTarget, w3cReferer
	if referer >= 0 && referer < target {
		first, second = second, first
	}
	for _, c := range []w3cColumn{first, second} {
		switch {
		case c == w3cReferer && referer >= 0 && l.target != TargetRequest:
			f.addReferer(rec, l.spans[c], l.dialectOf(c))
		case c == w3cTarget && target >= 0 && l.target != TargetReferer && !tunnel:
			l.addTarget(f, rec)
		}
	}
	if q := l.spans[w3cQuery]; query >= 0 && !tunnel && l.target != TargetReferer && !(q.end-q.start == 1 && rec[q.start] == '-') && q.end > q.start {
		f.addQuery(q, l.dialectOf(w3cQuery))
	}
	return 0, 0
}

// isTunnel reports whether the record is that of a tunnel, as Blue Coat writes it: with
// the method CONNECT, a scheme such as tcp, and "/" in place of the path. CONNECT can
// also open a WebSocket of HTTP/2, whose URL has a path (RFC 8441).
func (l *w3cLocator) isTunnel(rec []byte) bool {
	scheme := l.spans[w3cScheme].in(rec)
	return string(l.spans[w3cMethod].in(rec)) == "CONNECT" && len(scheme) > 1 && !isHTTP(scheme)
}

// addTarget adds the target of the request. Of cs-uri, it takes the host if there is no
// scheme.
func (l *w3cLocator) addTarget(f *Found, rec []byte) {
	s := l.spans[w3cTarget]
	if l.whole {
		if n := hostBeforePath(s.in(rec)); n > 0 {
			f.hosts[0] = span{s.start, s.start + n}
			s.start += n
		}
	}
	f.addTarget(rec, s, l.dialectOf(w3cTarget))
}

// split stores the fields of a record that are used. It returns false if the record has too
// few fields.
func (l *w3cLocator) split(rec []byte) bool {
	l.marks = w3cWord.Mark(l.marks, rec)
	pos := 0
	for _, c := range l.order {
		switch {
		case pos >= len(rec):
			return false
		case rec[pos] == '"':
			l.spans[c], l.quoted[c], pos = w3cField(rec, pos)
		default:
			end := l.marks.Next(pos)
			for end < len(rec) && rec[end] >= utf8.RuneSelf {
				end = l.marks.Next(end + 1)
			}
			l.spans[c], l.quoted[c] = span{pos, end}, false
			for pos = end + 1; pos < len(rec) && isSpace(rec[pos]); {
				pos++
			}
		}
	}
	return true
}

// w3cWord is the set of ASCII bytes in fields without quotes.
var w3cWord = scan.NewSet(func(c byte) bool { return !isSpace(c) })

// dialectOf returns the dialect of the field in column c of the record.
func (l *w3cLocator) dialectOf(c w3cColumn) *Dialect {
	if l.quoted[c] {
		return quotedDialect
	}
	return l.layer
}

// w3cAttrs maps columns to the attributes that they hold.
var w3cAttrs = []struct {
	column w3cColumn
	attr   attrID
}{
	{w3cStatus, attrStatus}, {w3cBytes, attrBytes}, {w3cClient, attrClient}, {w3cReferer, attrReferer}, {w3cRequestID, attrRequestID},
}

// addAttrs adds the attributes of the record that split has read. Times are in
// UTC. CloudFront writes the duration in seconds; others write milliseconds, or
// seconds with a fraction.
func (l *w3cLocator) addAttrs(f *Found, rec []byte) {
	for _, a := range w3cAttrs {
		if l.columns[a.column] >= 0 {
			f.addAttr(a.attr, attr{span: l.spans[a.column], dialect: l.dialectOf(a.column)})
		}
	}
	if l.columns[w3cDate] >= 0 && l.columns[w3cTime] >= 0 {
		f.addAttr(attrTime, attr{span: l.spans[w3cDate], clock: l.spans[w3cTime]})
	}
	if taken := l.spans[w3cTaken]; l.columns[w3cTaken] >= 0 {
		a := attr{span: taken}
		if !l.edge && bytes.IndexByte(taken.in(rec), '.') < 0 {
			a.unit = 3
		}
		f.addAttr(attrDuration, a)
	}
	if l.columns[w3cAgent] >= 0 {
		d := l.dialectOf(w3cAgent)
		if d == nil {
			d = plusDialect
		}
		f.addAttr(attrAgent, attr{span: l.spans[w3cAgent], dialect: d})
	}
}

// plusDialect decodes the user agents of IIS, which writes each space as a plus
// sign.
var plusDialect = &Dialect{Mark: '+', Decode: func(dst, _ []byte) ([]byte, int) { return append(dst, ' '), 1 }}

// w3cField returns the field at pos without its quotes, whether it is quoted,
// and the offset of the next field. White space separates fields, and "" in a
// quoted field is a quote.
func w3cField(rec []byte, pos int) (s span, quoted bool, next int) {
	if rec[pos] == '"' {
		if end := quotedEnd(rec, pos+1, '"'); end > 0 && (end == len(rec) || isSpace(rec[end])) {
			s, quoted, next = span{pos + 1, end - 1}, true, end
		}
	}
	if !quoted {
		for next = pos; next < len(rec) && !isSpace(rec[next]); {
			next++
		}
		s = span{pos, next}
	}
	for next < len(rec) && isSpace(rec[next]) {
		next++
	}
	return s, quoted, next
}

// percentDialect is the additional level of percent-encoding in CloudFront
// logs: a client's %20 is logged as %2520.
var percentDialect = &Dialect{Mark: '%', Decode: decodePercent, Encode: encodePercent}

func decodePercent(dst, s []byte) ([]byte, int) {
	if len(s) >= 3 && unhex[s[1]] < 16 && unhex[s[2]] < 16 {
		return append(dst, unhex[s[1]]<<4|unhex[s[2]]), 3
	}
	return append(dst, '%'), 1
}

// encodePercent escapes the bytes that CloudFront's manual lists for its
// standard logs.
func encodePercent(dst, text []byte, _ byte) []byte {
	for _, c := range text {
		if c <= ' ' || c >= 0x7F || strings.IndexByte("<>\"#%{}|\\^~[]`'", c) >= 0 {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}
