package lzma2

// A dictionary is the last decoded bytes, a ring. It grows to its size as bytes
// come, so that a small stream takes little memory, whatever dictionary it asks for.
type dictionary struct {
	buf     []byte
	pos     int // where the next byte goes
	wrapped bool
	size    int // that buf may have
}

const firstDictionary = 64 << 10

// reset forgets the bytes.
func (d *dictionary) reset() { d.pos, d.wrapped = 0, false }

// room returns up to n bytes to write at, at least one, from pos on.
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

// full returns how many bytes the dictionary has.
func (d *dictionary) full() int {
	if d.wrapped {
		return len(d.buf)
	}
	return d.pos
}

// last returns the last byte, and 0 if there is none.
func (d *dictionary) last() byte { return d.at(0) }

// at returns the byte at a distance, less one, and 0 if there is none.
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

// repeat writes n bytes, for which there is room, of those that begin at that
// distance, less one, which the dictionary has.
func (d *dictionary) repeat(dist uint32, n int) {
	from, to := d.pos-int(dist)-1, d.pos
	if from < 0 {
		from += len(d.buf)
	}
	d.pos += n
	if from < to {
		dst, src := d.buf[to:to+n], d.buf[from:]
		for k := to - from; len(dst) > 0; k *= 2 { // what was written is repeated, too
			c := copy(dst, src[:min(k, len(dst))])
			dst = dst[c:]
		}
		return
	}
	c := copy(d.buf[to:to+n], d.buf[from:])
	if c < n { // on, at the beginning of the ring: there it lies before to
		d.pos = to + c
		d.repeat(dist, n-c)
	}
}
