package archive

import (
	"bytes"
	"cmp"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file finds where the records of an ARC file end. A line end follows each
// document, except perhaps the last document; more line ends are blank records.
// A damaged record extends to the next line that is a URL record:
//
//	http://… 192.0.2.1 20080430204825 text/plain 5 LF hello LF │ http://… 192.0.2.1 …
//
//	http://… 192.0.2.1 20080430204825 text/plain 3 LF hello LF │ http://… 192.0.2.1 …
//	                              no line end there ▲           ▲ end of the damaged record

// Cut implements [locate.Framing]. It stops after a damaged record.
func (r ARCReader) Cut(block []byte) int { return locate.CutByLength(r, block) }

// Head implements [locate.Framing]. The version block is an ordinary record.
func (ARCReader) Head([]byte) int { return 0 }

// Next implements [locate.Reader].
func (ARCReader) Next(in []byte) int {
	return cmp.Or(locate.LineEnds(in), soundARC(in), len(in))
}

// Span implements [locate.LengthFraming].
func (r ARCReader) Span(block []byte, last bool) (n int, sound bool) {
	if n := locate.LineEnds(block); n > 0 {
		if n == len(block) && !last {
			return 0, true
		}
		return n, true
	}
	if n := soundARC(block); n > 0 {
		return n, true
	}
	h, state := readARCHeader(block)
	switch {
	case last:
		if state == locate.HeaderSound && arcEnd(h)-1 == int64(len(block)) {
			return len(block), true
		}
	case state == locate.HeaderCut, state == locate.HeaderSound && arcEnd(h)+1 > int64(len(block)):
		return 0, false
	}
	from := 0
	if state == locate.HeaderSound {
		if end := arcEnd(h) - 1; end < int64(len(block)) {
			// Only the line end may be missing.
			switch _, next := readARCHeader(block[end:]); {
			case next == locate.HeaderSound:
				return int(end), false
			case next == locate.HeaderCut && !last:
				return 0, false
			}
		}
		from = h.end - 1
	}
	return spanDamaged(r, block, from, last)
}

// Length implements [locate.LengthFraming].
func (ARCReader) Length(block []byte) int64 {
	if h, state := readARCHeader(block); state == locate.HeaderSound {
		return arcEnd(h)
	}
	return 0
}

// Ends implements [locate.LengthFraming].
func (ARCReader) Ends(rec []byte) bool { return len(rec) == 0 || locate.LineEnds(rec[len(rec)-1:]) > 0 }

// Incomplete implements [locate.LengthFraming]. The last record may lack its
// line end.
func (ARCReader) Incomplete(block []byte) bool {
	h, state := readARCHeader(block)
	return state == locate.HeaderCut || state == locate.HeaderSound && arcEnd(h)-1 > int64(len(block))
}

// OpenEnded marks a framing whose last record may lack its line end.
func (ARCReader) OpenEnded() {}

// Resync implements [locate.LengthFraming].
func (ARCReader) Resync(block []byte) (n int, found bool) {
	for at := 0; ; {
		i := bytes.IndexByte(block[at:], '\n')
		if i < 0 {
			return len(block), false
		}
		at += i + 1
		switch _, state := readARCHeader(block[at:]); state {
		case locate.HeaderSound:
			return at, true
		case locate.HeaderCut:
			return at - 1, false
		}
	}
}

// arcEnd returns the length of a record with an intact header and one byte of
// line end.
func arcEnd(h arcHeader) int64 { return int64(h.end) + h.length + 1 }

// soundARC returns the length of the record at the start of block. It returns 0
// unless block holds the whole record, and a line end follows the document.
func soundARC(block []byte) int {
	h, state := readARCHeader(block)
	end := int64(h.end) + h.length
	switch {
	case state != locate.HeaderSound || end >= int64(len(block)):
	case block[end] == '\n':
		return int(end) + 1
	case bytes.HasPrefix(block[end:], crlf):
		return int(end) + 2
	}
	return 0
}
