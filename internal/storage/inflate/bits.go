package inflate

import (
	"bufio"
	"errors"
	"io"
)

// A bitReader reads bits from a stream of bytes, the least significant bit of
// each byte first. It reads from the buffer of its source directly, and
// discards bytes there once all their bits are used.
type bitReader struct {
	src  *bufio.Reader
	in   []byte // the buffer of src
	pos  int    // in[:pos] is used or in acc
	base int64  // offset of in[0] in bytes, counted from where the Reader began

	acc uint64 // the next bits; bits from n on are zero or a copy of the following input
	n   uint   // number of valid bits in acc, below 64

	start int64 // number of the first bit of the current symbol or header
	err   error // error of src, which applies after in

	nowait bool // do not read from src
}

// errShort is returned if input is missing while nowait is set.
var errShort = errors.New("input not buffered")

// reset makes b read from src, starting at the given bit of its first byte.
func (b *bitReader) reset(src *bufio.Reader, bit uint8) {
	*b = bitReader{src: src}
	if bit > 0 && b.need(uint(bit)) {
		b.drop(uint(bit))
	}
	b.begin()
}

// place returns the number of the next bit.
func (b *bitReader) place() int64 { return (b.base+int64(b.pos))*8 - int64(b.n) }

// begin marks the start of a symbol or header.
func (b *bitReader) begin() { b.start = b.place() }

// fill moves buffered input to acc. It does not read from src.
func (b *bitReader) fill() {
	for b.n < 56 && b.pos < len(b.in) {
		b.acc |= uint64(b.in[b.pos]) << b.n
		b.pos++
		b.n += 8
	}
}

// atHand returns the number of bits that are available without reading from
// src.
func (b *bitReader) atHand() int { return int(b.n) + 8*(len(b.in)-b.pos) }

// need makes at least k bits, at most 56, available in acc. It returns false if
// the input has fewer.
func (b *bitReader) need(k uint) bool {
	for b.n < k {
		if b.pos == len(b.in) && !b.more() {
			return false
		}
		b.fill()
	}
	return true
}

// more reads from src when every byte of the buffer is used or in acc. It returns
// false at the end of the input.
func (b *bitReader) more() bool {
	if b.err != nil || b.nowait {
		return false
	}
	b.release()
	held := len(b.in) // these bytes are in acc
	if _, b.err = b.src.Peek(held + 1); b.err != nil {
		return false
	}
	b.in, _ = b.src.Peek(b.src.Buffered()) // cannot fail
	return true
}

// release discards the bytes of src whose bits are all used.
func (b *bitReader) release() {
	k := b.pos - int(b.n+7)/8
	_, _ = b.src.Discard(k) // buffered, so this cannot fail
	b.in = b.in[k:]
	b.pos -= k
	b.base += int64(k)
}

// seek goes back to a bit. That bit and all later ones must be in the buffer.
func (b *bitReader) seek(bit int64) {
	b.pos = int(bit/8 - b.base)
	b.acc, b.n = 0, 0
	b.fill()
	b.drop(uint(bit % 8))
}

// drop consumes k bits, which must be in acc.
func (b *bitReader) drop(k uint) {
	b.acc >>= k & 63
	b.n -= k
}

// take consumes k bits, at most 32, and returns their value.
func (b *bitReader) take(k uint) (uint, error) {
	if !b.need(k) {
		return 0, b.end()
	}
	v := uint(b.acc & (1<<k - 1))
	b.drop(k)
	return v, nil
}

// align drops the remaining bits of a partly consumed byte.
func (b *bitReader) align() { b.drop(b.n % 8) }

// bytes reads up to len(p) bytes. The next bit must be the first of a byte.
func (b *bitReader) bytes(p []byte) (int, error) {
	if !b.need(8) {
		return 0, b.end()
	}
	b.pos -= int(b.n / 8) // return the unused bytes of acc
	b.acc, b.n = 0, 0
	n := copy(p, b.in[b.pos:])
	b.pos += n
	return n, nil
}

// corrupt returns an error for the current symbol or header.
func (b *bitReader) corrupt(reason string) error { return &CorruptError{b.start, reason} }

// end returns the error for a premature end of the input.
func (b *bitReader) end() error {
	switch b.err {
	case nil:
		return errShort
	case io.EOF:
		return io.ErrUnexpectedEOF
	}
	return b.err
}
