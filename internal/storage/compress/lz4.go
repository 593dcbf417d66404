package compress

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"
)

// An lz4Decoder reads concatenated frames. It does its own frames around the
// block decoder of package lz4, and not the Reader there, because where a frame
// ends, which checksum covers what, and what was decoded of a damaged block are
// asked for here and not said there.
type lz4Decoder struct {
	in       *input
	restarts *restarts
	note     func(Verdict)
	begun    bool // there was a frame before

	frame *lz4Frame // nil: between frames
	data  []byte    // compressed, of a block
	out   []byte    // decompressed: the window, and a block
	rest  []byte    // of out, not delivered yet
	err   error     // comes after rest
}

// An lz4Frame is the frame that is being read.
type lz4Frame struct {
	legacy   bool
	linked   bool // blocks refer to those before
	blockSum bool
	content  *xxh32 // nil: there is no content checksum
	sized    bool
	want     uint64 // decompressed bytes of the frame, if sized
	size     uint64 // so far
	max      int    // decompressed bytes of a block
}

// Of the LZ4 frame format 1.6.
const (
	lz4Magic       = 0x184d2204
	lz4MagicLegacy = 0x184c2102
	lz4LegacyBlock = 8 << 20
	lz4Stored      = 1 << 31 // a bit of the size of a block that is not compressed
	lz4Window      = 64 << 10

	// Bits of FLG.
	lz4Dictionary  = 1 << 0
	lz4ContentSum  = 1 << 2
	lz4ContentSize = 1 << 3
	lz4BlockSum    = 1 << 4
	lz4Independent = 1 << 5
)

func newLZ4(in *input, restarts *restarts, note func(Verdict), later bool) *lz4Decoder {
	return &lz4Decoder{in: in, restarts: restarts, note: note, begun: later}
}

func (d *lz4Decoder) Close() {}

