package record

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// TestUnknownDialect checks that an unknown dialect is one mistake with every
// format, whether or not the format has dialects.
func TestUnknownDialect(t *testing.T) {
	for _, f := range Formats() {
		_, err := New(Config{Format: f, Dialect: "foo", URLField: "1", Render: RenderURLs, Normalizer: newNormalizer(t, "equiv")})
		if n := strings.Count(fmt.Sprint(err), "ialect"); n != 1 {
			t.Errorf("%s: %d mistakes: %v", f, n, err)
		}
	}
}

// TestEncode compares the encoders with loops over the bytes.
func TestEncode(t *testing.T) {
	plain := func(c byte) bool { return c >= ' ' && c < 0x7F }
	upper := func(dst []byte, mark string, c byte) []byte { return fmt.Appendf(dst, "%s%02X", mark, c) }
	lower := func(dst []byte, c byte) []byte { return fmt.Appendf(dst, `\x%02x`, c) }
	encoders := []struct {
		name   string
		encode func(dst, text []byte, stop byte) []byte
		byByte func(dst []byte, c, stop byte) []byte
	}{
		{"encodeHex", locate.EncodeHex, func(dst []byte, c, stop byte) []byte {
			if plain(c) && c != '"' && c != '\\' && c != stop {
				return append(dst, c)
			}
			return upper(dst, `\x`, c)
		}},
		{"encodeApache", locate.EncodeApache, func(dst []byte, c, stop byte) []byte {
			switch {
			case plain(c) && c != '"' && c != '\\' && c != stop:
				return append(dst, c)
			case c == '"' || c == '\\':
				return append(dst, '\\', c)
			}
			return lower(dst, c)
		}},
		{"encodeHash", locate.EncodeHash, func(dst []byte, c, _ byte) []byte {
			if plain(c) && c != '"' && c != '#' {
				return append(dst, c)
			}
			return upper(dst, "#", c)
		}},
		{"encodeZeek", textlog.EncodeZeek, func(dst []byte, c, stop byte) []byte {
			if plain(c) && c != '\\' && c != stop {
				return append(dst, c)
			}
			return lower(dst, c)
		}},
	}
	rnd := rand.New(rand.NewPCG(9, 10))
	for range 20000 {
		text := make([]byte, rnd.IntN(100))
		for i := range text {
			text[i] = "abc/?=&.-0123456789xyz\"\\# \t|,\x00\x7f\x80\xc3\xa9\xff"[min(rnd.IntN(60), 33)]
			if rnd.IntN(4) > 0 {
				text[i] = 'a'
			}
		}
		stop := "\x00\x00 \"]|\t,"[rnd.IntN(8)]
		for _, e := range encoders {
			var want []byte
			for _, c := range text {
				want = e.byByte(want, c, stop)
			}
			if got := e.encode(nil, text, stop); !bytes.Equal(got, want) {
				t.Fatalf("%s(%q, %q) = %q, want %q", e.name, text, stop, got, want)
			}
		}
	}
}
