package compress

import (
	"encoding/binary"

	"github.com/klauspost/compress/flate"
)

// A PiecePack compresses src, a piece of a text, and appends it to dst as part
// of one gzip member that holds the whole text. The first piece starts with the
// header of the member, and the last one ends with its trailer, made of crc and
// size, which must describe the whole text (RFC 1952, section 2.3.1); the other
// pieces ignore both. Pieces may be packed in any order and by several
// PiecePacks, but must be written in the order of the text. Only one goroutine
// at a time may use a PiecePack.
type PiecePack func(dst, src []byte, first, last bool, crc uint32, size int64) []byte

// gzipHeader is the header of a member without name or time, from an unknown
// system.
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// NewPiecePack returns a PiecePack. The level is a gzip level as in NewPack.
func NewPiecePack(level int) (PiecePack, error) {
	if err := CheckLevel(Gzip, level); err != nil {
		return nil, err
	}
	w, err := newDeflater(level)
	if err != nil {
		return nil, err
	}
	a := new(appender)
	return func(dst, src []byte, first, last bool, crc uint32, size int64) []byte {
		if first {
			dst = append(dst, gzipHeader...)
		}
		a.dst = dst
		w.Reset(a) // the piece must not refer to earlier pieces
		_, _ = w.Write(src)
		if last {
			_ = w.Close() // an appender cannot fail
		} else {
			_ = w.Flush() // aligns the end to a byte
		}
		dst, a.dst = a.dst, nil
		if last {
			dst = binary.LittleEndian.AppendUint32(dst, crc)
			dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
		}
		return dst
	}, nil
}

func newDeflater(level int) (*flate.Writer, error) {
	if level == 0 {
		level = DefaultGzipLevel
	}
	return flate.NewWriter(nil, gzipLevels[level-1])
}
