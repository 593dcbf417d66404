package compress

import (
	"encoding/binary"
	"math/bits"
)

// An xxh32 is a running XXH32 with seed 0, the checksum of lz4 frames. Use
// newXXH32: the zero value is not ready to use. The lz4 library does not export
// its implementation.
type xxh32 struct {
	acc  [4]uint32
	n    uint64 // number of bytes written
	tail []byte // the last bytes, fewer than a stripe
}

const (
	xxh32Stripe = 16
	xxh32Prime1 = 2654435761
	xxh32Prime2 = 2246822519
	xxh32Prime3 = 3266489917
	xxh32Prime4 = 668265263
	xxh32Prime5 = 374761393
)

func newXXH32() *xxh32 {
	p1, p2 := uint32(xxh32Prime1), uint32(xxh32Prime2)
	return &xxh32{acc: [4]uint32{p1 + p2, p2, 0, -p1}}
}

// write adds p to the checksum.
func (x *xxh32) write(p []byte) {
	x.n += uint64(len(p))
	if len(x.tail) > 0 {
		k := min(xxh32Stripe-len(x.tail), len(p))
		x.tail, p = append(x.tail, p[:k]...), p[k:]
		if len(x.tail) < xxh32Stripe {
			return
		}
		x.stripes(x.tail)
		x.tail = x.tail[:0]
	}
	whole := len(p) &^ (xxh32Stripe - 1)
	x.stripes(p[:whole])
	x.tail = append(x.tail, p[whole:]...)
}

func (x *xxh32) stripes(p []byte) {
	a, b, c, d := x.acc[0], x.acc[1], x.acc[2], x.acc[3]
	for ; len(p) >= xxh32Stripe; p = p[xxh32Stripe:] {
		a = xxh32Round(a, p)
		b = xxh32Round(b, p[4:])
		c = xxh32Round(c, p[8:])
		d = xxh32Round(d, p[12:])
	}
	x.acc = [4]uint32{a, b, c, d}
}

func xxh32Round(acc uint32, p []byte) uint32 {
	return bits.RotateLeft32(acc+binary.LittleEndian.Uint32(p)*xxh32Prime2, 13) * xxh32Prime1
}

// sum returns the checksum of all bytes written.
func (x *xxh32) sum() uint32 {
	h := uint32(xxh32Prime5)
	if x.n >= xxh32Stripe {
		h = bits.RotateLeft32(x.acc[0], 1) + bits.RotateLeft32(x.acc[1], 7) +
			bits.RotateLeft32(x.acc[2], 12) + bits.RotateLeft32(x.acc[3], 18)
	}
	h += uint32(x.n)
	p := x.tail
	for ; len(p) >= 4; p = p[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(p)*xxh32Prime3, 17) * xxh32Prime4
	}
	for _, c := range p {
		h = bits.RotateLeft32(h+uint32(c)*xxh32Prime5, 11) * xxh32Prime1
	}
	h = (h ^ h>>15) * xxh32Prime2
	h = (h ^ h>>13) * xxh32Prime3
	return h ^ h>>16
}

// xxh32Of returns the checksum of p.
func xxh32Of(p []byte) uint32 {
	x := newXXH32()
	x.write(p)
	return x.sum()
}
