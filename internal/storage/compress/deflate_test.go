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

// TestInflate compares the decoder with the library on sound, cut and damaged gzip
// files: the same verdict, and the same text, up to a few bytes before a cut. After
// damage, the library reads no further.
func TestInflate(t *testing.T) {
	var text bytes.Buffer
	for i := range 400 {
		fmt.Fprintf(&text, "192.0.2.%d GET /page/%x?q=%d\n", i%256, uint64(i*i)*2654435761, i%7)
	}
	var sound []byte
	for _, level := range []int{gzip.BestCompression, gzip.HuffmanOnly, gzip.NoCompression} {
		sound = append(sound, packed(t, text.Bytes(), level)...)
	}
	compare := func(name string, data []byte, more int) {
		t.Helper()
		own, library := decode(data), decodeByLibrary(data)
		if !strings.HasPrefix(own.text, library.text) || len(own.text)-len(library.text) > more {
			t.Errorf("%s: %d bytes of text, with the library %d", name, len(own.text), len(library.text))
		}
		if own.whole != library.whole {
			t.Errorf("%s: whole: %v, with the library %v", name, own.whole, library.whole)
		}
	}
	compare("sound", sound, 0)
	if got := decode(sound); got.text != text.String()+text.String()+text.String() || !got.whole {
		t.Errorf("got %d bytes, whole: %v", len(got.text), got.whole)
	}
	for cut := 1; cut < len(sound); cut += 37 {
		compare(fmt.Sprintf("cut at %d", cut), sound[:cut], lostByLibrary)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		bit := random.IntN(len(sound) * 8)
		damaged := bytes.Clone(sound)
		damaged[bit/8] ^= 1 << (bit % 8)
		compare(fmt.Sprintf("bit %d flipped", bit), damaged, text.Len()*3)
	}
}

type decoded struct {
	text  string
	whole bool
}

func decode(data []byte) decoded {
	r := NewReader(bytes.NewReader(data), Options{})
	text, _ := io.ReadAll(r) // Read has no error but io.EOF
	return decoded{string(text), r.Verdict().Kind == OK}
}

// decodeByLibrary is decode with compress/gzip.
func decodeByLibrary(data []byte) decoded {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return decoded{}
	}
	text, err := io.ReadAll(r)
	return decoded{string(text), err == nil}
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
