package compress

import (
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/s2"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// This file holds the decoders that need little of us: bzip2, lz4, snappy and
// S2, and xz, one after the other. What each does is to tell a wrong checksum
// and garbage after a member from other damage.

// A bzip2Decoder reads concatenated streams. Package bzip2 looks for the next
// stream itself, and names its errors only by their text.
type bzip2Decoder struct {
	in *input
	r  io.Reader
}

func newBzip2(in *input) *bzip2Decoder { return &bzip2Decoder{in: in, r: bzip2.NewReader(in)} }

func (d *bzip2Decoder) Close() {}

func (d *bzip2Decoder) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	var s bzip2.StructuralError
	if !errors.As(err, &s) {
		return n, err
	}
	switch {
	case strings.Contains(string(s), "checksum mismatch"):
		// The checksum of a block stands at its beginning, and is compared before
		// the next is read: there may well be more.
		err = &finding{Verdict{Kind: BadCRC, Offset: -1, Cut: true, Detail: s.Error()}}
	case strings.Contains(string(s), "continuation"):
		err = garbage(d.in, 2) // it has taken two bytes to look at
	}
	return n, err
}

// garbage is the finding that foreign bytes follow a member, of which the
// decoder has already taken some.
func garbage(in *input, taken int64) error {
	at := in.offset() - taken
	return &finding{Verdict{Kind: TrailingGarbage, Offset: at, Detail: fmt.Sprintf("%d bytes after the last member", taken+in.drain())}}
}

// An lz4Decoder reads concatenated frames.
type lz4Decoder struct {
	in *input
	r  *lz4.Reader
}

func newLZ4(in *input) *lz4Decoder { return &lz4Decoder{in: in, r: lz4.NewReader(in)} }

func (d *lz4Decoder) Close() {}

func (d *lz4Decoder) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	switch {
	case errors.Is(err, lz4.ErrInvalidFrame):
		err = garbage(d.in, 4)
	case errors.Is(err, lz4.ErrInvalidFrameChecksum), errors.Is(err, lz4.ErrInvalidContentSize):
		err = &finding{Verdict{Kind: BadCRC, Offset: d.in.offset() - 4, Cut: !d.in.atEnd(), Detail: err.Error()}}
	case errors.Is(err, lz4.ErrInvalidBlockChecksum):
		err = &finding{Verdict{Kind: BadCRC, Offset: -1, Cut: true, Detail: err.Error()}}
	}
	return n, err
}

// An s2Decoder reads the chunks of the framing format, and takes the format's
// identifier in the middle of a stream for what it is.
type s2Decoder struct {
	in       *input
	restarts *restarts
	format   Format
	r        *s2.Reader
}

// newS2 returns a decoder at the start of a stream or, if later is set, at a
// chunk: then it has no identifier to find.
func newS2(in *input, restarts *restarts, f Format, later bool) s2Decoder {
	var opts []s2.ReaderOption
	if f == Snappy {
		opts = append(opts, s2.ReaderMaxBlockSize(64<<10))
	}
	if later {
		opts = append(opts, s2.ReaderIgnoreStreamIdentifier())
	}
	return s2Decoder{in, restarts, f, s2.NewReader(onlyReader{in}, opts...)}
}

// An onlyReader hides the other methods of a reader.
type onlyReader struct{ io.Reader }

func (s2Decoder) Close() {}

func (d s2Decoder) Read(p []byte) (int, error) {
	before := d.in.offset()
	n, err := d.r.Read(p)
	if before > 0 && d.in.offset() > before {
		// It takes the next chunk only when it has returned all of the last one.
		d.restarts.boundary(d.format, before, 0)
	}
	if errors.Is(err, s2.ErrCRC) {
		err = &finding{Verdict{Kind: BadCRC, Offset: -1, Cut: true, Detail: "the checksum of a chunk is wrong, and its bytes are lost"}}
	}
	return n, err
}

