package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/segmentio/kafka-go/compress"
)

// A Codec is a compression of record batches, numbered as in the protocol.
type Codec int

// CodecByName returns the codec with the name none, gzip, snappy, lz4 or zstd.
func CodecByName(name string) (Codec, error) {
	for i, n := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		if n == name {
			return Codec(i), nil
		}
	}
	return 0, errors.New(`must be "none", "gzip", "snappy", "lz4" or "zstd"`)
}

// maxWindow limits the window of a zstd frame, which its decoder allocates.
const maxWindow = 128 << 20

// An unpacker decompresses the records of successive batches into the same
// buffer. The library pools the decoders.
type unpacker struct {
	src bytes.Reader
	out bytes.Buffer
}

// records returns the decompressed form of src, at most limit bytes. The result
// is valid until the next call; without compression it is src itself.
func (u *unpacker) records(codec int, src []byte, limit int) ([]byte, error) {
	if codec == 0 {
		return src, nil
	}
	c := compress.Compression(codec).Codec()
	if c == nil {
		return nil, fmt.Errorf("%w: unknown compression %d", ErrCorrupt, codec)
	}
	if err := checkFrame(compress.Compression(codec), src, limit); err != nil {
		return nil, err
	}
	u.src.Reset(src)
	r := c.NewReader(&u.src)
	u.out.Reset()
	_, err := u.out.ReadFrom(io.LimitReader(r, int64(limit)+1))
	if e := r.Close(); err == nil {
		err = e
	}
	switch {
	case u.out.Len() > limit:
		return nil, ErrTooLong
	case err != nil:
		return nil, fmt.Errorf("%w: compressed data: %w", ErrCorrupt, err)
	}
	return u.out.Bytes(), nil
}

// checkFrame rejects data for which a decoder of the library would allocate too
// much memory before it returns a byte.
func checkFrame(c compress.Compression, src []byte, limit int) error {
	switch {
	case c == compress.Zstd && zstdWindow(src) > maxWindow:
		return fmt.Errorf("%w: zstd window larger than 128 MiB", ErrTooLong)
	case c == compress.Snappy:
		return checkSnappy(src, limit)
	}
	return nil
}

const (
	xerialMagic  = "\x82SNAPPY\x00"
	xerialHeader = 16
)

// checkSnappy checks the lengths at the beginning of snappy blocks: one raw
// block, or many in xerial framing, which Java clients write.
func checkSnappy(src []byte, limit int) error {
	if len(src) < xerialHeader || string(src[:len(xerialMagic)]) != xerialMagic {
		return checkBlock(src, limit)
	}
	for b := src[xerialHeader:]; len(b) > 0; {
		if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
			return fmt.Errorf("%w: truncated snappy block", ErrCorrupt)
		}
		n := 4 + int(binary.BigEndian.Uint32(b))
		if err := checkBlock(b[4:n], limit); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func checkBlock(b []byte, limit int) error {
	n, size := binary.Uvarint(b)
	switch {
	case size <= 0:
		return fmt.Errorf("%w: snappy block without a length", ErrCorrupt)
	case n > uint64(limit):
		return ErrTooLong
	}
	return nil
}

// zstdWindow returns the window size of a zstd frame, or 0 if src is not the
// beginning of one (RFC 8878, section 3.1.1.1).
func zstdWindow(src []byte) uint64 {
	if len(src) < 14 || binary.LittleEndian.Uint32(src) != 0xFD2FB528 {
		return 0
	}
	descriptor := src[4]
	if descriptor&(1<<5) == 0 { // not a single segment, so a window descriptor follows
		exponent, mantissa := src[5]>>3, uint64(src[5]&7)
		base := uint64(1) << (10 + exponent)
		return base + base/8*mantissa
	}
	at := 5 + []int{0, 1, 2, 4}[descriptor&3]
	content := src[at:]
	switch descriptor >> 6 {
	case 0:
		return uint64(content[0])
	case 1:
		return uint64(binary.LittleEndian.Uint16(content)) + 256
	case 2:
		return uint64(binary.LittleEndian.Uint32(content))
	}
	if len(content) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(content)
}

// pack appends the compressed form of src to dst.
func pack(dst []byte, codec Codec, src []byte) ([]byte, error) {
	if codec == 0 {
		return append(dst, src...), nil
	}
	out := bytes.NewBuffer(dst)
	w := compress.Compression(codec).Codec().NewWriter(out)
	_, err := w.Write(src)
	if e := w.Close(); err == nil {
		err = e
	}
	return out.Bytes(), err
}

// Partition returns the partition, out of n, that the default partitioner of
// the Java client assigns to key.
func Partition(key []byte, n int) int { return int(murmur2(key)&0x7fffffff) % n }

// murmur2 is the hash function of Kafka's Java client.
func murmur2(data []byte) uint32 {
	const m, r = 0x5bd1e995, 24
	h := 0x9747b28c ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := binary.LittleEndian.Uint32(data) * m
		k ^= k >> r
		h = h*m ^ k*m
	}
	switch len(data) {
	case 3:
		h ^= uint32(data[2]) << 16
		fallthrough
	case 2:
		h ^= uint32(data[1]) << 8
		fallthrough
	case 1:
		h = (h ^ uint32(data[0])) * m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}

// PartitionOf returns Partition for a string.
func PartitionOf(key string, n int) int { return Partition([]byte(key), n) }
