package keyset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/FastFilter/xorfilter"
	"github.com/zeebo/xxh3"
)

// A run is a file of keys in ascending order, each with its stamp:
//
//	head     runMagic
//	groups   of filterBlocks blocks, the last one of fewer; after each group, a
//	         binary fuse filter of the low halves of its keys
//	index    for each block, the first 8 bytes of its first key; for each filter,
//	         its size (4) and its checksum (8)
//	tail     see tail
//
// A block has blockSize bytes: the number of keys (2), the number p of bytes that
// all keys share (1), the least stamp (4), the size w of the stamps (1), the shared
// bytes, the other 16-p bytes of each key, the difference of each stamp to the
// least one (w bytes each, 0 if all are the same), zeros, and a checksum (8).
//
// Numbers are little-endian, keys big-endian. Checksums are XXH3 of 64 bits.
// The checksum of the tail covers the index and the tail.
const (
	runMagic     = "urlfold keys 1\n\x00"
	blockSize    = 4096
	blockHead    = 8
	checkSize    = 8
	filterBlocks = 1024 // this many blocks have some 300,000 keys; building a filter for them needs 10 MB
	filterEntry  = 4 + checkSize
	tailSize     = 5*8 + 2*4 + len(runMagic)
)

// errDamaged is wrapped by the errors about a run whose bytes have changed.
var errDamaged = errors.New("damaged")

// A runWriter writes keys, which must be added in ascending order, as a run.
type runWriter struct {
	out     *bufio.Writer
	block   []entry
	oldest  uint32   // least stamp of the block
	newest  uint32   // greatest stamp of the block
	halves  []uint64 // low halves of the keys since the last filter
	builder xorfilter.BinaryFuseBuilder
	filter  bytes.Buffer
	index   []byte // index of blocks
	filters []byte // index of filters
	at      int64
	run     RunInfo
	buf     [blockSize]byte
}

// An entry is a key with its stamp.
type entry struct {
	Key
	stamp uint32
}

// A RunInfo describes a run. A state that contains it can find the run again, and
// notice that the file has been replaced.
type RunInfo struct {
	Name   string `json:"name"` // name of the file in its folder
	Keys   int64  `json:"keys"`
	Bytes  int64  `json:"bytes"`
	Check  uint64 `json:"check,string"` // checksum of index and tail, which hold the checksums of the filters
	Oldest uint32 `json:"oldest"`       // least stamp
	Newest uint32 `json:"newest"`       // greatest stamp
}

func newRunWriter(w io.Writer) *runWriter {
	out := bufio.NewWriterSize(w, 64<<10)
	_, _ = out.WriteString(runMagic) // Flush returns the error
	return &runWriter{out: out, at: int64(len(runMagic)), run: RunInfo{Oldest: math.MaxUint32}}
}

// add adds k.
func (w *runWriter) add(k Key, stamp uint32) error {
	if len(w.block) > 0 {
		// A key that shares fewer bytes with the first makes all keys of the block
		// longer, and one with another stamp may make all stamps longer.
		p, size := sharedBytes(w.block[0].Key, k), stampSize(max(w.newest, stamp)-min(w.oldest, stamp))
		if len(w.block) >= blockKeys(p, size) {
			if err := w.flushBlock(); err != nil {
				return err
			}
		}
	}
	if len(w.block) == 0 {
		w.oldest, w.newest = stamp, stamp
	}
	w.oldest, w.newest = min(w.oldest, stamp), max(w.newest, stamp)
	w.block = append(w.block, entry{k, stamp})
	w.halves = append(w.halves, k.Lo)
	w.run.Keys++
	return nil
}

// sharedBytes returns the number of leading bytes that a and b share, at most 7.
func sharedBytes(a, b Key) int { return min(bits.LeadingZeros64(a.Hi^b.Hi)/8, 7) }

// stampSize returns the bytes that a difference of two stamps needs.
func stampSize(d uint32) int { return (bits.Len32(d) + 7) / 8 }

