package compress

import (
	"bufio"
	"io"
	"sync/atomic"
)

// bufferSize is the size of our buffer in front of every decoder.
const bufferSize = 256 << 10

// maxEmptyReads is how often a file may return nothing and no error, one time
// after the other.
const maxEmptyReads = 100

// A raw counts what comes from the file and remembers how it failed.
type raw struct {
	src io.Reader
	n   atomic.Int64
	err error // other than io.EOF
}

// Read returns at least one byte or an error: not every decoder bears less.
func (r *raw) Read(p []byte) (int, error) {
	n, err := r.src.Read(p)
	for tries := 0; n == 0 && err == nil; tries++ {
		if tries == maxEmptyReads {
			err = io.ErrNoProgress
			break
		}
		n, err = r.src.Read(p)
	}
	r.n.Add(int64(n))
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// An input is the compressed stream as decoders see it. Reading through its
// methods notes whether a decoder asked for more than there is: that, whatever
// error the decoder makes of it, is what truncation means.
type input struct {
	raw   raw
	base  int64 // where src begins in the file
	br    *bufio.Reader
	short int // how often a decoder met the end of the file
}

func newInput(src io.Reader) *input {
	in := &input{raw: raw{src: src}}
	in.br = bufio.NewReaderSize(&in.raw, bufferSize)
	return in
}

func (in *input) Read(p []byte) (int, error) {
	n, err := in.br.Read(p)
	if err == io.EOF {
		in.short++
	}
	return n, err
}

func (in *input) ReadByte() (byte, error) {
	c, err := in.br.ReadByte()
	if err == io.EOF {
		in.short++
	}
	return c, err
}

// offset returns how many bytes of the file decoders have taken.
func (in *input) offset() int64 { return in.raw.n.Load() - int64(in.br.Buffered()) }

// head returns the first bytes, without taking them: as many as it takes to see
// which magic they are, or that they are none. It does not wait for more than
// it needs, because the other end of a pipe may be slow.
func (in *input) head() []byte {
	for n := 1; ; n++ {
		head, err := in.br.Peek(n)
		if _, found, partial := find(head); err != nil || found || !partial {
			return head
		}
	}
}

// atEnd reports whether the file ends here.
func (in *input) atEnd() bool {
	_, err := in.br.Peek(1)
	return err != nil
}

// skipZeros takes zero bytes and returns how many there were.
func (in *input) skipZeros() (n int64) {
	for {
		if _, err := in.br.Peek(1); err != nil {
			return n
		}
		buf, _ := in.br.Peek(in.br.Buffered())
		k := 0
		for k < len(buf) && buf[k] == 0 {
			k++
		}
		_, _ = in.br.Discard(k) // they are in the buffer
		n += int64(k)
		if k < len(buf) {
			return n
		}
	}
}

// forget takes what was read from the file, and reads no more: a file that has
// grown since its end was met is not at its end.
func (in *input) forget() { _, _ = in.br.Discard(in.br.Buffered()) } // all of it is there

// drain takes all that is left and returns how much that was.
func (in *input) drain() int64 {
	n, _ := io.Copy(io.Discard, in.br) // an error of the file stays in raw.err
	return n
}
