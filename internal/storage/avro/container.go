package avro

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/twmb/avro/ocf"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// maxBlock is the size of the largest block, compressed and not compressed, and
// of the largest header.
const maxBlock = 64 << 20

// syncSize is the length of the sync marker after the header and each block.
const syncSize = 16

// A container reads the blocks of a file, one after the other. It skips damaged
// blocks up to the next sync marker.
type container struct {
	in     io.ReaderAt
	size   int64
	head   []byte // the file up to its first block
	meta   map[string][]byte
	codec  ocf.Codec // nil: the blocks are not compressed
	layout *layout   // layout of the records

	r      *bufio.Reader
	pos    int64 // offset of r in the file
	rows   int64 // number of records in the blocks that were read
	lost   error // describes the first damage that was skipped
	losses int   // number of damaged parts

	block  block
	blocks compress.Blocks
	text   []byte // memory of the data of a block
}

// A block is a block of records, or a part of a block that has many records. It is
// valid until the next block is read.
type block struct {
	first   int64  // number of its first record, from 0
	packed  []byte // data of the block in the file
	data    []byte // data of the whole block
	count   int64  // count of records in data
	from    int    // offset in data of the first record
	ends    []int  // offset in data of the end of each record
	cells   []cell // cells of all records
	columns int
	left    int64 // number of records in data after the records in cells
}

// start returns the offset in b.data of record i.
func (b *block) start(i int) int {
	if i == 0 {
		return b.from
	}
	return b.ends[i-1]
}

// A cell is a value in a record: its length and its bytes.
type cell struct{ start, text, end int } // all 0: the value is null

// cellsOf returns the cells of record i.
func (b *block) cellsOf(i int) []cell { return b.cells[i*b.columns : (i+1)*b.columns] }

// open reads the header.
func (c *container) open() error {
	c.seek(0)
	h := &headReader{c: c}
	magic := [4]byte{}
	h.read(magic[:])
	c.meta = h.entries()
	h.read(make([]byte, syncSize))
	if h.err == nil && string(magic[:]) != "Obj\x01" {
		h.err = errors.New("not an Avro file: wrong magic number")
	}
	if h.err != nil {
		return noEOF(h.err)
	}
	c.head = h.bytes
	switch name := string(c.meta["avro.codec"]); name {
	case "", "null":
	case "deflate":
		c.codec = ocf.DeflateCodec(-1)
	case "snappy":
		c.codec = ocf.SnappyCodec()
	case "zstandard":
		var err error
		c.codec, err = ocf.ZstdCodec(nil, nil)
		return err
	default:
		return fmt.Errorf("unsupported compression %.40q (must be null, deflate, snappy or zstandard)", name)
	}
	return nil
}

// sync returns the sync marker.
func (c *container) sync() []byte { return c.head[len(c.head)-syncSize:] }

// seek moves to an offset in the file.
func (c *container) seek(pos int64) {
	section := io.NewSectionReader(c.in, pos, c.size-pos)
	if c.pos = pos; c.r == nil {
		c.r = bufio.NewReaderSize(section, 64<<10)
	} else {
		c.r.Reset(section)
	}
}

// next reads the next block. The error is io.EOF at the end of
// the file, and wraps io.ErrUnexpectedEOF if the file is cut.
func (c *container) next() (*block, error) {
	for {
		start := c.pos
		var err error
		if c.block.left > 0 {
			c.layout.more(&c.block)
		} else {
			err = c.read()
		}
		switch err {
		case nil:
			c.block.first = c.rows
			c.rows += int64(len(c.block.ends))
			return &c.block, nil
		case io.EOF:
			return nil, err
		}
		found, searchErr := c.resync(start)
		switch {
		case searchErr != nil:
			return nil, searchErr
		case !found:
			return nil, fmt.Errorf("record %d: %w; this record and the records after it are not read", c.rows+1, err)
		case c.lost == nil:
			c.lost = fmt.Errorf("bytes %d to %d, after record %d, are damaged: %v; the records in these bytes are not read", start, c.pos, c.rows, err) //nolint:errorlint // %w would make the file count as truncated
		}
		c.losses++
	}
}

// damage returns an error that describes the damage that was skipped, or nil.
func (c *container) damage() error {
	switch c.losses {
	case 0:
		return nil
	case 1:
		return c.lost
	case 2:
		return fmt.Errorf("%w; another part of the file is damaged, too", c.lost)
	}
	return fmt.Errorf("%w; %d other parts of the file are damaged, too", c.lost, c.losses-1)
}

