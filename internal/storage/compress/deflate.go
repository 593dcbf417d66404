package compress

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/flate"

	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/storage/inflate"
)

// Inflate selects the decoder of the deflate data in gzip members and zlib
// streams.
type Inflate uint8

// Decoders of deflate data.
const (
	InflateOwn       Inflate = iota // package inflate
	InflateKlauspost                // github.com/klauspost/compress: slower, and without restart points inside a member
)

var inflateNames = []string{"own", "klauspost"}

// InflateNames returns the names of the decoders in a new slice, the default
// first.
func InflateNames() []string { return append([]string(nil), inflateNames...) }

// ParseInflate returns the decoder with the given name. The empty name means
// the default. The error for an unknown name suggests a similar one.
func ParseInflate(name string) (Inflate, error) {
	if name == "" {
		return InflateOwn, nil
	}
	i, err := suggest.Index("decoder", inflateNames, name)
	return Inflate(i), err
}

// A deflateDecoder decodes deflate data. See [inflate.Reader] for its methods.
type deflateDecoder interface {
	io.Reader
	Reset(src *bufio.Reader, window []byte, bit uint8)
	PauseAtBlocks(pause bool)
	Block() (bit int64, ok bool)
	Window() []byte
}

// newDeflate returns a decoder of the deflate data from the next byte of src
// on.
func newDeflate(src *bufio.Reader, which Inflate) deflateDecoder {
	if which == InflateKlauspost {
		return &libraryDeflate{flate.NewReader(src)}
	}
	return inflate.NewReader(src, nil, 0)
}

// libraryDeflate decodes with the library. It has no restart points inside
// the deflate data.
type libraryDeflate struct{ r io.ReadCloser }

// Reset implements [deflateDecoder]. Data begins at the first bit of a byte and
// without a window, because there are no restart points.
func (l *libraryDeflate) Reset(src *bufio.Reader, _ []byte, _ uint8) {
	_ = l.r.(flate.Resetter).Reset(src, nil) // it returns no error
}

// Read implements [deflateDecoder].
func (l *libraryDeflate) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) {
		err = &inflate.CorruptError{Bit: int64(corrupt) * 8, Reason: "invalid symbol, code or distance"}
	}
	return n, err
}

func (*libraryDeflate) PauseAtBlocks(bool)   {}
func (*libraryDeflate) Block() (int64, bool) { return 0, false }
func (*libraryDeflate) Window() []byte       { return nil }
