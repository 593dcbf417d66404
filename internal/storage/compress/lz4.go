package compress

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"
)

// An lz4Decoder reads concatenated frames. It parses the frames itself and uses
// only the block decoder of package lz4, because the Reader of that package
// does not report where a frame ends, what a checksum covers, or which part of
// a damaged block it decoded.
type lz4Decoder struct {
	in       *input
	restarts *restarts
	note     func(Verdict)
	begun    bool // a frame was read before

	frame *lz4Frame // current frame; nil: between frames
	data  []byte    // compressed block
	out   []byte    // decompressed window and block
	rest  []byte    // part of out that is not delivered yet
	err   error     // returned after rest
}

// An lz4Frame is the state of the current frame.
type lz4Frame struct {
	legacy   bool
	linked   bool // blocks refer to earlier blocks
	blockSum bool
	content  *xxh32 // nil: no content checksum
	sized    bool
	want     uint64 // decompressed size that the header declares, if sized
	size     uint64 // decompressed bytes until now
	max      int    // maximum decompressed size of a block
}

// Constants of the LZ4 frame format 1.6.
const (
	lz4Magic       = 0x184d2204
	lz4MagicLegacy = 0x184c2102
	lz4LegacyBlock = 8 << 20
	lz4Stored      = 1 << 31 // bit in the size of a block that is not compressed
	lz4Window      = 64 << 10

	// Bits of FLG.
	lz4Dictionary  = 1 << 0
	lz4ContentSum  = 1 << 2
	lz4ContentSize = 1 << 3
	lz4BlockSum    = 1 << 4
	lz4Independent = 1 << 5
)

func (d *lz4Decoder) Close() {}

func (d *lz4Decoder) Read(p []byte) (int, error) {
	if len(d.rest) == 0 && d.err == nil {
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

// begin reads the header of a frame, or a skippable frame.
func (d *lz4Decoder) begin() error {
	if d.begun {
		if err := d.in.following(LZ4, d.note); err != nil {
			return err
		}
	}
	d.begun = true
	var p [15]byte
	if err := d.in.full(p[:4]); err != nil {
		return err
	}
	switch magic := binary.LittleEndian.Uint32(p[:]); {
	case isSkippable(p[:4]):
		if err := d.in.full(p[:4]); err != nil {
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
	return fmt.Errorf("invalid magic number of an lz4 frame")
}

// descriptor reads a Frame Descriptor into p, which must be large enough.
func (d *lz4Decoder) descriptor(p []byte) error {
	if err := d.in.full(p[:3]); err != nil {
		return err
	}
	flags, size := p[0], 3
	if flags&lz4ContentSize != 0 {
		size += 8
	}
	if flags&lz4Dictionary != 0 {
		size += 4
	}
	if err := d.in.full(p[3:size]); err != nil {
		return err
	}
	blockSize := p[1] >> 4 & 7
	switch {
	case p[size-1] != byte(xxh32Of(p[:size-1])>>8):
		return fmt.Errorf("lz4 frame header checksum does not match")
	case flags>>6 != 1 || flags&2 != 0 || p[1]&0x8f != 0 || blockSize < 4:
		return fmt.Errorf("lz4 frame header has invalid flags %02x %02x", flags, p[1])
	case flags&lz4Dictionary != 0:
		return &finding{Verdict{Kind: UnsupportedFormat, Offset: -1, Cut: true, Detail: "lz4 frames with a dictionary are not supported"}}
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

// block reads a block or the end of the frame.
func (d *lz4Decoder) block() error {
	f := d.frame
	if f.legacy && d.legacyEnd() {
		d.frameEnd(sumAbsent)
		return nil
	}
	var p [4]byte
	if err := d.in.full(p[:]); err != nil {
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
		return fmt.Errorf("lz4 block of %d bytes exceeds the limit of %d", n, limit)
	}
	return d.decode(int(n), stored)
}

// decode reads a block of n bytes and its checksum. If a block without a
// checksum is invalid or truncated, decode delivers the part before the damage.
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
		if err := d.in.full(sum[:]); err != nil {
			return err
		}
		if binary.LittleEndian.Uint32(sum[:]) != xxh32Of(data) {
			return &finding{Verdict{Kind: BadCRC, Offset: at, Cut: true, Detail: "lz4 block checksum does not match; the block was discarded"}}
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
			k, err = lz4Before(block, data, dict), fmt.Errorf("invalid lz4 block")
		}
	}
	block = block[:k]
	f.size += uint64(k)
	if f.content != nil {
		f.content.write(block)
	}
	d.out = d.out[:len(d.out)+k]
	d.rest = block
	if f.blockSum {
		d.restarts.unit(k, sumRight)
	}
	return noEOF(err)
}

// window returns the bytes of out that the next block may refer to, and ensures
// that out has capacity for the block after them.
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

// endMark reads the data after the last block of a frame.
func (d *lz4Decoder) endMark() error {
	f := d.frame
	at := d.in.offset()
	state := sumAbsent
	if f.blockSum {
		state = sumRight
	}
	if f.content != nil {
		var sum [4]byte
		if err := d.in.full(sum[:]); err != nil {
			return err
		}
		state = sumRight
		if got, want := f.content.sum(), binary.LittleEndian.Uint32(sum[:]); got != want {
			state = sumWrong
			d.note(Verdict{Kind: BadCRC, Offset: at, Detail: fmt.Sprintf("lz4 frame checksum mismatch: the data has %08x, the frame %08x", got, want)})
		}
	}
	if f.sized && f.size != f.want {
		d.note(Verdict{Kind: BadCRC, Offset: at, Detail: fmt.Sprintf("lz4 frame size mismatch: the data has %d bytes, the header says %d", f.size, f.want)})
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

// ended records that another frame may begin here.
func (d *lz4Decoder) ended() { d.restarts.boundary(LZ4, d.in.offset(), 0) }

// legacyEnd reports whether a legacy frame ends here: at the end of the file,
// or before the magic number of another frame. The Linux kernel build appends
// the uncompressed size, which legacyEnd consumes.
func (d *lz4Decoder) legacyEnd() bool {
	head, _ := d.in.br.Peek(5)
	switch {
	case zero(head[:min(len(head), 4)]): // the end of the file, or padding
		return true
	case len(head) < 4:
		return false
	case isLZ4(head):
		return true
	}
	if len(head) == 4 && binary.LittleEndian.Uint32(head) == uint32(d.frame.size) {
		_, _ = d.in.br.Discard(4) // buffered, so this cannot fail
		return true
	}
	return false
}

// LZ4Block decodes an LZ4 block without a frame into dst, which is as long as
// its text, and returns the length of the text. dst and src must not overlap.
func LZ4Block(dst, src []byte) (int, error) { return lz4.UncompressBlock(src, dst) }

// lz4Before decodes a block up to its first invalid or missing sequence and
// returns the number of bytes written to dst, which package lz4 does not
// report. It is a straightforward decoder of the LZ4 block format, sequence by
// sequence.
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

// lz4Length reads the additional bytes of a length that starts with the nibble
// n. If they are truncated it returns the minimum of the length, and false.
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
