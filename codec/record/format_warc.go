package record

import (
	"bytes"
	"errors"
)

// warcFormat is the web archive format of ISO 28500, as published by the IIPC:
// https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/.
// A record consists of a version line, named fields up to an empty line, a
// block whose length the field Content-Length states, and two line ends
// (section 4).
type warcFormat struct{}

// Name implements [Format].
func (warcFormat) Name() string { return "warc" }

// Detect implements [Format]. Every WARC file begins with a version line.
func (warcFormat) Detect(s *Sample) Fit {
	if beginsWARC(s.Head) {
		return Fit{len(s.Records), looksUnmistakable}
	}
	return Fit{}
}

// unlined implements [unlined].
func (warcFormat) unlined() Reader { return warcReader{} }

// Open implements [Format].
func (warcFormat) Open(c *Config) (Reader, error) {
	return warcReader{}, errors.Join(c.refuseArchiveSettings()...)
}

// refuseArchiveSettings returns an error for each setting in c that would break
// the records of a web archive.
func (c *Config) refuseArchiveSettings() []error {
	return append(c.refuseCaptureSettings(), c.refuseResizing()...)
}

// refuseResizing returns an error for each setting in c that would change the
// length of a part of a record which the record states.
func (c *Config) refuseResizing() (errs []error) {
	errs = append(errs, c.refuseHiding("parts"))
	if c.OnOversize == DispositionTruncate {
		errs = append(errs, wrong("OnOversize", "records of the format "+c.Format+" cannot be truncated, because they state their own length"))
	}
	return errs
}

// warcReader reads WARC files. format_warc_frame.go finds where records end.
type warcReader struct{}

// Locator implements [Reader].
func (r warcReader) Locator() Locator { return r }

// multiline implements [lineCounter].
func (warcReader) multiline() {}

// shown implements [abridger]. It returns the header or, if there is none, the
// start of the record.
func (warcReader) shown(rec []byte) []byte {
	if h, state := readWARCHeader(rec); state == headerSound {
		return trimEnd(trimEnd(rec[:h.end]))
	}
	return trimEnd(rec[:min(len(rec), maxArchiveShown)])
}

// maxArchiveShown is the number of bytes shown of a record without a header.
const maxArchiveShown = 1 << 10

// apart implements [memberFormat], see WARC 1.1, annex D.2.
func (warcReader) apart() {}

// Locate implements [Locator]. The offset of an error is that of the first
// damaged byte.
func (warcReader) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	h, state := readWARCHeader(rec)
	if state != headerSound {
		return Unparsed, h.at
	}
	block := rec[h.end:]
	if h.length+2 != int64(len(block)) || !bytes.HasSuffix(block, crlf) { // trimEnd has removed the second of the two line ends
		return Unparsed, h.end + int(min(h.length, int64(len(block))))
	}
	f.addAttr(attrTime, attr{span: h.date})
	if h.uri.end > h.uri.start {
		f.add(h.uri, roleURL, warcDialect)
	}
	return 0, 0
}

// warcHeader is the header of a record.
type warcHeader struct {
	end    int   // length of the header, including the empty line
	length int64 // length of the block
	uri    span  // value of the first WARC-Target-URI, without spaces and <> around it
	date   span  // value of WARC-Date
	at     int   // offset of the damage; if the header is cut, its length
}

// headerState is the result of reading a header.
type headerState uint8

const (
	headerSound   headerState = iota
	headerCut                 // the header may continue after the available bytes
	headerDamaged             // not a header, too long, or without a valid Content-Length
)

// maxWARCHeader is the maximum length of a header in bytes.
const maxWARCHeader = 64 << 10

// maxWARCBlock limits the length of a block, so that sums of lengths do not
// overflow an int64.
const maxWARCBlock = 1 << 60

var (
	crlf              = []byte("\r\n")
	warcMagic         = []byte("WARC/")
	warcContentLength = []byte("Content-Length")
	warcTargetURI     = []byte("WARC-Target-URI")
	warcDate          = []byte("WARC-Date")
)

