package keyset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/FastFilter/xorfilter"
	"github.com/zeebo/xxh3"
)

// A run is an open file of keys, with its filters and its index in memory.
type run struct {
	file    runFile
	info    runInfo
	index   []uint64 // first half of the first key of each block
	filters []*xorfilter.BinaryFuse[uint8]
	block   [blockSize]byte
}

// runFile is what a run needs of a file.
type runFile interface {
	io.ReaderAt
	io.Closer
	Name() string
}

// openRun reads the filters and the index of the run in f, which has size bytes.
// The run closes f. Errors name the file, and match errDamaged if its bytes are
// not those that a runWriter wrote.
func openRun(f runFile, size int64) (*run, error) {
	damaged := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w: %s", f.Name(), errDamaged, fmt.Sprintf(format, args...))
	}
	if size < int64(len(runMagic)+tailSize) {
		return nil, damaged("%d bytes are too few", size)
	}
	end := make([]byte, tailSize)
	if err := readAt(f, end, size-int64(tailSize)); err != nil {
		return nil, err
	}
	if !bytes.HasSuffix(end, []byte(runMagic)) {
		return nil, damaged("no end mark at byte %d", size-int64(len(runMagic)))
	}
	t, check := parseTail(end)
	blocks := (t.filters - int64(len(runMagic))) / blockSize
	if t.size != size || t.filters < int64(len(runMagic)) || t.index < t.filters || t.index+blocks*8+int64(tailSize) != size {
		return nil, damaged("the offsets at byte %d do not fit", size-int64(tailSize))
	}
	body := make([]byte, size-int64(tailSize)-t.filters)
	if err := readAt(f, body, t.filters); err != nil {
		return nil, err
	}
	h := xxh3.New()
	_, _ = h.Write(body)
	_, _ = h.Write(t.append(nil))
	if h.Sum64() != check {
		return nil, damaged("wrong checksum of the filters from byte %d", t.filters)
	}
	r := &run{file: f, info: runInfo{Keys: t.keys, Bytes: size, Check: check}}
	return r, r.load(body[:t.index-t.filters], body[t.index-t.filters:])
}

// load decodes the filters and the index, whose checksum is correct.
func (r *run) load(filters, index []byte) error {
	for len(filters) > 0 {
		size := binary.LittleEndian.Uint32(filters)
		f, err := xorfilter.LoadBinaryFuse[uint8](bytes.NewReader(filters[4 : 4+size]))
		if err != nil {
			return fmt.Errorf("%s: %w: filter %d: %w", r.file.Name(), errDamaged, len(r.filters), err)
		}
		r.filters = append(r.filters, f)
		filters = filters[4+size:]
	}
	r.index = make([]uint64, len(index)/8)
	for i := range r.index {
		r.index[i] = binary.BigEndian.Uint64(index[8*i:])
	}
	return nil
}

func readAt(f runFile, b []byte, at int64) error {
	if _, err := f.ReadAt(b, at); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("%s: read %d bytes at byte %d: %w", f.Name(), len(b), at, err)
	}
	return nil
}

// has reports whether k is in the run. It reads a block only if the filter says
// that k may be there: for 0.4 % of the keys that are not.
func (r *run) has(k Key) (bool, error) {
	i := r.blockOf(k.Hi)
	if i < 0 {
		return false, nil
	}
	// Keys with the same first half can continue in the next block.
	for ; i < len(r.index) && r.index[i] <= k.Hi; i++ {
		if !r.filters[i/filterBlocks].Contains(k.Lo) {
			continue
		}
		keys, err := r.readBlock(i)
		if err != nil {
			return false, err
		}
		if keys.has(k) {
			return true, nil
		}
	}
	return false, nil
}

// blockOf returns the first block that can contain a key with the first half hi,
// or -1. Hashes are evenly distributed, so the search starts close to the result.
func (r *run) blockOf(hi uint64) int {
	n := len(r.index)
	if n == 0 || hi < r.index[0] {
		return -1
	}
	guess, _ := bits.Mul64(hi, uint64(n))
	lo, step := int(guess), 1
	for lo > 0 && r.index[lo] >= hi {
		lo = max(0, lo-step)
		step *= 2
	}
	up := lo
	for step = 1; up < n && r.index[up] < hi; step *= 2 {
		up += step
	}
	at, _ := slices.BinarySearch(r.index[lo:min(up, n)], hi)
	return max(0, lo+at-1)
}

// readBlock reads block i. The result is valid until the next call.
func (r *run) readBlock(i int) (blockView, error) {
	at := int64(len(runMagic)) + int64(i)*blockSize
	if err := readAt(r.file, r.block[:], at); err != nil {
		return blockView{}, err
	}
	b, err := parseBlock(&r.block)
	if err != nil {
		return b, fmt.Errorf("%s: %w at byte %d", r.file.Name(), err, at)
	}
	return b, nil
}

// close closes the file.
func (r *run) close() error { return r.file.Close() }

// A blockView is a block in memory.
type blockView struct {
	n      int
	shared []byte
	rest   []byte // n times 16-len(shared) bytes
}

// parseBlock checks the block b.
func parseBlock(b *[blockSize]byte) (blockView, error) {
	if xxh3.Hash(b[:blockSize-checkSize]) != binary.LittleEndian.Uint64(b[blockSize-checkSize:]) {
		return blockView{}, fmt.Errorf("%w: wrong checksum of a block", errDamaged)
	}
	n, p := int(binary.LittleEndian.Uint16(b[:])), int(b[2])
	return blockView{n, b[blockHead : blockHead+p], b[blockHead+p : blockHead+p+n*(16-p)]}, nil
}

// key returns key i.
func (v blockView) key(i int) Key {
	var key [16]byte
	size := 16 - len(v.shared)
	copy(key[copy(key[:], v.shared):], v.rest[i*size:(i+1)*size])
	return keyOf(key[:])
}

// has reports whether k is in the block.
func (v blockView) has(k Key) bool {
	lo, hi := 0, v.n
	for lo < hi {
		mid := (lo + hi) / 2
		if v.key(mid).less(k) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < v.n && v.key(lo) == k
}
