package file

import "github.com/urlfold/urlfold/internal/storage/compress"

// A waiting lane decompresses the beginning of its file and holds the text. Otherwise
// its reader, and the processors that the first lane leaves free, would be idle,
// because one goroutine inflates one file.

const (
	// holdBytes limits the text that the waiting lanes hold. The first lane may hold as
	// much again, which it read while it waited.
	holdBytes = 8 << 20
	// holdBlock is the size of the text that a worker decompresses in one turn.
	holdBlock = 256 << 10
)

// A hold is text that was read early. It consists of the results of single calls of
// Read, so the state of the reader after each piece is the same as without a hold.
type hold struct {
	zr     *compress.Reader
	room   int         // number of blocks that the hold may still fill
	free   chan []byte // blocks that no lane uses
	pieces []piece
	at     marks // marks before the first piece
}

// A piece is the result of one call of Read.
type piece struct {
	text  []byte
	after marks
	block []byte // the block that holds the text, if this is its last piece
}

// marks describe the text of a reader up to an offset.
type marks struct {
	sums  int64 // offset up to which checksums verify the text
	point compress.RestartPoint
}

// marksOf returns the current marks of zr.
func marksOf(zr *compress.Reader) (m marks) {
	m.sums, _ = zr.Verified()
	m.point, _ = zr.RestartPoint()
	return m
}

// fill reads a block. It reports whether to call fill again, because there
// is room and more text that takes time to read.
func (h *hold) fill() bool {
	if h.room == 0 {
		return false
	}
	if len(h.pieces) == 0 {
		h.at = marksOf(h.zr)
	}
	h.room--
	block, ended := h.take(), false
	for end := 0; end < len(block) && !ended; {
		n, err := h.zr.Read(block[end:])
		if ended = err != nil; n > 0 {
			h.pieces = append(h.pieces, piece{text: block[end : end+n], after: marksOf(h.zr)})
			end += n
		}
	}
	if n := len(h.pieces); n > 0 && h.pieces[n-1].block == nil {
		h.pieces[n-1].block = block
	}
	return h.room > 0 && !ended && h.zr.Format() != compress.Plain
}

// take returns a block.
func (h *hold) take() []byte {
	select {
	case b := <-h.free:
		return b
	default:
		return make([]byte, holdBlock)
	}
}

// read copies held text to p. It returns 0 without held text.
func (h *hold) read(p []byte) int {
	if len(h.pieces) == 0 {
		return 0
	}
	first := &h.pieces[0]
	n := copy(p, first.text)
	if first.text = first.text[n:]; len(first.text) > 0 {
		return n
	}
	if first.block != nil {
		select {
		case h.free <- first.block:
		default:
		}
	}
	h.at, h.pieces = first.after, h.pieces[1:]
	return n
}
