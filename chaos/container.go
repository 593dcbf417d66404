package chaos

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// A Kind is the way in which a file of records is stored.
type Kind string

// The kinds of files.
const (
	Plain   Kind = "plain"
	Gzip    Kind = "gzip"    // one member
	Members Kind = "members" // a thousand members of gzip
	Zstd    Kind = "zstd"    // one frame
	Frames  Kind = "frames"  // a thousand frames of zstd
	S2      Kind = "s2"
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Plain, Gzip, Members, Zstd, Frames, S2} }

// Ext returns the file name extension of the kind.
func (k Kind) Ext() string {
	switch k {
	case Gzip, Members:
		return ".gz"
	case Zstd, Frames:
		return ".zst"
	case S2:
		return ".s2"
	}
	return ""
}

// parts is the number of members of a file with several members.
const parts = 1000

// A packer is a writer that compresses.
type packer interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// packer returns the compressor of a kind, or nil for Plain.
func (k Kind) packer(w io.Writer) (packer, error) {
	switch k {
	case Plain:
		return nil, nil
	case Gzip, Members:
		return gzip.NewWriterLevel(w, 5)
	case Zstd, Frames:
		return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	case S2:
		return s2.NewWriter(w, s2.WriterConcurrency(1)), nil
	}
	return nil, fmt.Errorf("unknown kind %q (must be plain, gzip, members, zstd, frames or s2)", k)
}

// WriteFile writes the first records of a lane, about size bytes of text, to a
// file of kind k. It returns the number of records.
func (s *Spec) WriteFile(path string, k Kind, lane uint64, size int64) (n uint64, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return 0, err
	}
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	n, err = s.Write(f, k, lane, size)
	if err2 := f.Close(); err == nil {
		err = err2
	}
	return n, err
}

// Write is like WriteFile, but writes to w.
func (s *Spec) Write(w io.Writer, k Kind, lane uint64, size int64) (n uint64, err error) {
	buf := bufio.NewWriterSize(w, 1<<20)
	p, err := k.packer(buf)
	if err != nil {
		return 0, err
	}
	var out io.Writer = buf
	if p != nil {
		out = p
	}
	var rec []byte
	for done, member := int64(0), int64(0); done < size; n++ {
		rec = s.Append(rec[:0], lane, n)
		if _, err := out.Write(rec); err != nil {
			return n, err
		}
		done += int64(len(rec))
		if member += int64(len(rec)); member >= size/parts && (k == Members || k == Frames) {
			if err := p.Close(); err != nil {
				return n, err
			}
			p.Reset(buf)
			member = 0
		}
	}
	if p != nil {
		if err := p.Close(); err != nil {
			return n, err
		}
	}
	return n, buf.Flush()
}

// decoder returns a reader of the decompressed text of r. It detects the format
// from the first bytes.
func decoder(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, 1<<18)
	head, err := b.Peek(10)
	if len(head) == 0 && err == io.EOF {
		return io.NopCloser(b), nil
	}
	switch {
	case len(head) >= 3 && head[0] == 0x1f && head[1] == 0x8b:
		return gzip.NewReader(b)
	case len(head) >= 4 && (string(head[:4]) == "\x28\xb5\x2f\xfd" || head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18"):
		d, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	case len(head) == 10 && head[0] == 0xff && head[1] == 6:
		return io.NopCloser(s2.NewReader(b)), nil
	}
	return io.NopCloser(b), nil
}

// Whole returns the number of complete lines that can be decompressed from
// data, which may be truncated.
func Whole(data []byte) (lines uint64) {
	r, err := decoder(bytes.NewReader(data))
	if err != nil {
		return 0
	}
	defer func() { _ = r.Close() }() // opened only for reading
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		lines += uint64(bytes.Count(buf[:n], []byte{'\n'}))
		if err != nil {
			return lines
		}
	}
}
