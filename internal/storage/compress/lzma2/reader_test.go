package lzma2

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	ulikunitz "github.com/ulikunitz/xz/lzma"
)

// text returns n bytes of lines, with incompressible parts.
func text(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b []byte
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "http://host%d.example/%x?id=%d\n", rng.IntN(30), rng.IntN(1<<12), i)
		if i%500 == 499 {
			for range 70 << 10 {
				b = append(b, byte(rng.Uint32()))
			}
		}
	}
	return b[:n]
}

func pack(t testing.TB, src []byte, c ulikunitz.Writer2Config) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := c.NewWriter2(&b)
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

// TestReader decodes the output of another library, with all possible
// properties, with dictionaries smaller and larger than the text, and in small
// pieces.
func TestReader(t *testing.T) {
	src := text(200 << 10)
	f := func(part []byte, props ulikunitz.Properties, dict int) {
		t.Helper()
		packed := pack(t, part, ulikunitz.Writer2Config{Properties: &props, DictCap: dict})
		out, err := io.ReadAll(&pieces{NewReader(bytes.NewReader(packed), dict), 1 + props.LC*700})
		if err != nil || !bytes.Equal(out, part) {
			t.Fatalf("%v, dictionary %d: %d bytes of %d, %v", props, dict, len(out), len(part), err)
		}
	}
	for lc := range 5 {
		for lp := range 5 - lc {
			f(src[:12<<10], ulikunitz.Properties{LC: lc, LP: lp, PB: (lc + 2*lp) % 5}, MinDictionary)
		}
	}
	for _, dict := range []int{MinDictionary, 100 << 10, 1 << 20} {
		f(src, ulikunitz.Properties{LC: 3, PB: 2}, dict)
	}
}

// pieces reads n bytes at a time.
type pieces struct {
	r io.Reader
	n int
}

func (p *pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }

// TestCut checks that data truncated at any byte decodes to a prefix of the
// text that is no shorter than with one byte less.
func TestCut(t *testing.T) {
	src := text(12 << 10)
	packed := pack(t, src, ulikunitz.Writer2Config{DictCap: 1 << 16})
	before := 0
	for n := range packed {
		out, err := io.ReadAll(NewReader(bytes.NewReader(packed[:n]), 1<<16))
		if err != io.ErrUnexpectedEOF || !bytes.HasPrefix(src, out) || len(out) < before {
			t.Fatalf("cut at %d: %d bytes after %d, %v", n, len(out), before, err)
		}
		before = len(out)
	}
	if before != len(src) {
		t.Errorf("all but the end of the stream gives %d bytes of %d", before, len(src))
	}
}

// TestRest checks that the Reader reads no byte after the stream.
func TestRest(t *testing.T) {
	src := bytes.NewReader(append(pack(t, text(1000), ulikunitz.Writer2Config{}), "rest"...))
	if _, err := io.Copy(io.Discard, NewReader(src, 1<<16)); err != nil {
		t.Fatal(err)
	}
	if rest, _ := io.ReadAll(src); string(rest) != "rest" {
		t.Errorf("%q is left", rest)
	}
}

// TestCorrupt checks chunks that no encoder writes.
func TestCorrupt(t *testing.T) {
	for name, packed := range map[string]string{
		"no reset":                 "\x02\x00\x00a\x00",
		"no properties":            "\x01\x00\x00a\x80\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00",
		"properties":               "\xe0\x00\x00\x00\x05\xff\x00\x00\x00\x00\x00\x00\x00",
		"lc + lp":                  "\xe0\x00\x00\x00\x05\x1f\x00\x00\x00\x00\x00\x00\x00",
		"control":                  "\x01\x00\x00a\x03",
		"first byte":               "\xe0\x00\x00\x00\x05\x5d\x01\x00\x00\x00\x00\x00\x00",
		"a match before the start": "\xe0\x00\x10\x00\x05\x5d\x00\xff\xff\xff\xf0\x00\x00",
		"longer than it needs":     "\xe0\x00\x00\x00\x09\x5d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		out, err := io.ReadAll(NewReader(bytes.NewReader([]byte(packed)), MinDictionary))
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
}

// FuzzReader checks that two decoders agree on valid data, and that the output
// before an error of one is a prefix of the output of the other.
func FuzzReader(f *testing.F) {
	f.Add(pack(f, text(3000), ulikunitz.Writer2Config{DictCap: MinDictionary}))
	f.Add(pack(f, []byte("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"), ulikunitz.Writer2Config{DictCap: MinDictionary}))
	f.Add([]byte("\x01\x00\x00a\x02\x00\x01bc\x00"))
	f.Fuzz(func(t *testing.T, packed []byte) {
		out, err := io.ReadAll(io.LimitReader(NewReader(bytes.NewReader(packed), 1<<16), 1<<20))
		if err != nil && err != io.ErrUnexpectedEOF && !errors.Is(err, ErrCorrupt) {
			t.Fatalf("unexpected error: %v", err)
		}
		r, err2 := ulikunitz.Reader2Config{DictCap: 1 << 16}.NewReader2(bytes.NewReader(packed))
		if err2 != nil {
			return
		}
		other, err2 := io.ReadAll(io.LimitReader(r, 1<<20))
		if !bytes.HasPrefix(out, other) && !bytes.HasPrefix(other, out) {
			t.Fatalf("%d bytes, and %d other ones: %v, %v", len(out), len(other), err, err2)
		}
		if err == nil && err2 == nil && !bytes.Equal(out, other) {
			t.Fatalf("%d bytes, and %d", len(out), len(other))
		}
	})
}
