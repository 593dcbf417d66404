package compress

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/flate"
)

// A PiecePack appends src, a piece of a text, to dst as a part of one gzip member that
// holds all of the text: the first piece begins with the header of the member, and
// the last one ends with its trailer, which is made of crc and size, those of the whole
// text (RFC 1952, section 2.3.1). Other pieces need neither. Pieces may be
// packed in any order, by several PiecePacks, and are written in that of the text.
// A PiecePack belongs to one goroutine.
type PiecePack func(dst, src []byte, first, last bool, crc uint32, size int64) []byte

// gzipHeader is that of a member without a name or a time, made on an unknown system.
const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// NewPiecePack returns a PiecePack. The level is that of NewPack for Gzip.
func NewPiecePack(level int) (PiecePack, error) {
	if level == 0 {
		level = DefaultGzipLevel
	}
	a := new(appender)
	w, err := flate.NewWriter(a, level)
	if err != nil {
		return nil, fmt.Errorf("gzip level %d: %w", level, err)
	}
	return func(dst, src []byte, first, last bool, crc uint32, size int64) []byte {
		if first {
			dst = append(dst, gzipHeader...)
		}
		a.dst = dst
		w.Reset(a) // so that the piece refers to nothing before it
		_, _ = w.Write(src)
		if last {
			_ = w.Close() // an appender cannot fail
		} else {
			_ = w.Flush() // to a whole byte
		}
		dst, a.dst = a.dst, nil
		if last {
			dst = binary.LittleEndian.AppendUint32(dst, crc)
			dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
		}
		return dst
	}, nil
}
