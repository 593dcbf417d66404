package compress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/urlfold/urlfold/internal/storage/inflate"
)

// A zlibDecoder reads the streams of RFC 1950, one after the other. Restart points
// exist only between streams.
type zlibDecoder struct {
	in       *input
	restarts *restarts
	note     func(Verdict)
	inflate  deflateDecoder
	sum      hash.Hash32
	from     int64 // offset of the deflate data in the file
	begun    bool  // a stream was read before
	inside   bool  // inside a stream
}

func (d *zlibDecoder) Close() {}

func (d *zlibDecoder) Read(p []byte) (int, error) {
	if !d.inside {
		if err := d.header(); err != nil {
			return 0, err
		}
	}
	n, err := d.inflate.Read(p)
	_, _ = d.sum.Write(p[:n]) // never fails
	var corrupt *inflate.CorruptError
	switch {
	case err == io.EOF:
		err = d.trailer(n)
	case errors.As(err, &corrupt):
		err = &finding{Verdict{Kind: Corrupt, Offset: d.from + corrupt.Bit/8, Cut: true, Detail: "invalid deflate data: " + corrupt.Reason}}
	}
	return n, err
}

// Parts of the header, RFC 1950 section 2.2.
const (
	zlibCMF        = 0x78 // deflate with a window of 32 KiB
	zlibDictionary = 1 << 5
	zlibTrailer    = 4
)

// header reads the header of the next stream.
func (d *zlibDecoder) header() error {
	if d.begun {
		if err := d.in.following(Zlib, d.note); err != nil {
			return err
		}
	}
	var head [2]byte
	if err := d.in.full(head[:]); err != nil {
		return err
	}
	if head[1]&zlibDictionary != 0 {
		return fmt.Errorf("zlib stream needs a preset dictionary, which is not supported")
	}
	d.begun, d.inside, d.from = true, true, d.in.offset()
	d.sum.Reset()
	d.inflate.Reset(d.in.br, nil, 0)
	return nil
}

// trailer compares the checksum before Read returns the last n bytes of the
// stream. A wrong checksum is recorded but does not end the reading.
func (d *zlibDecoder) trailer(n int) error {
	at := d.in.offset()
	var sum [zlibTrailer]byte
	if err := d.in.full(sum[:]); err != nil {
		return err
	}
	d.inside = false
	state := sumRight
	if want, got := binary.BigEndian.Uint32(sum[:]), d.sum.Sum32(); want != got {
		state = sumWrong
		d.note(Verdict{Kind: BadCRC, Offset: at, Detail: fmt.Sprintf("Adler-32 mismatch: the data has %08x, the trailer %08x", got, want)})
	}
	d.restarts.members++
	d.restarts.unit(n, state)
	d.restarts.boundary(Zlib, d.in.offset(), n)
	return nil
}

// zlibStart reports whether head begins a zlib stream, and whether more bytes
// could decide it. The header has only two bytes, which may be text: "x^" is
// the header for the usual compression levels 2 to 5. It counts only if a byte
// that is not text follows soon, before a line feed.
func zlibStart(head []byte) (found, partial bool) {
	switch {
	case len(head) == 0 || head[0] != zlibCMF:
		return false, false
	case len(head) == 1:
		return false, true
	}
	switch head[1] {
	case 0x01, 0x9c, 0xda, 0xbb, 0xf9: // the second byte has valid check bits; 0xbb and 0xf9 announce a dictionary
		return true, false
	case 0x5e:
		rest := head[2:min(len(head), maxMagic)]
		for i := range rest {
			switch {
			case rest[i] == '\n':
				return false, false
			case !textual(rest[i : i+1]):
				return true, false
			}
		}
		return false, len(rest) < maxMagic-2
	}
	return false, false
}
