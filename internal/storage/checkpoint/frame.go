package checkpoint

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zeebo/xxh3"
)

// A frame is the unit of a snapshot and of a log: a payload with its length,
// its position and a checksum. All integers are little-endian.
//
//	0   magic       4 bytes, "\xf5ufr"
//	4   length      4 bytes, of the payload
//	8   generation  8 bytes, of the file
//	16  sequence    8 bytes, of the frame in the file, from 0
//	24  checksum    8 bytes, xxh3-64 of all of the above and of the payload
//	32  payload
//
// The generation and the sequence number prevent a frame of another file, or
// from another offset of this file, from being accepted when the file system
// exposes stale blocks.
type frame struct {
	gen, seq uint64
	payload  []byte // aliases the parsed data
}

const (
	frameMagic = "\xf5ufr"
	frameHead  = 32
	sumAt      = 24
	maxFrame   = 1 << 30
)

// Errors returned by parseFrame.
var (
	errFrameCut = errors.New("file ends inside a frame")
	errFrameSum = errors.New("frame checksum mismatch")
)

// beginFrame appends space for the header of a frame. The caller appends the
// payload and then calls endFrame.
func beginFrame(dst []byte) []byte { return append(dst, make([]byte, frameHead)...) }

// endFrame fills in the header of the frame that begins at dst[at:].
func endFrame(dst []byte, at int, gen, seq uint64) ([]byte, error) {
	f := dst[at:]
	if len(f)-frameHead > maxFrame {
		return dst[:at], fmt.Errorf("a commit of %d bytes exceeds the limit of %d", len(f)-frameHead, maxFrame)
	}
	copy(f, frameMagic)
	binary.LittleEndian.PutUint32(f[4:], uint32(len(f)-frameHead))
	binary.LittleEndian.PutUint64(f[8:], gen)
	binary.LittleEndian.PutUint64(f[16:], seq)
	binary.LittleEndian.PutUint64(f[sumAt:], frameSum(f))
	return dst, nil
}

// frameSum returns the checksum of a frame.
func frameSum(f []byte) uint64 {
	var h xxh3.Hasher
	_, _ = h.Write(f[:sumAt]) // never fails
	_, _ = h.Write(f[frameHead:])
	return h.Sum64()
}

// parseFrame parses the frame at the beginning of data and returns the rest of
// data. The error is errFrameCut if data may be an incomplete frame, else
// errFrameSum.
func parseFrame(data []byte) (f frame, rest []byte, err error) {
	if n := min(len(data), len(frameMagic)); string(data[:n]) != frameMagic[:n] {
		return f, data, errFrameSum
	}
	if len(data) < frameHead {
		return f, data, errFrameCut
	}
	n := int(binary.LittleEndian.Uint32(data[4:]))
	if n > maxFrame {
		return f, data, errFrameSum
	}
	if n > len(data)-frameHead {
		return f, data, errFrameCut
	}
	whole := data[:frameHead+n]
	if frameSum(whole) != binary.LittleEndian.Uint64(data[sumAt:]) {
		return f, data, errFrameSum
	}
	f.gen, f.seq = binary.LittleEndian.Uint64(data[8:]), binary.LittleEndian.Uint64(data[16:])
	f.payload = whole[frameHead:]
	return f, data[len(whole):], nil
}

// A frameReader parses the frames of a file one after the other. It holds
// little more than one frame in memory, because a state of millions of entries
// is large.
type frameReader struct {
	file   io.Reader
	left   int64  // bytes of file
	data   []byte // bytes that were read, from the last frame on
	parsed int    // length of the last frame
	failed error  // error of file
}

// frameChunk is how many bytes a frameReader reads at a time.
const frameChunk = 1 << 20

// next parses the next frame, whose payload is valid until the next call. The
// error is io.EOF after the last frame, or an error of parseFrame. If r.failed
// is set, the file could not be read, and the returned error says nothing about
// its bytes.
func (r *frameReader) next() (f frame, err error) {
	r.data, r.parsed = r.data[r.parsed:], 0
	for {
		var rest []byte
		if f, rest, err = parseFrame(r.data); !errors.Is(err, errFrameCut) {
			r.parsed = len(r.data) - len(rest)
			return f, err
		}
		if r.left == 0 && len(r.data) == 0 {
			return f, io.EOF
		}
		if r.left == 0 || r.more(frameChunk) != nil {
			return f, err
		}
	}
}

// more reads up to n bytes more.
func (r *frameReader) more(n int64) error {
	at, n := len(r.data), min(n, r.left)
	r.data = slices.Grow(r.data, int(n))[:at+int(n)]
	got, err := io.ReadFull(r.file, r.data[at:])
	if r.left -= n; errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // a running process has truncated a log
		r.left, err = 0, nil
	}
	r.data, r.failed = r.data[:at+got], err
	return err
}

// rest returns all bytes from the last frame on.
func (r *frameReader) rest() []byte {
	_ = r.more(r.left) // the error is in failed
	return r.data
}

// laterFrame reports whether data, which does not begin with a valid frame,
// contains a valid frame of generation gen further on. If so, the bytes before
// that frame are damage, not a commit that a crash cut short.
func laterFrame(data []byte, gen uint64) bool {
	for len(data) > 0 {
		i := bytes.Index(data[1:], []byte(frameMagic))
		if i < 0 {
			return false
		}
		data = data[1+i:]
		if f, _, err := parseFrame(data); err == nil && f.gen == gen {
			return true
		}
	}
	return false
}
