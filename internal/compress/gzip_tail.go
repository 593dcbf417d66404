package compress

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/flate"
)

// This file gets the last bytes of a gzip member that is cut. Package flate knows
// that a block ends with a certain code, and does not decode a symbol before it has
// as many bits as that code: so it may leave up to two bytes of the file undecoded,
// and with them the end of a record. The data are inflated once more from the newest
// restart point, with different bytes behind the end: what is the same with all of
// them was decoded from the file.

// maxTail is more than can come out of two bytes.
const maxTail = 8 << 10

// maxTailBlock is how much of the file may lie behind the end of the last whole
// block: it is inflated up to 256 times.
const maxTailBlock = 1 << 20

// tail returns what else can be decoded of a member that is cut, behind offset
// delivered of the decompressed stream.
func (d *gzipDecoder) tail(delivered int64) []byte {
	p := d.restarts.newest
	if !p.inside || p.deflate != d.deflate {
		p = RestartPoint{offset: d.begin, compressed: d.deflate}
	}
	src, ok := d.in.again(p.compressed)
	if !ok || d.in.offset()-p.compressed > maxSalvage {
		return nil
	}
	p = d.lastBlock(src(), d.in.offset(), p)
	if src, ok = d.in.again(p.compressed); !ok || d.in.offset()-p.compressed > maxTailBlock {
		return nil
	}
	// The distance of a match may lack some bits, and the text may be the same at
	// some distances: so it takes all bytes that may follow.
	same := inflateFrom(followed(src(), 0), p, delivered)
	for i := 1; i < 256 && len(same) > 0; i++ {
		out := inflateFrom(followed(src(), byte(0xff*i)), p, delivered) // 0xff comes first: it differs most
		n := 0
		for n < min(len(same), len(out)) && same[n] == out[n] {
			n++
		}
		same = same[:n]
	}
	return same
}

// followed returns src with a few bytes behind its end, of which c is the first.
func followed(src io.Reader, c byte) io.Reader {
	return io.MultiReader(src, bytes.NewReader([]byte{c, c ^ c<<4, ^c, c}))
}

// nearTheEnd is how much of the file may lie behind a block, so that it is worth to
// remember where it ends: package flate copies its window for that.
const nearTheEnd = 128 << 10

// lastBlock returns the end of the last block of src, which begins at p and ends at
// byte end of the file, and p if no block ends near the end.
func (d *gzipDecoder) lastBlock(src io.Reader, end int64, p RestartPoint) RestartPoint {
	in := newInput(src)
	in.raw.n.Store(p.compressed)
	fl := flate.NewReader(in.br)
	if p.inside {
		fl = flate.NewReaderOpts(in.br, flate.WithResumeFrom(p.checkpoint()))
	}
	last := p
	watch := flate.WithEobCallback(func(c flate.InflateCheckpoint) {
		if ahead, ok := bitsAhead(fl); ok && !c.Final {
			place := in.offset()*8 - ahead
			last = RestartPoint{
				format: Gzip, offset: d.begin + c.UncompressedOffset, compressed: place / 8,
				inside: true, bit: uint8(place % 8), deflate: d.deflate, size: c.UncompressedOffset, window: string(c.Window),
			}
		}
	})
	buf := make([]byte, maxWindow)
	for watched, err := false, error(nil); err == nil; {
		if !watched && end-in.offset() < nearTheEnd {
			watched = true
			apply(watch, fl)
		}
		_, err = fl.Read(buf)
	}
	return last
}

// inflateFrom inflates src from p on, and returns what comes out behind offset
// delivered.
func inflateFrom(src io.Reader, p RestartPoint, delivered int64) []byte {
	fl := flate.NewReader(src)
	if p.inside {
		fl = flate.NewReaderOpts(src, flate.WithResumeFrom(p.checkpoint()))
	}
	if _, err := io.CopyN(io.Discard, onlyReader{fl}, delivered-p.offset); err != nil {
		return nil
	}
	var out bytes.Buffer
	_, _ = io.Copy(&out, io.LimitReader(onlyReader{fl}, maxTail)) // it ends with an error
	return out.Bytes()
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
