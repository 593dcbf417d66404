package textlog

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// W3CFormat is the W3C extended log format (https://www.w3.org/TR/WD-logfile),
// which IIS, CloudFront, Blue Coat and others write. The directive #Fields
// names the columns and can occur more than once.
type W3CFormat struct{}

// Name implements [locate.Format].
func (W3CFormat) Name() string { return "w3c" }

// Detect implements [locate.Format]. No other format starts with the directive
// #Fields. Lines of CloudFront fit without it.
func (W3CFormat) Detect(s *locate.Sample) locate.Fit {
	for _, r := range s.Records {
		if bytes.HasPrefix(r, FieldsDirective) {
			return s.All(locate.LooksUnmistakable)
		}
		if r[0] != '#' {
			break
		}
	}
	return s.Count(locate.LooksLikeProduct, isCloudFront)
}

// FieldsDirective begins the line that names the fields.
var FieldsDirective = []byte("#Fields:")

// Open implements [locate.Format].
func (W3CFormat) Open(c *locate.Settings) (locate.Reader, error) {
	r := &W3CReader{DirectiveLines: locate.DirectiveLines{Prefix: string(FieldsDirective)}, target: c.Target}
	r.dialect, r.given = c.NamedDialect()
	return r, errors.Join(c.RefuseFields(), c.CheckRequestHost(true), c.RefuseExtend())
}

// W3CReader reads W3C extended logs.
type W3CReader struct {
	locate.DirectiveLines
	target  locate.Target
	dialect *locate.Dialect // nil if not configured; see given
	given   bool
}

// CheckHead implements [locate.HeadChecker].
func (r *W3CReader) CheckHead(head []byte) error {
	l := W3CLocator{W3CReader: r}
	l.read(head)
	switch {
	case l.headless && !isCloudFront(locate.TrimEnd(locate.FirstLine(head))):
		return locate.Wrong("Format", "missing directive #Fields before the first record")
	case r.target == locate.TargetReferer && l.columns[locate.UseReferer] < 0:
		return locate.Wrong("Target", "missing column in the directive #Fields: the target referer needs cs(Referer)")
	case r.target == locate.TargetRequest && l.columns[locate.UseTarget] < 0:
		return locate.Wrong("Format", "missing column in the directive #Fields: must have cs-uri-stem, cs-uri-path or cs-uri")
	}
	return nil
}

// Locator implements [locate.Reader].
func (r *W3CReader) Locator() locate.Locator { return &W3CLocator{W3CReader: r} }

// Uses of W3C columns alone.
const (
	w3cDate = locate.NumUses + iota // the date; UseTime is then the time of day
	w3cHost                         // the host of rank 0; the hosts of higher ranks follow
	numW3C  = w3cHost + locate.NumHosts
)

// w3cColumns maps lower-case column names to the columns used. In CloudFront
// logs x-host-header is the site, and cs(Host) the name of the distribution.
var w3cColumns = byName(`
	target      cs-uri-stem cs-uri-path cs-uri
	query       cs-uri-query
	method      cs-method s-operation
	referer     cs(referer) cs(referrer) cs-referred
	scheme      cs-protocol cs-uri-scheme
	port        s-port cs-uri-port r-port
	host        x-host-header
	host:1      cs(host)
	host:2      cs-host
	host:3      r-host
	date        date
	time        time
	status      sc-status
	bytes       sc-bytes
	duration    time-taken
	client      c-ip
	agent       cs(user-agent) c-agent
	request_id  x-edge-request-id`)

// cloudFrontHead is the directive of CloudFront's standard logs. It is for
// lines without a directive, from the middle of a file or from a stream:
// "Standard logging reference", Log file fields,
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logs-reference.html
// (November 2026). Older lines have only the first of these columns.
var cloudFrontHead = []byte("#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent)" +
	" cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for" +
	" ssl-protocol ssl-cipher x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields c-port" +
	" time-to-first-byte x-edge-detailed-result-type sc-content-type sc-content-len sc-range-start sc-range-end")

