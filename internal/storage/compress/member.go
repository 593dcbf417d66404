package compress

import (
	"encoding/binary"
	"hash"
	"hash/crc32"
	"io"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"
)

// A MemberWriter compresses text to members that stay open when their file is
// synced, so that a text that grows slowly takes little more space than a text
// that is written at once. A file can be truncated at each flush and is valid
// if End follows:
//
//	│ member │ text │ flush │ text │ flush │ text
//	                               ▲ truncated here, it continues with End
//
// It appends to slices, as a [Pack] does, and has no goroutines. Only one
// goroutine at a time may use it.
type MemberWriter struct {
	format Format
	enc    encoder
	out    appender
	sum    hash.Hash // checksum of the text of the open member
	size   int64     // size of that text
	behind int64     // bytes of that text that are not flushed
}

// An encoder compresses a text and keeps its state at a flush.
type encoder interface {
	io.Writer
	Flush() error
	Reset(w io.Writer)
}

// Maximum memory of a MemberWriter, in bytes, at each level of the library,
// as measured.
const gzipMemory = 3 << 19

var zstdMemory = [...]int{zstd.SpeedFastest: 4 << 20, zstd.SpeedDefault: 4 << 20, zstd.SpeedBetterCompression: 7 << 20, zstd.SpeedBestCompression: 38 << 20}

// MemberWriters returns how many MemberWriters fit into the given number of bytes,
// at least 1.
func MemberWriters(f Format, level, memory int) int {
	size := gzipMemory
	if f == Zstd {
		size = zstdMemory[zstdLevel(level)]
	}
	return max(memory/size, 1)
}

// NewMemberWriter returns a MemberWriter for format f, Gzip or Zstd, with a level
// as in [NewPack].
func NewMemberWriter(f Format, level int) (*MemberWriter, error) {
	if err := CheckLevel(f, level); err != nil {
		return nil, err
	}
	w := &MemberWriter{format: f, sum: memberSum(f)}
	var err error
	if f == Zstd {
		w.enc, err = newZstdEncoder(level)
	} else {
		w.enc, err = newDeflater(level)
	}
	if err == nil {
		w.Drop()
	}
	return w, err
}

// memberSum returns the checksum of the members of format f.
func memberSum(f Format) hash.Hash {
	if f == Zstd {
		return xxhash.New()
	}
	return crc32.NewIEEE()
}

// Append compresses src to the open member, or begins one. It appends what is
// ready to dst.
func (w *MemberWriter) Append(dst, src []byte) []byte {
	if len(src) == 0 {
		return dst
	}
	if w.size == 0 && w.format == Gzip {
		dst = append(dst, gzipHeader...)
	}
	_, _ = w.sum.Write(src) // a hash cannot fail
	w.size += int64(len(src))
	w.behind += int64(len(src))
	w.out.dst = dst
	_, _ = w.enc.Write(src) // an appender cannot fail
	return w.taken()
}

// taken returns what the encoder has appended.
func (w *MemberWriter) taken() []byte {
	dst := w.out.dst
	w.out.dst = nil
	return dst
}

// Flush appends the rest of the text to dst, so that End can follow.
func (w *MemberWriter) Flush(dst []byte) []byte {
	if w.behind == 0 {
		return dst
	}
	w.behind = 0
	w.out.dst = dst
	_ = w.enc.Flush() // an appender cannot fail
	dst = w.taken()
	if w.format == Zstd { // the flush of deflate ends with deflateMark
		dst = append(dst, zstdMark, 0, 0, checkByte(w.sum))
	}
	return dst
}

// These bytes end a flush, so that [Mend] finds it: a block without text
// that is not the last block of the member.
const (
	deflateMark = 0x0000ffff // length and its complement, RFC 1951 section 3.2.4, as a big-endian number
	zstdMark    = 1 << 1     // header of an RLE_Block of length 0, RFC 8878 section 3.1.1.2; checkByte follows
)

// checkByte returns a byte of the checksum of a member.
func checkByte(sum hash.Hash) byte { return sum.Sum(nil)[0] }

// End returns what ends the open member after a flush. It is empty if no member
// is open.
func (w *MemberWriter) End() string {
	if w.size == 0 {
		return ""
	}
	return memberEnd(w.sum, w.size)
}

// memberEnd returns an empty final block and the checksum of a member.
func memberEnd(sum hash.Hash, size int64) string {
	switch sum := sum.(type) {
	case hash.Hash64:
		return string(binary.LittleEndian.AppendUint32([]byte("\x01\x00\x00"), uint32(sum.Sum64())))
	case hash.Hash32:
		end := binary.LittleEndian.AppendUint32([]byte("\x03\x00"), sum.Sum32())
		return string(binary.LittleEndian.AppendUint32(end, uint32(size)))
	}
	return ""
}

// Size returns the length of the text in the open member, or 0 if no member is
// open.
func (w *MemberWriter) Size() int64 { return w.size }

// Behind returns how many bytes the next flush appends at most, not counting a few
// for headers.
func (w *MemberWriter) Behind() int64 { return min(w.behind, maxZstdBlock) }

// Drop discards the open member: the next text begins another member.
func (w *MemberWriter) Drop() {
	w.enc.Reset(&w.out)
	w.sum.Reset()
	w.size, w.behind = 0, 0
}
