package compress

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"
)

// maxXerial is the maximum size of a block of a xerial stream, compressed and
// decompressed. The xerial library writes blocks of 32 KiB.
const maxXerial = 16 << 20

// A xerialDecoder reads the framing that the xerial library and Kafka's Java
// client put around raw snappy blocks: a header of 16 bytes (magic, version,
// oldest compatible version), followed by blocks. In front of each block is its
// length, in four bytes, big-endian. The header may occur again where streams
// were concatenated.
type xerialDecoder struct {
	in       *input
	restarts *restarts
	block    []byte // the compressed block
	out      []byte // the decompressed block
	rest     []byte // part of out that is not delivered yet
	begun    bool
}

const (
	xerialMagic  = "\x82SNAPPY\x00"
	xerialHeader = 16
)

func (d *xerialDecoder) Close() {}

func (d *xerialDecoder) Read(p []byte) (int, error) {
	for len(d.rest) == 0 {
		if err := d.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// next reads the next header or block.
func (d *xerialDecoder) next() error {
	if at := d.in.offset(); at > 0 {
		d.restarts.boundary(Xerial, at, 0)
	}
	var size [4]byte
	switch _, err := io.ReadFull(d.in, size[:]); {
	case err == io.EOF && d.begun:
		return io.EOF // a clean end between blocks
	case err != nil:
		return noEOF(err)
	}
	if string(size[:]) == xerialMagic[:4] {
		d.begun = true
		_, err := io.CopyN(io.Discard, d.in, xerialHeader-4)
		return noEOF(err)
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxXerial {
		return fmt.Errorf("xerial block of %d bytes exceeds the limit of %d", n, maxXerial)
	}
	return d.decode(int(n))
}

// decode reads a block of n bytes.
func (d *xerialDecoder) decode(n int) error {
	if cap(d.block) < n {
		d.block = make([]byte, n)
	}
	block := d.block[:n]
	if err := d.in.full(block); err != nil {
		return err
	}
	size, err := s2.DecodedLen(block)
	if err != nil || size > maxXerial {
		return fmt.Errorf("xerial block has an invalid decompressed length")
	}
	if cap(d.out) < size {
		d.out = make([]byte, size)
	}
	out, err := s2.Decode(d.out[:size], block)
	if err != nil {
		return err
	}
	d.rest = out
	return nil
}
