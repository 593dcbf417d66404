package keyset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/FastFilter/xorfilter"
	"github.com/zeebo/xxh3"
)

// A run is a file of keys in ascending order:
//
//	head     runMagic
//	blocks   of blockSize bytes: number of keys (2 bytes), number p of bytes that
//	         all keys share (1), these bytes, the other 16-p bytes of each key,
//	         zeros, checksum (8)
//	filters  for each filterBlocks blocks: size (4), a binary fuse filter of the
//	         low halves of their keys
//	index    the first 8 bytes of the first key of each block (8 each)
//	tail     see tailOf
//
// Numbers are little-endian, keys big-endian. Checksums are XXH3 of 64 bits. The
// tail has a checksum of filters, index and itself, and the offsets of both.
const (
	runMagic     = "urlfold keys 1\n\x00"
	blockSize    = 4096
	blockHead    = 3
	checkSize    = 8
	filterBlocks = 1024 // some 300,000 keys: building a filter needs 10 MB
	tailSize     = 5*8 + len(runMagic)
)

// errDamaged is wrapped by the errors about a run whose bytes have changed.
var errDamaged = errors.New("damaged")

// A runWriter writes keys, which must be added in ascending order, as a run.
type runWriter struct {
	out     *bufio.Writer
	block   []Key
	halves  []uint64 // low halves of the keys since the last filter
	builder xorfilter.BinaryFuseBuilder
	filters bytes.Buffer
	index   []byte
	run     runInfo
	buf     [blockSize]byte
}

// A runInfo describes a run.
type runInfo struct {
	Keys  int64  `json:"keys"`
	Bytes int64  `json:"bytes"`
	Check uint64 `json:"check"` // checksum of filters, index and tail
}

func newRunWriter(w io.Writer) *runWriter {
	out := bufio.NewWriterSize(w, 64<<10)
	_, _ = out.WriteString(runMagic) // Flush returns the error
	return &runWriter{out: out}
}

// add adds k.
func (w *runWriter) add(k Key) error {
	// A key that shares fewer bytes with the first makes all keys of the block longer.
	if len(w.block) > 0 && len(w.block) >= blockKeys(sharedBytes(w.block[0], k)) {
		if err := w.flushBlock(); err != nil {
			return err
		}
	}
	w.block = append(w.block, k)
	w.halves = append(w.halves, k.Lo)
	w.run.Keys++
	return nil
}

// sharedBytes returns the number of leading bytes that a and b share, at most 7.
func sharedBytes(a, b Key) int { return min(bits.LeadingZeros64(a.Hi^b.Hi)/8, 7) }

// blockKeys returns how many keys that share p bytes fit into a block.
func blockKeys(p int) int { return (blockSize - blockHead - p - checkSize) / (16 - p) }

func (w *runWriter) flushBlock() error {
	p := sharedBytes(w.block[0], w.block[len(w.block)-1])
	b := w.buf[:0]
	b = binary.LittleEndian.AppendUint16(b, uint16(len(w.block)))
	b = append(b, byte(p))
	var key [16]byte
	for i, k := range w.block {
		k.put(&key)
		if i == 0 {
			b = append(b, key[:p]...)
			w.index = append(w.index, key[:8]...)
		}
		b = append(b, key[p:]...)
	}
	clear(w.buf[len(b):])
	b = w.buf[:blockSize-checkSize]
	binary.LittleEndian.PutUint64(w.buf[blockSize-checkSize:], xxh3.Hash(b))
	w.block = w.block[:0]
	if _, err := w.out.Write(w.buf[:]); err != nil {
		return err
	}
	if len(w.index)/8%filterBlocks == 0 {
		return w.flushFilter()
	}
	return nil
}

func (w *runWriter) flushFilter() error {
	f, err := xorfilter.BuildBinaryFuse[uint8](&w.builder, w.halves)
	if err != nil {
		return fmt.Errorf("filter of %d keys: %w", len(w.halves), err)
	}
	w.halves = w.halves[:0]
	size := w.filters.Len()
	w.filters.Write(make([]byte, 4))
	if err := f.Save(&w.filters); err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(w.filters.Bytes()[size:], uint32(w.filters.Len()-size-4))
	return nil
}

// close writes the rest of the run. The file is not synced.
func (w *runWriter) close() (runInfo, error) {
	if len(w.block) > 0 {
		if err := w.flushBlock(); err != nil {
			return runInfo{}, err
		}
	}
	if len(w.halves) > 0 {
		if err := w.flushFilter(); err != nil {
			return runInfo{}, err
		}
	}
	blocks := int64(len(w.index) / 8)
	filters := int64(len(runMagic)) + blocks*blockSize
	index := filters + int64(w.filters.Len())
	w.run.Bytes = index + int64(len(w.index)) + int64(tailSize)

	t := tail{keys: w.run.Keys, filters: filters, index: index, size: w.run.Bytes}
	h := xxh3.New()
	_, _ = h.Write(w.filters.Bytes())
	_, _ = h.Write(w.index)
	_, _ = h.Write(t.append(nil))
	w.run.Check = h.Sum64()
	for _, b := range [][]byte{w.filters.Bytes(), w.index, binary.LittleEndian.AppendUint64(t.append(nil), w.run.Check), []byte(runMagic)} {
		if _, err := w.out.Write(b); err != nil {
			return runInfo{}, err
		}
	}
	return w.run, w.out.Flush()
}

// tail is the end of a run, before its checksum and the second runMagic.
type tail struct{ keys, filters, index, size int64 }

func (t tail) append(dst []byte) []byte {
	for _, v := range []int64{t.keys, t.filters, t.index, t.size} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
	}
	return dst
}

// parseTail reads the tail from the last tailSize bytes of a run.
func parseTail(b []byte) (t tail, check uint64) {
	next := func() uint64 {
		v := binary.LittleEndian.Uint64(b)
		b = b[8:]
		return v
	}
	t = tail{int64(next()), int64(next()), int64(next()), int64(next())}
	return t, next()
}

// put writes k to b, big-endian.
func (k Key) put(b *[16]byte) {
	binary.BigEndian.PutUint64(b[:8], k.Hi)
	binary.BigEndian.PutUint64(b[8:], k.Lo)
}

// keyOf reads a key that put has written.
func keyOf(b []byte) Key {
	return Key{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:16])}
}
