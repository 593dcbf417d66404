package inflate

import (
	"bufio"
	"fmt"
	"io"
)

// A CorruptError reports data that are not deflate data.
type CorruptError struct {
	Bit    int64 // the first bit of the symbol or header, counted from the first byte of the source
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt deflate data at bit %d: %s", e.Bit, e.Reason)
}

// Ahead is how many bytes a Reader may have decoded and not returned.
const Ahead = outSize - Window

// outSize is how much output a Reader holds: the window, and room for output. The
// window is moved once for each such room.
const outSize = Window + 96<<10

// A Reader decodes a stream of deflate data. It takes some 150 KiB of memory.
type Reader struct {
	bits bitReader

	out  []byte // the last Window bytes or more
	read int    // how much of out Read has delivered
	err  error

	// step decodes a part of the stream: a header, or data up to the end of their
	// block, of the input at hand or of the room in out.
	step    func(*Reader) error
	inBlock bool // of step
	pause   bool // at the end of each block
	final   bool // the block is the last
	stored  int  // bytes left of a stored block

	literals, distances *code // of the block
	own                 codes // space for those of a dynamic block
}

// NewReader returns a Reader of the stream in src. The stream, or a block of it,
// begins at a bit of the next byte, from 0, the least significant, to 7. The
// window is the output before that block, of which the Reader copies the last
// 32 KiB. If src is a [bufio.Reader] with at least 16 bytes, the Reader takes no
// byte of it that is behind the stream.
func NewReader(src io.Reader, window []byte, bit uint8) *Reader {
	r := &Reader{out: make([]byte, 0, outSize)}
	r.own.init()
	r.Reset(bufio.NewReader(src), window, bit)
	return r
}

// Reset makes r what NewReader would return, and takes no new memory.
func (r *Reader) Reset(src *bufio.Reader, window []byte, bit uint8) {
	r.bits.reset(src, bit)
	r.out = append(r.out[:0], window[max(0, len(window)-Window):]...)
	r.read, r.err, r.step = len(r.out), nil, (*Reader).header
	r.inBlock, r.pause, r.final = false, false, false
	if bit > 0 && r.bits.err != nil {
		r.err = r.bits.end()
	}
}

// Offset returns the number of the first bit that is not decoded, counted from the
// first byte of the source: the end of the stream after io.EOF, otherwise the start
// of the symbol or header that is incomplete or corrupt. It is valid once Read has
// returned an error.
func (r *Reader) Offset() int64 { return r.bits.start }

// PauseAtBlocks says whether decoding pauses at the end of each block until all before
// it is returned, so that Block can be asked there. Ends of blocks that lie ahead
// already are passed.
func (r *Reader) PauseAtBlocks(pause bool) { r.pause = pause }

// Block reports whether what Read has returned ends where a block begins. Then bit is
// the number of the block's first bit, and NewReader can begin there with Window.
func (r *Reader) Block() (bit int64, ok bool) {
	return r.bits.place(), !r.inBlock && r.err == nil && r.read == len(r.out)
}

// Window returns the last bytes that Read has returned, up to 32 KiB, with the
// window that the Reader began with before them. It is valid until the next Read.
func (r *Reader) Window() []byte { return r.out[max(0, r.read-Window):r.read] }

// Read returns decoded bytes. With or after the last one it returns how the stream
// ended: see the package comment. It returns an error of the source other than io.EOF as
// it is. It does not wait for input while it has output to return.
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

// goesOn reports whether to decode before output is returned: if there is none, and
// else as far as room and input are at hand.
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

// slide makes room in out, once Read has delivered all of it.
func (r *Reader) slide() {
	if r.read == len(r.out) && cap(r.out)-len(r.out) < fastRoom {
		r.out = r.out[:copy(r.out, r.out[len(r.out)-Window:])]
		r.read = len(r.out)
	}
}

// header begins a block. While there is output to return it does not wait for input,
// and goes back if the header is not all there.
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

// block takes the header of a block, section 3.2.3.
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

// endBlock goes on with the next header, or ends the stream.
func (r *Reader) endBlock() error {
	r.step, r.inBlock = (*Reader).header, false
	if !r.final {
		return nil
	}
	r.bits.begin()
	r.bits.align() // the rest of the byte belongs to the stream
	return io.EOF
}

// storedHeader takes the lengths of a stored block, section 3.2.4.
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

// storedData takes bytes of a stored block.
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
