package inflate

import (
	"bufio"
	"fmt"
	"io"
)

// A CorruptError reports invalid deflate data.
type CorruptError struct {
	Bit    int64 // first bit of the invalid symbol or header, counted from the first byte of the source
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt deflate data at bit %d: %s", e.Bit, e.Reason)
}

// Ahead is the maximum number of bytes that a Reader has decoded but not
// returned.
const Ahead = outSize - Window

// outSize is the size of a Reader's output buffer: the window, and space for
// new output. The Reader moves the window once per filled space.
const outSize = Window + 96<<10

// A Reader decodes a stream of deflate data. It takes about 150 KiB of memory.
type Reader struct {
	bits bitReader

	out  []byte // the last Window bytes or more
	read int    // number of bytes of out that Read has delivered
	err  error

	// step decodes a part of the stream: a header, or data until the block, the
	// available input, or the space in out ends.
	step    func(*Reader) error
	inBlock bool // step decodes data of a block
	pause   bool // pause at the end of each block
	final   bool // the current block is the last
	stored  int  // remaining bytes of a stored block

	literals, distances *code // codes of the current block
	own                 codes // space for the codes of a dynamic block
}

// NewReader returns a Reader of the stream in src, which begins with the first
// block or a later one. The block begins at the given bit of the next byte; bit
// 0 is the least significant. window is the output before that block; the
// Reader copies the last 32 KiB of it. If src is a [bufio.Reader] with a buffer
// of at least 16 bytes, the Reader consumes no byte after the stream.
func NewReader(src io.Reader, window []byte, bit uint8) *Reader {
	r := &Reader{out: make([]byte, 0, outSize)}
	r.own.init()
	r.Reset(bufio.NewReader(src), window, bit)
	return r
}

// Reset makes r equivalent to the result of NewReader, without allocating
// memory.
func (r *Reader) Reset(src *bufio.Reader, window []byte, bit uint8) {
	r.bits.reset(src, bit)
	r.out = append(r.out[:0], window[max(0, len(window)-Window):]...)
	r.read, r.err, r.step = len(r.out), nil, (*Reader).header
	r.inBlock, r.pause, r.final = false, false, false
	if bit > 0 && r.bits.err != nil {
		r.err = r.bits.end()
	}
}

// Offset returns the number of the first bit that was not decoded, counted from
// the first byte of the source. After io.EOF that is the end of the stream,
// otherwise the start of the incomplete or corrupt symbol or header. It is
// valid once Read has returned an error.
func (r *Reader) Offset() int64 { return r.bits.start }

// PauseAtBlocks sets whether decoding pauses at the end of each block until all
// output up to there is returned, so that the caller can call Block there. It
// does not affect the ends of blocks that are already decoded.
func (r *Reader) PauseAtBlocks(pause bool) { r.pause = pause }

// Block reports whether the output returned by Read ends where a block begins.
// If so, bit is the number of the block's first bit, and a new Reader can start
// there with the result of Window.
func (r *Reader) Block() (bit int64, ok bool) {
	return r.bits.place(), !r.inBlock && r.err == nil && r.read == len(r.out)
}

// Window returns the last bytes that Read has returned, up to 32 KiB, including
// the window that NewReader was given. It is valid until the next Read.
func (r *Reader) Window() []byte { return r.out[max(0, r.read-Window):r.read] }

// Read returns decoded bytes. With or after the last byte it returns how the
// stream ended: see the package comment. It returns an error of the source
// other than io.EOF unchanged. It does not wait for input while it has output
// to return.
func (r *Reader) Read(p []byte) (int, error) {
	for len(p) > 0 && r.err == nil && r.goesOn() {
		r.slide()
		if r.err = r.step(r); r.err == errShort {
			r.err = nil
			break
		}
	}
	r.bits.release()
	n := copy(p, r.out[r.read:])
	r.read += n
	if r.read == len(r.out) {
		return n, r.err
	}
	return n, nil
}

// goesOn reports whether to decode more before returning output: always if
// there is no output, otherwise only while space and input are available.
func (r *Reader) goesOn() bool {
	switch {
	case r.read == len(r.out):
		return true
	case cap(r.out)-len(r.out) < fastRoom:
		return false
	case r.inBlock:
		return r.bits.atHand() >= maxBits
	}
	return !r.pause
}

// slide makes space in out after Read has delivered all of it.
func (r *Reader) slide() {
	if r.read == len(r.out) && cap(r.out)-len(r.out) < fastRoom {
		r.out = r.out[:copy(r.out, r.out[len(r.out)-Window:])]
		r.read = len(r.out)
	}
}

// header starts a block. While there is output to return, it does not wait for
// input, and seeks back if the header is incomplete.
func (r *Reader) header() error {
	r.bits.begin()
	r.bits.nowait = r.read < len(r.out)
	err := r.block()
	r.bits.nowait = false
	if err == errShort {
		r.bits.seek(r.bits.start)
		r.step = (*Reader).header
		return err
	}
	r.inBlock = true
	return err
}

// block reads the header of a block, section 3.2.3.
func (r *Reader) block() error {
	v, err := r.bits.take(3)
	if err != nil {
		return err
	}
	r.final = v&1 != 0
	switch v >> 1 {
	case 0:
		err = r.storedHeader()
	case 1:
		r.literals, r.distances = fixedCodes()
		r.step = (*Reader).symbols
	case 2:
		err = r.dynamicCodes()
	default:
		err = r.bits.corrupt("reserved block type")
	}
	return err
}

// endBlock continues with the next header, or ends the stream.
func (r *Reader) endBlock() error {
	r.step, r.inBlock = (*Reader).header, false
	if !r.final {
		return nil
	}
	r.bits.begin()
	r.bits.align() // the rest of the byte belongs to the stream
	return io.EOF
}

// storedHeader reads the lengths of a stored block, section 3.2.4.
func (r *Reader) storedHeader() error {
	r.bits.align()
	v, err := r.bits.take(32)
	if err != nil {
		return err
	}
	if v&0xffff != ^v>>16&0xffff {
		return r.bits.corrupt("length of a stored block does not match its complement")
	}
	r.stored, r.step = int(v&0xffff), (*Reader).storedData
	return nil
}

// storedData reads bytes of a stored block.
func (r *Reader) storedData() error {
	if r.stored == 0 {
		return r.endBlock()
	}
	r.bits.begin()
	room := r.out[len(r.out):min(cap(r.out), len(r.out)+r.stored)]
	n, err := r.bits.bytes(room)
	r.out = r.out[:len(r.out)+n]
	r.stored -= n
	return err
}
