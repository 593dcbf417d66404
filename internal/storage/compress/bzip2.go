package compress

import (
	"compress/bzip2"
	"errors"
	"io"
	"strings"
)

// A bzip2Decoder reads concatenated streams. Package bzip2 looks for the next
// stream itself, and names its errors only by their text.
//
// A block is held back until its CRC was compared: one that is damaged comes out
// as lines of another text, shuffled. A block is at most 900 kB before the run
// lengths of the format are undone: so it is with text; a run of one byte may
// make it 45 MB long.
type bzip2Decoder struct {
	in       *bzip2Input
	restarts *restarts
	r        io.Reader
	ready    []byte // verified, and not delivered yet
	held     []byte // of the block that is being read
	spare    []byte // the memory of ready, for the next block
	ended    bool   // held is all of its block
	err      error  // comes after ready
}

// firstBzip2Block is more than most blocks have.
const firstBzip2Block = 1 << 20

// A bzip2Input remembers the last two bytes that package bzip2 took, which are
// what it looked at to see whether a stream follows.
type bzip2Input struct {
	*input
	last [2]byte
	eof  bool // the end stays the end, though package bzip2 asks again
}

func (b *bzip2Input) ReadByte() (byte, error) {
	if b.eof {
		return 0, io.EOF
	}
	c, err := b.input.ReadByte()
	b.eof = err == io.EOF
	if err == nil {
		b.last[0], b.last[1] = b.last[1], c
	}
	return c, err
}

func newBzip2(in *input, restarts *restarts) *bzip2Decoder {
	b := &bzip2Input{input: in}
	return &bzip2Decoder{in: b, restarts: restarts, r: bzip2.NewReader(b)}
}

func isBzip2(head []byte) bool { return Detect(head) == Bzip2 }

func (d *bzip2Decoder) Close() {}

func (d *bzip2Decoder) Read(p []byte) (int, error) {
	for len(d.ready) == 0 && d.err == nil {
		d.fill()
	}
	n := copy(p, d.ready)
	d.ready = d.ready[n:]
	if n > 0 {
		return n, nil
	}
	return 0, d.err
}

// fill reads more of a block. Package bzip2 returns bytes of one block at a time,
// and compares its CRC in the call after its last byte: so a call that returns
// fewer bytes than it could is the last one for a block, and any other outcome of
// the next call than a wrong CRC means that the CRC is right.
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

// next reads the beginning of the next block, while what is held is all of the
// one before.
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
	d.spare = d.held[:cap(d.held)] // once it is delivered: see Read
	d.release()
	d.held, d.ended = block[:n], n < len(block)
}

// release delivers what is held.
func (d *bzip2Decoder) release() {
	d.ready, d.held = d.held, nil
	d.restarts.unit(len(d.ready), sumRight)
}

// end ends the stream with an error of package bzip2.
func (d *bzip2Decoder) end(err error) {
	d.err = err
	var s bzip2.StructuralError
	if !errors.As(err, &s) {
		d.release()
		return
	}
	switch text := string(s); {
	case strings.Contains(text, "block checksum mismatch"):
		d.held = nil
		d.err = &finding{Verdict{Kind: BadCRC, Offset: -1, Cut: true, Detail: "the CRC of a bzip2 block is wrong; the block was not read"}}
		return
	case strings.Contains(text, "checksum mismatch"):
		d.err = &finding{Verdict{Kind: BadCRC, Offset: -1, Cut: true, Detail: s.Error()}}
	case strings.Contains(text, "continuation"):
		d.err = d.in.garbage(Bzip2, d.in.offset()-2, d.in.last[:])
	}
	d.release()
}
