package compress

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"slices"

	"github.com/urlfold/urlfold/internal/storage/compress/lzma2"
)

// An xzDecoder reads the streams of the .xz file format 1.0.4; section numbers
// in comments refer to its specification. It handles the container, and package
// lzma2 decodes the data in it.
type xzDecoder struct {
	in       *input
	restarts *restarts
	note     func(Verdict)
	maxDict  int64
	begun    bool // a stream was read before
	inside   bool // inside a stream

	flags  [2]byte       // Stream Flags
	blocks int64         // number of blocks of the stream until now
	sizes  hash.Hash     // over the sizes of the blocks, in the form of the index
	block  *xzBlock      // current block; nil: between blocks
	buf    [1 << 10]byte // for headers
}

// An xzBlock is the state of the current block.
type xzBlock struct {
	data         *lzma2.Reader
	check        hash.Hash // nil: none, or of an unknown type
	begin        int64     // offset of the block header in the file
	dataAt       int64     // offset of the data of the block
	size         int64     // decompressed bytes until now
	packed, want uint64    // compressed and decompressed size from the block header, or unknown
}

// unknown is the size of a block whose header does not declare it.
const unknown = 1<<64 - 1

const (
	xzStreamHeader = 12
	xzFooterMagic  = "YZ"
	xzMaxSize      = 1<<63 - 1
)

func (d *xzDecoder) Close() {}

func (d *xzDecoder) Read(p []byte) (int, error) {
	if d.block != nil {
		n, err := d.block.data.Read(p)
		d.block.size += int64(n)
		if d.block.check != nil {
			d.block.check.Write(p[:n])
		}
		if n > 0 {
			return n, nil
		}
		if err != io.EOF {
			return 0, err
		}
	}
	return 0, d.next()
}

// next reads the structures between the data of two blocks.
func (d *xzDecoder) next() error {
	switch {
	case d.block != nil:
		return d.blockEnd()
	case !d.inside:
		return d.stream()
	}
	return d.blockOrIndex()
}

// stream reads a Stream Header (section 2.1.1). Zero bytes in front are valid
// padding if their number is a multiple of four (section 2.2).
func (d *xzDecoder) stream() error {
	if d.begun {
		if err := d.in.following(XZ, d.note); err != nil {
			return err
		}
	}
	d.begun = true
	p := d.buf[:xzStreamHeader]
	if err := d.in.full(p); err != nil {
		return err
	}
	switch {
	case Detect(p) != XZ:
		return fmt.Errorf("invalid magic number of an xz stream")
	case crc32.ChecksumIEEE(p[6:8]) != binary.LittleEndian.Uint32(p[8:]):
		return fmt.Errorf("xz stream header CRC does not match")
	case p[6] != 0 || p[7] > 15:
		return fmt.Errorf("xz stream header has invalid flags %02x %02x", p[6], p[7])
	}
	d.flags = [2]byte(p[6:8])
	d.inside, d.blocks, d.sizes = true, 0, sha256.New()
	return nil
}

// blockOrIndex reads a Block Header (section 3.1), or everything after the last
// block.
func (d *xzDecoder) blockOrIndex() error {
	begin := d.in.offset()
	if err := d.in.full(d.buf[:1]); err != nil {
		return err
	}
	if d.buf[0] == 0 {
		return d.index()
	}
	p := d.buf[:(int(d.buf[0])+1)*4]
	if err := d.in.full(p[1:]); err != nil {
		return err
	}
	body, flags := p[:len(p)-4], p[1]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(p[len(p)-4:]) {
		return fmt.Errorf("xz block header CRC does not match")
	}
	f := xzFields{rest: body[2:]}
	b := &xzBlock{begin: begin, dataAt: d.in.offset(), packed: unknown, want: unknown, check: newXZCheck(d.flags[1])}
	if flags&(1<<6) != 0 {
		b.packed = f.int()
	}
	if flags&(1<<7) != 0 {
		b.want = f.int()
	}
	dict, err := d.filters(&f, int(flags&3)+1)
	switch {
	case err != nil:
		return err
	case flags&0x3c != 0 || f.bad || !zero(f.rest):
		return fmt.Errorf("invalid xz block header")
	}
	b.data = lzma2.NewReader(d.in, dict)
	d.block = b
	if b.check == nil {
		d.restarts.sums.unsummed = true
	}
	return nil
}

