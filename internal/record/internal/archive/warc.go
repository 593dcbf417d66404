// Package archive reads web archives (WARC, ARC and WAT) and their indexes (CDX and CDXJ).
package archive

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// WARCFormat is the web archive format of ISO 28500, as published by the IIPC:
// https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/.
// A record consists of a version line, named fields up to an empty line, a
// block whose length the field Content-Length states, and two line ends
// (section 4).
type WARCFormat struct{}

// Name implements [locate.Format].
func (WARCFormat) Name() string { return "warc" }

// Detect implements [locate.Format]. The first line of every WARC file is a
// version line.
func (WARCFormat) Detect(s *locate.Sample) locate.Fit {
	if BeginsWARC(s.Head) {
		return s.All(locate.LooksUnmistakable)
	}
	return locate.Fit{}
}

// Unlined implements [locate.Unlined].
func (WARCFormat) Unlined() locate.Reader { return WARCReader{} }

// Open implements [locate.Format].
func (WARCFormat) Open(c *locate.Settings) (locate.Reader, error) {
	return WARCReader{}, refuseArchiveSettings(c)
}

// refuseArchiveSettings returns an error for each setting in c that would break
// the records of a web archive.
func refuseArchiveSettings(c *locate.Settings) error {
	return errors.Join(refuseCaptureSettings(c), c.RefuseResizing("parts"))
}

// spanDamaged is Span of [locate.LengthFraming] for a damaged record at the start of
// block. It searches block[from:] for the next record.
func spanDamaged(f locate.LengthFraming, block []byte, from int, last bool) (n int, sound bool) {
	n, found := f.Resync(block[from:])
	switch {
	case found:
		return from + n, false
	case last:
		return len(block), false
	}
	return 0, false
}

// WARCReader reads WARC files. warc_frame.go finds where records end.
type WARCReader struct{}

// Locator implements [locate.Reader].
func (r WARCReader) Locator() locate.Locator { return r }

// Multiline implements [locate.LineCounter].
func (WARCReader) Multiline() {}

// Shown implements [locate.Abridger]. It returns the header or, if that is
// missing, the start of the record.
func (WARCReader) Shown(rec []byte) []byte {
	if h, state := ReadWARCHeader(rec); state == locate.HeaderSound {
		return locate.TrimEnd(locate.TrimEnd(rec[:h.End]))
	}
	return locate.TrimEnd(rec[:min(len(rec), MaxArchiveShown)])
}

// MaxArchiveShown is the number of bytes shown of a record without a header.
const MaxArchiveShown = 1 << 10

// Apart implements [locate.MemberFormat], see WARC 1.1, annex D.2.
func (WARCReader) Apart() {}

// Locate implements [locate.Locator]. The offset of an error points to the
// first damaged byte.
func (WARCReader) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	h, state := ReadWARCHeader(rec)
	if state != locate.HeaderSound {
		return locate.Unparsed, h.at
	}
	block := rec[h.End:]
	if h.length+2 != int64(len(block)) || !bytes.HasSuffix(block, crlf) { // TrimEnd has removed the second of the two line ends
		return locate.Unparsed, h.End + int(min(h.length, int64(len(block))))
	}
	f.AddAttr(locate.AttrTime, locate.Attr{Span: h.date})
	if h.uri.End > h.uri.Start {
		f.Add(h.uri, locate.RoleURL, warcDialect)
	}
	return 0, 0
}

// warcHeader is the header of a record.
type warcHeader struct {
	End    int         // length of the header, including the empty line
	length int64       // length of the block
	uri    locate.Span // value of the first WARC-Target-URI, without spaces and <> around it
	date   locate.Span // value of WARC-Date
	at     int         // offset of the damage; if the header is cut, its length
}

// MaxWARCHeader is the maximum length of a header in bytes.
const MaxWARCHeader = 64 << 10

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

// BeginsWARC reports whether b starts with a version from 0.16 to 1.x. The
// headers of earlier versions had another layout, and the layout of WARC/2 is
// unknown.
func BeginsWARC(b []byte) bool {
	return len(b) >= minWARCVersion && bytes.HasPrefix(b, warcMagic) && (b[5] == '0' || b[5] == '1') && b[6] == '.' && locate.IsDigit(b[7])
}

// minWARCVersion is the length of "WARC/1.0".
const minWARCVersion = 8

// ReadWARCHeader reads the header at the start of b. Lines may end with LF
// alone.
func ReadWARCHeader(b []byte) (h warcHeader, state locate.HeaderState) {
	h.length = -1
	switch {
	case len(b) < minWARCVersion && bytes.HasPrefix(warcMagic, b[:min(len(b), len(warcMagic))]):
		h.at = len(b)
		return h, locate.HeaderCut
	case !BeginsWARC(b):
		return h, locate.HeaderDamaged
	}
	whole := b
	b = b[:min(len(b), MaxWARCHeader)]
	for pos, first := 0, true; ; first = false {
		n := warcLine(b, pos)
		if n == 0 {
			if h.at = len(b); len(b) < len(whole) {
				return h, locate.HeaderDamaged
			}
			return h, locate.HeaderCut
		}
		if body := locate.TrimEnd(b[pos : pos+n]); len(body) == 0 {
			h.End = pos + n
			break
		}
		if !first && !h.field(b, pos, pos+n) {
			h.at = pos
			return h, locate.HeaderDamaged
		}
		pos += n
	}
	if h.length < 0 {
		h.at = h.End
		return h, locate.HeaderDamaged
	}
	return h, locate.HeaderSound
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
		empty := n == 0 && len(locate.TrimEnd(b[pos:pos+more])) == 0
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
	value := locate.Trim(b[start+colon+1 : end])
	value.Start += start + colon + 1
	value.End += start + colon + 1
	switch {
	case bytes.EqualFold(name, warcContentLength):
		n, ok := archiveLength(value.In(b))
		if !ok || h.length >= 0 && h.length != n {
			return false
		}
		h.length = n
	case bytes.EqualFold(name, warcDate):
		h.date = value
	case h.uri.End == 0 && bytes.EqualFold(name, warcTargetURI):
		// WARC 1.0 writes a URI as "<" URI ">", and so does Wget.
		if s := value.In(b); len(s) > 1 && s[0] == '<' && s[len(s)-1] == '>' {
			inner := locate.Trim(s[1 : len(s)-1])
			value = locate.Between(value.Start+1+inner.Start, value.Start+1+inner.End)
		}
		h.uri = value
	}
	return true
}

// archiveLength parses a decimal number.
func archiveLength(digits []byte) (n int64, ok bool) {
	for _, c := range digits {
		if !locate.IsDigit(c) || n > maxWARCBlock/10 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(digits) > 0
}

// warcDialect decodes folded lines, in which a line end, with the white space
// that follows, is one space (section 4, LWS). It percent-encodes line ends in
// URLs, because a raw one would end the field.
var warcDialect = &locate.Dialect{Mark: '\r', Decode: decodeFolding, Encode: locate.EncodeFolding}

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

// Attributes implements [locate.Attributed].
func (WARCReader) Attributes() uint16 { return locate.AttrsOf(locate.AttrTime) }
