package compress

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/zstd"
)

// This file recovers as much as possible of a zstd block that the decoder
// rejected. Most damage hits the literals, which are the largest part of a
// block. They are Huffman codes, and those decoded before the damage are right.
// Klauspost's decoder drops the block as a whole, while the zstd program does
// not detect the damage before the checksum and returns the whole block. This
// file therefore decodes the frame a second time, after replacing the literals
// of that block by uncompressed ones, as far as they could be decoded. It needs
// a file with random access and a frame of limited length.

// maxSalvage is the maximum number of compressed bytes that are read a second
// time.
const maxSalvage = 64 << 20

// salvage returns the recoverable data of the block that the decoder rejected,
// starting at offset delivered of the decompressed stream. The decoder must not
// have goroutines.
func (d *zstdDecoder) salvage(delivered int64) []byte {
	from := d.restarts.newest
	src, ok := d.frames.in.again(from.compressed)
	if !ok || d.frames.in.offset()-from.compressed > maxSalvage {
		return nil
	}
	patched := d.frames.again(src(), from, d.frames.blockAt)
	defer patched.dec.Close()
	if patched.skip(delivered-from.offset) != nil {
		return nil
	}
	out := make([]byte, 2*maxZstdBlock)
	n := 0
	for empty := 0; empty < 2 && n < len(out); empty++ { // the decoder holds back the last block at the first error
		k, err := patched.dec.Read(out[n:])
		n += k
		if err == nil {
			empty = -1
		}
	}
	return out[:n]
}

// again returns a function that returns a reader of the file starting at byte
// from, and false if the file cannot be read twice.
func (in *input) again(from int64) (func() io.Reader, bool) {
	file, ok := in.raw.src.(io.ReaderAt)
	seeker, can := in.raw.src.(io.Seeker)
	if !ok || !can {
		return nil, false
	}
	at, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil || in.base+at != in.raw.n.Load() {
		return nil, false // a pipe, or the file was not read from its beginning
	}
	return func() io.Reader { return io.NewSectionReader(file, from-in.base, in.base+at-from) }, true
}

// alone returns a decoder without goroutines that continues after the delivered
// data when this decoder has failed, so that findings have exact offsets and
// all data before them is returned. It returns nil if the file cannot be read
// twice, has changed, or has more than maxSalvage bytes since the newest
// restart point.
func (d *zstdDecoder) alone() decoder {
	from, delivered := d.restarts.newest, d.restarts.decoded
	in := d.frames.in
	if _, ok := in.again(from.compressed); !ok || in.offset()-from.compressed > maxSalvage {
		return nil
	}
	file := in.raw.src.(io.ReaderAt) // again has checked this
	second := newInput(io.NewSectionReader(file, from.compressed-in.base, 1<<62), bufferSize)
	second.base = from.compressed
	second.raw.n.Store(from.compressed)
	opt := Options{Limits: Limits{MaxWindow: d.frames.maxWindow}, RestartEvery: d.restarts.every, dictionary: d.frames.dictionary}
	d.restarts.decoded, d.restarts.members = from.offset, from.members
	dec := newZstd(second, d.restarts, opt, d.note, from.compressed > 0)
	buf := make([]byte, maxZstdBlock)
	for d.restarts.decoded < delivered {
		n, err := dec.Read(buf[:min(int64(len(buf)), delivered-d.restarts.decoded)])
		d.restarts.decoded += int64(n)
		if err != nil && d.restarts.decoded < delivered {
			d.restarts.decoded = delivered // the file has changed
			dec.Close()
			return nil
		}
	}
	return &aloneDecoder{dec, second}
}

// An aloneDecoder adds the offset to its findings, because the Reader knows
// only the other input.
type aloneDecoder struct {
	decoder
	in *input
}

func (d *aloneDecoder) Read(p []byte) (int, error) {
	n, err := d.decoder.Read(p)
	var f *finding
	if errors.As(err, &f) && f.Offset < 0 {
		f.Offset = d.in.offset()
	}
	return n, err
}

// A zstdAgain decodes frames a second time.
type zstdAgain struct {
	frames *zstdFrames
	dec    *zstd.Decoder
}

