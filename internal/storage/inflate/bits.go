package inflate

import (
	"bufio"
	"errors"
	"io"
)

// A bitReader takes bits from a stream of bytes, the least significant bit of
// each byte first. It looks into the buffer of its source, and takes bytes out of
// there once all their bits are used.
type bitReader struct {
	src  *bufio.Reader
	in   []byte // the buffer of src
	pos  int    // in[:pos] are used or in acc
	base int64  // the offset of in[0] in src, in bytes, from where the Reader began

	acc uint64 // the next bits; those above n are zero or the bits that follow
	n   uint   // how many bits of acc are input, below 64

	start int64 // the bit where the symbol or header in hand begins
	err   error // of src, after in

	nowait bool // src is not read
}

// errShort is the error for input that is not at hand while src is not read.
var errShort = errors.New("not at hand")

// reset makes b read from src, from a bit of its first byte on.
func (b *bitReader) reset(src *bufio.Reader, bit uint8) {
	*b = bitReader{src: src}
	if bit > 0 && b.need(uint(bit)) {
		b.drop(uint(bit))
	}
	b.begin()
}

// place returns the number of the next bit.
func (b *bitReader) place() int64 { return (b.base+int64(b.pos))*8 - int64(b.n) }

// begin begins a symbol or header.
func (b *bitReader) begin() { b.start = b.place() }

// fill adds what the buffer has to acc. It does not read from src.
func (b *bitReader) fill() {
	for b.n < 56 && b.pos < len(b.in) {
		b.acc |= uint64(b.in[b.pos]) << b.n
		b.pos++
		b.n += 8
	}
}

// atHand returns how many bits can be taken without reading from src.
func (b *bitReader) atHand() int { return int(b.n) + 8*(len(b.in)-b.pos) }

// need has k bits or more in acc, at most 56. It returns false if there are fewer.
func (b *bitReader) need(k uint) bool {
	for b.n < k {
		if b.pos == len(b.in) && !b.more() {
			return false
		}
		b.fill()
	}
	return true
}

// more has src read, once the whole buffer is used or in acc. It returns false at
// the end.
func (b *bitReader) more() bool {
	if b.err != nil || b.nowait {
		return false
	}
	b.release()
	held := len(b.in) // in acc
	if _, b.err = b.src.Peek(held + 1); b.err != nil {
		return false
	}
	b.in, _ = b.src.Peek(b.src.Buffered()) // all of it is there
	return true
}

// release takes the bytes out of src whose bits are all used.
func (b *bitReader) release() {
	k := b.pos - int(b.n+7)/8
	_, _ = b.src.Discard(k) // they are in its buffer
	b.in = b.in[k:]
	b.pos -= k
	b.base += int64(k)
}

// seek goes back to a bit, from which on the input is in the buffer.
func (b *bitReader) seek(bit int64) {
	b.pos = int(bit/8 - b.base)
	b.acc, b.n = 0, 0
	b.fill()
	b.drop(uint(bit % 8))
}

// drop takes k bits, which are in acc.
func (b *bitReader) drop(k uint) {
	b.acc >>= k & 63
	b.n -= k
}

// take takes a number of k bits, at most 32.
func (b *bitReader) take(k uint) (uint, error) {
	if !b.need(k) {
		return 0, b.end()
	}
	v := uint(b.acc & (1<<k - 1))
	b.drop(k)
	return v, nil
}

// align drops the bits that are left of a byte.
func (b *bitReader) align() { b.drop(b.n % 8) }

// bytes takes up to len(p) bytes. The next bit is the first of a byte.
func (b *bitReader) bytes(p []byte) (int, error) {
	if !b.need(8) {
		return 0, b.end()
	}
	b.pos -= int(b.n / 8) // back to the bytes
	b.acc, b.n = 0, 0
	n := copy(p, b.in[b.pos:])
	b.pos += n
	return n, nil
}

// corrupt returns the error for the symbol or header in hand.
func (b *bitReader) corrupt(reason string) error { return &CorruptError{b.start, reason} }

// end returns the error for an input that ends too early.
func (b *bitReader) end() error {
	switch b.err {
	case nil:
		return errShort
	case io.EOF:
		return io.ErrUnexpectedEOF
	}
	return b.err
}
