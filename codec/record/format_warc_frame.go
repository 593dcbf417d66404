package record

import "bytes"

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

// Cut implements [Framing]. It stops after a damaged record.
func (r warcReader) Cut(block []byte) int { return cutByLength(r, block) }

// cutByLength returns the length of the records at the start of block, up to
// the first damaged one.
func cutByLength(f LengthFraming, block []byte) int {
	for at := 0; ; {
		n, sound := f.Span(block[at:], false)
		if at += n; n == 0 || !sound {
			return at
		}
	}
}

// Head implements [Framing].
func (warcReader) Head([]byte) int { return 0 }

// Next implements [Reader].
func (warcReader) Next(in []byte) int {
	if n := lineEnds(in); n > 0 {
		return n
	}
	if n := soundWARC(in); n > 0 {
		return n
	}
	return len(in)
}

// Span implements [LengthFraming].
func (r warcReader) Span(block []byte, last bool) (n int, sound bool) {
	if n := lineEnds(block); n > 0 {
		if n == len(block) && !last {
			return 0, true
		}
		return n, true
	}
	if n := soundWARC(block); n > 0 {
		return n, true
	}
	h, state := readWARCHeader(block)
	switch {
	case last:
	case len(block) < minWARCVersion, state == headerCut:
		return 0, false
	case state == headerSound && warcEnd(h)+minWARCVersion > int64(len(block)):
		return 0, false
	}
	from := 0
	if state == headerSound {
		if end := int64(h.end) + h.length; end <= int64(len(block)) {
			// Only some of the line ends after the block may be missing.
			rest := block[end:]
			if k := lineEnds(rest); k < len(warcTrailer) && beginsWARC(rest[k:]) {
				return int(end) + k, false
			}
		}
		from = max(0, h.end-len(warcTrailer))
	}
	n, found := r.Resync(block[from:])
	switch {
	case found:
		return from + n, false
	case last:
		return len(block), false
	}
	return 0, false
}

// Length implements [LengthFraming].
func (warcReader) Length(block []byte) int64 {
	if h, state := readWARCHeader(block); state == headerSound {
		return warcEnd(h)
	}
	return 0
}

// Ends implements [LengthFraming].
func (warcReader) Ends(rec []byte) bool {
	n := min(len(rec), len(warcTrailer))
	return bytes.HasSuffix(warcTrailer, rec[len(rec)-n:])
}

// Incomplete implements [LengthFraming].
func (r warcReader) Incomplete(block []byte) bool {
	h, state := readWARCHeader(block)
	return state == headerCut || state == headerSound && warcEnd(h) > int64(len(block))
}

// Resync implements [LengthFraming].
func (warcReader) Resync(block []byte) (n int, found bool) {
	for at := 0; ; {
		i := bytes.Index(block[at:], warcBoundary)
		if i < 0 {
			break
		}
		at += i + len(warcTrailer)
		if beginsWARC(block[at:]) {
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
func warcEnd(h warcHeader) int64 { return int64(h.end) + h.length + int64(len(warcTrailer)) }

// soundWARC returns the length of the record at the start of block. It returns
// 0 unless block holds the whole record and the record ends where its header
// says.
func soundWARC(block []byte) int {
	h, state := readWARCHeader(block)
	if end := warcEnd(h); state == headerSound && end <= int64(len(block)) && bytes.HasSuffix(block[:end], warcTrailer) {
		return int(end)
	}
	return 0
}

// lineEnds returns the number of line-end bytes at the start of block.
func lineEnds(block []byte) (n int) {
	for n < len(block) && (block[n] == '\r' || block[n] == '\n') {
		n++
	}
	return n
}
