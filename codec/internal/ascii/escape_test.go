package ascii

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
)

// slowUnescape decodes all escapes of text, again and again, as programs do.
func slowUnescape(text []byte) []byte {
	for {
		var out []byte
		for i := 0; i < len(text); i++ {
			if b, err := hex.DecodeString(string(text[min(i+1, len(text)):min(i+3, len(text))])); text[i] == '%' && err == nil && len(b) == 1 {
				out = append(out, b[0])
				i += 2
				continue
			}
			out = append(out, text[i])
		}
		if len(out) == len(text) {
			return out
		}
		text = out
	}
}

// TestUnescape compares one pass with as many as are needed, on short texts of
// the bytes that make escapes.
func TestUnescape(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300_000 {
		text := make([]byte, r.IntN(24))
		for i := range text {
			text[i] = "%%%25634aFx"[r.IntN(11)]
		}
		if got, want := AppendAllUnescaped(nil, text), slowUnescape(text); !bytes.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	}
	deep := []byte("%" + strings.Repeat("25", 1<<15) + "41")
	if got := AppendAllUnescaped(nil, deep); string(got) != "A" {
		t.Errorf("%d bytes of nested escapes: %.20q", len(deep), got)
	}
}