// filters reads the List of Filter Flags (section 3.1.5) and returns the
// dictionary size of LZMA2 (section 5.3.1), the only supported filter.
func (d *xzDecoder) filters(f *xzFields, n int) (dict int, err error) {
	const lzma2ID, maxDictionary = 0x21, 40
	for range n {
		id, size := f.int(), f.int()
		props := f.take(size)
		switch {
		case f.bad:
			return 0, fmt.Errorf("xz block header is too short for its filters")
		case id != lzma2ID:
			return 0, &finding{Verdict{Kind: UnsupportedFormat, Offset: -1, Cut: true,
				Detail: fmt.Sprintf("xz filter %#x is not supported, only LZMA2 (0x21)", id)}}
		case size != 1 || props[0] > maxDictionary || n != 1:
			return 0, fmt.Errorf("xz block header has invalid filters")
		}
		want := int64(2|props[0]&1) << (props[0]/2 + 11)
		if props[0] == maxDictionary {
			want = 1<<32 - 1
		}
		if want > d.maxDict {
			return 0, &finding{Verdict{Kind: Limit, Offset: -1, Cut: true,
				Detail: fmt.Sprintf("xz stream needs a dictionary of %d bytes, more than the limit of %d (--max-window, limits.max_window)", want, d.maxDict)}}
		}
		dict = int(want)
	}
	return dict, nil
}

// blockEnd reads Block Padding and Check (sections 3.3 and 3.4).
func (d *xzDecoder) blockEnd() error {
	b := d.block
	d.block = nil
	packed := d.in.offset() - b.dataAt
	if b.packed != unknown && uint64(packed) != b.packed || b.want != unknown && uint64(b.size) != b.want {
		return fmt.Errorf("xz block size mismatch: %d bytes, %d decompressed, differ from the header", packed, b.size)
	}
	padding, size := d.buf[:-packed&3], xzCheckSize(d.flags[1])
	if err := d.in.full(padding); err != nil {
		return err
	}
	if !zero(padding) {
		return fmt.Errorf("xz block padding is not zero")
	}
	at := d.in.offset()
	sum := d.buf[:size]
	if err := d.in.full(sum); err != nil {
		return err
	}
	d.blocks++
	d.sizes.Write(binary.AppendUvarint(nil, uint64(d.in.offset()-b.begin-int64(len(padding)))))
	d.sizes.Write(binary.AppendUvarint(nil, uint64(b.size)))
	switch {
	case b.check == nil:
		d.restarts.unit(0, sumAbsent)
	case string(b.check.Sum(nil)) != string(xzBytes(d.flags[1], sum)):
		d.restarts.unit(0, sumWrong)
		return &finding{Verdict{Kind: BadCRC, Offset: at, Cut: true, Detail: "xz block check does not match"}}
	default:
		d.restarts.unit(0, sumRight)
	}
	return nil
}

