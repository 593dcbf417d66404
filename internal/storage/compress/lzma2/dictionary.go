package lzma2

// A dictionary is a ring buffer of the last decoded bytes. It grows up to its
// size as bytes arrive, so that a small stream takes little memory, however
// large a dictionary its header declares.
type dictionary struct {
	buf     []byte
	pos     int // index of the next byte
	wrapped bool
	size    int // maximum length of buf
}

const firstDictionary = 64 << 10

// reset empties the dictionary.
func (d *dictionary) reset() { d.pos, d.wrapped = 0, false }

// room returns a slice of 1 to n bytes, starting at pos, for the caller to
// fill.
func (d *dictionary) room(n int) []byte {
	if d.pos == len(d.buf) {
		if len(d.buf) < d.size {
			grown := make([]byte, min(max(2*len(d.buf), firstDictionary), d.size))
			copy(grown, d.buf)
			d.buf = grown
		} else {
			d.pos, d.wrapped = 0, true
		}
	}
	return d.buf[d.pos:min(len(d.buf), d.pos+n)]
}

// full returns the number of bytes in the dictionary.
func (d *dictionary) full() int {
	if d.wrapped {
		return len(d.buf)
	}
	return d.pos
}

// last returns the last byte, or 0 if the dictionary is empty.
func (d *dictionary) last() byte { return d.at(0) }

// at returns the byte at distance dist+1 from pos, or 0 beyond the dictionary.
func (d *dictionary) at(dist uint32) byte {
	i := d.pos - int(dist) - 1
	if i >= 0 {
		return d.buf[i]
	}
	if !d.wrapped || i+len(d.buf) < 0 {
		return 0
	}
	return d.buf[i+len(d.buf)]
}

// repeat appends n bytes copied from distance dist+1. The caller checks that
// the dictionary holds that distance, and that room has returned n bytes of
// space.
func (d *dictionary) repeat(dist uint32, n int) {
	from, to := d.pos-int(dist)-1, d.pos
	if from < 0 {
		from += len(d.buf)
	}
	d.pos += n
	if from < to {
		dst, src := d.buf[to:to+n], d.buf[from:]
		for k := to - from; len(dst) > 0; k *= 2 { // bytes just written are repeated, too
			c := copy(dst, src[:min(k, len(dst))])
			dst = dst[c:]
		}
		return
	}
	c := copy(d.buf[to:to+n], d.buf[from:])
	if c < n { // the ring has wrapped: continue at its beginning
		d.pos = to + c
		d.repeat(dist, n-c)
	}
}
