package compress

import (
	"bytes"
	"io"
	"math"
)

// A Verification is the result of Verify. Its numbers describe the readable
// part of the file: all of it, unless Verdict is damage.
type Verification struct {
	Verdict    Verdict
	Compressed int64 // size of the file in bytes
	Bytes      int64 // decompressed size in bytes
	Lines      int64 // lines, and an unterminated last line unless the text is truncated

	// Members is the number of complete members, whatever their checksums: gzip
	// members, zstd or lz4 frames that are not skippable, zlib or xz streams. It is
	// 0 for other formats, which have no members or whose decoders do not
	// expose them.
	Members int64

	// Verified is the number of decompressed bytes at the start of the file
	// that are verified by checksums. Checksummed reports whether all bytes
	// have checksums: see Reader.Verified.
	Verified    int64
	Checksummed bool

	// Good is the offset in the file after the last complete member (or chunk
	// of snappy, S2 or xerial, or line of a plain file) up to which nothing is
	// damaged. GoodBytes is the number of decompressed bytes before that
	// offset. A bzip2 file is either good as a whole or not at all.
	Good, GoodBytes int64
}

// Verify reads src as far as possible and compares all checksums. It does not
// return errors: an error of src gives the verdict Unreadable. It ignores
// Concurrency and RestartEvery of opt.
func Verify(src io.Reader, opt Options) Verification {
	opt.Concurrency = 1              // attributes each byte to its frame
	opt.RestartEvery = math.MaxInt64 // only at the ends of members
	r := NewReader(src, opt)
	defer r.Close()
	var v Verification
	var line int64 // start of the last line
	buf := make([]byte, 128<<10)
	for {
		n, err := r.Read(buf)
		if err != nil {
			break
		}
		v.Lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			line = v.Bytes + int64(i) + 1
		}
		v.Bytes += int64(n)
	}
	v.Verdict = r.Verdict()
	if v.Bytes > line && !v.Verdict.Cut {
		v.Lines++
	}
	v.Members = r.restarts.members
	v.Verified, v.Checksummed = r.Verified()
	v.Good, v.GoodBytes = r.restarts.good, r.restarts.goodBytes
	switch {
	case r.format == Plain && r.dec != nil:
		v.Good, v.GoodBytes = line, line
	case v.Verdict.Kind == TrailingGarbage:
		v.Good, v.GoodBytes = v.Verdict.Offset, v.Bytes
	}
	r.in.drain()
	v.Compressed = r.CompressedBytes()
	return v
}

// LastGood returns where to truncate a file so that the rest is intact: the
// offset after the last complete and verified member, and the number of
// decompressed bytes up to there. It serves to remove the torn end of an output
// whose writer was killed. It is a shorthand for Verify and takes as long.
func LastGood(src io.Reader, opt Options) (compressed, decompressed int64, v Verdict) {
	all := Verify(src, opt)
	return all.Good, all.GoodBytes, all.Verdict
}