// isCloudFront reports whether a record has the columns of cloudFrontHead.
func isCloudFront(rec []byte) bool {
	ok := true
	for i := 0; i < 9 && ok; i++ {
		var cell []byte
		if cell, rec, ok = bytes.Cut(rec, tab); !ok {
			return false
		}
		switch i {
		case 0:
			ok = len(cell) == len("2006-01-02") && cell[4] == '-'
		case 1:
			ok = len(cell) == len("15:04:05") && cell[2] == ':'
		case 3, 8:
			ok = locate.AllDigits(cell)
		case 5:
			ok = locate.IsToken(cell)
		case 6:
			ok = locate.IsHost(cell)
		case 7:
			ok = locate.HasPrefix(cell, "/")
		}
	}
	return ok && bytes.Count(rec, tab) > 2
}

// tab separates the fields of some logs, whose fields and names can contain spaces.
var tab = []byte{'\t'}

// W3CLocator holds the columns of the current directive.
type W3CLocator struct {
	*W3CReader
	head     []byte // directive that columns belongs to
	known    bool
	headless bool                // the stream has no directive, so only lines of CloudFront can be read
	edge     bool                // the log is one of CloudFront
	whole    bool                // the target comes from cs-uri, which can begin with the host
	layer    *locate.Dialect     // dialect of unquoted fields
	columns  [numW3C]int         // index of each column; or -1
	names    int                 // number of columns
	open     bool                // records can have more fields than columns
	order    []locate.Use        // what each column holds, up to the last column that is used
	marks    scan.Marks          // marks of the bytes that can end a field of the record; scratch
	spans    [numW3C]locate.Span // fields of the record
	quoted   [numW3C]bool
}

// read sets the columns from a header.
func (l *W3CLocator) read(head []byte) {
	l.head, l.known = append(l.head[:0], head...), true
	for i := range l.columns {
		l.columns[i] = -1
	}
	l.spans, l.quoted = [numW3C]locate.Span{}, [numW3C]bool{}
	l.layer, l.edge, l.whole, l.order = nil, false, false, l.order[:0]
	line := locate.TrimEnd(l.Directive(nil, head))
	if l.headless = len(line) == 0; l.headless {
		line = cloudFrontHead
	}
	text := strings.TrimSpace(string(line[len(FieldsDirective):]))
	names := strings.Fields(text)
	if strings.Contains(text, "\t") {
		names = strings.Split(text, "\t")
	}
	last, header := 0, len(names) // header: the first column with a request header, whose value can contain spaces
	l.names = len(names)
	for i, name := range names {
		name = strings.ToLower(strings.Trim(name, `" `))
		if name == "x-edge-location" {
			l.layer, l.edge = percentDialect, true
		}
		if strings.HasPrefix(name, "cs(") {
			header = min(header, i)
		}
		l.order = append(l.order, locate.UseNone)
		column, ok := w3cColumns[name]
		c := column.use
		if c == locate.UseHost {
			c = w3cHost + locate.Use(column.rank)
		}
		if ok && l.columns[c] < 0 {
			l.columns[c], l.order[i], last = i, c, i+1
			l.whole = l.whole || name == "cs-uri"
		}
	}
	l.order = l.order[:last]
	l.open = last <= min(header, 1+max(l.columns[locate.UseTarget], l.columns[locate.UseQuery]))
	if l.given {
		l.layer = l.dialect
	}
}

