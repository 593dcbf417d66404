package compress

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/urlfold/urlfold/internal/storage/inflate"
)

// An aheadDeflate is a deflateDecoder that returns runs of an ahead where there
// are any, and otherwise decodes itself.
type aheadDeflate struct {
	in    *input
	ahead *ahead
	own   *inflate.Reader
	// may reports whether to use a run that ends n bytes after the last byte
	// that Read has returned.
	may func(n int64) bool

	start  int64  // offset in the file where Reset was called
	base   int64  // offset in the file where own was reset
	run    *run   // nil: own decodes
	left   []byte // output of run that is not yet returned
	window []byte // the window at the end of run
	pause  bool
	last   int64 // bit offset in the file of the end of the last block

	fromRuns int64 // number of bytes that came from runs, for tests
}

// Reset implements [deflateDecoder].
func (d *aheadDeflate) Reset(src *bufio.Reader, window []byte, bit uint8) {
	d.start, d.base, d.run = d.in.offset(), d.in.offset(), nil
	d.last = d.start*8 + int64(bit)
	if !d.adopt(d.start*8+int64(bit), window, 0) {
		d.own.Reset(src, window, bit)
	}
}

// adopt continues with the run that begins at the given bit of the file, if
// there is one. The argument ahead is the number of bytes in front of the
// run that Read is about to return.
func (d *aheadDeflate) adopt(bit int64, window []byte, ahead int) bool {
	r := d.ahead.at(bit, window)
	if r == nil || !d.may(int64(ahead+len(r.out))) {
		return false
	}
	if !bytes.Equal(r.window, window) && !d.sameOutput(r, window) {
		if d.ahead.index != nil {
			d.ahead.index.index.reason = fmt.Sprintf("the text before byte %d of the file is different", bit/8)
			d.ahead.checkIndex()
		}
		return false
	}
	if _, err := d.in.br.Discard(int(r.end/8 - d.in.offset())); err != nil {
		panic("compress: the input of a run is missing") // the input was loaded before the run was decoded
	}
	if !r.final {
		d.window = appendWindow(d.window[:0], window, r.out)
	}
	d.run, d.left = r, r.out
	return true
}

// sameOutput reports whether decoding with a full window leads to the same
// output as the run, although the window differs: rapidgzip stores zeros for
// bytes that no match refers to. After 32 KiB, all matches refer to the output.
func (d *aheadDeflate) sameOutput(r *run, window []byte) bool {
	if len(r.out) < maxWindow || len(window) < maxWindow {
		return false
	}
	in, _ := d.in.br.Peek(min(d.ahead.sizes.buffer, 2*maxWindow)) // Peek returns less at the end of the file
	own := make([]byte, maxWindow)
	n, _ := io.ReadFull(inflate.NewReader(bytes.NewReader(in), window, uint8(r.begin%8)), own)
	return n == len(own) && bytes.Equal(own, r.out[:n])
}

// appendWindow appends the last 32 KiB of before and out to dst.
func appendWindow(dst, before, out []byte) []byte {
	if k := maxWindow - len(out); k > 0 {
		dst = append(dst, before[max(0, len(before)-k):]...)
	}
	return append(dst, out[max(0, len(out)-maxWindow):]...)
}

// Read implements [deflateDecoder].
func (d *aheadDeflate) Read(p []byte) (n int, err error) {
	if d.run == nil {
		return d.decode(p)
	}
	n = copy(p, d.left)
	d.left = d.left[n:]
	d.fromRuns += int64(n)
	switch {
	case len(d.left) > 0:
	case d.run.final:
		return n, io.EOF
	default:
		d.next(n)
	}
	return n, nil
}

// next continues after a run. Read is about to return the last n bytes of it.
func (d *aheadDeflate) next(n int) {
	end := d.run.end
	d.run = nil
	d.ahead.arrive(end, end)
	d.last = end
	if !d.adopt(end, d.window, n) {
		d.base = d.in.offset()
		d.own.Reset(d.in.br, d.window, uint8(end%8))
	}
}

// decode decodes without goroutines, up to the next run.
func (d *aheadDeflate) decode(p []byte) (int, error) {
	blocks := d.ahead.index != nil // a run may begin at the end of any block
	d.own.PauseAtBlocks(d.pause || blocks)
	n, err := d.own.Read(p)
	if err == nil && blocks {
		if bit, ok := d.own.Block(); ok {
			d.block(d.base*8+bit, n)
		}
	}
	var corrupt *inflate.CorruptError
	if errors.As(err, &corrupt) {
		err = &inflate.CorruptError{Bit: corrupt.Bit + (d.base-d.start)*8, Reason: corrupt.Reason}
	}
	return n, err
}

// block is called at the end of a block that own has decoded. Read is about to
// return the last n bytes of the block.
func (d *aheadDeflate) block(bit int64, n int) {
	window := d.own.Window()
	d.ahead.arrive(d.last, bit)
	d.last = bit
	if !d.pause {
		d.adopt(bit, window, n)
	}
}

// PauseAtBlocks implements [deflateDecoder].
func (d *aheadDeflate) PauseAtBlocks(pause bool) { d.pause = pause }

// Block implements [deflateDecoder]. Inside a run it returns false.
func (d *aheadDeflate) Block() (int64, bool) {
	if d.run != nil {
		return 0, false
	}
	bit, ok := d.own.Block()
	return bit + (d.base-d.start)*8, ok
}

// Window implements [deflateDecoder].
func (d *aheadDeflate) Window() []byte { return d.own.Window() }
