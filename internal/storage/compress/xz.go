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

// An xzDecoder reads the streams of the .xz file format 1.0.4, whose sections the
// comments name. It is the container; package lzma2 decodes what is in it.
type xzDecoder struct {
	in       *input
	restarts *restarts
	note     func(Verdict)
	maxDict  int64
	begun    bool // there was a stream before
	inside   bool // of a stream

	flags  [2]byte       // of the stream
	blocks int64         // of the stream so far
	sizes  hash.Hash     // over the sizes of its blocks, as the index has them
	block  *xzBlock      // nil: between blocks
	buf    [1 << 10]byte // for headers
}

// An xzBlock is the block that is being decoded.
type xzBlock struct {
	data         *lzma2.Reader
	check        hash.Hash // nil: none, or of a kind that is not known
	begin        int64     // where its header begins in the file
	dataAt       int64     // where its data begin
	size         int64     // bytes that came out
	packed, want uint64    // sizes that its header says, and unknown
}

// unknown is the size of a block whose header does not say it.
const unknown = 1<<64 - 1

const (
	xzStreamHeader = 12
	xzFooterMagic  = "YZ"
	xzMaxSize      = 1<<63 - 1
)

func (d *xzDecoder) Close() {}

func (d *xzDecoder) Read(p []byte) (int, error) {
	for {
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
		if err := d.next(); err != nil {
			return 0, err
		}
	}
}

// next takes what stands between the data of two blocks.
func (d *xzDecoder) next() error {
	switch {
	case d.block != nil:
		return d.blockEnd()
	case !d.inside:
		return d.stream()
	}
	return d.blockOrIndex()
}

func isXZ(head []byte) bool { return Detect(head) == XZ }

// full takes len(p) bytes.
func (d *xzDecoder) full(p []byte) error {
	_, err := io.ReadFull(d.in, p)
	return noEOF(err)
}

// stream takes a Stream Header (section 2.1.1). Zero bytes before one are no
// garbage if they are a multiple of four (section 2.2).
func (d *xzDecoder) stream() error {
	if d.begun {
		if err := d.in.following(XZ, isXZ, d.note); err != nil {
			return err
		}
	}
	d.begun = true
	p := d.buf[:xzStreamHeader]
	if err := d.full(p); err != nil {
		return err
	}
	switch {
	case !isXZ(p):
		return fmt.Errorf("no xz stream begins here")
	case crc32.ChecksumIEEE(p[6:8]) != binary.LittleEndian.Uint32(p[8:]):
		return fmt.Errorf("the CRC of an xz stream header is wrong")
	case p[6] != 0 || p[7] > 15:
		return fmt.Errorf("an xz stream header has flags %02x %02x", p[6], p[7])
	}
	d.flags = [2]byte(p[6:8])
	d.inside, d.blocks, d.sizes = true, 0, sha256.New()
	return nil
}

// blockOrIndex takes a Block Header (section 3.1), or all that follows the last
// block.
func (d *xzDecoder) blockOrIndex() error {
	begin := d.in.offset()
	if err := d.full(d.buf[:1]); err != nil {
		return err
	}
	if d.buf[0] == 0 {
		return d.index()
	}
	p := d.buf[:(int(d.buf[0])+1)*4]
	if err := d.full(p[1:]); err != nil {
		return err
	}
	body, flags := p[:len(p)-4], p[1]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(p[len(p)-4:]) {
		return fmt.Errorf("the CRC of an xz block header is wrong")
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
		return fmt.Errorf("an xz block header makes no sense")
	}
	b.data = lzma2.NewReader(d.in, dict)
	d.block = b
	if b.check == nil {
		d.restarts.sums.unsummed = true
	}
	return nil
}

// filters takes the List of Filter Flags (section 3.1.5), and returns the size of
// the dictionary of LZMA2 (section 5.3.1), the only filter that is read.
func (d *xzDecoder) filters(f *xzFields, n int) (dict int, err error) {
	const lzma2ID, maxDictionary = 0x21, 40
	for range n {
		id, size := f.int(), f.int()
		props := f.take(size)
		switch {
		case f.bad:
			return 0, fmt.Errorf("an xz block header is too short for its filters")
		case id != lzma2ID:
			return 0, &finding{Verdict{Kind: UnsupportedFormat, Offset: -1, Cut: true,
				Detail: fmt.Sprintf("an xz block with filter %#x; only LZMA2 (0x21) is read", id)}}
		case size != 1 || props[0] > maxDictionary || n != 1:
			return 0, fmt.Errorf("the filters of an xz block header make no sense")
		}
		want := int64(2|props[0]&1) << (props[0]/2 + 11)
		if props[0] == maxDictionary {
			want = 1<<32 - 1
		}
		if want > d.maxDict {
			return 0, &finding{Verdict{Kind: Limit, Offset: -1, Cut: true,
				Detail: fmt.Sprintf("an xz stream wants a dictionary of %d bytes, %d are allowed (--max-window, limits.max_window)", want, d.maxDict)}}
		}
		dict = int(want)
	}
	return dict, nil
}

