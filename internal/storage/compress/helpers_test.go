package compress

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// encode writes src to the writer that new creates.
func encode(t testing.TB, src []byte, newWriter func(io.Writer) (io.WriteCloser, error)) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := newWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(src); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gz(t testing.TB, src []byte) []byte {
	return encode(t, src, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
}

func zst(t testing.TB, src []byte) []byte {
	return encode(t, src, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
}

func lz(t testing.TB, src []byte) []byte {
	return encode(t, src, func(w io.Writer) (io.WriteCloser, error) {
		z := lz4.NewWriter(w)
		return z, z.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.BlockChecksumOption(true))
	})
}

func xzip(t testing.TB, src []byte) []byte {
	return encode(t, src, func(w io.Writer) (io.WriteCloser, error) {
		return xz.WriterConfig{DictCap: 1 << 16}.NewWriter(w)
	})
}

func s2x(t testing.TB, src []byte) []byte {
	return encode(t, src, func(w io.Writer) (io.WriteCloser, error) {
		return s2.NewWriter(w, s2.WriterBlockSize(4<<10)), nil
	})
}

func snap(t testing.TB, src []byte) []byte {
	return encode(t, src, func(w io.Writer) (io.WriteCloser, error) { return s2.NewWriter(w, s2.WriterSnappyCompat()), nil })
}

func zlibbed(t testing.TB, src []byte) []byte {
	return encode(t, src, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil })
}

func xerial(_ testing.TB, src []byte) []byte {
	out := []byte(xerialMagic + "\x00\x00\x00\x01\x00\x00\x00\x01")
	for len(src) > 0 {
		n := min(len(src), 1000)
		block := s2.EncodeSnappy(nil, src[:n])
		out = binary.BigEndian.AppendUint32(out, uint32(len(block)))
		out = append(out, block...)
		src = src[n:]
	}
	return out
}

// A sample is a text and a way to encode it.
type sample struct {
	format Format
	text   []byte
	packed []byte
}

// samples returns an access log of 40 lines in every format.
func samples(t testing.TB) []sample {
	text := readFile(t, "testdata/access.log")
	return []sample{
		{Gzip, text, gz(t, text)},
		{Zstd, text, zst(t, text)},
		{LZ4, text, lz(t, text)},
		{XZ, text, xzip(t, text)},
		{Bzip2, text, readFile(t, "testdata/access.log.bz2")},
		{S2, text, s2x(t, text)},
		{Snappy, text, snap(t, text)},
		{Xerial, text, xerial(t, text)},
		{Zlib, text, zlibbed(t, text)},
		{Plain, text, text},
	}
}

// read returns everything that can be read of packed, and the verdict. It fails
// the test if the Reader violates its contract.
func read(t testing.TB, packed []byte, opt Options) ([]byte, Verdict) {
	t.Helper()
	return drain(t, NewReader(bytes.NewReader(packed), opt))
}

func drain(t testing.TB, r *Reader) ([]byte, Verdict) {
	t.Helper()
	defer r.Close()
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("Read failed: %v", err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Fatalf("Read after the end: %d, %v", n, err)
	}
	if int64(len(out)) != r.Bytes() {
		t.Fatalf("Bytes returns %d, but %d were read", r.Bytes(), len(out))
	}
	return out, r.Verdict()
}

// A faulty reader delivers a random number of bytes at a time, sometimes none.
// It returns io.EOF sometimes with the last bytes and sometimes after them, or
// the error fail if it is set.
type faulty struct {
	src  []byte
	rnd  *rand.Rand
	fail error
}

func (f *faulty) Read(p []byte) (int, error) {
	end := io.EOF
	if f.fail != nil {
		end = f.fail
	}
	if len(f.src) == 0 {
		return 0, end
	}
	n := f.rnd.IntN(min(len(p), len(f.src), 1+f.rnd.IntN(300)) + 1)
	copy(p, f.src[:n])
	f.src = f.src[n:]
	if len(f.src) == 0 && f.rnd.IntN(2) == 0 {
		return n, end
	}
	return n, nil
}