// Locate implements [locate.Locator].
func (l *W3CLocator) Locate(f *locate.Found, rec []byte, at *locate.Position) (locate.Reason, int) {
	if rec[0] == '#' {
		f.PassThrough()
		return 0, 0
	}
	if !l.known || !bytes.Equal(at.Head, l.head) {
		l.read(at.Head)
	}
	target, query, referer := l.columns[locate.UseTarget], l.columns[locate.UseQuery], l.columns[locate.UseReferer]
	if l.target == locate.TargetRequest && target < 0 || l.target == locate.TargetReferer && referer < 0 || len(l.order) == 0 || l.headless && !isCloudFront(rec) {
		return locate.NoField, 0
	}
	if bytes.Count(rec, tab) == l.names-1 && l.names > 1 || l.headless {
		l.splitTabs(rec)
	} else if why, at := l.split(rec); why != 0 {
		return why, at
	}
	f.Method, f.Scheme, f.Port = l.spans[locate.UseMethod], l.spans[locate.UseScheme], l.spans[locate.UsePort]
	copy(f.Hosts[:], l.spans[w3cHost:])
	if f.Attrs.Wanted {
		l.addAttrs(f, rec)
	}
	tunnel := l.isTunnel(rec)
	if tunnel {
		f.Form = locate.FormAuthority
	}
	first, second := locate.UseTarget, locate.UseReferer
	if referer >= 0 && referer < target {
		first, second = second, first
	}
	for _, c := range []locate.Use{first, second} {
		switch {
		case c == locate.UseReferer && referer >= 0 && l.target != locate.TargetRequest:
			f.TakeReferer(rec, l.spans[c], l.dialectOf(c))
		case c == locate.UseTarget && target >= 0 && l.target != locate.TargetReferer && !tunnel:
			l.takeTarget(f, rec)
		}
	}
	if q := l.spans[locate.UseQuery]; query >= 0 && !tunnel && l.target != locate.TargetReferer && !(q.End-q.Start == 1 && rec[q.Start] == '-') && q.End > q.Start {
		f.AddQuery(q, l.dialectOf(locate.UseQuery))
	}
	return 0, 0
}

// isTunnel reports whether the record describes a tunnel, as Blue Coat writes it:
// with the method CONNECT, a scheme such as tcp, and "/" in place of the path.
// CONNECT can also open a WebSocket of HTTP/2, whose URL has a path (RFC 8441).
func (l *W3CLocator) isTunnel(rec []byte) bool {
	scheme := l.spans[locate.UseScheme].In(rec)
	return string(l.spans[locate.UseMethod].In(rec)) == "CONNECT" && len(scheme) > 1 && !locate.IsHTTP(scheme)
}

// takeTarget adds the target of the request. If the target comes from cs-uri
// and has no scheme, takeTarget also takes the host from it.
func (l *W3CLocator) takeTarget(f *locate.Found, rec []byte) {
	s := l.spans[locate.UseTarget]
	if l.whole {
		if n := hostBeforePath(s.In(rec)); n > 0 {
			f.Hosts[0] = locate.Between(s.Start, s.Start+n)
			s.Start += n
		}
	}
	f.TakeTarget(rec, s, l.dialectOf(locate.UseTarget))
}

// split stores the used fields of a record, which are separated by white space.
// A record with too few fields is Unparsed. More fields than columns are
// ColumnCount, because a raw space in a field has moved the later fields. The
// additional fields do no harm if they follow the URL, no column after the URL
// is used, and no used column before it can have a space.
func (l *W3CLocator) split(rec []byte) (locate.Reason, int) {
	l.marks = w3cWord.Mark(l.marks, rec)
	pos := 0
	for _, c := range l.order {
		switch {
		case pos >= len(rec):
			return locate.Unparsed, len(rec)
		case rec[pos] == '"':
			l.spans[c], l.quoted[c], pos = w3cField(rec, pos)
		default:
			end := l.fieldEnd(rec, pos)
			l.spans[c], l.quoted[c] = locate.Between(pos, end), false
			for pos = end + 1; pos < len(rec) && locate.IsSpace(rec[pos]); {
				pos++
			}
		}
	}
	for n := len(l.order); pos < len(rec) && !l.open; n++ {
		if n == l.names {
			return locate.ColumnCount, pos
		}
		_, _, pos = w3cField(rec, pos)
	}
	return 0, 0
}

// splitTabs is split for a record in which tabs separate as many fields as there are
// columns, or for a record without a directive.
func (l *W3CLocator) splitTabs(rec []byte) {
	l.marks = w3cCell.Mark(l.marks, rec)
	pos := 0
	for _, c := range l.order {
		end := l.fieldEnd(rec, min(pos, len(rec)))
		s := locate.Between(min(pos, end), end)
		l.quoted[c] = s.End-s.Start > 1 && rec[pos] == '"' && locate.QuotedEnd(rec[:end], pos+1, '"') == end
		if l.quoted[c] {
			s = locate.Between(pos+1, end-1)
		}
		l.spans[c], pos = s, end+1
	}
}

// fieldEnd returns the end of the field at pos of a record with marks.
func (l *W3CLocator) fieldEnd(rec []byte, pos int) int {
	end := l.marks.Next(pos)
	for end < len(rec) && rec[end] >= utf8.RuneSelf {
		end = l.marks.Next(end + 1)
	}
	return end
}