// beginsWARC reports whether b begins with a version from 0.16 to 1.x. The
// headers of earlier versions had another layout, and those of WARC/2 are
// unknown.
func beginsWARC(b []byte) bool {
	return len(b) >= minWARCVersion && bytes.HasPrefix(b, warcMagic) && (b[5] == '0' || b[5] == '1') && b[6] == '.' && isDigit(b[7])
}

// minWARCVersion is the length of "WARC/1.0".
const minWARCVersion = 8

// readWARCHeader reads the header at the start of b. Lines may end with LF
// alone.
func readWARCHeader(b []byte) (h warcHeader, state headerState) {
	h.length = -1
	switch {
	case len(b) < minWARCVersion && bytes.HasPrefix(warcMagic, b[:min(len(b), len(warcMagic))]):
		h.at = len(b)
		return h, headerCut
	case !beginsWARC(b):
		return h, headerDamaged
	}
	whole := b
	b = b[:min(len(b), maxWARCHeader)]
	for pos, first := 0, true; ; first = false {
		n := warcLine(b, pos)
		if n == 0 {
			if h.at = len(b); len(b) < len(whole) {
				return h, headerDamaged
			}
			return h, headerCut
		}
		if body := trimEnd(b[pos : pos+n]); len(body) == 0 {
			h.end = pos + n
			break
		}
		if !first && !h.field(b, pos, pos+n) {
			h.at = pos
			return h, headerDamaged
		}
		pos += n
	}
	if h.length < 0 {
		h.at = h.end
		return h, headerDamaged
	}
	return h, headerSound
}

// warcLine returns the length of the line at pos, including its continuation
// lines, which begin with a space or a tab (section 4). It returns 0 if b does
// not show where the line ends.
func warcLine(b []byte, pos int) (n int) {
	for {
		more := bytes.IndexByte(b[pos+n:], '\n') + 1
		if more == 0 {
			return 0
		}
		empty := n == 0 && len(trimEnd(b[pos:pos+more])) == 0
		n += more
		switch {
		case empty:
			return n
		case pos+n == len(b):
			return 0
		case b[pos+n] != ' ' && b[pos+n] != '\t':
			return n
		}
	}
}

// field reads the field in b[start:end]. It returns false for an invalid
// Content-Length, or for a second one with another value.
func (h *warcHeader) field(b []byte, start, end int) bool {
	colon := bytes.IndexByte(b[start:end], ':')
	if colon < 0 {
		return true
	}
	name := bytes.TrimRight(b[start:start+colon], " \t")
	value := trim(b[start+colon+1 : end])
	value.start += start + colon + 1
	value.end += start + colon + 1
	switch {
	case bytes.EqualFold(name, warcContentLength):
		n, ok := archiveLength(value.in(b))
		if !ok || h.length >= 0 && h.length != n {
			return false
		}
		h.length = n
	case bytes.EqualFold(name, warcDate):
		h.date = value
	case h.uri.end == 0 && bytes.EqualFold(name, warcTargetURI):
		// WARC 1.0 writes a URI as "<" URI ">", and so does Wget.
		if s := value.in(b); len(s) > 1 && s[0] == '<' && s[len(s)-1] == '>' {
			inner := trim(s[1 : len(s)-1])
			value = span{value.start + 1 + inner.start, value.start + 1 + inner.end}
		}
		h.uri = value
	}
	return true
}

// archiveLength parses a decimal number.
func archiveLength(digits []byte) (n int64, ok bool) {
	for _, c := range digits {
		if !isDigit(c) || n > maxWARCBlock/10 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(digits) > 0
}

// warcDialect decodes folded lines, in which a line end and the white space
// after it stand for one space (section 4, LWS). It percent-encodes line ends
// in URLs, because a raw one would end the field.
var warcDialect = &Dialect{Mark: '\r', Decode: decodeFolding, Encode: encodeFolding}

func decodeFolding(dst, s []byte) ([]byte, int) {
	n := 1
	if len(s) > 1 && s[1] == '\n' {
		for n = 2; n < len(s) && (s[n] == ' ' || s[n] == '\t'); {
			n++
		}
	}
	if n < 3 {
		return append(dst, '\r'), 1
	}
	return append(dst, ' '), n
}

func encodeFolding(dst, text []byte, _ byte) []byte {
	for _, c := range text {
		if c == '\r' || c == '\n' {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}
