package compress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/urlfold/urlfold/internal/storage/inflate"
)

// A gzipDecoder reads the members of RFC 1952: the headers and trailers around
// the data that package inflate decodes. Its verdicts name the position of a
// member and the wrong field of a trailer.
type gzipDecoder struct {
	in       *input
	restarts *restarts
	note     func(Verdict)
	inflate  deflateDecoder
	opt      Options
	ahead    *ahead // nil: no goroutines
	inside   bool   // inside a member
	begun    bool   // a member was read before
	buf      [10]byte

	// The current member.
	begin   int64 // offset of the member in the decompressed stream
	deflate int64 // offset of the deflate data of the member in the file
	size    int64 // number of bytes of the member that were returned
	crc     uint32
	from    int64 // where inflate started in the file: deflate, or a restart point
}

// Bits of FLG, RFC 1952 section 2.3.1.
const (
	gzipHeaderCRC = 1 << 1
	gzipExtra     = 1 << 2
	gzipName      = 1 << 3
	gzipComment   = 1 << 4
	gzipReserved  = 0xe0
)

// gzipTrailer is the length of a trailer.
const gzipTrailer = 8

// newGzip returns a decoder that starts at p.
func newGzip(in *input, restarts *restarts, note func(Verdict), p RestartPoint, opt Options) *gzipDecoder {
	d := &gzipDecoder{in: in, opt: opt, restarts: restarts, note: note, begun: p.compressed > 0}
	if p.inside {
		d.resume(p)
	} else {
		d.inflate = inflate.NewReader(in.br, nil, 0)
	}
	return d
}

func (d *gzipDecoder) Close() {
	if d.ahead != nil {
		d.ahead.close()
	}
}

func (d *gzipDecoder) Read(p []byte) (int, error) {
	if !d.inside {
		if err := d.member(); err != nil {
			return 0, err
		}
	}
	d.inflate.PauseAtBlocks(d.restarts.due(d.begin + d.size + inflate.Ahead))
	n, err := d.inflate.Read(p)
	d.crc = crc32.Update(d.crc, crc32.IEEETable, p[:n])
	d.size += int64(n)
	if d.opt.IndexTo != nil {
		d.opt.IndexTo.text(p[:n])
	}
	d.point()
	switch err {
	case nil:
	case io.EOF:
		err = d.trailer(n)
	default:
		err = d.corrupt(err)
	}
	return n, err
}

// readAhead starts goroutines: with an index at the first member, and without
// one at the second, because a file of one member then has nothing to offer
// them.
func (d *gzipDecoder) readAhead() {
	own, ok := d.inflate.(*inflate.Reader)
	if !ok || d.opt.Ahead < 2 || d.restarts.members == 0 && d.opt.Index == nil {
		return
	}
	d.ahead = newAhead(d.in.raw.src, d.in.raw.n.Load(), &d.opt)
	d.in.raw.src = d.ahead
	d.inflate = &aheadDeflate{in: d.in, ahead: d.ahead, own: own, may: d.uneventful}
}

// uneventful reports whether reading the next n bytes of the member without
// goroutines would meet no limit and no place for a restart point. The input
// after the current offset encodes all of these bytes.
func (d *gzipDecoder) uneventful(n int64) bool {
	end := d.begin + d.size + n
	limits := d.opt.Limits
	switch {
	case d.restarts.due(end), limits.MaxBytes > 0 && end > limits.MaxBytes:
		return false
	}
	return limits.MaxRatio < 0 || end <= ratioGrace || end/limits.MaxRatio <= d.in.offset()
}

// corrupt adds the position of corrupt deflate data to err.
func (d *gzipDecoder) corrupt(err error) error {
	var c *inflate.CorruptError
	if !errors.As(err, &c) {
		return err
	}
	return &finding{Verdict{Kind: Corrupt, Offset: d.from + c.Bit/8, Cut: true, Detail: "invalid deflate data: " + c.Reason}}
}

