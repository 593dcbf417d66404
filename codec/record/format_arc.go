package record

import (
	"bytes"
	"errors"
)

// arcFormat is the older web archive format of the Internet Archive, versions
// 1.0, 1.1 and 2.0: https://archive.org/web/researcher/ArcFileFormat.php. A
// record consists of a line, the URL record, and a document whose length the
// line states:
//
//	URL IP-address Archive-date Content-type Archive-length
//
// The first record, the version block, describes the file itself: its URL has
// the scheme filedesc.
type arcFormat struct{}

// Name implements [Format].
func (arcFormat) Name() string { return "arc" }

// Detect implements [Format]. A part of an archive may lack the version block,
// which itself may be damaged.
func (arcFormat) Detect(s *Sample) Fit {
	head := s.Head[lineEnds(s.Head):]
	if _, state := readARCHeader(head); state == headerSound || bytes.HasPrefix(head, []byte("filedesc://")) {
		return Fit{len(s.Records), looksUnmistakable}
	}
	return Fit{}
}

// unlined implements [unlined].
func (arcFormat) unlined() Reader { return arcReader{} }

// Open implements [Format].
func (arcFormat) Open(c *Config) (Reader, error) {
	return arcReader{}, errors.Join(c.refuseArchiveSettings()...)
}

// arcReader reads ARC files. format_arc_frame.go finds where records end.
type arcReader struct{}

// Locator implements [Reader].
func (r arcReader) Locator() Locator { return r }

// multiline implements [lineCounter].
func (arcReader) multiline() {}

// apart implements [memberFormat].
func (arcReader) apart() {}

// shown implements [abridger]. It returns the URL record or, if there is none,
// the start of the record.
func (arcReader) shown(rec []byte) []byte {
	if h, state := readARCHeader(rec); state == headerSound {
		return trimEnd(rec[:h.end])
	}
	return trimEnd(rec[:min(len(rec), maxArchiveShown)])
}

// Locate implements [Locator]. The offset of an error is that of the first
// damaged byte.
func (arcReader) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	h, state := readARCHeader(rec)
	if state == headerCut {
		if state = h.read(rec); state != headerSound { // otherwise the document is empty, and the line end was removed
			return Unparsed, len(rec)
		}
	}
	if state != headerSound {
		return Unparsed, h.at
	}
	if end := int64(h.end) + h.length; end > int64(len(rec))+int64(len(crlf)) {
		return Unparsed, len(rec)
	} else if end < int64(len(rec)) && lineEnds(rec[end:]) < len(rec)-int(end) {
		return Unparsed, int(end)
	}
	f.addAttr(attrTime, attr{span: h.date})
	if h.status.end > 0 {
		f.addAttr(attrStatus, attr{span: h.status})
	}
	if !bytes.HasPrefix(h.url.in(rec), arcVersionScheme) {
		f.add(h.url, roleURL, arcDialect)
	}
	return 0, 0
}

// arcHeader is the URL record of a record.
type arcHeader struct {
	end    int   // length of the line, including the line end
	length int64 // length of the document
	url    span
	date   span
	status span // the result code, which version 2 has
	at     int  // offset of the damage; if the line is cut, its length
}

// maxARCLine is the maximum length of a URL record in bytes.
const maxARCLine = 8 << 10

var arcVersionScheme = []byte("filedesc:")

// readARCHeader reads the URL record at the start of b. Writers did not escape
// spaces in URLs, so the fields are found from the end of the line: the last
// one is the length, and the URL ends before the last pair of an address and a
// date.
func readARCHeader(b []byte) (h arcHeader, state headerState) {
	if arcScheme(b) < 0 {
		return h, headerDamaged
	}
	h.end = bytes.IndexByte(b[:min(len(b), maxARCLine)], '\n') + 1
	switch {
	case h.end > 0:
	case len(b) < maxARCLine:
		h.at = len(b)
		return h, headerCut
	default:
		h.at = maxARCLine
		return h, headerDamaged
	}
	return h, h.read(b[:h.end])
}

// read reads the URL record line, with or without its line end.
func (h *arcHeader) read(line []byte) headerState {
	h.end = len(line)
	line = trimEnd(line)
	at := bytes.LastIndexByte(line, ' ') + 1
	n, ok := archiveLength(line[at:])
	if !ok {
		h.at = at
		return headerDamaged
	}
	h.length = n
	if h.url.end = h.findDate(line); h.url.end <= arcScheme(line) {
		h.at = min(arcScheme(line), len(line))
		return headerDamaged
	}
	h.findStatus(line)
	return headerSound
}

// arcScheme returns the offset after the scheme at the start of b, or -1 if b
// does not begin with one. A scheme that is cut counts.
func arcScheme(b []byte) int {
	for i, c := range b[:min(len(b), maxARCScheme)] {
		switch letter := c|0x20-'a' < 26; {
		case c == ':' && i > 0:
			return i + 1
		case !letter && (i == 0 || !isDigit(c) && c != '+' && c != '-' && c != '.'):
			return -1
		}
	}
	if len(b) < maxARCScheme {
		return len(b)
	}
	return -1
}

// maxARCScheme limits the length of a scheme with its colon.
const maxARCScheme = 32

// findDate sets the date and returns the offset at which the URL ends. It
// returns -1 if the line has no address followed by a date.
func (h *arcHeader) findDate(line []byte) int {
	for end := len(line); ; {
		at := bytes.LastIndexByte(line[:end], ' ')
		if at < 0 {
			return -1
		}
		if word := line[at+1 : end]; isARCDate(word) {
			ip := bytes.LastIndexByte(line[:at], ' ')
			if ip > 0 && isARCAddress(line[ip+1:at]) {
				h.date = span{at + 1, end}
				return ip
			}
		}
		end = at
	}
}

// findStatus sets the status if the line has the ten fields of version 2, of
// which seven follow the date.
func (h *arcHeader) findStatus(line []byte) {
	const after = 7
	rest := line[h.date.end:]
	if bytes.Count(rest, []byte(" ")) != after {
		return
	}
	code := h.date.end + 2 + bytes.IndexByte(rest[1:], ' ') // it follows the type
	h.status = span{code, code + bytes.IndexByte(line[code:], ' ')}
}

// isARCDate reports whether word is a date: YYYYMMDDhhmmss, without seconds or
// with a fraction of them.
func isARCDate(word []byte) bool {
	return len(word) >= len("200001010000") && len(word) <= len("20000101000000000000") && allDigits(word)
}

// isARCAddress reports whether word looks like an IP address, or is "-".
func isARCAddress(word []byte) bool {
	if len(word) == 1 && word[0] == '-' {
		return true
	}
	separated := false
	for _, c := range word {
		if c == '.' || c == ':' {
			separated = true
		} else if unhex[c] > 15 {
			return false
		}
	}
	return separated
}

// arcDialect percent-encodes the bytes in URLs that would end the field or the
// line.
var arcDialect = &Dialect{Encode: encodeARC}

func encodeARC(dst, text []byte, _ byte) []byte {
	for _, c := range text {
		if c == ' ' || c == '\r' || c == '\n' {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}