// blockKeys returns how many keys that share p bytes, with stamps of size bytes,
// fit into a block.
func blockKeys(p, size int) int {
	return (blockSize - blockHead - p - checkSize) / (16 - p + size)
}

func (w *runWriter) flushBlock() error {
	p, size := sharedBytes(w.block[0].Key, w.block[len(w.block)-1].Key), stampSize(w.newest-w.oldest)
	b := w.buf[:0]
	b = binary.LittleEndian.AppendUint16(b, uint16(len(w.block)))
	b = append(b, byte(p))
	b = binary.LittleEndian.AppendUint32(b, w.oldest)
	b = append(b, byte(size))
	for i, e := range w.block {
		key := e.Bytes()
		if i == 0 {
			b = append(b, key[:p]...)
			w.index = append(w.index, key[:8]...)
		}
		b = append(b, key[p:]...)
	}
	if size > 0 {
		var stamp [4]byte
		for _, e := range w.block {
			binary.LittleEndian.PutUint32(stamp[:], e.stamp-w.oldest)
			b = append(b, stamp[:size]...)
		}
	}
	clear(w.buf[len(b):])
	b = w.buf[:blockSize-checkSize]
	binary.LittleEndian.PutUint64(w.buf[blockSize-checkSize:], xxh3.Hash(b))
	w.block = w.block[:0]
	w.run.Oldest, w.run.Newest = min(w.run.Oldest, w.oldest), max(w.run.Newest, w.newest)
	w.at += blockSize
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
	w.filter.Reset()
	if err := f.Save(&w.filter); err != nil {
		return err
	}
	b := w.filter.Bytes()
	w.filters = binary.LittleEndian.AppendUint32(w.filters, uint32(len(b)))
	w.filters = binary.LittleEndian.AppendUint64(w.filters, xxh3.Hash(b))
	w.at += int64(len(b))
	_, err = w.out.Write(b)
	return err
}

// close writes the rest of the run. The file is not synced.
func (w *runWriter) close() (RunInfo, error) {
	if len(w.block) > 0 {
		if err := w.flushBlock(); err != nil {
			return RunInfo{}, err
		}
	}
	if len(w.halves) > 0 {
		if err := w.flushFilter(); err != nil {
			return RunInfo{}, err
		}
	}
	w.run.Oldest = min(w.run.Oldest, w.run.Newest)
	w.run.Bytes = w.at + int64(len(w.index)) + int64(len(w.filters)) + int64(tailSize)
	t := tail{keys: w.run.Keys, blocks: int64(len(w.index) / 8), index: w.at, size: w.run.Bytes, oldest: w.run.Oldest, newest: w.run.Newest}
	end := append(w.index, w.filters...)
	end = t.append(end)
	w.run.Check = xxh3.Hash(end)
	end = binary.LittleEndian.AppendUint64(end, w.run.Check)
	if _, err := w.out.Write(append(end, runMagic...)); err != nil {
		return RunInfo{}, err
	}
	return w.run, w.out.Flush()
}

// tail is the end of a run, before its checksum and the second runMagic.
type tail struct {
	keys, blocks, index, size int64
	oldest, newest            uint32
}

func (t tail) append(dst []byte) []byte {
	for _, v := range []int64{t.keys, t.blocks, t.index, t.size} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
	}
	dst = binary.LittleEndian.AppendUint32(dst, t.oldest)
	return binary.LittleEndian.AppendUint32(dst, t.newest)
}

// parseTail reads the tail from the last tailSize bytes of a run.
func parseTail(b []byte) (t tail, check uint64) {
	next := func() uint64 {
		v := binary.LittleEndian.Uint64(b)
		b = b[8:]
		return v
	}
	t = tail{keys: int64(next()), blocks: int64(next()), index: int64(next()), size: int64(next())}
	stamps := next()
	t.oldest, t.newest = uint32(stamps), uint32(stamps>>32)
	return t, next()
}
