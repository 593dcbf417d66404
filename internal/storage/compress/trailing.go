package compress

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// This file examines the bytes after a complete member: another member, the end
// of the file, padding, garbage that somebody appended, or the remains of a
// member whose beginning was damaged. In the last case data is lost, so it must
// not be mistaken for one of the others.

// magicOf is the common beginning of all members of a format.
var magicOf = map[Format]string{
	Gzip: "\x1f\x8b\x08", Zstd: "\x28\xb5\x2f\xfd", Bzip2: "BZh9" + bzip2Block, XZ: "\xfd7zXZ\x00", LZ4: "\x04\x22\x4d\x18", Zlib: "\x78\x9c",
}

// padded is the unit in which a format allows zero bytes after a member.
var padded = map[Format]int64{XZ: 4}

// following examines the bytes after a complete member. It returns nil at the
// start of another member, as reported by isStart, io.EOF at the end of the
// file, and otherwise a finding; a finding that is a warning also means the end
// of the file. Zero bytes between two members are reported to note as damage,
// because a hole in the file may have replaced other members.
func (in *input) following(f Format, isStart func([]byte) bool, note func(Verdict)) error {
	at, size, unit := in.offset(), len(magicOf[f]), padded[f]
	zeros := in.skipZeros()
	head, _ := in.br.Peek(size)
	sound := zeros == 0 || unit != 0 && zeros%unit == 0
	switch {
	case isStart(head):
		if !sound {
			note(Verdict{Kind: Corrupt, Offset: at, Detail: fmt.Sprintf("%d zero bytes between two members", zeros)})
		}
		return nil
	case len(head) == 0 && sound:
		return io.EOF
	case len(head) == 0:
		return &finding{Verdict{Kind: TrailingGarbage, Offset: at, Detail: fmt.Sprintf("%d zero bytes after the last member", zeros)}}
	}
	if _, _, partial := find(head); partial && len(head) < size {
		in.drain()
		return io.ErrUnexpectedEOF
	}
	return in.garbage(f, at, make([]byte, min(zeros, garbageHead)))
}

// How much of the data after the last member is examined, at its beginning and
// at its end.
const (
	garbageHead = 1 << 20
	garbageTail = 64
)

// garbage consumes the remaining bytes and returns the finding for them: either
// foreign bytes or a damaged member follows the last member. taken holds the
// bytes from offset at on that were already consumed: all of them, or the last
// ones.
func (in *input) garbage(f Format, at int64, taken []byte) error {
	rest, _ := io.ReadAll(io.LimitReader(in.br, int64(garbageHead-len(taken))))
	g := garbage{format: f, head: append(taken, rest...)}
	g.tail = bytes.Clone(g.head[max(0, len(g.head)-garbageTail):])
	buf := make([]byte, 64<<10)
	for {
		n, err := in.br.Read(buf)
		g.tail = append(g.tail, buf[:n]...)
		g.tail = append(g.tail[:0], g.tail[max(0, len(g.tail)-garbageTail):]...)
		if err != nil {
			break
		}
	}
	g.size = in.offset() - at
	if why := g.remains(); why != "" {
		return &finding{Verdict{Kind: Corrupt, Offset: at, Cut: true, Detail: fmt.Sprintf("%d bytes after the last intact member are probably data: %s", g.size, why)}}
	}
	return &finding{Verdict{Kind: TrailingGarbage, Offset: at, Detail: fmt.Sprintf("%d bytes after the last member", g.size)}}
}

// A garbage is the data after the last member of a file.
type garbage struct {
	format     Format
	head, tail []byte // beginning and end of the data, which may overlap
	size       int64
}

// remains returns the reason why the garbage looks like the remains of a
// member, or an empty string if it does not.
func (g *garbage) remains() string {
	magic := magicOf[g.format]
	zeros := 0
	for zeros < len(g.head) && g.head[zeros] == 0 {
		zeros++
	}
	if m, found, _ := find(g.head[zeros:]); found {
		return fmt.Sprintf("they start with the magic number of another format: %v %s", m.format, m.name)
	}
	equal := 0
	for i := range min(len(magic), len(g.head)) {
		if g.head[i] == magic[i] {
			equal++
		}
	}
	switch {
	case g.format == Zlib: // its header is too short to search for
		if mostlyBinary(g.head[zeros:]) {
			return "they are not text"
		}
		return ""
	case equal >= 2 && equal*2 >= len(magic):
		return "they start almost like a member"
	case zeros >= 4 && zeros < len(g.head) && !textual(g.head[zeros:]):
		return "they start with zero bytes, but other bytes follow"
	case g.begins(magic):
		return "they contain the start of a member"
	case g.ends():
		return "they end like a member"
	}
	return ""
}

// mostlyBinary reports whether a quarter of the first bytes cannot be text.
func mostlyBinary(p []byte) bool {
	p = p[:min(len(p), nearStart)]
	odd := 0
	for i := range p {
		if !textual(p[i : i+1]) {
			odd++
		}
	}
	return 4*odd >= max(1, len(p))
}

