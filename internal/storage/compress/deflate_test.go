package compress

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// lostByLibrary is the number of bytes before a cut that the library may lack:
// it needs more input than the last symbols have.
const lostByLibrary = 64

// TestInflate compares the decoders on sound, cut and damaged gzip files: the
// same text, up to a few bytes before a cut, and the same kind of verdict.
func TestInflate(t *testing.T) {
	var text bytes.Buffer
	for i := range 400 {
		fmt.Fprintf(&text, "192.0.2.%d GET /page/%x?q=%d\n", i%256, uint64(i*i)*2654435761, i%7)
	}
	var sound []byte
	for _, level := range []int{gzip.BestCompression, gzip.HuffmanOnly, gzip.NoCompression} {
		sound = append(sound, packed(t, text.Bytes(), level)...)
	}
	compare := func(name string, data []byte) {
		t.Helper()
		own, library := decodeWith(data, InflateOwn), decodeWith(data, InflateKlauspost)
		if !strings.HasPrefix(own.text, library.text) || len(own.text)-len(library.text) > lostByLibrary {
			t.Errorf("%s: %d bytes of text, with the library %d", name, len(own.text), len(library.text))
		}
		if own.kind != library.kind {
			t.Errorf("%s: verdict %v, with the library %v", name, own.kind, library.kind)
		}
	}
	compare("sound", sound)
	if got := decodeWith(sound, InflateKlauspost); got.text != text.String()+text.String()+text.String() || got.kind != OK {
		t.Errorf("the library gives %d bytes and the verdict %v", len(got.text), got.kind)
	}
	for cut := 1; cut < len(sound); cut += 37 {
		compare(fmt.Sprintf("cut at %d", cut), sound[:cut])
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		bit := random.IntN(len(sound) * 8)
		damaged := bytes.Clone(sound)
		damaged[bit/8] ^= 1 << (bit % 8)
		compare(fmt.Sprintf("bit %d flipped", bit), damaged)
	}
}

func TestParseInflate(t *testing.T) {
	for name, want := range map[string]Inflate{"": InflateOwn, "own": InflateOwn, "klauspost": InflateKlauspost} {
		if got, err := ParseInflate(name); got != want || err != nil {
			t.Errorf("ParseInflate(%q) = %v, %v; want %v", name, got, err, want)
		}
	}
	if _, err := ParseInflate("klaus"); err == nil {
		t.Error("ParseInflate accepts klaus")
	}
}

type decoded struct {
	text string
	kind Kind
}

func decodeWith(data []byte, which Inflate) decoded {
	r := NewReader(bytes.NewReader(data), Options{Inflate: which})
	text, _ := io.ReadAll(r) // Read has no error but io.EOF
	return decoded{string(text), r.Verdict().Kind}
}

func packed(t *testing.T, text []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
