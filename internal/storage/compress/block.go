package compress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// A Method is a compression method of pages, with its number in the Parquet
// format.
type Method int64

// The methods that a Blocks supports.
const (
	BlockNone      Method = 0
	BlockSnappy    Method = 1
	BlockGzip      Method = 2
	BlockBrotli    Method = 4
	BlockHadoopLZ4 Method = 5
	BlockZstd      Method = 6
	BlockLZ4       Method = 7
)

// A LimitError reports that a limit was exceeded. Detail names the limit and
// its option. If a [Table] returns a LimitError, the [Verdict] is [Limit].
type LimitError struct{ Detail string }

func (e *LimitError) Error() string { return e.Detail }

// An UnsupportedError reports a file that is intact but cannot be read. If a
// [Table] returns one, the [Verdict] is [UnsupportedFormat].
type UnsupportedError struct{ Detail string }

func (e *UnsupportedError) Error() string { return e.Detail }

// A Blocks decompresses blocks whose length is known. Its memory does not
// depend on what a block announces. It is not safe for concurrent use.
type Blocks struct {
	gzip   *gzip.Reader
	brotli *brotli.Reader
	zstd   *zstd.Decoder
	flate  io.Reader
}

// Decode decompresses src into dst, which it must fill exactly. Checksums of the
// compressed data are compared.
func (b *Blocks) Decode(dst, src []byte, method Method) (err error) {
	n := 0
	switch method {
	case BlockNone:
		if n = len(src); n == len(dst) {
			copy(dst, src)
		}
	case BlockSnappy: // Decode allocates the announced length if dst is shorter
		if n, err = snappy.DecodedLen(src); err == nil && n == len(dst) {
			_, err = snappy.Decode(dst, src)
		}
	case BlockGzip:
		if b.gzip == nil {
			b.gzip = new(gzip.Reader)
		}
		if err = b.gzip.Reset(bytes.NewReader(src)); err == nil {
			return fill(dst, b.gzip)
		}
	case BlockBrotli:
		if b.brotli == nil {
			b.brotli = new(brotli.Reader)
		}
		if err = b.brotli.Reset(bytes.NewReader(src)); err == nil {
			return fill(dst, b.brotli)
		}
	case BlockZstd:
		if b.zstd == nil {
			b.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(1<<31))
		}
		if err == nil {
			var out []byte
			out, err = b.zstd.DecodeAll(src, dst[:0:len(dst)])
			n = len(out)
		}
	case BlockLZ4:
		n, err = LZ4Block(dst, src)
	case BlockHadoopLZ4:
		n, err = hadoopLZ4(dst, src)
	default:
		return fmt.Errorf("compression method %d is not supported", method)
	}
	if err == nil && n != len(dst) {
		err = fmt.Errorf("decompressed to %d bytes instead of %d", n, len(dst))
	}
	return err
}

// fill reads dst from r and checks that nothing follows, which also compares
// the checksum at the end.
func fill(dst []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	n, err := io.CopyN(io.Discard, r, 1)
	switch {
	case n > 0:
		return fmt.Errorf("decompressed to more than %d bytes", len(dst))
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// Inflate decompresses src, a deflate stream. The argument most is the
// maximum length of the result. It is in dst if the capacity of dst
// suffices, and in new memory otherwise. If the result does not fit in dst,
// Inflate decompresses src twice, because growing the memory takes several
// times as long.
func (b *Blocks) Inflate(dst, src []byte, most int) ([]byte, error) {
	if b.flate == nil {
		b.flate = flate.NewReader(nil)
	}
	for dst = dst[:min(cap(dst), most)]; ; {
		_ = b.flate.(flate.Resetter).Reset(bytes.NewReader(src), nil) // it returns no error
		n := 0
		for n < len(dst) {
			k, err := b.flate.Read(dst[n:])
			if n += k; errors.Is(err, io.EOF) {
				return dst[:n], nil
			} else if err != nil {
				return nil, err
			}
		}
		more, err := io.Copy(io.Discard, io.LimitReader(b.flate, int64(most-n)+1))
		size := n + int(more)
		switch {
		case err != nil:
			return nil, err
		case size > most:
			return nil, fmt.Errorf("decompressed to more than %d bytes", most)
		case more == 0:
			return dst, nil
		}
		dst = make([]byte, min(size+size/4, size+64<<10, most)) // the next block may be a little longer
	}
}

// hadoopLZ4 decodes blocks with the two lengths that Hadoop writes before each.
// Some writers left them out.
func hadoopLZ4(dst, src []byte) (n int, err error) {
	for rest := src; len(rest) > 0; {
		if len(rest) < 8 {
			return LZ4Block(dst, src)
		}
		size, packed := int(binary.BigEndian.Uint32(rest)), int(binary.BigEndian.Uint32(rest[4:]))
		if rest = rest[8:]; packed > len(rest) || size > len(dst)-n {
			return LZ4Block(dst, src)
		}
		k, err := LZ4Block(dst[n:n+size], rest[:packed])
		if err != nil || k != size {
			return LZ4Block(dst, src)
		}
		n, rest = n+size, rest[packed:]
	}
	return n, nil
}