// An xzDecoder reads one stream after the other.
type xzDecoder struct {
	in       *input
	restarts *restarts
	r        *xz.Reader
	maxDict  int64
	begun    bool
}

func (d *xzDecoder) Close() {}

func (d *xzDecoder) Read(p []byte) (int, error) {
	for {
		if d.r == nil {
			if err := d.stream(); err != nil {
				return 0, err
			}
		}
		n, err := d.r.Read(p)
		switch {
		case err == nil:
			return n, nil
		case err == io.EOF && d.in.short > 1:
			// It takes the end of the file where a block should begin for the end of
			// the stream. Only at the latter the end is met once: by the look at
			// whether more data follow.
			return n, io.ErrUnexpectedEOF
		case err == io.EOF:
			d.ended(n)
		case strings.Contains(err.Error(), "unexpected data after stream"):
			// It reads one byte to see whether there is one.
			if e := d.in.br.UnreadByte(); e != nil {
				return n, e
			}
			d.ended(n)
		case strings.Contains(err.Error(), "checksum error for block"):
			return n, &finding{Verdict{Kind: BadCRC, Offset: -1, Cut: true, Detail: err.Error()}}
		default:
			return n, err
		}
		if n > 0 {
			return n, nil
		}
	}
}

// ended notes the end of a stream, the last n bytes of which are about to be
// returned.
func (d *xzDecoder) ended(n int) {
	d.r = nil
	d.restarts.members++
	d.restarts.boundary(XZ, d.in.offset(), n)
}

// stream opens the next stream. Zero bytes after one are no garbage if they are
// a multiple of four (section 2.2 of the format).
func (d *xzDecoder) stream() error {
	if d.begun {
		if err := d.in.following(6, isXZ, 4); err != nil {
			return err
		}
	}
	d.begun = true
	if dict := xzDict(d.in); dict > d.maxDict {
		return &finding{Verdict{Kind: Limit, Offset: -1, Cut: true,
			Detail: fmt.Sprintf("an xz stream wants a dictionary of %d bytes, %d are allowed (--zstd-max-window, limits.zstd_max_window)", dict, d.maxDict)}}
	}
	r, err := xz.ReaderConfig{SingleStream: true}.NewReader(d.in)
	d.r = r
	return err
}

func isXZ(head []byte) bool { return Detect(head) == XZ }

// xzDict returns the size of the dictionary that the first block of a stream
// asks for, and 0 if it cannot be found: then the decoder has its own say. The
// block header is section 3.1 of the format, the size section 5.3.1.
func xzDict(in *input) int64 {
	const streamHeader = 12
	p, err := in.br.Peek(streamHeader + 1)
	if err != nil {
		return 0
	}
	p, err = in.br.Peek(streamHeader + (int(p[streamHeader])+1)*4)
	if err != nil {
		return 0
	}
	p = p[streamHeader:]
	if p[0] == 0 { // the index: an empty stream
		return 0
	}
	flags, p := p[1], p[2:]
	skip := int(flags>>6&1) + int(flags>>7) // compressed and uncompressed size
	for ; skip > 0; skip-- {
		_, p = xzInt(p)
	}
	for n := flags&3 + 1; n > 0; n-- {
		var id, size uint64
		id, p = xzInt(p)
		size, p = xzInt(p)
		if id == 0x21 && size == 1 && len(p) > 0 && p[0] < 40 {
			return int64(2|p[0]&1) << (p[0]/2 + 11)
		}
		if id == 0x21 && size == 1 && len(p) > 0 {
			return 1<<32 - 1
		}
		p = p[min(size, uint64(len(p))):]
	}
	return 0
}

// xzInt returns the integer at the beginning of p (section 1.2 of the format)
// and what follows it.
func xzInt(p []byte) (n uint64, rest []byte) {
	for i := 0; i < len(p) && i < 9; i++ {
		n |= uint64(p[i]&0x7f) << (7 * i)
		if p[i] < 0x80 {
			return n, p[i+1:]
		}
	}
	return n, nil
}
