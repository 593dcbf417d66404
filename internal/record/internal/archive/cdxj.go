package archive

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// CDXJFormat is the index of a web archive whose lines hold a key, a date and a
// JSON object with the URL (https://commoncrawl.org/cdxj-index), as pywb,
// Common Crawl and others write it.
type CDXJFormat struct{}

// Name implements [locate.Format].
func (CDXJFormat) Name() string { return "cdxj" }

// Detect implements [locate.Format]. Lines with a syslog header do not fit,
// although some headers also have a date before a JSON object.
func (CDXJFormat) Detect(s *locate.Sample) locate.Fit {
	l := CDXJLocator{}
	return s.Count(locate.LooksLikeCDX, func(rec []byte) bool {
		var f locate.Found
		why, _ := l.Locate(&f, rec, nil)
		return why == 0 && (!f.Passes || bytes.IndexByte(rec, '{') > 0) && locate.SyslogPrefix(rec) < 0
	})
}

// Open implements [locate.Format].
func (CDXJFormat) Open(c *locate.Settings) (locate.Reader, error) {
	return cdxjReader{}, refuseCaptureSettings(c)
}

// cdxjReader reads CDXJ files.
type cdxjReader struct{ locate.LineFraming }

// IndexKeys implements [locate.Keyed].
func (cdxjReader) IndexKeys() {}

// Locator implements [locate.Reader].
func (cdxjReader) Locator() locate.Locator { return &CDXJLocator{} }

// CDXJLocator reads the records of a CDXJ file.
type CDXJLocator struct{ scan jsonlines.Scanner }

// Locate implements [locate.Locator]. Lines that begin with an exclamation mark
// describe the file. The JSON text after the URL is read only if the job needs
// the status.
func (l *CDXJLocator) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	if rec[0] == '!' {
		f.PassThrough()
		return 0, 0
	}
	object := bytes.Index(rec, []byte(" {")) + 1
	date := dateBefore(rec, object)
	if date.End == 0 {
		return locate.Unparsed, object
	}
	url, status, ok := l.members(rec, object, f.Attrs.Wanted)
	switch {
	case !ok:
		return locate.Unparsed, l.scan.Pos
	case url.End == 0:
		return locate.NoField, 0
	}
	if f.Attrs.Wanted {
		f.AddAttr(locate.AttrTime, locate.Attr{Span: date})
		if status.End > 0 {
			f.AddAttr(locate.AttrStatus, locate.Attr{Span: status})
		}
	}
	addCapture(f, rec, url, locate.JSONDialect)
	return 0, 0
}

// dateBefore returns the first word of rec[:end] after the key that is a date.
// The key may contain spaces, and other words may follow the date.
func dateBefore(rec []byte, end int) locate.Span {
	key := true
	for pos := 0; pos < end; {
		n := bytes.IndexByte(rec[pos:end], ' ')
		if n < 0 {
			n = end - pos
		}
		word := rec[pos : pos+n]
		if n > 0 && !key && (isCaptureDate(word) || isISODate(word)) {
			return locate.Between(pos, pos+n)
		}
		key = key && n == 0
		pos += n + 1
	}
	return locate.Span{}
}

// isISODate reports whether s begins like 2015-04-30T01:00:40Z.
func isISODate(s []byte) bool {
	return len(s) > 10 && locate.AllDigits(s[:4]) && s[4] == '-' && s[10] == 'T'
}

// members returns the inside of the member with the URL of the object at pos
// and, if all is set, of the member with the status. ok is false if the text up
// to these members is not JSON; the position of the error is then in l.scan.
func (l *CDXJLocator) members(rec []byte, pos int, all bool) (url, status locate.Span, ok bool) {
	s := &l.scan
	s.Begin(rec)
	s.Pos = pos + 1
	for {
		s.Space()
		if s.Peek() == '}' && url.End == 0 {
			return url, status, true
		}
		name, escaped := s.RawName()
		if escaped {
			name = s.Plain(name)
		}
		start := s.Pos
		if s.Skip(); s.Broken {
			return url, status, false
		}
		value := locate.Between(start, s.Pos)
		if rec[start] == '"' {
			value = locate.Between(start+1, s.Pos-1)
		}
		switch string(name) {
		case "url", "uri", "original_uri":
			if url.End == 0 && rec[start] == '"' {
				url = value
			}
			if !all {
				return url, status, true
			}
		case "status", "status_code":
			status = value
		}
		s.Space()
		if s.Peek() != ',' {
			s.Expect('}')
			return url, status, !s.Broken
		}
		s.Pos++
	}
}

// Attributes implements [locate.Attributed].
func (cdxjReader) Attributes() uint16 {
	return locate.AttrsOf(locate.AttrTime, locate.AttrStatus, locate.AttrVHost)
}
