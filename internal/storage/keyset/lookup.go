package keyset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"path/filepath"
	"slices"

	"github.com/FastFilter/xorfilter"
	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/storage/keyset/table"
)

// A Run is an open file of keys, with its filters and its index in memory. It is
// not safe for concurrent use.
type Run struct {
	file    runFile
	info    RunInfo
	index   []uint64    // first half of the first key of each block
	stored  []storedRun // filters in the file
	filters []xorfilter.BinaryFuse[uint8]
	memory  []byte // memory of the filters
	block   [blockSize]byte
}

// A storedRun says where a stored filter, for a group of blocks, is in the file.
type storedRun struct {
	at    int64
	size  int
	check uint64
}

// runFile is what a run needs of a file.
type runFile interface {
	io.ReaderAt
	io.Closer
	Name() string
}

// openRun reads the filters and the index of the run in f, which has size
// bytes. The run closes f. Errors name the file, and match errDamaged if a
// runWriter cannot have written its bytes.
func openRun(f runFile, size int64) (*Run, error) {
	r := &Run{file: f}
	if size < int64(len(runMagic)+tailSize) {
		return nil, r.damaged("%d bytes are too few", size)
	}
	end := make([]byte, tailSize)
	if err := readAt(f, end, size-int64(tailSize)); err != nil {
		return nil, err
	}
	if !bytes.HasSuffix(end, []byte(runMagic)) {
		return nil, r.damaged("no end mark at byte %d", size-int64(len(runMagic)))
	}
	t, check := parseTail(end)
	groups := (t.blocks + filterBlocks - 1) / filterBlocks
	if t.blocks < 0 || t.blocks > size/blockSize || t.size != size || t.index+t.blocks*8+groups*filterEntry+int64(tailSize) != size {
		return nil, r.damaged("the offsets at byte %d do not fit", size-int64(tailSize))
	}
	body := make([]byte, t.blocks*8+groups*filterEntry)
	if err := readAt(f, body, t.index); err != nil {
		return nil, err
	}
	if xxh3.Hash(t.append(body)) != check {
		return nil, r.damaged("wrong checksum of the index at byte %d", t.index)
	}
	r.info = RunInfo{Name: filepath.Base(f.Name()), Keys: t.keys, Bytes: size, Check: check, Oldest: t.oldest, Newest: t.newest}
	blocks := body[:t.blocks*8]
	filters := body[t.blocks*8:]
	r.index = make([]uint64, len(blocks)/8)
	for i := range r.index {
		r.index[i] = binary.BigEndian.Uint64(blocks[8*i:])
	}
	at := int64(len(runMagic))
	for i := range len(filters) / filterEntry {
		b := filters[i*filterEntry:]
		f := storedRun{size: int(binary.LittleEndian.Uint32(b)), check: binary.LittleEndian.Uint64(b[4:])}
		f.at = at + int64(min(filterBlocks, len(r.index)-i*filterBlocks))*blockSize
		at = f.at + int64(f.size)
		r.stored = append(r.stored, f)
	}
	return r, r.load()
}

func (r *Run) damaged(format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s", r.file.Name(), errDamaged, fmt.Sprintf(format, args...))
}

// blockAt returns the offset of block i.
func (r *Run) blockAt(i int) int64 {
	if i < filterBlocks {
		return int64(len(runMagic)) + int64(i)*blockSize
	}
	before := r.stored[i/filterBlocks-1]
	return before.at + int64(before.size) + int64(i%filterBlocks)*blockSize
}

// load reads the filters into memory outside the heap.
func (r *Run) load() error {
	total, most := 0, 0
	for _, f := range r.stored {
		total, most = total+f.size, max(most, f.size)
	}
	memory, err := table.AllocateBytes(total)
	if err != nil {
		return err
	}
	buf, left := make([]byte, most), memory
	filters := make([]xorfilter.BinaryFuse[uint8], 0, len(r.stored))
	for i, s := range r.stored {
		f, err := r.loadFilter(s, buf[:s.size])
		if err != nil {
			table.ReleaseBytes(memory)
			return fmt.Errorf("filter %d: %w", i, err)
		}
		n := copy(left, f.Fingerprints)
		f.Fingerprints, left = left[:n:n], left[n:]
		filters = append(filters, *f)
	}
	r.filters, r.memory = filters, memory
	return nil
}