// blockEnd takes Block Padding and Check (sections 3.3 and 3.4).
func (d *xzDecoder) blockEnd() error {
	b := d.block
	d.block = nil
	packed := d.in.offset() - b.dataAt
	if b.packed != unknown && uint64(packed) != b.packed || b.want != unknown && uint64(b.size) != b.want {
		return fmt.Errorf("an xz block of %d bytes, %d decompressed, is of another size than its header says", packed, b.size)
	}
	padding, size := d.buf[:-packed&3], xzCheckSize(d.flags[1])
	if err := d.full(padding); err != nil {
		return err
	}
	if !zero(padding) {
		return fmt.Errorf("the padding of an xz block is not zero")
	}
	at := d.in.offset()
	sum := d.buf[:size]
	if err := d.full(sum); err != nil {
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
		return &finding{Verdict{Kind: BadCRC, Offset: at, Cut: true, Detail: "the check of an xz block is wrong"}}
	default:
		d.restarts.unit(0, sumRight)
	}
	return nil
}

// index takes the Index, of which the first byte is taken, and the Stream Footer
// (sections 4 and 2.1.2).
func (d *xzDecoder) index() error {
	in := &xzIndex{in: d.in, size: 1, crc: crc32.ChecksumIEEE([]byte{0})}
	n := in.int()
	if in.err == nil && n != uint64(d.blocks) {
		return fmt.Errorf("the index of an xz stream has %d blocks, and %d were read", n, d.blocks)
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
	if err := d.full(p[:]); err != nil {
		return err
	}
	switch foot := p[4:]; {
	case binary.LittleEndian.Uint32(p[:]) != in.crc:
		return fmt.Errorf("the CRC of the index of an xz stream is wrong")
	case string(sizes.Sum(nil)) != string(d.sizes.Sum(nil)):
		return fmt.Errorf("the index of an xz stream does not fit its blocks")
	case string(foot[10:]) != xzFooterMagic, crc32.ChecksumIEEE(foot[4:10]) != binary.LittleEndian.Uint32(foot),
		[2]byte(foot[8:10]) != d.flags, (int64(binary.LittleEndian.Uint32(foot[4:]))+1)*4 != in.size+4:
		return fmt.Errorf("the footer of an xz stream makes no sense")
	}
	d.inside = false
	d.restarts.members++
	d.restarts.boundary(XZ, d.in.offset(), 0)
	return nil
}

// newXZCheck returns the check of a Check ID (section 2.1.1.2), and nil if there
// is none or none that is known.
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

// xzBytes returns a check as package hash writes one: the CRCs of the format are
// little endian.
func xzBytes(id byte, sum []byte) []byte {
	if id == 1 || id == 4 {
		slices.Reverse(sum)
	}
	return sum
}

// xzCheckSize returns how many bytes the check of a Check ID has: the format has a
// size for each, known or not.
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

// xzFields takes a Block Header apart. Once something is bad, all is.
type xzFields struct {
	rest []byte
	bad  bool
}

// int takes a Multibyte Integer (section 1.2).
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

// An xzIndex takes an Index. Once it has an error, it does nothing.
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

// int takes a Multibyte Integer.
func (x *xzIndex) int() (n uint64) {
	for i := 0; ; i++ {
		c := x.byte()
		n |= uint64(c&0x7f) << (7 * i)
		switch {
		case c < 0x80 && (i == 0 || c > 0) || x.err != nil:
			return n
		case c == 0 || i == 8:
			x.err = fmt.Errorf("a number in the index of an xz stream makes no sense")
			return 0
		}
	}
}

// padding takes a byte that must be zero.
func (x *xzIndex) padding() {
	if x.byte() != 0 && x.err == nil {
		x.err = fmt.Errorf("the padding of the index of an xz stream is not zero")
	}
}