func (d *lz4Decoder) Read(p []byte) (int, error) {
	for len(d.rest) == 0 && d.err == nil {
		if d.frame == nil {
			d.err = d.begin()
		} else {
			d.err = d.block()
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	if n > 0 {
		return n, nil
	}
	return 0, d.err
}

// isLZ4 reports whether head is the magic of a frame or of a skippable frame.
func isLZ4(head []byte) bool { return Detect(head) == LZ4 || isSkippable(head) }

func isSkippable(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == skippableTail
}

// full takes len(p) bytes.
func (d *lz4Decoder) full(p []byte) error {
	_, err := io.ReadFull(d.in, p)
	return noEOF(err)
}

// begin takes the header of a frame, or a skippable frame.
func (d *lz4Decoder) begin() error {
	if d.begun {
		if err := d.in.following(LZ4, isLZ4, d.note); err != nil {
			return err
		}
	}
	d.begun = true
	var p [15]byte
	if err := d.full(p[:4]); err != nil {
		return err
	}
	switch magic := binary.LittleEndian.Uint32(p[:]); {
	case isSkippable(p[:4]):
		if err := d.full(p[:4]); err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, d.in, int64(binary.LittleEndian.Uint32(p[:]))); err != nil {
			return noEOF(err)
		}
		d.ended()
		return nil
	case magic == lz4MagicLegacy:
		d.frame = &lz4Frame{legacy: true, max: lz4LegacyBlock}
		d.restarts.sums.unsummed = true
		return nil
	case magic == lz4Magic:
		return d.descriptor(p[:])
	}
	return fmt.Errorf("no lz4 frame begins here")
}

// descriptor takes a Frame Descriptor, for which p has room.
func (d *lz4Decoder) descriptor(p []byte) error {
	if err := d.full(p[:3]); err != nil {
		return err
	}
	flags, size := p[0], 3
	if flags&lz4ContentSize != 0 {
		size += 8
	}
	if flags&lz4Dictionary != 0 {
		size += 4
	}
	if err := d.full(p[3:size]); err != nil {
		return err
	}
	blockSize := p[1] >> 4 & 7
	switch {
	case p[size-1] != byte(xxh32Of(p[:size-1])>>8):
		return fmt.Errorf("the checksum of an lz4 frame header is wrong")
	case flags>>6 != 1 || flags&2 != 0 || p[1]&0x8f != 0 || blockSize < 4:
		return fmt.Errorf("an lz4 frame header has flags %02x %02x", flags, p[1])
	case flags&lz4Dictionary != 0:
		return &finding{Verdict{Kind: UnsupportedFormat, Offset: -1, Cut: true, Detail: "an lz4 frame that needs a dictionary"}}
	}
	f := &lz4Frame{linked: flags&lz4Independent == 0, blockSum: flags&lz4BlockSum != 0, max: 256 << (2 * blockSize)}
	if flags&lz4ContentSize != 0 {
		f.sized, f.want = true, binary.LittleEndian.Uint64(p[2:])
	}
	if flags&lz4ContentSum != 0 {
		f.content = newXXH32()
	}
	if !f.blockSum && f.content == nil {
		d.restarts.sums.unsummed = true
	}
	d.frame, d.out = f, d.out[:0]
	return nil
}

// block takes a block, or the end of the frame.
func (d *lz4Decoder) block() error {
	f := d.frame
	if f.legacy && d.legacyEnd() {
		d.frameEnd(sumAbsent)
		return nil
	}
	var p [4]byte
	if err := d.full(p[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(p[:])
	if n == 0 && !f.legacy {
		return d.endMark()
	}
	stored := n&lz4Stored != 0 && !f.legacy
	if stored {
		n &^= lz4Stored
	}
	if limit := f.max; int64(n) > int64(limit) && !(f.legacy && int64(n) <= int64(lz4.CompressBlockBound(limit))) {
		return fmt.Errorf("an lz4 block of %d bytes, where at most %d are allowed", n, limit)
	}
	return d.decode(int(n), stored)
}

// decode takes a block of n bytes and its checksum. Of one without a checksum that
// makes no sense, or that the file ends in, it delivers what comes before the damage.
func (d *lz4Decoder) decode(n int, stored bool) error {
	f := d.frame
	if cap(d.data) < n {
		d.data = make([]byte, max(n, f.max))
	}
	k, err := io.ReadFull(d.in, d.data[:n])
	data := d.data[:k]
	if err == nil && f.blockSum {
		var sum [4]byte
		at := d.in.offset()
		if err := d.full(sum[:]); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(sum[:]) != xxh32Of(data) {
			return &finding{Verdict{Kind: BadCRC, Offset: at, Cut: true, Detail: "the checksum of an lz4 block is wrong; the block was not read"}}
		}
	}
	if err != nil && f.blockSum {
		return noEOF(err)
	}
	dict := d.window()
	block := d.out[len(d.out) : len(d.out)+f.max]
	switch {
	case stored:
		k = copy(block, data)
	case err != nil:
		k = lz4Before(block, data, dict)
	default:
		if k, err = lz4.UncompressBlockWithDict(data, block, dict); err != nil {
			k, err = lz4Before(block, data, dict), fmt.Errorf("an lz4 block makes no sense")
		}
	}
	d.deliver(block[:k])
	return noEOF(err)
}

// window makes room behind the bytes that the next block may refer to, in out, and
// returns them.
func (d *lz4Decoder) window() (dict []byte) {
	f := d.frame
	if !f.linked {
		d.out = d.out[:0]
	}
	if need := 2*lz4Window + f.max; cap(d.out) < need {
		d.out = append(make([]byte, 0, need), d.out...)
	}
	if len(d.out) > lz4Window {
		d.out = d.out[:copy(d.out, d.out[len(d.out)-lz4Window:])]
	}
	return d.out
}

// deliver hands out a block.
func (d *lz4Decoder) deliver(block []byte) {
	f := d.frame
	f.size += uint64(len(block))
	if f.content != nil {
		f.content.write(block)
	}
	d.out = d.out[:len(d.out)+len(block)]
	d.rest = block
	if f.blockSum {
		d.restarts.unit(len(block), sumRight)
	}
}

// endMark takes what follows the last block of a frame.
func (d *lz4Decoder) endMark() error {
	f := d.frame
	at := d.in.offset()
	state := sumAbsent
	if f.blockSum {
		state = sumRight
	}
	if f.content != nil {
		var sum [4]byte
		if err := d.full(sum[:]); err != nil {
			return err
		}
		state = sumRight
		if got, want := f.content.sum(), binary.LittleEndian.Uint32(sum[:]); got != want {
			state = sumWrong
			d.note(Verdict{Kind: BadCRC, Offset: at, Detail: fmt.Sprintf("the checksum of an lz4 frame is %08x, the frame says %08x", got, want)})
		}
	}
	if f.sized && f.size != f.want {
		d.note(Verdict{Kind: BadCRC, Offset: at, Detail: fmt.Sprintf("an lz4 frame has %d bytes, its header says %d", f.size, f.want)})
	}
	d.frameEnd(state)
	return nil
}

func (d *lz4Decoder) frameEnd(state sumState) {
	d.frame = nil
	d.restarts.unit(0, state)
	d.restarts.members++
	d.ended()
}

// ended notes that another frame may begin here.
func (d *lz4Decoder) ended() { d.restarts.boundary(LZ4, d.in.offset(), 0) }

// legacyEnd reports whether a legacy frame ends here: it does at the end of the
// file and where the magic of another frame stands. Linux appends the size of what
// it compressed.
func (d *lz4Decoder) legacyEnd() bool {
	head, _ := d.in.br.Peek(5)
	switch {
	case len(head) == 0:
		return true
	case len(head) < 4:
		return false
	case isLZ4(head):
		return true
	}
	if len(head) == 4 && binary.LittleEndian.Uint32(head) == uint32(d.frame.size) {
		_, _ = d.in.br.Discard(4) // they are in the buffer
		return true
	}
	return false
}

// lz4Before decodes a block up to where it makes no sense, or ends, and returns
// how many bytes of dst it has written. Package lz4 does not say. It is the plain
// way, sequence by sequence, of the LZ4 block format.
func lz4Before(dst, src, dict []byte) (n int) {
	for len(src) > 0 {
		token := src[0]
		src = src[1:]
		size, rest, ok := lz4Length(int(token>>4), src)
		if !ok {
			return n
		}
		size = min(size, len(rest), len(dst)-n)
		n += copy(dst[n:], rest[:size])
		src = rest[size:]
		if len(src) < 2 {
			return n
		}
		offset := int(binary.LittleEndian.Uint16(src))
		length, rest, ok := lz4Length(int(token&15), src[2:])
		if offset == 0 || offset > n+len(dict) {
			return n
		}
		src = rest
		for range min(length+4, len(dst)-n) {
			if from := n - offset; from < 0 {
				dst[n] = dict[len(dict)+from]
			} else {
				dst[n] = dst[from]
			}
			n++
		}
		if !ok || n == len(dst) {
			return n
		}
	}
	return n
}

// lz4Length takes the further bytes of a length, of which a nibble is known. If
// they are cut off it returns the least that the length can be, and false.
func lz4Length(n int, src []byte) (length int, rest []byte, ok bool) {
	if n < 15 {
		return n, src, true
	}
	for i, c := range src {
		n += int(c)
		if c < 255 {
			return n, src[i+1:], true
		}
	}
	return n, nil, false
}
