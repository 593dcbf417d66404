package surt

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/internal/peer/python"
)

// slowUnescape decodes all escapes of text, again and again, as surt does.
func slowUnescape(text []byte) []byte {
	for {
		var out []byte
		for i := 0; i < len(text); i++ {
			if text[i] == '%' && i+2 < len(text) {
				if high, low := python.Unhex(text[i+1]), python.Unhex(text[i+2]); high|low != 255 {
					out = append(out, high<<4|low)
					i += 2
					continue
				}
			}
			out = append(out, text[i])
		}
		if len(out) == len(text) {
			return out
		}
		text = out
	}
}

// TestUnescape compares one pass with as many as surt needs, on short texts of
// the bytes that make escapes.
func TestUnescape(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var c canonicalizer
	for range 300_000 {
		text := make([]byte, r.IntN(24))
		for i := range text {
			text[i] = "%%%25634aFx"[r.IntN(11)]
		}
		if got, want := c.unescape(text), slowUnescape(text); !bytes.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	}
	deep := []byte("%" + strings.Repeat("25", 1<<15) + "41")
	if got := c.unescape(deep); string(got) != "A" {
		t.Errorf("%d bytes of nested escapes: %.20q", len(deep), got)
	}
}
