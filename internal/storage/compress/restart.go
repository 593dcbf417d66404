package compress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// DefaultRestartEvery is a good value for Options.RestartEvery: decompressing
// 64 MiB again takes a quarter of a second.
const DefaultRestartEvery = 64 << 20

// maxWindow is the maximum distance of a match in deflate data, RFC 1951
// section 2.
const maxWindow = 32 << 10

// A RestartPoint is a position in a compressed file from which reading can
// continue without the earlier data: the start of a file, the end of a member
// (or of a chunk of snappy, S2 or xerial), a block of deflate data inside a
// gzip member, or any byte of a plain file. It carries the state at that
// position, so that limits, checksums and the verdict of a resumed reading are
// the same as of an uninterrupted one.
//
// The zero value is the start of any file. A RestartPoint is a value: it can be
// copied and compared, and only UnmarshalBinary modifies it. Inside a gzip
// member it takes up to 32 KiB for the window, otherwise almost nothing.
type RestartPoint struct {
	format     Format
	offset     int64   // in the decompressed stream
	compressed int64   // in the file; for a block, the byte with its first bit
	members    int64   // number of complete members before the point
	verdict    Verdict // findings before the point
	verified   int64   // number of verified decompressed bytes at the start of the file
	unsummed   bool    // some bytes before the point have no checksum
	inside     bool    // inside a gzip member; only then the following fields are used
	bit        uint8   // bit of the byte at compressed, counted from the least significant
	deflate    int64   // offset in the file of the deflate data of the member
	size       int64   // decompressed bytes of the member before the point
	crc        uint32  // CRC of these bytes
	window     string  // the last min(size, maxWindow) of these bytes
}

// Offset returns the offset of the point in the decompressed stream, in bytes.
func (p RestartPoint) Offset() int64 { return p.offset }

// Members returns the number of complete members before the point. It is 0 for
// formats whose members are not counted: see Verification.Members.
func (p RestartPoint) Members() int64 { return p.members }

// The binary form, version 2. Integers are unsigned varints unless said
// otherwise.
//
//	"ufrp", version      4 bytes and 1
//	format               1 byte; bit 7: unsummed
//	kind of verdict      1 byte
//	inside               1 byte: 8 outside a member, else bit
//	offset, compressed, members, verified
//	  inside:            deflate, size, CRC (4 bytes), window (min(size, 32768) bytes)
//	  verdict not OK:    offset, cut (1 byte: 0 or 1), length of detail, detail
//	CRC                  of all before, IEEE, 4 bytes, little endian
const (
	pointMagic    = "ufrp\x02"
	pointOutside  = 8
	pointUnsummed = 1 << 7
	maxDetail     = 4 << 10
)

// errPoint is wrapped by every error of UnmarshalBinary.
var errPoint = errors.New("compress: invalid restart point")

// AppendBinary appends a versioned and checksummed encoding of the point to b.
// UnmarshalBinary decodes it. The error is always nil.
func (p RestartPoint) AppendBinary(b []byte) ([]byte, error) {
	begin := len(b)
	b = append(b, pointMagic...)
	in := p.bit
	if !p.inside {
		in = pointOutside
	}
	format := byte(p.format)
	if p.unsummed {
		format |= pointUnsummed
	}
	b = append(b, format, byte(p.verdict.Kind), in)
	b = appendInts(b, p.offset, p.compressed, p.members, p.verified)
	if p.inside {
		b = appendInts(b, p.deflate, p.size)
		b = binary.LittleEndian.AppendUint32(b, p.crc)
		b = append(b, p.window...)
	}
	if v := p.verdict; v.Kind != OK {
		detail := v.Detail[:min(len(v.Detail), maxDetail)]
		b = appendInts(b, v.Offset)
		b = append(b, boolByte(v.Cut))
		b = appendInts(b, int64(len(detail)))
		b = append(b, detail...)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[begin:])), nil
}

// MarshalBinary returns the encoding that AppendBinary appends.
func (p RestartPoint) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }

// UnmarshalBinary sets p to the point encoded in data, which it does not
// retain. It accepts only exact results of AppendBinary; on an error
// it leaves p unchanged.
func (p *RestartPoint) UnmarshalBinary(data []byte) error {
	body := len(data) - 4
	if body < len(pointMagic) || string(data[:len(pointMagic)-1]) != pointMagic[:len(pointMagic)-1] {
		return fmt.Errorf("%w: wrong magic number or length", errPoint)
	}
	if version := data[len(pointMagic)-1]; version != pointMagic[len(pointMagic)-1] {
		return fmt.Errorf("%w: unknown version %d", errPoint, version)
	}
	if binary.LittleEndian.Uint32(data[body:]) != crc32.ChecksumIEEE(data[:body]) {
		return fmt.Errorf("%w: checksum mismatch", errPoint)
	}
	d := pointData{rest: data[len(pointMagic):body]}
	q := d.point()
	if d.bad || len(d.rest) > 0 || !q.sound() {
		return fmt.Errorf("%w: inconsistent fields", errPoint)
	}
	*p = q
	return nil
}

// sound reports whether the fields of p are consistent. A consistent point may
// still belong to another file.
func (p *RestartPoint) sound() bool {
	v := p.verdict
	switch {
	case p.format >= Unsupported || v.Kind > Unreadable || v.Kind == OK && v != Verdict{}:
		return false
	case p.verified > p.offset || p.inside && p.verified > p.offset-p.size:
		return false
	case p.compressed == 0:
		return *p == RestartPoint{}
	case p.format == Plain:
		return *p == RestartPoint{offset: p.offset, compressed: p.offset}
	case !p.inside:
		return true
	}
	return p.format == Gzip && p.bit < 8 && p.deflate <= p.compressed && p.size <= p.offset &&
		int64(len(p.window)) == min(p.size, maxWindow)
}

func appendInts(b []byte, ints ...int64) []byte {
	for _, n := range ints {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// A pointData decodes the binary form. After the first error, bad stays set.
type pointData struct {
	rest []byte
	bad  bool
}

func (d *pointData) point() (p RestartPoint) {
	head := d.take(3)
	if d.bad {
		return p
	}
	p.format, p.unsummed, p.verdict.Kind = Format(head[0]&^pointUnsummed), head[0]&pointUnsummed != 0, Kind(head[1])
	p.offset, p.compressed, p.members, p.verified = d.int(), d.int(), d.int(), d.int()
	if head[2] != pointOutside {
		p.inside, p.bit = true, head[2]
		p.deflate, p.size = d.int(), d.int()
		if crc := d.take(4); !d.bad {
			p.crc = binary.LittleEndian.Uint32(crc)
		}
		p.window = string(d.take(min(p.size, maxWindow)))
	}
	if p.verdict.Kind != OK {
		p.verdict.Format, p.verdict.Offset = p.format, d.int()
		if cut := d.take(1); !d.bad {
			p.verdict.Cut = cut[0] == 1
			d.bad = cut[0] > 1
		}
		n := d.int()
		d.bad = d.bad || n > maxDetail
		p.verdict.Detail = string(d.take(n))
	}
	return p
}

func (d *pointData) take(n int64) []byte {
	if d.bad || n > int64(len(d.rest)) {
		d.bad = true
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// int decodes a varint, which must have its shortest form. No file is longer
// than 2^62 bytes, and sums of numbers up to that limit do not overflow.
func (d *pointData) int() int64 {
	n, size := binary.Uvarint(d.rest)
	if d.bad || size <= 0 || n > 1<<62 || size > 1 && d.rest[size-1] == 0 {
		d.bad = true
		return 0
	}
	d.rest = d.rest[size:]
	return int64(n)
}
