package compress

import (
	"bytes"
	"io"
	"math"
)

// A Verification is what Verify found out about a file. Its numbers are of what
// could be read: all of the file if Verdict is no damage.
type Verification struct {
	Verdict    Verdict
	Compressed int64 // size of the file in bytes
	Bytes      int64 // decompressed
	Lines      int64 // line feeds, and a last line that ends with none

	// Members is how many members were complete, whatever their checksums: gzip
	// members, zstd or lz4 frames that are not skippable, or xz streams. It is 0 for
	// the other formats: they have none, or their decoders do not show them.
	Members int64

	// Verified is how many decompressed bytes at the start of the file are verified
	// by checksums, and Checksummed whether all of them have any: see
	// Reader.Verified.
	Verified    int64
	Checksummed bool

	// Good is the offset in the file behind the last complete member (or chunk of
	// snappy, S2 or xerial; or line of a plain file) before which nothing is
	// damaged, and GoodBytes how many decompressed bytes lie before it. A bzip2
	// file is good as a whole or not at all.
	Good, GoodBytes int64
}

// Verify reads src to its end, or as far as it can be read, checks all checksums
// it meets, and never fails: an error of src is the verdict Unreadable. Of opt
// it takes Limits and Name.
func Verify(src io.Reader, opt Options) Verification {
	opt.Concurrency = 1              // so that it is known which frame a byte belongs to
	opt.RestartEvery = math.MaxInt64 // only the ends of members
	r := NewReader(src, opt)
	defer r.Close()
	var v Verification
	var line int64 // where the last line begins
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
	if v.Bytes > line {
		v.Lines++
	}
	v.Verdict = r.Verdict()
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

// LastGood returns where a file can be cut so that what remains is sound: the
// offset behind the last complete and verified member, and how many decompressed
// bytes remain. So an output whose writer was killed loses its torn end. It is
// short for what Verify says, and takes as long.
func LastGood(src io.Reader, opt Options) (compressed, decompressed int64, v Verdict) {
	all := Verify(src, opt)
	return all.Good, all.GoodBytes, all.Verdict
}
