package parquet

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	codecs "github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/brotli"
	"github.com/parquet-go/parquet-go/compress/gzip"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/compress/snappy"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// An encoder encodes the values of a page, as a source returns them.
type encoder struct {
	leaf    *leaf
	enc     int64
	n       int
	buf     []byte
	offsets []uint32 // offsets of byte strings in buf
	ints    []int64
	max     int64 // maximum of ints
}

// reset begins a page.
func (e *encoder) reset(enc int64) {
	e.enc, e.n, e.max = enc, 0, 0
	e.buf, e.offsets, e.ints = e.buf[:0], append(e.offsets[:0], 0), e.ints[:0]
}

// add adds a value.
func (e *encoder) add(v []byte) {
	switch {
	case e.enc == encPlain && e.leaf.typ == typeBytes:
		e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(len(v)))
		e.buf = append(e.buf, v...)
	case e.enc == encPlain && e.leaf.typ == typeBoolean:
		if e.n%8 == 0 {
			e.buf = append(e.buf, 0)
		}
		e.buf[e.n/8] |= v[0] << (e.n % 8)
	case e.enc == encPlain, e.enc == encByteSplit:
		e.buf = append(e.buf, v...)
	case e.enc == encDeltaLength, e.enc == encDeltaBytes:
		e.buf = append(e.buf, v...)
		e.offsets = append(e.offsets, uint32(len(e.buf)))
	default:
		e.index(int64(binary.LittleEndian.Uint64(v)))
		return
	}
	e.n++
}

// index adds an index or another integer.
func (e *encoder) index(v int64) {
	e.ints, e.max, e.n = append(e.ints, v), max(e.max, v), e.n+1
}

// size returns the approximate memory of the values in bytes.
func (e *encoder) size() int { return len(e.buf) + 4*len(e.offsets) + 8*len(e.ints) }

// bytes appends the encoded values to dst.
func (e *encoder) bytes(dst []byte) (_ []byte, err error) {
	var out []byte
	switch {
	case e.enc == encPlain:
		return append(dst, e.buf...), nil
	case e.enc == encByteSplit:
		for k := range e.leaf.width {
			for i := range e.n {
				dst = append(dst, e.buf[i*e.leaf.width+k])
			}
		}
		return dst, nil
	case e.enc == encDeltaLength:
		out, err = new(delta.LengthByteArrayEncoding).EncodeByteArray(nil, e.buf, e.offsets)
	case e.enc == encDeltaBytes:
		out, err = new(delta.ByteArrayEncoding).EncodeByteArray(nil, e.buf, e.offsets)
	case e.enc == encDelta && e.leaf.typ == typeInt64:
		out, err = new(delta.BinaryPackedEncoding).EncodeInt64(nil, e.ints)
	case e.enc == encDelta:
		out, err = new(delta.BinaryPackedEncoding).EncodeInt32(nil, e.int32s())
	default: // indexes and booleans
		width := bits.Len64(uint64(max(e.max, 1)))
		if out, err = (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, e.int32s()); e.enc == encRLE {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(out)))
		} else {
			dst = append(dst, byte(width))
		}
	}
	return append(dst, out...), err
}

func (e *encoder) int32s() []int32 {
	list := make([]int32, len(e.ints))
	for i, v := range e.ints {
		list[i] = int32(v) //nolint:gosec // deltas of INT32 wrap
	}
	return list
}

// pageCodecs compress pages.
var pageCodecs = map[compress.Method]codecs.Codec{
	compress.BlockSnappy: new(snappy.Codec),
	compress.BlockGzip:   new(gzip.Codec),
	compress.BlockBrotli: &brotli.Codec{Quality: 4},
	compress.BlockZstd:   &zstd.Codec{Level: zstd.SpeedFastest},
	compress.BlockLZ4:    &lz4.Codec{Level: lz4.Fastest},
}

// compressPage returns the compressed text; dst is scratch memory.
func compressPage(method compress.Method, dst, text []byte) ([]byte, error) {
	switch method {
	case compress.BlockNone:
		return append(dst[:0], text...), nil
	case compress.BlockHadoopLZ4:
		block, err := pageCodecs[compress.BlockLZ4].Encode(nil, text)
		dst = binary.BigEndian.AppendUint32(dst[:0], uint32(len(text)))
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(block)))
		return append(dst, block...), err
	}
	c := pageCodecs[method]
	if c == nil {
		return nil, fmt.Errorf("compression method %d is not supported", method)
	}
	return c.Encode(dst[:0], text)
}
