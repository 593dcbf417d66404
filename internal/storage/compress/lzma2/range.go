package lzma2

// A prob is the probability that a bit is 0, in units of 1/2048.
type prob uint16

const (
	probBits = 11
	probInit = 1 << probBits / 2
	moveBits = 5
	topValue = 1 << 24
)

func resetProbs(p []prob) {
	for i := range p {
		p[i] = probInit
	}
}

// A rangeDecoder decodes bits from a chunk of compressed data. It consumes a
// byte only when a bit needs it, so that it can decode every complete symbol of
// a truncated chunk.
type rangeDecoder struct {
	in   []byte // remaining bytes of the chunk
	rng  uint32
	code uint32
	over bool // a byte was needed after the end of in
}

const rangeInit = 5 // bytes at the beginning of a chunk

// start starts a chunk. It returns false if in cannot be a chunk.
func (d *rangeDecoder) start(in []byte) bool {
	d.rng, d.code, d.over = 1<<32-1, 0, len(in) < rangeInit
	if d.over || in[0] != 0 {
		d.in = nil
		return d.over
	}
	for _, c := range in[1:rangeInit] {
		d.code = d.code<<8 | uint32(c)
	}
	d.in = in[rangeInit:]
	return true
}

// normalize consumes a byte if the next bit needs one.
func (d *rangeDecoder) normalize() {
	if d.rng >= topValue {
		return
	}
	d.shift()
}

func (d *rangeDecoder) shift() {
	d.rng <<= 8
	d.code <<= 8
	if len(d.in) == 0 {
		d.over = true
		return
	}
	d.code |= uint32(d.in[0])
	d.in = d.in[1:]
}

// finished reports whether the chunk ends here in the way an encoder ends it.
func (d *rangeDecoder) finished() bool {
	d.normalize()
	return !d.over && len(d.in) == 0 && d.code == 0
}

// bit decodes a bit, 0 or 1.
func (d *rangeDecoder) bit(p *prob) uint32 {
	if d.rng < topValue {
		d.shift()
	}
	bound := d.rng >> probBits * uint32(*p)
	if d.code < bound {
		d.rng = bound
		*p += (1<<probBits - *p) >> moveBits
		return 0
	}
	d.rng -= bound
	d.code -= bound
	*p -= *p >> moveBits
	return 1
}

// tree decodes a symbol below len(p), which is a power of two, starting with
// the highest bit.
func (d *rangeDecoder) tree(p []prob) uint32 {
	limit := uint32(len(p))
	n := uint32(1)
	for n < limit {
		n = n<<1 | d.bit(&p[n])
	}
	return n - limit
}

// reverse decodes a symbol of the given number of bits, starting with the
// lowest bit.
func (d *rangeDecoder) reverse(p []prob, bits uint32) (symbol uint32) {
	n := uint32(1)
	for i := range bits {
		b := d.bit(&p[n])
		n = n<<1 | b
		symbol |= b << i
	}
	return symbol
}

// direct decodes the given number of bits, with equal probabilities for 0 and
// 1.
func (d *rangeDecoder) direct(bits uint32) (n uint32) {
	for range bits {
		d.normalize()
		d.rng >>= 1
		n <<= 1
		if d.code >= d.rng {
			d.code -= d.rng
			n |= 1
		}
	}
	return n
}