// index reads the rest of the Index, after its first byte, and the Stream
// Footer (sections 4 and 2.1.2).
func (d *xzDecoder) index() error {
	in := &xzIndex{in: d.in, size: 1, crc: crc32.ChecksumIEEE([]byte{0})}
	n := in.int()
	if in.err == nil && n != uint64(d.blocks) {
		return fmt.Errorf("xz index has %d blocks, but the stream has %d", n, d.blocks)
	}
	sizes := sha256.New()
	for range n {
		packed, size := in.int(), in.int()
		sizes.Write(binary.AppendUvarint(nil, packed))
		sizes.Write(binary.AppendUvarint(nil, size))
		if in.err != nil {
			return in.err
		}
	}
	for in.err == nil && in.size%4 != 0 {
		in.padding()
	}
	if in.err != nil {
		return in.err
	}
	var p [4 + xzStreamHeader]byte
	if err := d.in.full(p[:]); err != nil {
		return err
	}
	switch foot := p[4:]; {
	case binary.LittleEndian.Uint32(p[:]) != in.crc:
		return fmt.Errorf("xz index CRC does not match")
	case string(sizes.Sum(nil)) != string(d.sizes.Sum(nil)):
		return fmt.Errorf("xz index does not match the blocks of the stream")
	case string(foot[10:]) != xzFooterMagic, crc32.ChecksumIEEE(foot[4:10]) != binary.LittleEndian.Uint32(foot),
		[2]byte(foot[8:10]) != d.flags, (int64(binary.LittleEndian.Uint32(foot[4:]))+1)*4 != in.size+4:
		return fmt.Errorf("invalid xz stream footer")
	}
	d.inside = false
	d.restarts.members++
	d.restarts.boundary(XZ, d.in.offset(), 0)
	return nil
}

// newXZCheck returns the hash for a Check ID (section 2.1.1.2), or nil if the
// ID means none or is unknown.
func newXZCheck(id byte) hash.Hash {
	switch id {
	case 1:
		return crc32.NewIEEE()
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA))
	case 10:
		return sha256.New()
	}
	return nil
}

// xzBytes converts a stored check to the byte order of package hash: the CRCs
// of the format are little-endian.
func xzBytes(id byte, sum []byte) []byte {
	if id == 1 || id == 4 {
		slices.Reverse(sum)
	}
	return sum
}

// xzCheckSize returns the size in bytes of the check for a Check ID. The format
// defines a size for every ID, including unknown ones.
func xzCheckSize(id byte) int {
	if id == 0 {
		return 0
	}
	return 4 << ((id - 1) / 3)
}

func zero(p []byte) bool {
	for _, c := range p {
		if c != 0 {
			return false
		}
	}
	return true
}

// xzFields parses a Block Header. After the first error, bad stays set.
type xzFields struct {
	rest []byte
	bad  bool
}

// int reads a Multibyte Integer (section 1.2).
func (f *xzFields) int() uint64 {
	n, size := binary.Uvarint(f.rest)
	if size <= 0 || n > xzMaxSize || size > 1 && f.rest[size-1] == 0 {
		f.bad, f.rest = true, nil
		return 0
	}
	f.rest = f.rest[size:]
	return n
}

func (f *xzFields) take(n uint64) []byte {
	if n > uint64(len(f.rest)) {
		f.bad, f.rest = true, nil
		return nil
	}
	p := f.rest[:n]
	f.rest = f.rest[n:]
	return p
}

// An xzIndex reads an Index. After the first error it does nothing.
type xzIndex struct {
	in   *input
	size int64
	crc  uint32
	err  error
}

func (x *xzIndex) byte() byte {
	if x.err != nil {
		return 0
	}
	c, err := x.in.ReadByte()
	if err != nil {
		x.err = noEOF(err)
		return 0
	}
	x.size++
	x.crc = crc32.Update(x.crc, crc32.IEEETable, []byte{c})
	return c
}

// int reads a Multibyte Integer.
func (x *xzIndex) int() (n uint64) {
	for i := 0; ; i++ {
		c := x.byte()
		n |= uint64(c&0x7f) << (7 * i)
		switch {
		case c < 0x80 && (i == 0 || c > 0) || x.err != nil:
			return n
		case c == 0 || i == 8:
			x.err = fmt.Errorf("invalid number in an xz index")
			return 0
		}
	}
}

// padding reads a byte that must be zero.
func (x *xzIndex) padding() {
	if x.byte() != 0 && x.err == nil {
		x.err = fmt.Errorf("xz index padding is not zero")
	}
}
