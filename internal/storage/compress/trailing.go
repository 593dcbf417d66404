package compress

import (
	"cmp"
	"fmt"
	"io"
)

// This file examines the bytes after a complete member: another member, the end
// of the file, zero padding, or anything else. Anything else is damage, because
// appended bytes and a member whose beginning was overwritten look alike.

// magicOf is the common beginning of all members of a format.
var magicOf = map[Format]string{
	Gzip: "\x1f\x8b\x08", Zstd: "\x28\xb5\x2f\xfd", Bzip2: "BZh9" + bzip2Block, XZ: "\xfd7zXZ\x00", LZ4: "\x04\x22\x4d\x18", Zlib: "\x78\x9c",
}

// padded is the unit in which a format allows zero bytes after a member.
var padded = map[Format]int64{XZ: 4}

// following examines the bytes after a complete member. It returns nil at the
// start of another member, io.EOF at the end of the file, and otherwise a
// finding; a finding that is a warning also means the end of the file. Zero
// bytes between two members are reported to note as damage, because a hole in
// the file may have replaced other members.
func (in *input) following(f Format, note func(Verdict)) error {
	at, size, unit := in.offset(), len(magicOf[f]), padded[f]
	zeros := in.skipZeros()
	head, _ := in.br.Peek(size)
	sound := zeros == 0 || unit != 0 && zeros%unit == 0
	switch {
	case Detect(head) == f, f == LZ4 && isSkippable(head):
		if !sound {
			note(Verdict{Kind: Corrupt, Offset: at, Detail: fmt.Sprintf("%d zero bytes between two members", zeros)})
		}
		return nil
	case len(head) == 0 && sound:
		return io.EOF
	case len(head) == 0:
		return padding(at, zeros)
	}
	if _, _, partial := find(head); partial && len(head) < size {
		in.drain()
		return io.ErrUnexpectedEOF
	}
	return in.foreign(at)
}

// padding returns the finding that n zero bytes follow the last member.
func padding(at, n int64) error {
	return &finding{Verdict{Kind: TrailingGarbage, Offset: at, Detail: fmt.Sprintf("%d zero bytes after the last member", n)}}
}

// foreign consumes the rest of the file and returns the finding for it. The
// last complete member ends at offset at.
func (in *input) foreign(at int64) error {
	head, _ := in.br.Peek(maxMagic)
	m, found, _ := find(head)
	in.drain()
	detail := fmt.Sprintf("%d bytes after the last intact member, neither another member nor zero padding", in.offset()-at)
	if found {
		detail += "; they contain the magic number of another format: " + cmp.Or(m.name, m.format.String())
	}
	return &finding{Verdict{Kind: Corrupt, Offset: at, Cut: true, Detail: detail}}
}

// plausibleGzip reports whether p can follow the magic number in a header: FLG,
// MTIME, XFL and OS, RFC 1952 section 2.3.
func plausibleGzip(p []byte) bool {
	return len(p) >= 7 && p[0]&gzipReserved == 0 && p[5]&^6 == 0 && (p[6] < 14 || p[6] == 255)
}