// nearStart is the number of bytes that are searched for a member whose magic
// number is incomplete, and for bytes that are not text.
const nearStart = 512

// begins reports whether a member begins anywhere in the garbage.
func (g *garbage) begins(magic string) bool {
	if g.format == Bzip2 {
		return bitIndex(g.head, bzip2Block) || bitIndex(g.head, bzip2End)
	}
	for p := g.head; ; p = p[1:] {
		i := bytes.Index(p, []byte(magic))
		if i < 0 {
			break
		}
		p = p[i:]
		if g.format != Gzip || plausibleGzip(p[len(magic):]) {
			return true
		}
	}
	// If bytes were inserted into the magic number, its end follows them.
	near := g.head[:min(len(g.head), nearStart)]
	i := bytes.Index(near, []byte(magic[1:]))
	return i >= 0 && (g.format != Gzip || plausibleGzip(near[i+len(magic)-1:]))
}

// plausibleGzip reports whether p can follow the magic number in a header: FLG,
// MTIME, XFL and OS, RFC 1952 section 2.3.
func plausibleGzip(p []byte) bool {
	return len(p) >= 7 && p[0]&gzipReserved == 0 && p[5]&^6 == 0 && (p[6] < 14 || p[6] == 255)
}

// ends reports whether the garbage ends like a member.
func (g *garbage) ends() bool {
	switch g.format {
	case Gzip: // ISIZE; one byte of deflate data gives at most 1032 bytes
		if g.size < 18 || textual(g.tail) {
			return false
		}
		size := int64(binary.LittleEndian.Uint32(g.tail[len(g.tail)-4:]))
		return size <= g.size*1032 && size >= g.size-g.size/8-64
	case XZ: // the Stream Footer, and Stream Padding
		p := g.tail
		for len(p) >= 4 && zero(p[len(p)-4:]) {
			p = p[:len(p)-4]
		}
		if len(p) < xzStreamHeader {
			return false
		}
		p = p[len(p)-xzStreamHeader:]
		return string(p[10:]) == xzFooterMagic && crc32.ChecksumIEEE(p[4:10]) == binary.LittleEndian.Uint32(p)
	case Bzip2:
		return bitIndex(g.tail, bzip2End)
	case Zstd:
		return g.chain(zstdBlock)
	case LZ4:
		return g.chain(lz4Block(0)) || g.chain(lz4Block(4))
	}
	return false
}

// bitIndex reports whether p contains the bytes of what, at any bit offset.
func bitIndex(p []byte, what string) bool {
	var want, got uint64
	for i := range len(what) {
		want = want<<8 | uint64(what[i])
	}
	mask := uint64(1)<<(8*len(what)) - 1
	for i, c := range p {
		for bit := 7; bit >= 0; bit-- {
			got = got<<1 | uint64(c>>bit&1)
			if got&mask == want && i*8+8-bit >= 8*len(what) {
				return true
			}
		}
	}
	return false
}

// A blockSize returns the length of the block at the beginning of p, including
// its header, and whether it is the last one. It returns 0 if no block begins
// there.
type blockSize func(p []byte) (size int, last bool)

// manyBlocks is the number of consecutive blocks that cannot be a coincidence.
const manyBlocks = 6

// maxSteps limits the work of chain.
const maxSteps = 4 << 20

// chain reports whether consecutive blocks lead from some offset in the garbage
// to its end, optionally followed by a checksum of four bytes. Each block
// determines where the next one begins, so it is no coincidence if the last one
// ends at the end of the file.
func (g *garbage) chain(block blockSize) bool {
	steps := 0
	for start := range min(len(g.head), maxZstdBlock) {
		at, n := start, 0
		for at < len(g.head) && steps < maxSteps {
			steps++
			size, last := block(g.head[at:])
			if size == 0 {
				break
			}
			at, n = at+size, n+1
			left := g.size - int64(at)
			if last && (left == 0 || left == 4) && (start < 64 || n > 1) {
				return true
			}
			if last {
				break
			}
		}
		if n >= manyBlocks && at >= len(g.head) && g.size > int64(len(g.head)) {
			return true
		}
	}
	return false
}

// zstdBlock is the blockSize of zstd, RFC 8878 section 3.1.1.2.
func zstdBlock(p []byte) (size int, last bool) {
	if len(p) < 3 {
		return 0, false
	}
	h := int(littleEndian(p[:3]))
	size, kind := h>>3, h>>1&3
	switch {
	case kind == 3 || size > maxZstdBlock || kind == 2 && size < 2 || h == 0:
		return 0, false
	case kind == 1:
		size = 1
	}
	return 3 + size, h&1 != 0
}

// lz4Block returns the blockSize of lz4 for blocks with a checksum of sum
// bytes.
func lz4Block(sum int) blockSize {
	return func(p []byte) (size int, last bool) {
		if len(p) < 4 {
			return 0, false
		}
		n := binary.LittleEndian.Uint32(p)
		switch {
		case n == 0:
			return 4, true
		case n&^lz4Stored > 4<<20 || n == lz4Stored:
			return 0, false
		}
		return 4 + int(n&^lz4Stored) + sum, false
	}
}
