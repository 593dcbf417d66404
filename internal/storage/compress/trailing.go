package compress

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// This file looks at what follows a complete member: another one, the end of the
// file, padding, garbage that somebody appended, or what is left of a member whose
// beginning was damaged. The last of these loses data, and must not look like the
// others.

// magicOf is how a member of each format begins, as far as all of them are equal.
var magicOf = map[Format]string{
	Gzip: "\x1f\x8b\x08", Zstd: "\x28\xb5\x2f\xfd", Bzip2: "BZh9" + bzip2Block, XZ: "\xfd7zXZ\x00", LZ4: "\x04\x22\x4d\x18",
}

// padded is the unit in which the format allows zero bytes after a member.
var padded = map[Format]int64{XZ: 4}

// following looks at what follows a complete member. It returns nil at the start of
// another one, where isStart returns true, io.EOF at the end of the file, and a
// finding for anything else; a finding that is a warning means the end, too. Zero
// bytes between two members are noted as damage: they may be what a hole in the
// file has left of others.
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

// How much of what follows the last member is looked at: of its beginning, and of
// its end.
const (
	garbageHead = 1 << 20
	garbageTail = 64
)

// garbage takes all that is left, and returns the finding for it: that foreign
// bytes follow the last member, or that a damaged member does. taken are the bytes
// from at on that were taken already, all of them or the last ones.
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
		return &finding{Verdict{Kind: Corrupt, Offset: at, Cut: true, Detail: fmt.Sprintf("%d bytes after the last sound member, and %s", g.size, why)}}
	}
	return &finding{Verdict{Kind: TrailingGarbage, Offset: at, Detail: fmt.Sprintf("%d bytes after the last member", g.size)}}
}

// A garbage is what follows the last member of a file.
type garbage struct {
	format     Format
	head, tail []byte // its beginning and its end, which may overlap
	size       int64
}

// remains returns why the garbage seems to be what is left of a member, and an
// empty string if nothing says so.
func (g *garbage) remains() string {
	magic := magicOf[g.format]
	zeros := 0
	for zeros < len(g.head) && g.head[zeros] == 0 {
		zeros++
	}
	if m, found, _ := find(g.head[zeros:]); found {
		return fmt.Sprintf("they begin as a file of another format does: %v %s", m.format, m.name)
	}
	equal := 0
	for i := range min(len(magic), len(g.head)) {
		if g.head[i] == magic[i] {
			equal++
		}
	}
	switch {
	case equal >= 2 && equal*2 >= len(magic):
		return "they begin nearly as a member does"
	case zeros >= 4 && zeros < len(g.head) && !textual(g.head[zeros:]):
		return "they begin with zero bytes, and do not end with them"
	case g.begins(magic):
		return "a member begins among them"
	case g.ends():
		return "they end as a member does"
	}
	return ""
}

// nearStart is how far from its beginning a member is looked for whose magic is
// not whole.
const nearStart = 512

// begins reports whether a member begins somewhere in the garbage.
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
	// Bytes that were inserted into the magic leave its end behind them.
	near := g.head[:min(len(g.head), nearStart)]
	i := bytes.Index(near, []byte(magic[1:]))
	return i >= 0 && (g.format != Gzip || plausibleGzip(near[i+len(magic)-1:]))
}

// plausibleGzip reports whether p can stand behind the magic in a header: FLG,
// MTIME, XFL and OS, RFC 1952 section 2.3.
func plausibleGzip(p []byte) bool {
	return len(p) >= 7 && p[0]&gzipReserved == 0 && p[5]&^6 == 0 && (p[6] < 14 || p[6] == 255)
}

// ends reports whether the garbage ends as a member does.
func (g *garbage) ends() bool {
	switch g.format {
	case Gzip: // ISIZE; deflate makes at most 1032 bytes of one
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

// bitIndex reports whether the bytes of what stand in p, at any bit.
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

// A blockSize returns how long the block at the beginning of p is, with its header,
// and whether it is the last one; 0 if none begins there.
type blockSize func(p []byte) (size int, last bool)

// manyBlocks is how many blocks in a row are no chance.
const manyBlocks = 6

// maxSteps bounds the work of chain.
const maxSteps = 4 << 20

// chain reports whether blocks follow each other from some place in the garbage to
// its end, where a checksum of four bytes may stand. Each block says where the next
// one begins, so that it is no chance if the last one ends where the file does.
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

// zstdBlock is a blockSize of zstd, RFC 8878 section 3.1.1.2.
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

// lz4Block returns a blockSize of lz4, for blocks with a checksum of so many bytes.
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
