package record

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestUnescape(t *testing.T) {
	f := func(d *Dialect, raw, want string, offsets ...int) {
		t.Helper()
		text, runs, _ := d.unescape(nil, []byte(raw), nil)
		if string(text) != want {
			t.Errorf("%+v: %q decoded to %q, want %q", d, raw, text, want)
		}
		for at, wantAt := range offsets {
			if got := rawOffset(runs, at); got != wantAt {
				t.Errorf("%q: offset %d maps to %d, want %d", raw, at, got, wantAt)
			}
		}
	}
	// nginx escapes only '"', '\', and bytes below 20h and above 7Eh, as \xHH.
	f(nginxDialect, `a\x22b`, `a"b`, 0, 1, 5, 6)
	f(nginxDialect, `\x5C\xE9`, "\\\xe9", 0, 4, 8)
	f(nginxDialect, `\"\n\xZZ\x4`, `\"\n\xZZ\x4`)
	// Apache: ap_escape_logitem.
	f(apacheDialect, `\"\\\n\r\t\b\v\x7f`, "\"\\\n\r\t\b\v\x7f", 0, 2, 4, 6, 8, 10, 12, 14, 18)
	f(apacheDialect, `\a\`, `\a\`)
	f(unionDialect, `\x22\"`, `""`, 0, 4, 6)
	// JSON, RFC 8259 §7.
	f(jsonDialect, `\u0041\/\ud83d\ude00x`, "A/😀x", 0, 6, 8, 8, 8, 8, 20)
	f(jsonDialect, `\ud83d`, "\xed\xa0\xbd", 0, 0, 0, 6)
	f(jsonDialect, `\ud83dA\u00e9`, "\xed\xa0\xbdAé", 0, 0, 0, 6, 7, 7, 13)
	// Quoted cells, RFC 4180 §2.7.
	f(quotedDialect, `a""b`, `a"b`, 0, 1, 3)
	f(nil, `a\x22`, `a\x22`)
	f(cellDialect, `a""`, `a""`)
}

func TestEscape(t *testing.T) {
	f := func(d *Dialect, text, want string) {
		t.Helper()
		if got := d.escape(nil, []byte(text), ','); string(got) != want {
			t.Errorf("%+v: %q encoded to %q, want %q", d, text, got, want)
		}
	}
	f(nginxDialect, "a\"\\\n\xe9", `a\x22\x5C\x0A\xE9`)
	f(unionDialect, "a\"\\\n\xe9", `a\x22\x5C\x0A\xE9`)
	f(apacheDialect, "a\"\\\n\xe9", `a\"\\\x0a\xe9`)
	f(jsonDialect, "a\"\\\n\x01é😀/", `a\"\\\n\u0001\u00e9\ud83d\ude00/`)
	f(cellDialect, "a b", "a b")
	f(cellDialect, "a,b", `"a,b"`)
	f(cellDialect, `a"b`, `"a""b"`)
	f(quotedDialect, `a"b"`, `a""b""`)
	f(nil, `a"\`, `a"\`)
}

// FuzzEscape checks that decoding reverses encoding in every dialect.
func FuzzEscape(f *testing.F) {
	f.Add("a\"\\\n\x00\xe9é😀,")
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []*Dialect{nginxDialect, apacheDialect, unionDialect, jsonDialect, quotedDialect} {
			if d == jsonDialect && !bytes.Equal([]byte(text), bytes.ToValidUTF8([]byte(text), []byte("\uFFFD"))) {
				continue
			}
			raw := d.escape(nil, []byte(text), ',')
			got, runs, _ := d.unescape(nil, raw, nil)
			if string(got) != text {
				t.Fatalf("%+v: %q encoded to %q and decoded to %q", d, text, raw, got)
			}
			last := -1
			for at := range text {
				if o := rawOffset(runs, at); o < last || o >= len(raw) {
					t.Fatalf("%+v: offset %d of %q maps to %d of %q", d, at, text, o, raw)
				} else {
					last = o
				}
			}
		}
	})
}

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
		{"encodeHex", encodeHex, func(dst []byte, c, stop byte) []byte {
			if plain(c) && c != '"' && c != '\\' && c != stop {
				return append(dst, c)
			}
			return upper(dst, `\x`, c)
		}},
		{"encodeApache", encodeApache, func(dst []byte, c, stop byte) []byte {
			switch {
			case plain(c) && c != '"' && c != '\\' && c != stop:
				return append(dst, c)
			case c == '"' || c == '\\':
				return append(dst, '\\', c)
			}
			return lower(dst, c)
		}},
		{"encodeHash", encodeHash, func(dst []byte, c, _ byte) []byte {
			if plain(c) && c != '"' && c != '#' {
				return append(dst, c)
			}
			return upper(dst, "#", c)
		}},
		{"encodeZeek", encodeZeek, func(dst []byte, c, stop byte) []byte {
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
