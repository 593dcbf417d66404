package archive

import (
	"bytes"
	"errors"
	"slices"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// CDXFormat is the index of a web archive with one line for each capture
// (https://iipc.github.io/warc-specifications/specifications/cdx-format/cdx-2015/).
// The legend, a line such as " CDX N b a m s k r M S V g", names the columns by
// letters; its first byte is the separator.
type CDXFormat struct{}

// Name implements [locate.Format].
func (CDXFormat) Name() string { return "cdx" }

// Detect implements [locate.Format].
func (CDXFormat) Detect(s *locate.Sample) locate.Fit {
	if len(s.Records) > 0 && LegendOf(s.Records[0]) != nil {
		return s.All(locate.LooksUnmistakable)
	}
	l := CDXLocator{}
	l.read(nil)
	return s.Count(locate.LooksLikeCDX, func(rec []byte) bool {
		var f locate.Found
		why, _ := l.Locate(&f, rec, &locate.Position{})
		return why == 0 && f.N == 1 && bytes.Contains(f.Sites[0].In(rec), []byte("://"))
	})
}

// Open implements [locate.Format].
func (CDXFormat) Open(c *locate.Settings) (locate.Reader, error) {
	return CDXReader{}, refuseCaptureSettings(c)
}

// refuseCaptureSettings returns an error for each setting in c that does not
// apply to indexes of web archives.
func refuseCaptureSettings(c *locate.Settings) error {
	return errors.Join(c.RefuseFields(), c.RefuseDialect(), c.RefuseReferer(), c.RefuseBaseHost(", whose records have absolute URLs"), c.RefuseExtend())
}

// CDXReader reads CDX files.
type CDXReader struct{ locate.LineFraming }

// IndexKeys implements [locate.Keyed].
func (CDXReader) IndexKeys() {}

// LegendOf returns the part of line after CDX, including the separator, or nil
// if line is not a legend. A legend that was copied from a document may lack
// its first space.
func LegendOf(line []byte) []byte {
	switch {
	case locate.HasPrefix(line, "CDX "):
		return line[len("CDX"):]
	case len(line) > len(" CDX a") && string(line[1:4]) == "CDX" && line[4] == line[0]:
		return line[len(" CDX"):]
	}
	return nil
}

// Head implements [locate.Framing].
func (CDXReader) Head(block []byte) int {
	n := bytes.IndexByte(block, '\n') + 1
	if n == 0 || LegendOf(block[:n]) == nil {
		return 0
	}
	return n
}

// Directive implements [locate.Director]. Joined files have several legends.
func (CDXReader) Directive(_, block []byte) (last []byte) {
	for len(block) > 0 {
		line := locate.FirstLine(block)
		if LegendOf(line) != nil {
			last = line
		}
		block = block[len(line):]
	}
	return last
}

// CheckHead implements [locate.HeadChecker].
func (CDXReader) CheckHead(head []byte) error {
	l := CDXLocator{}
	if l.read(head); l.url < 0 {
		return locate.Wrong("Format", "missing column in the legend: must have the letter a, the URL")
	}
	return nil
}

// Locator implements [locate.Reader].
func (CDXReader) Locator() locate.Locator { return &CDXLocator{} }

// cdxUsual are the first columns of the layouts with 9 and 11 columns, for files
// without a legend: key, date, URL, media type, status.
var cdxUsual = []byte(" N b a m s")

// CDXLocator holds the columns of the current legend.
type CDXLocator struct {
	head              []byte // legend that the columns belong to
	known             bool
	sep               byte
	url, date, status int           // index of the column, or -1
	spans             []locate.Span // fields of the current record, up to the last of these
}

// read sets the columns from a legend, or the default columns without one.
func (l *CDXLocator) read(head []byte) {
	l.head, l.known = append(l.head[:0], head...), true
	legend := cdxUsual
	if own := LegendOf(locate.TrimEnd(head)); own != nil {
		legend = own
	}
	l.sep = legend[0]
	letters := bytes.Split(legend[1:], legend[:1])
	index := func(letter string) int {
		for i, name := range letters {
			if string(name) == letter {
				return i
			}
		}
		return -1
	}
	l.url, l.date, l.status = index("a"), index("b"), index("s")
	n := max(l.url, l.date, l.status) + 1
	l.spans = slices.Grow(l.spans[:0], n)[:n]
}

// Locate implements [locate.Locator]. It checks the form of the date and the
// status, because a space in the URL would move the fields that follow.
func (l *CDXLocator) Locate(f *locate.Found, rec []byte, at *locate.Position) (locate.Reason, int) {
	if !l.known || !bytes.Equal(at.Head, l.head) {
		l.read(at.Head)
	}
	switch {
	case LegendOf(rec) != nil:
		f.PassThrough()
		return 0, 0
	case l.url < 0:
		return locate.NoField, 0
	}
	if bad := l.split(rec); bad >= 0 {
		return locate.Unparsed, bad
	}
	if f.Attrs.Wanted {
		l.addAttrs(f)
	}
	addCapture(f, rec, l.spans[l.url], nil)
	return 0, 0
}

// split stores the fields of the record in l.spans. It returns the offset of the first
// field that is missing or wrong, or -1.
func (l *CDXLocator) split(rec []byte) (bad int) {
	pos := 0
	for i := range l.spans {
		if pos > len(rec) {
			return len(rec)
		}
		end := len(rec)
		if n := bytes.IndexByte(rec[pos:], l.sep); n >= 0 {
			end = pos + n
		}
		l.spans[i], pos = locate.Between(pos, end), end+1
	}
	switch {
	case l.date >= 0 && !isCaptureDate(l.spans[l.date].In(rec)):
		return l.spans[l.date].Start
	case l.status >= 0 && !isCaptureStatus(l.spans[l.status].In(rec)):
		return l.spans[l.status].Start
	}
	return -1
}

// addAttrs adds the attributes of the record.
func (l *CDXLocator) addAttrs(f *locate.Found) {
	if l.date >= 0 {
		f.AddAttr(locate.AttrTime, locate.Attr{Span: l.spans[l.date]})
	}
	if l.status >= 0 {
		f.AddAttr(locate.AttrStatus, locate.Attr{Span: l.spans[l.status]})
	}
}

// isCaptureStatus reports whether s is a status or "-".
func isCaptureStatus(s []byte) bool { return string(s) == "-" || len(s) == 3 && locate.AllDigits(s) }

// isCaptureDate reports whether s has the form of the date of a capture: a year
// and more digits, up to milliseconds.
func isCaptureDate(s []byte) bool { return len(s) >= 4 && len(s) <= 17 && locate.AllDigits(s) }

// addCapture adds the URL of a capture. It ignores CONNECT requests, whose
// URL is only an authority. Old files have URLs without a scheme; only the part
// after their host is rewritten.
func addCapture(f *locate.Found, rec []byte, s locate.Span, d *locate.Dialect) {
	text := s.In(rec)
	if len(text) == 0 || len(text) == 1 && text[0] == '-' {
		return
	}
	colon := bytes.IndexByte(text, ':')
	if colon >= 0 && locate.IsScheme(text[:colon]) && bytes.HasPrefix(text[colon+1:], locate.Slashes) {
		f.Add(s, locate.RoleURL, d)
		return
	}
	n := bytes.IndexAny(text, "/?#")
	if n < 0 {
		n = len(text)
	}
	switch host := text[:n]; {
	case !locate.IsAuthority(host) || host[0] != '[' && !isDotted(host[:bytes.LastIndexByte(host, ':')]):
		f.Add(s, locate.RoleURL, d) // such as dns:example.com, or a relative reference
	case n == len(text):
		f.Form = locate.FormAuthority
	default:
		f.Hosts[0] = locate.Between(s.Start, s.Start+n)
		f.TakeTarget(rec, locate.Between(s.Start+n, s.End), d)
	}
}

// isDotted reports whether host consists of letters, digits, hyphens and
// underscores with at least one dot among them. It returns false for all other
// bytes, so that no text that rewriting inserts, such as an escape, counts as
// part of a host.
func isDotted(host []byte) bool {
	for _, c := range host {
		if !locate.IsNameByte(c) && c != '.' && c != '-' {
			return false
		}
	}
	return bytes.IndexByte(host, '.') >= 0
}

// Attributes implements [locate.Attributed].
func (CDXReader) Attributes() uint16 {
	return locate.AttrsOf(locate.AttrTime, locate.AttrStatus, locate.AttrVHost)
}

var _ locate.Director = CDXReader{}
