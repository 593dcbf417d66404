package lockstep

import (
	"bytes"
	"io"

	"github.com/urlfold/urlfold/internal/record"
)

// A line is a line of the input with its line feed, or a piece of one that is
// longer than the limit.
type line struct {
	text  []byte // valid until the next line is read
	piece record.Piece
}

// lines reads lines.
type lines struct {
	in    io.Reader
	pause func() error // called before each read, which may block
	limit int          // length of a line that is read in one piece; 0: no limit

	buf      []byte
	from, to int  // the unread part of buf
	seen     int  // length of the beginning of the unread part that is known to have no line feed
	long     bool // a part of the current line has been returned
	err      error
}

// readBytes is the initial size of the buffer, as of a Linux pipe.
const readBytes = 64 << 10

// next returns the next line or piece. It returns io.EOF only if nothing
// remains; the last line may lack its line feed.
func (l *lines) next() (line, error) {
	for {
		rest := l.buf[l.from:l.to]
		if n := bytes.IndexByte(rest[l.seen:], '\n'); n >= 0 {
			return l.take(l.seen+n+1, true), nil
		}
		l.seen = len(rest)
		switch {
		case l.err == io.EOF && (len(rest) > 0 || l.long):
			return l.take(len(rest), true), nil
		case l.err != nil:
			return line{}, l.err
		case l.long && len(rest) > 0, l.limit > 0 && len(rest) > l.limit:
			return l.take(len(rest), false), nil
		}
		l.read()
	}
}

// take returns the next n bytes, which are the end of the line if ends is set.
func (l *lines) take(n int, ends bool) line {
	out := line{text: l.buf[l.from : l.from+n : l.from+n]}
	l.from, l.seen = l.from+n, 0
	switch {
	case l.long && ends:
		out.piece = record.PieceLast
	case l.long:
		out.piece = record.PieceMiddle
	case !ends:
		out.piece = record.PieceFirst
	}
	l.long = !ends
	return out
}

// read reads more into the buffer, which it makes larger if it is full.
func (l *lines) read() {
	switch {
	case l.from == l.to:
		l.from, l.to = 0, 0
	case l.from > 0 && l.to == len(l.buf):
		l.to = copy(l.buf, l.buf[l.from:l.to])
		l.from = 0
	}
	if l.to == len(l.buf) {
		l.buf = append(make([]byte, 0, max(readBytes, 2*len(l.buf))), l.buf...)
		l.buf = l.buf[:cap(l.buf)]
	}
	if l.err = l.pause(); l.err != nil {
		return
	}
	for range 100 { // io.Reader may return nothing now and then
		var n int
		n, l.err = l.in.Read(l.buf[l.to:])
		if l.to += n; n > 0 || l.err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}
