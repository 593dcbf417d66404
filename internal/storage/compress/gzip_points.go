package compress

import (
	"errors"
	"hash/crc32"
	"io"
	"reflect"

	"github.com/klauspost/compress/flate"
)

// This file holds the restart points inside a gzip member. Package flate calls
// back at the end of each block and copies its window of 32 KiB for that. Blocks
// may be as short as a line, if the writer of a log flushed after each, and then
// copying would take longer than inflating. So flate is watched only while a
// point is due.

// flateAhead is more than flate may have inflated and not returned: its window.
const flateAhead = 2 * maxWindow

// apply applies an option of package flate to a reader that is in use. D is the
// type of the reader: it has no name outside of flate, but can be inferred. The
// assertion cannot fail, as flate makes readers of one type.
func apply[D any](opt func(D), fl io.ReadCloser) { opt(fl.(D)) }

// bitsAhead returns how many bits of the bytes that flate has taken it has not
// used yet: its field nb, read by reflection. The exact place of a block follows
// from it. The offset in an InflateCheckpoint does not do: flate (1.20.3) counts
// bytes twice that it holds when a stored block begins. It returns false if there
// is no such field; then there are no restart points inside of members.
func bitsAhead(fl io.ReadCloser) (int64, bool) {
	v := reflect.ValueOf(fl)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return 0, false
	}
	nb := v.Elem().FieldByName("nb")
	if !nb.IsValid() || !nb.CanUint() || nb.Uint() > 32 {
		return 0, false
	}
	return int64(nb.Uint()), true
}

// unwatch ends the calls of blockEnd.
var unwatch = flate.WithEobCallback(nil)

// due reports whether a block at offset of the decompressed stream should become
// a restart point, or be remembered for the tail.
func (d *gzipDecoder) due(offset int64) bool {
	return d.restarts.due(offset) || offset-d.near.offset >= DefaultRestartEvery
}

// watchBlocks has blockEnd called if a block that ends before the next Read
// could become a restart point.
func (d *gzipDecoder) watchBlocks() {
	if d.watched || d.pending || !d.due(d.begin+d.size+flateAhead) {
		return
	}
	d.watched = true
	apply(d.watch, d.fl)
}

// blockEnd is called at the end of a block, which may not have been returned
// yet. Offsets are those in the deflate data and in the member.
func (d *gzipDecoder) blockEnd(c flate.InflateCheckpoint) {
	offset := d.begin + c.UncompressedOffset
	if c.Final || !d.due(offset) {
		return
	}
	ahead, ok := bitsAhead(d.fl)
	if !ok {
		return
	}
	place := d.in.offset()*8 - ahead // in bits: flate has taken no byte more when it calls
	d.next = RestartPoint{
		format: Gzip, offset: offset, compressed: place / 8,
		inside: true, bit: uint8(place % 8), deflate: d.deflate, size: c.UncompressedOffset,
		window: string(c.Window), // flate writes over its own
	}
	d.pending, d.watched = true, false
	apply(unwatch, d.fl)
}

// count adds b, which is about to be returned, to the size and the CRC of the
// member. If a restart point lies there it gets its CRC, and is one from now on if
// one was due.
func (d *gzipDecoder) count(b []byte) {
	if d.pending && d.next.size-d.size <= int64(len(b)) {
		k := d.next.size - d.size
		d.sum(b[:k])
		b = b[k:]
		d.next.crc = d.crc
		d.pending = false
		d.near = d.next
		if d.restarts.due(d.next.offset) {
			d.restarts.block(d.next)
		}
	}
	d.sum(b)
}

func (d *gzipDecoder) sum(b []byte) {
	d.crc = crc32.Update(d.crc, crc32.IEEETable, b)
	d.size += int64(len(b))
}

// corrupt says where deflate data turned out to be corrupt: at the byte of the
// last bit that was used, however far flate had looked ahead.
func (d *gzipDecoder) corrupt(err error) error {
	var c flate.CorruptInputError
	if !errors.As(err, &c) {
		return err
	}
	ahead, _ := bitsAhead(d.fl)
	return &finding{Verdict{Kind: Corrupt, Offset: d.in.offset() - ahead/8, Cut: true, Detail: "the deflate data make no sense"}}
}

// resume goes to a point inside a member.
func (d *gzipDecoder) resume(p RestartPoint) {
	d.inside, d.near = true, p
	d.begin, d.deflate, d.size, d.crc = p.offset-p.size, p.deflate, p.size, p.crc
	d.fl = flate.NewReaderOpts(d.in.br, flate.WithResumeFrom(p.checkpoint()))
}

// checkpoint returns a point inside a member as package flate has it.
func (p *RestartPoint) checkpoint() flate.InflateCheckpoint {
	return flate.InflateCheckpoint{
		UncompressedOffset: p.size,
		CompressedOffset:   p.compressed - p.deflate,
		BitOffset:          p.bit,
		Window:             []byte(p.window),
	}
}
