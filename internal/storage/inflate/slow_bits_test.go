package inflate

import (
	"encoding/binary"
	"io"
)

// A slowBits reads bits from a stream of bytes, the least significant bit of
// each byte first.
type slowBits struct {
	src io.Reader
	buf [4 << 10]byte
	in  []byte // the part of buf that is not in acc
	err error  // error of src, which applies after in

	acc   uint64 // the next bits; bits from n on are zero
	n     uint   // number of valid bits in acc
	used  int64  // number of consumed bits
	start int64  // number of the first bit of the current symbol or header
}

// enoughBits is the length of the longest symbol: a length code of 15 bits with
// 5 extra bits, and a distance code of 15 bits with 13.
const enoughBits = 15 + 5 + 15 + 13

// fill makes n at least enoughBits, or loads all remaining bits of the input.
func (b *slowBits) fill() {
	for b.n < enoughBits {
		if len(b.in) >= 8 {
			b.acc |= binary.LittleEndian.Uint64(b.in) << b.n
			whole := (63 - b.n) / 8
			b.in = b.in[whole:]
			b.n += whole * 8
			b.acc &= 1<<b.n - 1
			return
		}
		if len(b.in) == 0 && !b.more() {
			return
		}
		b.acc |= uint64(b.in[0]) << b.n
		b.in = b.in[1:]
		b.n += 8
	}
}

// more reads from src. It returns false at the end of the input.
func (b *slowBits) more() bool {
	for tries := 0; b.err == nil && len(b.in) == 0; tries++ {
		var n int
		n, b.err = b.src.Read(b.buf[:])
		b.in = b.buf[:n]
		if b.err == nil && tries == maxEmptyReads {
			b.err = io.ErrNoProgress
		}
	}
	return len(b.in) > 0
}

// maxEmptyReads is the number of consecutive reads of src that may return no
// bytes and no error.
const maxEmptyReads = 100

// begin marks the start of a symbol or header.
func (b *slowBits) begin() {
	b.start = b.used
	b.fill()
}

// drop consumes k bits, which must be in acc.
func (b *slowBits) drop(k uint) {
	b.acc >>= k
	b.n -= k
	b.used += int64(k)
}

// take consumes k bits, at most enoughBits, and returns their value.
func (b *slowBits) take(k uint) (uint, error) {
	b.fill()
	if b.n < k {
		return 0, b.end()
	}
	v := uint(b.acc & (1<<k - 1))
	b.drop(k)
	return v, nil
}

// align drops the remaining bits of a partly consumed byte.
func (b *slowBits) align() { b.drop(b.n % 8) }

// bytes reads up to len(p) bytes. The next bit must be the first of a byte.
func (b *slowBits) bytes(p []byte) (int, error) {
	b.fill()
	if b.n == 0 {
		return 0, b.end()
	}
	n := 0
	for ; n < len(p) && b.n > 0; n++ {
		p[n] = byte(b.acc)
		b.drop(8)
	}
	k := copy(p[n:], b.in)
	b.in = b.in[k:]
	b.used += int64(k) * 8
	return n + k, nil
}

// corrupt returns an error for the current symbol or header.
func (b *slowBits) corrupt(reason string) error { return &CorruptError{b.start, reason} }

// end returns the error for a premature end of the input.
func (b *slowBits) end() error {
	if b.err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return b.err
}