// member advances to the deflate data of the next member.
func (d *gzipDecoder) member() error {
	if d.begun {
		if err := d.in.following(Gzip, d.note); err != nil {
			return err
		}
	}
	if err := d.header(); err != nil {
		return err
	}
	d.begun, d.inside, d.crc, d.size = true, true, 0, 0
	d.begin, d.deflate = d.restarts.decoded, d.in.offset()
	d.from = d.deflate
	if d.opt.IndexTo != nil && d.restarts.members == 0 {
		d.opt.IndexTo.begin(d.deflate)
	}
	d.readAhead()
	d.inflate.Reset(d.in.br, nil, 0)
	return nil
}

// header reads a header, RFC 1952 section 2.3.
func (d *gzipDecoder) header() error {
	fixed := d.buf[:10]
	if err := d.in.full(fixed); err != nil {
		return err
	}
	flags := fixed[3]
	if flags&gzipReserved != 0 {
		return fmt.Errorf("gzip header has reserved flags set")
	}
	crc := crc32.ChecksumIEEE(fixed)
	if flags&gzipExtra != 0 {
		if err := d.extra(&crc); err != nil {
			return err
		}
	}
	for _, bit := range [...]byte{gzipName, gzipComment} {
		if flags&bit != 0 {
			if err := d.skip(&crc, func(c byte) bool { return c == 0 }); err != nil {
				return err
			}
		}
	}
	if flags&gzipHeaderCRC == 0 {
		return nil
	}
	sum := d.buf[:2]
	if err := d.in.full(sum); err != nil {
		return err
	}
	if binary.LittleEndian.Uint16(sum) != uint16(crc) {
		return fmt.Errorf("gzip header CRC does not match")
	}
	return nil
}

// extra reads the extra field.
func (d *gzipDecoder) extra(crc *uint32) error {
	size := d.buf[:2]
	if err := d.in.full(size); err != nil {
		return err
	}
	*crc = crc32.Update(*crc, crc32.IEEETable, size)
	left := int(binary.LittleEndian.Uint16(size))
	if left == 0 {
		return nil
	}
	return d.skip(crc, func(byte) bool { left--; return left == 0 })
}

// skip consumes bytes up to and including the first byte that satisfies last.
func (d *gzipDecoder) skip(crc *uint32, last func(byte) bool) error {
	for {
		c, err := d.in.br.ReadByte()
		if err != nil {
			return noEOF(err)
		}
		*crc = crc32.Update(*crc, crc32.IEEETable, []byte{c})
		if last(c) {
			return nil
		}
	}
}

// trailer reads a trailer before Read returns the last n bytes of the member. A
// wrong trailer is recorded but does not end the stream, because the next
// member is independent of it.
func (d *gzipDecoder) trailer(n int) error {
	at := d.in.offset()
	sum := d.buf[:gzipTrailer]
	if err := d.in.full(sum); err != nil {
		return err
	}
	d.inside = false
	state := sumRight
	crc, size := binary.LittleEndian.Uint32(sum[:4]), binary.LittleEndian.Uint32(sum[4:])
	switch {
	case crc != d.crc:
		state = sumWrong
		d.note(Verdict{Kind: BadCRC, Offset: at, Detail: fmt.Sprintf("CRC mismatch: the data has %08x, the trailer %08x", d.crc, crc)})
	case size != uint32(d.size): // ISIZE is the size modulo 2^32, RFC 1952 section 2.3.1
		state = sumWrong
		d.note(Verdict{Kind: BadCRC, Offset: at, Detail: fmt.Sprintf("length mismatch: the data has %d bytes (modulo 2^32), the trailer says %d", uint32(d.size), size)})
	}
	d.restarts.members++
	d.restarts.unit(n, state)
	d.restarts.boundary(Gzip, d.in.offset(), n)
	return nil
}

// noEOF returns err, or io.ErrUnexpectedEOF if err is io.EOF.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
