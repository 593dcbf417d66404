package compress

import (
	"bufio"
	"io"
	"sync/atomic"
)

// bufferSize is the size of the input buffer before every decoder.
const bufferSize = 256 << 10

// maxEmptyReads is the number of consecutive reads that may return no bytes and
// no error.
const maxEmptyReads = 100

// A raw counts the bytes read from the file and stores the file's error.
type raw struct {
	src io.Reader
	n   atomic.Int64
	err error // error other than io.EOF
}

// Read returns at least one byte or an error, because some decoders cannot
// handle an empty read.
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

// An input is the compressed stream that decoders read. Its methods record
// whether a decoder tried to read beyond the end of the file. This is how
// truncation is detected, whatever error the decoder returns.
type input struct {
	raw   raw
	base  int64 // offset of src in the file
	br    *bufio.Reader
	short int // number of reads at the end of the file
}

// newInput returns an input that reads src with a buffer of the given size.
func newInput(src io.Reader, size int) *input {
	in := &input{raw: raw{src: src}}
	in.br = bufio.NewReaderSize(&in.raw, size)
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

// full fills p. The error is io.ErrUnexpectedEOF if the file ends before p is full.
func (in *input) full(p []byte) error {
	_, err := io.ReadFull(in, p)
	return noEOF(err)
}

// offset returns the number of bytes of the file that decoders have consumed.
func (in *input) offset() int64 { return in.raw.n.Load() - int64(in.br.Buffered()) }

// head returns the first bytes without consuming them: just enough to match a
// magic or to rule out all of them. It does not wait for more bytes, because
// the other end of a pipe may be slow.
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

// skipZeros consumes zero bytes and returns their number.
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
		_, _ = in.br.Discard(k) // buffered, so this cannot fail
		n += int64(k)
		if k < len(buf) {
			return n
		}
	}
}

// drain consumes the remaining bytes and returns their number.
func (in *input) drain() int64 {
	n, _ := io.Copy(io.Discard, in.br) // an error of the file is kept in raw.err
	return n
}
