package tally

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// A run is a temporary file of groups in ascending order of hash and key:
//
//	count, length of key, key, length of example + 1 or 0, example    for each group
//
// Numbers are varints. The checksum of a run is in memory, because a run ends with the
// process.
type run struct {
	file  disk.Temporary
	bytes int64
	sum   uint32
}

const bufferBytes = 64 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A runWriter writes a run.
type runWriter struct {
	run *run
	out *bufio.Writer
	buf []byte
}

// newRun creates an empty run in the folder dir, or in the operating system's
// temporary folder if dir is empty.
func newRun(dir string) (*runWriter, error) {
	f, err := disk.NewTemporary(dir, "groups")
	if err != nil {
		return nil, err
	}
	return &runWriter{run: &run{file: f}, out: bufio.NewWriterSize(f, bufferBytes)}, nil
}

// add appends a group, which must not sort before the previous group.
func (w *runWriter) add(g *Group) error {
	b := binary.AppendUvarint(w.buf[:0], uint64(g.Count))
	b = append(binary.AppendUvarint(b, uint64(len(g.Key))), g.Key...)
	if g.Example == nil {
		b = append(b, 0)
	} else {
		b = append(binary.AppendUvarint(b, uint64(len(g.Example))+1), g.Example...)
	}
	w.buf = b
	w.run.sum = crc32.Update(w.run.sum, castagnoli, b)
	w.run.bytes += int64(len(b))
	if _, err := w.out.Write(b); err != nil {
		return fmt.Errorf("temporary file for groups: %w", err)
	}
	return nil
}

// finish returns the complete run.
func (w *runWriter) finish() (*run, error) {
	if err := w.out.Flush(); err != nil {
		return nil, errors.Join(fmt.Errorf("temporary file for groups: %w", err), w.run.file.Close())
	}
	return w.run, nil
}

// errDamaged is the error of a run whose bytes have changed.
var errDamaged = errors.New("temporary file for groups: wrong checksum: read back different bytes than were written; check the disk and the memory")

// A runCursor reads the groups of a run.
type runCursor struct {
	run    *run
	in     *bufio.Reader
	left   int64
	sum    uint32
	hash   uint32
	group  Group
	keyMem []byte // memory of the key
	exMem  []byte // memory of the example
}

// start returns a cursor before the first group.
func (r *run) start() *runCursor {
	return &runCursor{run: r, in: bufio.NewReaderSize(io.NewSectionReader(r.file, 0, r.bytes), bufferBytes), left: r.bytes}
}

// Next implements cursor.
func (c *runCursor) Next() (bool, error) {
	if c.left == 0 {
		if c.sum != c.run.sum {
			return false, errDamaged
		}
		return false, nil
	}
	c.group.Count = int64(c.number())
	c.keyMem = c.bytes(c.keyMem, c.number())
	c.hash, c.group.Key, c.group.Example = hashOf(c.keyMem), c.keyMem, nil
	if n := c.number(); n > 0 {
		c.exMem = c.bytes(c.exMem, n-1)
		c.group.Example = c.exMem
	}
	if c.left < 0 {
		return false, errDamaged
	}
	return true, nil
}

// read reads len(p) bytes. If there are fewer, left becomes negative.
func (c *runCursor) read(p []byte) {
	if c.left -= int64(len(p)); c.left < 0 {
		return
	}
	if _, err := io.ReadFull(c.in, p); err != nil {
		c.left = -1
		return
	}
	c.sum = crc32.Update(c.sum, castagnoli, p)
}

// bytes reads n bytes into memory, which it may replace. The result is not nil
// unless the run is damaged.
func (c *runCursor) bytes(memory []byte, n uint64) []byte {
	if c.left < 0 || n > uint64(c.left) {
		c.left = -1
		return nil
	}
	if memory == nil || uint64(cap(memory)) < n {
		memory = make([]byte, n)
	}
	memory = memory[:n]
	c.read(memory)
	return memory
}

// number reads a varint.
func (c *runCursor) number() uint64 {
	var b [1]byte
	n := uint64(0)
	for shift := 0; shift < 64 && c.left > 0; shift += 7 {
		c.read(b[:])
		n |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return n
		}
	}
	c.left = -1
	return 0
}

func (c *runCursor) current() (uint32, *Group) { return c.hash, &c.group }