func (r *Run) loadFilter(s storedRun, buf []byte) (*xorfilter.BinaryFuse[uint8], error) {
	if err := readAt(r.file, buf, s.at); err != nil {
		return nil, err
	}
	if xxh3.Hash(buf) != s.check {
		return nil, r.damaged("wrong checksum of the filter at byte %d", s.at)
	}
	f, err := xorfilter.LoadBinaryFuse[uint8](bytes.NewReader(buf))
	if err != nil {
		return nil, r.damaged("%v at byte %d", err, s.at)
	}
	return f, nil
}

// unload releases the memory of the filters until they are needed again.
func (r *Run) unload() {
	table.ReleaseBytes(r.memory)
	r.filters, r.memory = nil, nil
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

// Info describes the run.
func (r *Run) Info() RunInfo { return r.info }

// Has reports whether k is in the run. It reads a block only if the filter says
// that k may be there; the filter also says so for 0.4 % of the missing keys.
// Errors name the file.
func (r *Run) Has(k Key) (bool, error) {
	i := r.blockOf(k.Hi)
	if i < 0 {
		return false, nil
	}
	if r.filters == nil {
		if err := r.load(); err != nil {
			return false, err
		}
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
func (r *Run) blockOf(hi uint64) int {
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
func (r *Run) readBlock(i int) (blockView, error) {
	at := r.blockAt(i)
	if err := readAt(r.file, r.block[:], at); err != nil {
		return blockView{}, err
	}
	b, err := parseBlock(&r.block)
	if err != nil {
		return b, fmt.Errorf("%s: %w at byte %d", r.file.Name(), err, at)
	}
	return b, nil
}

// Close closes the file and releases the memory.
func (r *Run) Close() error {
	r.unload()
	return r.file.Close()
}

// A blockView is a block in memory.
type blockView struct {
	n      int
	shared []byte
	rest   []byte // n times 16-len(shared) bytes
	oldest uint32
	size   int
	stamps []byte // n times size bytes
}

// parseBlock checks the block b.
func parseBlock(b *[blockSize]byte) (blockView, error) {
	if xxh3.Hash(b[:blockSize-checkSize]) != binary.LittleEndian.Uint64(b[blockSize-checkSize:]) {
		return blockView{}, fmt.Errorf("%w: wrong checksum of a block", errDamaged)
	}
	n, p := int(binary.LittleEndian.Uint16(b[:])), int(b[2])
	v := blockView{n: n, oldest: binary.LittleEndian.Uint32(b[3:]), size: int(b[7])}
	rest, stamps := blockHead+p, blockHead+p+n*(16-p)
	v.shared, v.rest, v.stamps = b[blockHead:rest], b[rest:stamps], b[stamps:stamps+n*v.size]
	return v, nil
}

// entry returns key i with its stamp.
func (v blockView) entry(i int) entry {
	var d [4]byte
	copy(d[:], v.stamps[i*v.size:(i+1)*v.size])
	return entry{v.key(i), v.oldest + binary.LittleEndian.Uint32(d[:])}
}

// key returns key i.
func (v blockView) key(i int) Key {
	var key [16]byte
	size := 16 - len(v.shared)
	copy(key[copy(key[:], v.shared):], v.rest[i*size:(i+1)*size])
	return table.KeyOf(key[:])
}

// has reports whether k is in the block.
func (v blockView) has(k Key) bool {
	lo, hi := 0, v.n
	for lo < hi {
		mid := (lo + hi) / 2
		if v.key(mid).Less(k) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < v.n && v.key(lo) == k
}
