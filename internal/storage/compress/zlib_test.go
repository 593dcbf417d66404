package compress

import (
	"bytes"
	"compress/zlib"
	"io"
	"testing"
)

// TestZlibLevels reads the output of each compression level, whose headers
// differ.
func TestZlibLevels(t *testing.T) {
	text := readFile(t, "testdata/access.log")
	for level := zlib.HuffmanOnly; level <= zlib.BestCompression; level++ {
		packed := encode(t, text, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriterLevel(w, level) })
		r := NewReader(bytes.NewReader(packed), Options{})
		out, v := drain(t, r)
		if verified, sums := r.Verified(); v.Kind != OK || !bytes.Equal(out, text) || r.Format() != Zlib || verified != int64(len(text)) || !sums {
			t.Errorf("level %d: %d bytes, %d verified, %v, %v", level, len(out), verified, r.Format(), v)
		}
	}
}

func TestZlibVerdicts(t *testing.T) {
	text := readFile(t, "testdata/access.log")
	whole := zlibbed(t, text)
	size := int64(len(whole))
	f := func(name string, packed []byte, n int, want Verdict) {
		t.Helper()
		out, v := read(t, packed, Options{})
		v.Detail, v.Format = "", Plain
		if v != want || len(out) != n*len(text) {
			t.Errorf("%s: %d bytes of %d, verdict %+v, want %+v", name, len(out), n*len(text), v, want)
		}
	}
	bad := bytes.Clone(whole)
	bad[size-1] ^= 1
	f("wrong checksum", bad, 1, Verdict{Kind: BadCRC, Offset: size - 4})
	f("wrong checksum, then another stream", append(bytes.Clone(bad), whole...), 2, Verdict{Kind: BadCRC, Offset: size - 4})
	f("a dictionary", []byte("\x78\xbbABCDdata"), 0, Verdict{Kind: Corrupt, Offset: 2, Cut: true})
	f("a wrong block type", []byte("\x78\x9c\xff\x00\x00"), 0, Verdict{Kind: Corrupt, Offset: 2, Cut: true})
}

// TestZlibText checks that texts are not mistaken for streams of zlib, whose
// magic number may be text.
func TestZlibText(t *testing.T) {
	for _, text := range []string{"x", "x\n", "x^", "x^2\n", "x^2+y^2=z^2\n", "x^\n\xff\n", "xx\x9c"} {
		r := NewReader(bytes.NewReader([]byte(text)), Options{})
		if out, v := drain(t, r); string(out) != text || v.Kind != OK || r.Format() != Plain {
			t.Errorf("%q: %q, %v, %v", text, out, r.Format(), v)
		}
	}
}