// w3cCell is the set of ASCII bytes in fields between tabs.
var w3cCell = scan.NewSet(func(c byte) bool { return c != '\t' })

// w3cWord is the set of ASCII bytes in fields without quotes.
var w3cWord = scan.NewSet(func(c byte) bool { return !locate.IsSpace(c) })

// dialectOf returns the dialect of the field in column c of the record.
func (l *W3CLocator) dialectOf(c locate.Use) *locate.Dialect {
	if l.quoted[c] {
		return locate.QuotedDialect
	}
	return l.layer
}

// w3cAttrs maps columns to the attributes that they hold.
var w3cAttrs = []struct {
	column locate.Use
	attr   locate.AttrID
}{
	{locate.UseStatus, locate.AttrStatus}, {locate.UseBytes, locate.AttrBytes}, {locate.UseClient, locate.AttrClient}, {locate.UseReferer, locate.AttrReferer}, {locate.UseRequestID, locate.AttrRequestID},
}

// addAttrs adds the attributes of the record that split has read. Times are in
// UTC. CloudFront writes the duration in seconds; others write milliseconds, or
// seconds with a fraction.
func (l *W3CLocator) addAttrs(f *locate.Found, rec []byte) {
	for _, a := range w3cAttrs {
		if l.columns[a.column] >= 0 {
			f.AddAttr(a.attr, locate.Attr{Span: l.spans[a.column], Dialect: l.dialectOf(a.column)})
		}
	}
	if l.columns[w3cDate] >= 0 && l.columns[locate.UseTime] >= 0 {
		f.AddAttr(locate.AttrTime, locate.Attr{Span: l.spans[w3cDate], Clock: l.spans[locate.UseTime]})
	}
	if taken := l.spans[locate.UseDuration]; l.columns[locate.UseDuration] >= 0 {
		a := locate.Attr{Span: taken}
		if !l.edge && bytes.IndexByte(taken.In(rec), '.') < 0 {
			a.Unit = 3
		}
		f.AddAttr(locate.AttrDuration, a)
	}
	if l.columns[locate.UseAgent] >= 0 {
		d, agent := l.dialectOf(locate.UseAgent), l.spans[locate.UseAgent]
		if d == nil && bytes.IndexByte(agent.In(rec), ' ') < 0 {
			d = plusDialect
		}
		f.AddAttr(locate.AttrAgent, locate.Attr{Span: agent, Dialect: d})
	}
}

// plusDialect decodes the user agents of IIS, which writes each space as a plus
// sign.
var plusDialect = &locate.Dialect{Mark: '+', Decode: func(dst, _ []byte) ([]byte, int) { return append(dst, ' '), 1 }}

// w3cField returns the field at pos without its quotes, whether it is quoted,
// and the offset of the next field. White space separates fields, and "" in a
// quoted field is a quote.
func w3cField(rec []byte, pos int) (s locate.Span, quoted bool, next int) {
	if rec[pos] == '"' {
		if end := locate.QuotedEnd(rec, pos+1, '"'); end > 0 && (end == len(rec) || locate.IsSpace(rec[end])) {
			s, quoted, next = locate.Between(pos+1, end-1), true, end
		}
	}
	if !quoted {
		for next = pos; next < len(rec) && !locate.IsSpace(rec[next]); {
			next++
		}
		s = locate.Between(pos, next)
	}
	for next < len(rec) && locate.IsSpace(rec[next]) {
		next++
	}
	return s, quoted, next
}

// percentDialect is the additional level of percent-encoding in CloudFront
// logs: a client's %20 is logged as %2520.
var percentDialect = &locate.Dialect{Mark: '%', Decode: locate.DecodeMarked, Encode: encodePercent}

// encodePercent escapes the bytes that CloudFront's manual lists for its
// standard logs.
func encodePercent(dst, text []byte, _ byte) []byte {
	return locate.AppendPercent(dst, text, func(c byte) bool {
		return c <= ' ' || c >= 0x7F || strings.IndexByte("<>\"#%{}|\\^~[]`'", c) >= 0
	})
}

var _ locate.Director = (*W3CReader)(nil)
