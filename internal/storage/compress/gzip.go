package compress

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
)

// A gzipDecoder reads the members of RFC 1952. It does its own headers and
// trailers around package flate, and not package gzip, because where a member
// begins and what of its trailer is wrong is asked for in verdicts.
type gzipDecoder struct {
	in       *input
	restarts *restarts
	note     func(Verdict)
	fl       io.ReadCloser
	inside   bool // of a member
	begun    bool // there was a member before

	// Of the member.
	begin   int64 // where it begins in the decompressed stream
	deflate int64 // where its deflate data begin in the file
	size    int64 // of what was returned of it
	crc     uint32

	cut  bool         // the file ends in its deflate data
	rest []byte       // then: see gzip_tail.go
	near RestartPoint // from which the tail is decoded: the newest, or the beginning of the member

	// A restart point inside it: see gzip_points.go.
	watch   flate.ReaderOpt
	watched bool
	pending bool
	next    RestartPoint
}

// Bits of FLG, RFC 1952 section 2.3.1.
const (
	gzipHeaderCRC = 1 << 1
	gzipExtra     = 1 << 2
	gzipName      = 1 << 3
	gzipComment   = 1 << 4
	gzipReserved  = 0xe0
)

// newGzip returns a decoder that begins at p.
func newGzip(in *input, restarts *restarts, note func(Verdict), p RestartPoint) *gzipDecoder {
	d := &gzipDecoder{in: in, restarts: restarts, note: note, begun: p.compressed > 0}
	d.watch = flate.WithEobCallback(d.blockEnd)
	if p.inside {
		d.resume(p)
	} else {
		d.fl = flate.NewReader(in.br)
	}
	return d
}

func (d *gzipDecoder) Close() {}

func (d *gzipDecoder) Read(p []byte) (int, error) {
	for {
		if !d.inside {
			if err := d.member(); err != nil {
				return 0, err
			}
		}
		if d.cut {
			return d.last(p)
		}
		d.watchBlocks()
		n, err := d.fl.Read(p)
		d.count(p[:n])
		switch {
		case err == io.EOF:
			err = d.trailer(n)
		case err == io.ErrUnexpectedEOF && d.in.raw.err == nil:
			d.cut, err = true, nil
			d.rest = d.tail(d.begin + d.size)
		case err != nil:
			err = d.corrupt(err)
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// last delivers the last bytes of a member that is cut.
func (d *gzipDecoder) last(p []byte) (int, error) {
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	if n > 0 {
		return n, nil
	}
	return 0, io.ErrUnexpectedEOF
}

// member goes to the deflate data of the next member.
func (d *gzipDecoder) member() error {
	if d.begun {
		if err := d.in.following(Gzip, isGzip, d.note); err != nil {
			return err
		}
	}
	if err := d.header(); err != nil {
		return err
	}
	d.begun, d.inside, d.crc, d.size = true, true, 0, 0
	d.begin, d.deflate = d.restarts.decoded, d.in.offset()
	d.watched, d.pending, d.near = false, false, RestartPoint{offset: d.begin, compressed: d.deflate}
	return d.fl.(flate.Resetter).Reset(d.in.br, nil)
}

func isGzip(head []byte) bool { return Detect(head) == Gzip }

// header takes a header, RFC 1952 section 2.3.
func (d *gzipDecoder) header() error {
	var fixed [10]byte
	if _, err := io.ReadFull(d.in.br, fixed[:]); err != nil {
		return noEOF(err)
	}
	flags := fixed[3]
	if flags&gzipReserved != 0 {
		return fmt.Errorf("reserved bits are set in a gzip header")
	}
	crc := crc32.ChecksumIEEE(fixed[:])
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
	var sum [2]byte
	if _, err := io.ReadFull(d.in.br, sum[:]); err != nil {
		return noEOF(err)
	}
	if binary.LittleEndian.Uint16(sum[:]) != uint16(crc) {
		return fmt.Errorf("the CRC of a gzip header is wrong")
	}
	return nil
}

// extra takes the extra field.
func (d *gzipDecoder) extra(crc *uint32) error {
	var size [2]byte
	if _, err := io.ReadFull(d.in.br, size[:]); err != nil {
		return noEOF(err)
	}
	*crc = crc32.Update(*crc, crc32.IEEETable, size[:])
	left := int(binary.LittleEndian.Uint16(size[:]))
	if left == 0 {
		return nil
	}
	return d.skip(crc, func(byte) bool { left--; return left == 0 })
}

// skip takes bytes up to the first for which last returns true, that one included.
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

// trailer takes a trailer, when the last n bytes of the member are about to be
// returned. A wrong one is noted and no reason to stop: the next member stands
// for itself.
func (d *gzipDecoder) trailer(n int) error {
	at := d.in.offset()
	var sum [8]byte
	if _, err := io.ReadFull(d.in.br, sum[:]); err != nil {
		return noEOF(err)
	}
	d.inside = false
	state := sumRight
	crc, size := binary.LittleEndian.Uint32(sum[:4]), binary.LittleEndian.Uint32(sum[4:])
	switch {
	case crc != d.crc:
		state = sumWrong
		d.note(Verdict{Kind: BadCRC, Offset: at, Detail: fmt.Sprintf("the CRC is %08x, the trailer says %08x", d.crc, crc)})
	case size != uint32(d.size): // modulo 2^32, section 2.3.1
		state = sumWrong
		d.note(Verdict{Kind: BadCRC, Offset: at, Detail: fmt.Sprintf("the length is %d modulo 2^32, the trailer says %d", uint32(d.size), size)})
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