// read reads the next block. It returns io.EOF at the end of the file.
func (c *container) read() error {
	count, err := binary.ReadVarint(c.r)
	if err != nil {
		return err
	}
	size, err := binary.ReadVarint(c.r)
	switch {
	case err != nil:
		return noEOF(err)
	case count < 0 || size < 0:
		return errors.New("a block has a negative length")
	case size > maxBlock:
		return fmt.Errorf("a block has more than %d bytes", maxBlock)
	case size > c.size-c.pos:
		return io.ErrUnexpectedEOF
	}
	b := &c.block
	b.packed = slices.Grow(b.packed[:0], int(size))[:size]
	var mark [syncSize]byte
	if _, err := io.ReadFull(c.r, b.packed); err != nil {
		return noEOF(err)
	}
	if _, err := io.ReadFull(c.r, mark[:]); err != nil {
		return noEOF(err)
	}
	if !bytes.Equal(mark[:], c.sync()) {
		return errors.New("wrong sync marker after a block")
	}
	if b.data = b.packed[:0]; count > 0 {
		b.data, err = c.unpack(b.packed)
	}
	if err != nil {
		return fmt.Errorf("a block cannot be decompressed: %v", err) //nolint:errorlint // %w would make the file count as truncated
	}
	if err := c.layout.split(b, count); err != nil {
		return err
	}
	c.pos += int64(varintSize(count)+varintSize(size)) + size + syncSize
	return nil
}

// unpack returns the decompressed data of a block.
func (c *container) unpack(packed []byte) ([]byte, error) {
	switch {
	case c.codec == nil:
		return packed, nil
	case c.codec.Name() == "deflate": // the library appends to memory that grows
		text, err := c.blocks.Inflate(c.text, packed, maxBlock)
		c.text = text[:0:cap(text)]
		return text, err
	}
	if bounded, ok := c.codec.(ocf.BoundedDecompressor); ok {
		return bounded.DecompressBounded(packed, maxBlock)
	}
	return c.codec.Decompress(packed)
}

// resync finds the first sync marker after a damaged block at offset from, and
// moves to the byte after the marker. It reports whether it found a marker.
func (c *container) resync(from int64) (found bool, err error) {
	chunk := make([]byte, 64<<10)
	for at := from; at < c.size; at += int64(len(chunk) - syncSize + 1) {
		n, err := c.in.ReadAt(chunk, at)
		if err != nil && err != io.EOF {
			return false, err
		}
		if i := bytes.Index(chunk[:n], c.sync()); i >= 0 {
			c.seek(at + int64(i) + syncSize)
			return true, nil
		}
	}
	return false, nil
}

// close releases the codec.
func (c *container) close() {
	if c.codec != nil {
		_ = c.codec.Close() // the codec has nothing to write
	}
}

// varintSize returns the length of n as Avro writes it.
func varintSize(n int64) int { return len(binary.AppendVarint(nil, n)) }

// noEOF returns err, or the error of a truncated file if err is io.EOF.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A headReader reads the header and keeps its bytes. After an error it returns
// zeros.
type headReader struct {
	c     *container
	bytes []byte
	err   error
}

// read fills p.
func (h *headReader) read(p []byte) {
	if h.err != nil {
		return
	}
	if len(h.bytes)+len(p) > maxBlock {
		h.err = fmt.Errorf("longer than %d bytes", maxBlock)
		return
	}
	_, h.err = io.ReadFull(h.c.r, p)
	h.c.pos += int64(len(p))
	h.bytes = append(h.bytes, p...)
}

// ReadByte implements io.ByteReader.
func (h *headReader) ReadByte() (byte, error) {
	var p [1]byte
	h.read(p[:])
	return p[0], h.err
}

// long reads a number.
func (h *headReader) long() int64 {
	n, err := binary.ReadVarint(h)
	if err != nil && h.err == nil {
		h.err = err
	}
	return n
}

// text reads a string.
func (h *headReader) text() []byte {
	n := h.long()
	if n < 0 || n > h.c.size-h.c.pos {
		if h.err == nil {
			h.err = io.ErrUnexpectedEOF
		}
		return nil
	}
	p := make([]byte, n)
	h.read(p)
	return p
}

// entries reads the map of the header.
func (h *headReader) entries() map[string][]byte {
	m := map[string][]byte{}
	for {
		n := h.long()
		if n < 0 {
			n = -n
			h.long() // the size of the block
		}
		if n == 0 || h.err != nil {
			return m
		}
		for ; n > 0 && h.err == nil; n-- {
			key := h.text()
			m[string(key)] = h.text()
		}
	}
}