// again returns a second pass that starts at p. It patches the block at byte
// patch of the file, unless patch is noPatch, and ends after that block.
func (z *zstdFrames) again(src io.Reader, p RestartPoint, patch int64) zstdAgain {
	in := newInput(src, bufferSize)
	in.raw.n.Store(p.compressed)
	frames := &zstdFrames{in: in, maxWindow: z.maxWindow, begun: p.compressed > 0, end: p.compressed, patch: patch}
	dec, _ := frames.decoder(1) // newZstd has checked the same options
	return zstdAgain{frames, dec}
}

// skip discards n bytes.
func (a zstdAgain) skip(n int64) error {
	_, err := io.CopyN(io.Discard, onlyReader{a.dec}, n)
	return err
}

// patchBlock reads a compressed block of n bytes, whose header is in head,
// in a second pass. It saves the Huffman table of the block. If the block is
// to be patched, patchBlock replaces the literals of the block by
// uncompressed literals.
func (z *zstdFrames) patchBlock(n int64) error {
	body := make([]byte, n)
	if err := z.in.full(body); err != nil {
		return err
	}
	l, ok := parseLiterals(body)
	if ok && !l.treeless {
		z.table = body[l.header : l.header+min(l.packed, maxHuffmanTable)]
	}
	if z.blockAt != z.patch {
		z.head = append(bytes.Clone(z.head), body...)
		return nil
	}
	z.next = func(*zstdFrames) error { return io.ErrUnexpectedEOF } // end after this block
	if !ok {
		return io.ErrUnexpectedEOF
	}
	literals := l.decode(body, z.table)
	packed := []byte{3 << 2, byte(len(literals) >> 4), byte(len(literals) >> 12)} // Raw_Literals_Block, Size_Format 3
	packed[0] |= byte(len(literals) << 4)
	packed = append(append(packed, literals...), body[l.header+l.packed:]...)
	h := len(packed)<<3 | 2<<1 // a Compressed_Block that is not the last
	z.head = append([]byte{byte(h), byte(h >> 8), byte(h >> 16)}, packed...)
	return nil
}

// maxHuffmanTable is larger than any Huffman_Tree_Description.
const maxHuffmanTable = 256

// A zstdLiterals is a Literals_Section_Header of Huffman codes, RFC 8878
// section 3.1.1.3.1.1.
type zstdLiterals struct {
	header   int // length of the header
	packed   int // compressed bytes after the header
	size     int // decompressed bytes
	four     bool
	treeless bool // the block uses the table of an earlier block
}

// parseLiterals parses the header of a block whose literals are Huffman codes.
func parseLiterals(body []byte) (l zstdLiterals, ok bool) {
	if len(body) < 5 || body[0]&3 < 2 {
		return l, false
	}
	h := int(littleEndian(body[:5]))
	format, bits := h>>2&3, 10
	l.header = 3
	if format > 1 {
		bits = 4*format + 6 // 14 or 18 bits
		l.header = format + 2
	}
	mask := 1<<bits - 1
	l.size, l.packed = h>>4&mask, h>>(4+bits)&mask
	l.four, l.treeless = format > 0, body[0]&3 == 3
	return l, l.header+l.packed <= len(body) && l.size <= maxZstdBlock
}

// decode returns l.size literals. The value of a literal that cannot be decoded is
// arbitrary.
func (l *zstdLiterals) decode(body, table []byte) []byte {
	out := make([]byte, l.size)
	streams := body[l.header : l.header+l.packed]
	if !l.treeless {
		table = streams
	}
	s, rest, err := huff0.ReadTable(table, nil)
	if err != nil {
		return out
	}
	if !l.treeless {
		streams = rest
	}
	dec := s.Decoder()
	if !l.four {
		decodeHuffman(dec, out, streams)
		return out
	}
	if len(streams) < 6 {
		return out
	}
	jump, streams := streams[:6], streams[6:]
	part := (l.size + 3) / 4
	for i := range 4 {
		n := len(streams)
		if i < 3 {
			n = min(int(littleEndian(jump[2*i:2*i+2])), n)
		}
		from := min(i*part, l.size)
		decodeHuffman(dec, out[from:min(from+part, l.size)], streams[:n])
		streams = streams[n:]
	}
	return out
}

// decodeHuffman decodes one stream into out. Package huff0 returns an error for
// a stream that does not end where it should, but it has then already written
// the decoded bytes to the given memory.
func decodeHuffman(dec *huff0.Decoder, out, stream []byte) {
	room := make([]byte, 0, len(out)+64)
	_, _ = dec.Decompress1X(room, stream)
	copy(out, room[:len(out)])
}
