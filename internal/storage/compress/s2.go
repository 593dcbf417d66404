package compress

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/s2"
)

// An s2Decoder reads the chunks of the framing format. It accepts a stream
// identifier in the middle of a stream.
type s2Decoder struct {
	in       *input
	restarts *restarts
	format   Format
	r        *s2.Reader
}

// newS2 returns a decoder at the start of a stream or, if later is set, at a
// chunk, where it does not require a stream identifier.
func newS2(in *input, restarts *restarts, f Format, later bool) s2Decoder {
	var opts []s2.ReaderOption
	if f == Snappy {
		opts = append(opts, s2.ReaderMaxBlockSize(64<<10))
	}
	for _, kind := range []byte{s2Compressed, s2Stored} {
		opts = append(opts, s2.ReaderSkippableCB(kind|s2Skippable, func(r io.Reader) error { return skippedData(kind, r) }))
	}
	if later {
		opts = append(opts, s2.ReaderIgnoreStreamIdentifier())
	}
	return s2Decoder{in, restarts, f, s2.NewReader(onlyReader{in}, opts...)}
}

// Types of chunks.
const (
	s2Compressed = 0x00
	s2Stored     = 0x01
	s2Skippable  = 0x80 // readers skip unknown chunk types from this one on
)

// maxSkipped is the maximum size of a skippable chunk that is examined; no data
// chunk is longer.
const maxSkipped = 5 << 20

// skippedData examines a chunk that readers must skip and whose type differs by
// one bit from a data chunk's. If the checksum matches, the chunk is data with
// a damaged type, and skipping it would silently lose records.
func skippedData(kind byte, r io.Reader) error {
	chunk, err := io.ReadAll(io.LimitReader(r, maxSkipped))
	if err != nil {
		return err
	}
	if rest, ok := r.(*io.LimitedReader); ok && rest.N > 0 && len(chunk) < maxSkipped {
		return io.ErrUnexpectedEOF
	}
	if len(chunk) < 4 {
		return nil
	}
	data := chunk[4:]
	if kind == s2Compressed {
		if n, err := s2.DecodedLen(data); err != nil || n > maxSkipped {
			return nil
		}
		if data, err = s2.Decode(nil, data); err != nil {
			return nil
		}
	}
	sum := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	if sum = sum>>15 | sum<<17; sum+0xa282ead8 != binary.LittleEndian.Uint32(chunk) { // the framing format masks checksums in this way
		return nil
	}
	return &finding{Verdict{Kind: Corrupt, Offset: -1, Cut: true, Detail: "a chunk of a skippable type contains valid data: its type was changed"}}
}

// An onlyReader hides the other methods of a reader.
type onlyReader struct{ io.Reader }

func (s2Decoder) Close() {}

func (d s2Decoder) Read(p []byte) (int, error) {
	before := d.in.offset()
	n, err := d.r.Read(p)
	if before > 0 && d.in.offset() > before {
		// The reader first returns all of a chunk, and only then consumes the
		// next one.
		d.restarts.boundary(d.format, before, 0)
	}
	d.restarts.unit(n, sumRight) // the reader compares the checksum before returning data
	if errors.Is(err, s2.ErrCRC) {
		err = &finding{Verdict{Kind: BadCRC, Offset: -1, Cut: true, Detail: "chunk checksum does not match; the chunk was discarded"}}
	}
	return n, err
}
