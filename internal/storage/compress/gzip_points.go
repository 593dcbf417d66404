package compress

import "github.com/urlfold/urlfold/internal/storage/inflate"

// This file implements restart points inside a gzip member. A point is a block
// of the deflate data, with the window and the CRC of the preceding data.

// point records a restart point at the block that begins here, if one is due.
func (d *gzipDecoder) point() {
	bit, ok := d.inflate.Block()
	if !ok || !d.restarts.due(d.begin+d.size) {
		return
	}
	p := RestartPoint{
		format: Gzip, offset: d.begin + d.size, compressed: d.from + bit/8,
		inside: true, bit: uint8(bit % 8), deflate: d.deflate, size: d.size, crc: d.crc,
		window: string(d.inflate.Window()),
	}
	d.restarts.block(p)
	if d.opt.IndexTo != nil {
		d.opt.IndexTo.add(&p)
	}
}

// resume starts at a point inside a member.
func (d *gzipDecoder) resume(p RestartPoint) {
	d.inside = true
	d.begin, d.deflate, d.size, d.crc = p.offset-p.size, p.deflate, p.size, p.crc
	d.from = p.compressed
	d.inflate = inflate.NewReader(d.in.br, []byte(p.window), p.bit)
}
