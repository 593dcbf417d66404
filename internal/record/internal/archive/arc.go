package archive

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// ARCFormat is the older web archive format of the Internet Archive, versions
// 1.0, 1.1 and 2.0: https://archive.org/web/researcher/ArcFileFormat.php. A
// record consists of a line, the URL record, and a document whose length the
// line states:
//
//	URL IP-address Archive-date Content-type Archive-length
//
// The first record, the version block, describes the file itself: its URL has
// the scheme filedesc.
type ARCFormat struct{}

// Name implements [locate.Format].
func (ARCFormat) Name() string { return "arc" }

// Detect implements [locate.Format]. A part of an archive may lack the version block,
// which itself may be damaged.
func (ARCFormat) Detect(s *locate.Sample) locate.Fit {
	head := s.Head[locate.LineEnds(s.Head):]
	if _, state := readARCHeader(head); state == locate.HeaderSound || bytes.HasPrefix(head, []byte("filedesc://")) {
		return s.All(locate.LooksUnmistakable)
	}
	return locate.Fit{}
}

// Unlined implements [locate.Unlined].
func (ARCFormat) Unlined() locate.Reader { return ARCReader{} }

// Open implements [locate.Format].
func (ARCFormat) Open(c *locate.Settings) (locate.Reader, error) {
	return ARCReader{}, refuseArchiveSettings(c)
}

// ARCReader reads ARC files. arc_frame.go finds where records end.
type ARCReader struct{}

// Locator implements [locate.Reader].
func (r ARCReader) Locator() locate.Locator { return r }

// Multiline implements [locate.LineCounter].
func (ARCReader) Multiline() {}

// Apart implements [locate.MemberFormat].
func (ARCReader) Apart() {}

// Shown implements [locate.Abridger]. It returns the URL record or, if that is
// missing, the start of the record.
func (ARCReader) Shown(rec []byte) []byte {
	if h, state := readARCHeader(rec); state == locate.HeaderSound {
		return locate.TrimEnd(rec[:h.end])
	}
	return locate.TrimEnd(rec[:min(len(rec), MaxArchiveShown)])
}

// Locate implements [locate.Locator]. The offset of an error points to the
// first damaged byte.
func (ARCReader) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	h, state := readARCHeader(rec)
	if state == locate.HeaderCut {
		if state = h.read(rec); state != locate.HeaderSound { // a sound header means that the document is empty and lost its line end
			return locate.Unparsed, len(rec)
		}
	}
	if state != locate.HeaderSound {
		return locate.Unparsed, h.at
	}
	if end := int64(h.end) + h.length; end > int64(len(rec))+int64(len(crlf)) {
		return locate.Unparsed, len(rec)
	} else if end < int64(len(rec)) && locate.LineEnds(rec[end:]) < len(rec)-int(end) {
		return locate.Unparsed, int(end)
	}
	f.AddAttr(locate.AttrTime, locate.Attr{Span: h.date})
	if h.status.End > 0 {
		f.AddAttr(locate.AttrStatus, locate.Attr{Span: h.status})
	}
	if !bytes.HasPrefix(h.url.In(rec), arcVersionScheme) {
		f.Add(h.url, locate.RoleURL, arcDialect)
	}
	return 0, 0
}

// arcHeader is the URL record of a record.
type arcHeader struct {
	end    int   // length of the line, including the line end
	length int64 // length of the document
	url    locate.Span
	date   locate.Span
	status locate.Span // the result code, which version 2 has
	at     int         // offset of the damage; if the line is cut, its length
}

// maxARCLine is the maximum length of a URL record in bytes.
const maxARCLine = 8 << 10

var arcVersionScheme = []byte("filedesc:")

// readARCHeader reads the URL record at the start of b. Writers did not escape
// spaces in URLs, so the fields are found from the end of the line: the last
// field is the length, and the URL ends before the last pair of an address and
// a date.
func readARCHeader(b []byte) (h arcHeader, state locate.HeaderState) {
	if arcScheme(b) < 0 {
		return h, locate.HeaderDamaged
	}
	h.end = bytes.IndexByte(b[:min(len(b), maxARCLine)], '\n') + 1
	switch {
	case h.end > 0:
	case len(b) < maxARCLine:
		h.at = len(b)
		return h, locate.HeaderCut
	default:
		h.at = maxARCLine
		return h, locate.HeaderDamaged
	}
	return h, h.read(b[:h.end])
}

// read reads the URL record line, with or without its line end.
func (h *arcHeader) read(line []byte) locate.HeaderState {
	h.end = len(line)
	line = locate.TrimEnd(line)
	at := bytes.LastIndexByte(line, ' ') + 1
	n, ok := archiveLength(line[at:])
	if !ok {
		h.at = at
		return locate.HeaderDamaged
	}
	h.length = n
	if h.url.End = h.findDate(line); h.url.End <= arcScheme(line) {
		h.at = min(arcScheme(line), len(line))
		return locate.HeaderDamaged
	}
	h.findStatus(line)
	return locate.HeaderSound
}

// arcScheme returns the offset after the scheme at the start of b, or -1 if b
// does not begin with a scheme. A scheme that is cut counts.
func arcScheme(b []byte) int {
	for i, c := range b[:min(len(b), maxARCScheme)] {
		switch letter := c|0x20-'a' < 26; {
		case c == ':' && i > 0:
			return i + 1
		case !letter && (i == 0 || !locate.IsDigit(c) && c != '+' && c != '-' && c != '.'):
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
// returns -1 if the line contains no address followed by a date.
func (h *arcHeader) findDate(line []byte) int {
	for end := len(line); ; {
		at := bytes.LastIndexByte(line[:end], ' ')
		if at < 0 {
			return -1
		}
		if word := line[at+1 : end]; isARCDate(word) {
			ip := bytes.LastIndexByte(line[:at], ' ')
			if ip > 0 && isARCAddress(line[ip+1:at]) {
				h.date = locate.Between(at+1, end)
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
	rest := line[h.date.End:]
	if bytes.Count(rest, []byte(" ")) != after {
		return
	}
	code := h.date.End + 2 + bytes.IndexByte(rest[1:], ' ') // the code follows the type
	h.status = locate.Between(code, code+bytes.IndexByte(line[code:], ' '))
}

// isARCDate reports whether word is a date: YYYYMMDDhhmmss, without seconds or
// with a fraction of them.
func isARCDate(word []byte) bool {
	return len(word) >= len("200001010000") && len(word) <= len("20000101000000000000") && locate.AllDigits(word)
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
		} else if locate.Unhex[c] > 15 {
			return false
		}
	}
	return separated
}

// arcDialect percent-encodes the bytes in URLs that would end the field or the
// line.
var arcDialect = &locate.Dialect{Encode: encodeARC}

func encodeARC(dst, text []byte, _ byte) []byte {
	return locate.AppendPercent(dst, text, func(c byte) bool { return c == ' ' || c == '\r' || c == '\n' })
}
