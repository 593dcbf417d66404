package archive

import (
	"bytes"
	"cmp"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file finds where the records of a WARC file end. A damaged record extends
// to the next offset at which a record seems to begin:
//
//	WARC/1.0 … Content-Length: 5 … CRLF CRLF block CRLF CRLF │ CRLF │ WARC/1.0 …
//	                                                record  ▲       ▲ line ends between records are blank records
//
//	WARC/1.0 … Content-Length: 9 … CRLF CRLF block CRLF CRLF │ WARC/1.0 …
//	                    no line ends there ▲                ▲ end of the damaged record
//
// The second rule also applies to bytes that are not a record at all.

// Cut implements [locate.Framing]. It stops after a damaged record.
func (r WARCReader) Cut(block []byte) int { return locate.CutByLength(r, block) }

// Head implements [locate.Framing].
func (WARCReader) Head([]byte) int { return 0 }

// Next implements [locate.Reader].
func (WARCReader) Next(in []byte) int {
	return cmp.Or(locate.LineEnds(in), soundWARC(in), len(in))
}

// Span implements [locate.LengthFraming].
func (r WARCReader) Span(block []byte, last bool) (n int, sound bool) {
	if n := locate.LineEnds(block); n > 0 {
		if n == len(block) && !last {
			return 0, true
		}
		return n, true
	}
	if n := soundWARC(block); n > 0 {
		return n, true
	}
	h, state := ReadWARCHeader(block)
	switch {
	case last:
	case len(block) < minWARCVersion, state == locate.HeaderCut:
		return 0, false
	case state == locate.HeaderSound && warcEnd(h)+minWARCVersion > int64(len(block)):
		return 0, false
	}
	from := 0
	if state == locate.HeaderSound {
		if end := int64(h.End) + h.length; end <= int64(len(block)) {
			// Only some of the line ends after the block may be missing.
			rest := block[end:]
			if k := locate.LineEnds(rest); k < len(warcTrailer) && BeginsWARC(rest[k:]) {
				return int(end) + k, false
			}
		}
		from = max(0, h.End-len(warcTrailer))
	}
	return spanDamaged(r, block, from, last)
}

// Length implements [locate.LengthFraming].
func (WARCReader) Length(block []byte) int64 {
	if h, state := ReadWARCHeader(block); state == locate.HeaderSound {
		return warcEnd(h)
	}
	return 0
}

// Ends implements [locate.LengthFraming].
func (WARCReader) Ends(rec []byte) bool {
	n := min(len(rec), len(warcTrailer))
	return bytes.HasSuffix(warcTrailer, rec[len(rec)-n:])
}

// Incomplete implements [locate.LengthFraming].
func (r WARCReader) Incomplete(block []byte) bool {
	h, state := ReadWARCHeader(block)
	return state == locate.HeaderCut || state == locate.HeaderSound && warcEnd(h) > int64(len(block))
}

// Resync implements [locate.LengthFraming].
func (WARCReader) Resync(block []byte) (n int, found bool) {
	for at := 0; ; {
		i := bytes.Index(block[at:], warcBoundary)
		if i < 0 {
			break
		}
		at += i + len(warcTrailer)
		if BeginsWARC(block[at:]) {
			return at, true
		}
		if len(block)-at < minWARCVersion {
			break
		}
	}
	return max(0, len(block)-len(warcTrailer)-minWARCVersion+1), false
}

var (
	warcTrailer  = []byte("\r\n\r\n")
	warcBoundary = []byte("\r\n\r\nWARC/")
)

// warcEnd returns the length of a record with an intact header.
func warcEnd(h warcHeader) int64 { return int64(h.End) + h.length + int64(len(warcTrailer)) }

// soundWARC returns the length of the record at the start of block. It returns
// 0 unless block holds the whole record and the record ends where its header
// says.
func soundWARC(block []byte) int {
	h, state := ReadWARCHeader(block)
	if end := warcEnd(h); state == locate.HeaderSound && end <= int64(len(block)) && bytes.HasSuffix(block[:end], warcTrailer) {
		return int(end)
	}
	return 0
}
