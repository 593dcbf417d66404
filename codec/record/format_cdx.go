package record

import (
	"bytes"
	"errors"
	"slices"
)

// cdxFormat is the index of a web archive with one line for each capture
// (https://iipc.github.io/warc-specifications/specifications/cdx-format/cdx-2015/).
// The legend, a line such as " CDX N b a m s k r M S V g", names the columns by
// letters; its first byte is the separator.
type cdxFormat struct{}

// Name implements [Format].
func (cdxFormat) Name() string { return "cdx" }

// Detect implements [Format].
func (cdxFormat) Detect(s *Sample) Fit {
	if len(s.Records) > 0 && legendOf(s.Records[0]) != nil {
		return Fit{len(s.Records), looksUnmistakable}
	}
	l := cdxLocator{}
	l.read(nil)
	return s.count(looksLikeCDX, func(rec []byte) bool {
		var f Found
		why, _ := l.Locate(&f, rec, &Position{})
		return why == 0 && f.n == 1 && bytes.Contains(f.sites[0].in(rec), []byte("://"))
	})
}

// Open implements [Format].
func (cdxFormat) Open(c *Config) (Reader, error) {
	return cdxReader{}, errors.Join(c.refuseCaptureSettings()...)
}

// refuseCaptureSettings returns an error for each setting in c that has no
// meaning for indexes of web archives.
func (c *Config) refuseCaptureSettings() []error {
	errs := append(c.refuseFields(), c.refuseDialect(), c.refuseReferer())
	if _, _, ok := c.baseHost(); ok {
		errs = append(errs, wrong("Base", "the base URL cannot contain a field with the format "+c.Format+", whose records have absolute URLs"))
	}
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	return errs
}

// cdxReader reads CDX files.
type cdxReader struct{ LineFraming }

// indexKeys implements [keyed].
func (cdxReader) indexKeys() {}

// legendOf returns the part of line after CDX, which begins with the separator,
// or nil if line is not a legend. A legend that was copied from a document may
// lack its first space.
func legendOf(line []byte) []byte {
	switch {
	case hasPrefix(line, "CDX "):
		return line[len("CDX"):]
	case len(line) > len(" CDX a") && string(line[1:4]) == "CDX" && line[4] == line[0]:
		return line[len(" CDX"):]
	}
	return nil
}

// Head implements [Framing].
func (cdxReader) Head(block []byte) int {
	n := bytes.IndexByte(block, '\n') + 1
	if n == 0 || legendOf(block[:n]) == nil {
		return 0
	}
	return n
}

// Directive implements [Director]. Joined files have several legends.
func (cdxReader) Directive(_, block []byte) (last []byte) {
	for len(block) > 0 {
		line := firstLine(block)
		if legendOf(line) != nil {
			last = line
		}
		block = block[len(line):]
	}
	return last
}

// checkHead implements [headChecker].
func (cdxReader) checkHead(head []byte) error {
	l := cdxLocator{}
	if l.read(head); l.url < 0 {
		return wrong("Format", "missing column in the legend: must have the letter a, the URL")
	}
	return nil
}

// Locator implements [Reader].
func (cdxReader) Locator() Locator { return &cdxLocator{} }

// cdxUsual are the first columns of the layouts with 9 and 11 columns, for files
// without a legend: key, date, URL, media type, status.
var cdxUsual = []byte(" N b a m s")

// cdxLocator holds the columns of the current legend.
type cdxLocator struct {
	head              []byte // legend that the columns belong to
	known             bool
	sep               byte
	url, date, status int    // index of the column; -1 if there is none
	spans             []span // fields of the current record, up to the last of these
}

// read sets the columns from a legend, or those of a file without one.
func (l *cdxLocator) read(head []byte) {
	l.head, l.known = append(l.head[:0], head...), true
	legend := cdxUsual
	if own := legendOf(trimEnd(head)); own != nil {
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

// Locate implements [Locator]. A date and a status must be at their places, because a
// space in the URL would move the fields after it.
func (l *cdxLocator) Locate(f *Found, rec []byte, at *Position) (Reason, int) {
	if !l.known || !bytes.Equal(at.Head, l.head) {
		l.read(at.Head)
	}
	switch {
	case legendOf(rec) != nil:
		f.PassThrough()
		return 0, 0
	case l.url < 0:
		return NoField, 0
	}
	if bad := l.split(rec); bad >= 0 {
		return Unparsed, bad
	}
	if f.attrs.wanted {
		l.addAttrs(f)
	}
	f.addCapture(rec, l.spans[l.url], nil)
	return 0, 0
}

// split stores the fields of the record in l.spans. It returns the offset of the first one
// that is missing or wrong, or -1.
func (l *cdxLocator) split(rec []byte) (bad int) {
	pos := 0
	for i := range l.spans {
		if pos > len(rec) {
			return len(rec)
		}
		end := len(rec)
		if n := bytes.IndexByte(rec[pos:], l.sep); n >= 0 {
			end = pos + n
		}
		l.spans[i], pos = span{pos, end}, end+1
	}
	switch {
	case l.date >= 0 && !isCaptureDate(l.spans[l.date].in(rec)):
		return l.spans[l.date].start
	case l.status >= 0 && !isCaptureStatus(l.spans[l.status].in(rec)):
		return l.spans[l.status].start
	}
	return -1
}

// addAttrs adds the attributes of the record.
func (l *cdxLocator) addAttrs(f *Found) {
	if l.date >= 0 {
		f.addAttr(attrTime, attr{span: l.spans[l.date]})
	}
	if l.status >= 0 {
		f.addAttr(attrStatus, attr{span: l.spans[l.status]})
	}
}

// isCaptureStatus reports whether s is a status or "-".
func isCaptureStatus(s []byte) bool { return string(s) == "-" || len(s) == 3 && allDigits(s) }

// isCaptureDate reports whether s has the form of the date of a capture: a year
// and more digits, up to milliseconds.
func isCaptureDate(s []byte) bool { return len(s) >= 4 && len(s) <= 17 && allDigits(s) }

// addCapture adds the URL of a capture. It ignores CONNECT requests, whose
// URL is only an authority. Old files have URLs without a scheme; only the part
// after their host is rewritten.
func (f *Found) addCapture(rec []byte, s span, d *Dialect) {
	text := s.in(rec)
	if len(text) == 0 || len(text) == 1 && text[0] == '-' {
		return
	}
	colon := bytes.IndexByte(text, ':')
	if colon >= 0 && isScheme(text[:colon]) && bytes.HasPrefix(text[colon+1:], slashes) {
		f.add(s, roleURL, d)
		return
	}
	n := bytes.IndexAny(text, "/?#")
	if n < 0 {
		n = len(text)
	}
	switch host := text[:n]; {
	case !isAuthority(host) || host[0] != '[' && !isDotted(host[:bytes.LastIndexByte(host, ':')]):
		f.add(s, roleURL, d) // dns:example.com, and references
	case n == len(text):
		f.form = formAuthority
	default:
		f.hosts[0] = span{s.start, s.start + n}
		f.addTarget(rec, span{s.start + n, s.end}, d)
	}
}

// isDotted reports whether host consists of letters, digits, hyphens and
// underscores with at least one dot among them. Nothing that rewriting writes
// in place of other bytes, such as escapes, may look like a host.
func isDotted(host []byte) bool {
	for _, c := range host {
		if !isNameByte(c) && c != '.' && c != '-' {
			return false
		}
	}
	return bytes.IndexByte(host, '.') >= 0
}
