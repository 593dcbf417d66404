package compress

import (
	"compress/bzip2"
	"errors"
	"io"
	"strings"
)

// A bzip2Decoder reads concatenated streams. Package bzip2 finds the next
// stream itself, and its errors can only be distinguished by their text.
//
// A block is held back until its CRC is compared, because a damaged block
// decodes to scrambled text. A block has at most 900 kB before the run-length
// decoding of the format. A block of text hardly grows by this decoding; a
// block of one repeated byte can grow to 45 MB.
type bzip2Decoder struct {
	in       *bzip2Input
	restarts *restarts
	note     func(Verdict)
	later    bool // a stream was read before: another stream may follow here
	r        io.Reader
	ready    []byte // verified bytes that are not delivered yet
	held     []byte // bytes of the current block
	spare    []byte // the memory of ready, for the next block
	ended    bool   // held is the complete block
	err      error  // returned after ready
}

// firstBzip2Block is larger than most blocks.
const firstBzip2Block = 1 << 20

// A bzip2Input remembers the last bytes that package bzip2 read, because it
// reads beyond the end of a stream without saying so.
type bzip2Input struct {
	*input
	hi, lo uint64 // the last 16 bytes
	eof    bool   // the end was reached, and repeated reads keep returning it
}

func (b *bzip2Input) ReadByte() (byte, error) {
	if b.eof {
		return 0, io.EOF
	}
	c, err := b.input.ReadByte()
	b.eof = err == io.EOF
	if err == nil {
		b.hi, b.lo = b.hi<<8|b.lo>>56, b.lo<<8|uint64(c)
	}
	return c, err
}

// oneMore reports whether the bytes read last are the end of a stream (its end
// mark, a CRC of 32 bits, and up to 7 bits of padding) and one more byte.
func (b *bzip2Input) oneMore() bool {
	const endMark, mask = 0x177245385090, 1<<48 - 1
	for after := 8 + 32; after < 8+32+8; after++ {
		if (b.hi<<(64-after)|b.lo>>after)&mask == endMark {
			return true
		}
	}
	return false
}

// trailing returns the finding for the bytes after the last stream. Package
// bzip2 has read the first n of them.
func (b *bzip2Input) trailing(n int) error {
	at := b.offset() - int64(n)
	if b.lo<<(64-8*n) == 0 {
		b.skipZeros()
	}
	if b.lo<<(64-8*n) != 0 || !b.atEnd() {
		return b.foreign(at)
	}
	return padding(at, b.offset()-at)
}

func newBzip2(in *input, restarts *restarts, note func(Verdict), later bool) *bzip2Decoder {
	b := &bzip2Input{input: in}
	return &bzip2Decoder{in: b, restarts: restarts, note: note, later: later, r: bzip2.NewReader(b)}
}

func (d *bzip2Decoder) Close() {}

func (d *bzip2Decoder) Read(p []byte) (int, error) {
	if d.later { // package bzip2 must start at a stream
		d.later = false
		d.err = d.in.following(Bzip2, d.note)
	}
	if len(d.ready) == 0 && d.err == nil {
		d.fill()
	}
	n := copy(p, d.ready)
	d.ready = d.ready[n:]
	if n > 0 {
		return n, nil
	}
	return 0, d.err
}

// fill reads more of a block. Package bzip2 returns bytes of one block at a
// time, and compares the CRC of a block in the call after its last byte. A call
// that returns fewer bytes than it could is therefore the last one for a block,
// and any result of the next call except a CRC error means that the CRC is
// right.
func (d *bzip2Decoder) fill() {
	if len(d.held) == cap(d.held) {
		d.held = append(make([]byte, 0, max(2*cap(d.held), firstBzip2Block)), d.held...)
	}
	if d.ended {
		d.next()
		return
	}
	free := d.held[len(d.held):cap(d.held)]
	n, err := d.r.Read(free)
	if err != nil {
		d.end(err)
		return
	}
	d.ended = n < len(free)
	d.held = d.held[:len(d.held)+n]
}

// next reads the beginning of the next block while held is the complete
// previous block.
func (d *bzip2Decoder) next() {
	if d.spare == nil {
		d.spare = make([]byte, firstBzip2Block)
	}
	n, err := d.r.Read(d.spare)
	if err != nil {
		d.end(err)
		return
	}
	block := d.spare
	d.spare = d.held[:cap(d.held)] // reuse the block that Read has delivered
	d.release()
	d.held, d.ended = block[:n], n < len(block)
}

// release makes the held bytes ready for delivery.
func (d *bzip2Decoder) release() {
	d.ready, d.held = d.held, nil
	d.restarts.unit(len(d.ready), sumRight)
}

// end ends the stream with an error of package bzip2.
func (d *bzip2Decoder) end(err error) {
	d.err = err
	var s bzip2.StructuralError
	if !errors.As(err, &s) {
		if err == io.ErrUnexpectedEOF && byte(d.in.lo) != 'B' && d.in.oneMore() {
			d.err = d.in.trailing(1)
		}
		d.release()
		return
	}
	switch text := string(s); {
	case strings.Contains(text, "block checksum mismatch"):
		d.held = nil
		d.err = &finding{Verdict{Kind: BadCRC, Offset: -1, Cut: true, Detail: "bzip2 block CRC does not match; the block was discarded"}}
		return
	case strings.Contains(text, "checksum mismatch"):
		d.err = &finding{Verdict{Kind: BadCRC, Offset: -1, Cut: true, Detail: s.Error()}}
	case strings.Contains(text, "continuation"):
		d.err = d.in.trailing(2)
	}
	d.release()
}
