package compress

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Resume continues a member that another MemberWriter has left open. src is the
// member up to a flush, and end is what End returned there. Resume compresses the text
// of src again: if that yields src, w is in the state of the other MemberWriter, and
// later text can refer to the text in src. Otherwise, for example after a change of
// the level, Resume returns false and no member is open.
func (w *MemberWriter) Resume(src []byte, end string) bool {
	w.Drop()
	r := &replay{w: w, src: src, flushes: flushes(w.format, bytes.NewReader(src))}
	_ = r.run() // run always fails, because the member is incomplete
	if r.compared == len(src) && len(src) > 0 && w.End() == end {
		return true
	}
	w.Drop()
	return false
}

// A replay passes the text from a decoder of src to the encoder of w. When the
// decoder reads the byte after a flush, it has written all text before the flush.
type replay struct {
	w        *MemberWriter
	src      []byte
	flushes  []int64 // flushes that the decoder has not passed
	n        int     // bytes of src that the decoder has read
	compared int     // bytes of src that the encoder has reproduced
	packed   []byte  // output of the encoder that is not yet compared
}

// run decodes src until it differs from what the encoder writes.
func (r *replay) run() error {
	if r.w.format == Gzip {
		dec, err := gzip.NewReader(r)
		if err == nil {
			_, err = io.Copy(r, dec)
		}
		return err
	}
	dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		return err
	}
	defer dec.Close()
	_, err = io.Copy(r, dec)
	return err
}

// Write implements [io.Writer] for the decoder.
func (r *replay) Write(p []byte) (int, error) {
	r.packed = r.w.Append(r.packed, p)
	return len(p), nil
}

var errDiffers = errors.New("the encoder wrote different bytes than the file has")

// Read implements [io.Reader] for the decoder.
func (r *replay) Read(p []byte) (int, error) {
	if len(r.flushes) > 0 && r.n == int(r.flushes[0]) {
		r.packed, r.flushes = r.w.Flush(r.packed), r.flushes[1:]
		if !bytes.Equal(r.packed, r.src[r.compared:r.n]) {
			return 0, errDiffers
		}
		r.compared, r.packed = r.n, r.packed[:0]
	}
	if len(r.flushes) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.src[r.n:r.flushes[0]])
	r.n += n
	return n, nil
}

// ReadByte implements [io.ByteReader], so that the decoder reads no byte too early.
func (r *replay) ReadByte() (byte, error) {
	var b [1]byte
	_, err := r.Read(b[:])
	return b[0], err
}
