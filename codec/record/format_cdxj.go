package record

import (
	"bytes"
	"errors"
)

// cdxjFormat is the index of a web archive whose lines hold a key, a date and a
// JSON object with the URL (https://commoncrawl.org/cdxj-index), as pywb,
// Common Crawl and others write it.
type cdxjFormat struct{}

// Name implements [Format].
func (cdxjFormat) Name() string { return "cdxj" }

// Detect implements [Format]. Some syslog headers also have a date before a JSON
// object.
func (cdxjFormat) Detect(s *Sample) Fit {
	l := cdxjLocator{}
	return s.count(looksLikeCDX, func(rec []byte) bool {
		var f Found
		why, _ := l.Locate(&f, rec, nil)
		return why == 0 && (!f.passes || bytes.IndexByte(rec, '{') > 0) && syslogPrefix(rec) < 0
	})
}

// Open implements [Format].
func (cdxjFormat) Open(c *Config) (Reader, error) {
	return cdxjReader{}, errors.Join(c.refuseCaptureSettings()...)
}

// cdxjReader reads CDXJ files.
type cdxjReader struct{ LineFraming }

// indexKeys implements [keyed].
func (cdxjReader) indexKeys() {}

// Locator implements [Reader].
func (cdxjReader) Locator() Locator { return &cdxjLocator{} }

// cdxjLocator reads the records of a CDXJ file.
type cdxjLocator struct{ scan scanner }

// Locate implements [Locator]. Lines that begin with an exclamation mark
// describe the file. The JSON text after the URL is read only if the job needs
// the status.
func (l *cdxjLocator) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	if rec[0] == '!' {
		f.PassThrough()
		return 0, 0
	}
	object := bytes.Index(rec, []byte(" {")) + 1
	date := dateBefore(rec, object)
	if date.end == 0 {
		return Unparsed, object
	}
	url, status, ok := l.members(rec, object, f.attrs.wanted)
	switch {
	case !ok:
		return Unparsed, l.scan.pos
	case url.end == 0:
		return NoField, 0
	}
	if f.attrs.wanted {
		f.addAttr(attrTime, attr{span: date})
		if status.end > 0 {
			f.addAttr(attrStatus, attr{span: status})
		}
	}
	f.addCapture(rec, url, jsonDialect)
	return 0, 0
}

// dateBefore returns the first word of rec[:end] after the key that is a date.
// The key may contain spaces, and other words may follow the date.
func dateBefore(rec []byte, end int) span {
	key := true
	for pos := 0; pos < end; {
		n := bytes.IndexByte(rec[pos:end], ' ')
		if n < 0 {
			n = end - pos
		}
		word := rec[pos : pos+n]
		if n > 0 && !key && (isCaptureDate(word) || isISODate(word)) {
			return span{pos, pos + n}
		}
		key = key && n == 0
		pos += n + 1
	}
	return span{}
}

// isISODate reports whether s begins like 2015-04-30T01:00:40Z.
func isISODate(s []byte) bool { return len(s) > 10 && allDigits(s[:4]) && s[4] == '-' && s[10] == 'T' }

// members returns the insides of the members with the URL and the status of the
// object at pos. ok is false if the text up to them is not JSON; the position of
// the error is then in l.scan.
func (l *cdxjLocator) members(rec []byte, pos int, all bool) (url, status span, ok bool) {
	s := &l.scan
	s.begin(rec)
	s.pos = pos + 1
	for {
		s.space()
		if s.peek() == '}' && url.end == 0 {
			return url, status, true
		}
		name, escaped := s.rawName()
		if escaped {
			name = s.plain(name)
		}
		start := s.pos
		if s.skip(); s.broken {
			return url, status, false
		}
		value := span{start, s.pos}
		if rec[start] == '"' {
			value = span{start + 1, s.pos - 1}
		}
		switch string(name) {
		case "url", "uri", "original_uri":
			if url.end == 0 && rec[start] == '"' {
				url = value
			}
			if !all {
				return url, status, true
			}
		case "status", "status_code":
			status = value
		}
		s.space()
		if s.peek() != ',' {
			s.expect('}')
			return url, status, !s.broken
		}
		s.pos++
	}
}
