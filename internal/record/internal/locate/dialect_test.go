package locate

import (
	"bytes"
	"testing"
)

func TestUnescape(t *testing.T) {
	f := func(d *Dialect, raw, want string, offsets ...int) {
		t.Helper()
		text, runs, _ := d.Unescape(nil, []byte(raw), nil)
		if string(text) != want {
			t.Errorf("%+v: %q decoded to %q, want %q", d, raw, text, want)
		}
		for at, wantAt := range offsets {
			if got := RawOffset(runs, at); got != wantAt {
				t.Errorf("%q: offset %d maps to %d, want %d", raw, at, got, wantAt)
			}
		}
	}
	// nginx escapes only '"', '\', and bytes below 20h and above 7Eh, as \xHH.
	f(NginxDialect, `a\x22b`, `a"b`, 0, 1, 5, 6)
	f(NginxDialect, `\x5C\xE9`, "\\\xe9", 0, 4, 8)
	f(NginxDialect, `\"\n\xZZ\x4`, `\"\n\xZZ\x4`)
	// Apache: ap_escape_logitem.
	f(ApacheDialect, `\"\\\n\r\t\b\v\x7f`, "\"\\\n\r\t\b\v\x7f", 0, 2, 4, 6, 8, 10, 12, 14, 18)
	f(ApacheDialect, `\a\`, `\a\`)
	f(UnionDialect, `\x22\"`, `""`, 0, 4, 6)
	// JSON, RFC 8259 §7.
	f(JSONDialect, `\u0041\/\ud83d\ude00x`, "A/😀x", 0, 6, 8, 8, 8, 8, 20)
	f(JSONDialect, `\ud83d`, "\xed\xa0\xbd", 0, 0, 0, 6)
	f(JSONDialect, `\ud83dA\u00e9`, "\xed\xa0\xbdAé", 0, 0, 0, 6, 7, 7, 13)
	// Quoted cells, RFC 4180 §2.7.
	f(QuotedDialect, `a""b`, `a"b`, 0, 1, 3)
	f(nil, `a\x22`, `a\x22`)
	f(CellDialect, `a""`, `a""`)
}

func TestEscape(t *testing.T) {
	f := func(d *Dialect, text, want string) {
		t.Helper()
		if got := d.Escape(nil, []byte(text), ','); string(got) != want {
			t.Errorf("%+v: %q encoded to %q, want %q", d, text, got, want)
		}
	}
	f(NginxDialect, "a\"\\\n\xe9", `a\x22\x5C\x0A\xE9`)
	f(UnionDialect, "a\"\\\n\xe9", `a\x22\x5C\x0A\xE9`)
	f(ApacheDialect, "a\"\\\n\xe9", `a\"\\\x0a\xe9`)
	f(JSONDialect, "a\"\\\n\x01é😀/", `a\"\\\n\u0001\u00e9\ud83d\ude00/`)
	f(CellDialect, "a b", "a b")
	f(CellDialect, "a,b", `"a,b"`)
	f(CellDialect, `a"b`, `"a""b"`)
	f(QuotedDialect, `a"b"`, `a""b""`)
	f(nil, `a"\`, `a"\`)
}

// FuzzEscape checks that decoding reverses encoding in every dialect.
func FuzzEscape(f *testing.F) {
	f.Add("a\"\\\n\x00\xe9é😀,")
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []*Dialect{NginxDialect, ApacheDialect, UnionDialect, JSONDialect, QuotedDialect} {
			if d == JSONDialect && !bytes.Equal([]byte(text), bytes.ToValidUTF8([]byte(text), []byte("\uFFFD"))) {
				continue
			}
			raw := d.Escape(nil, []byte(text), ',')
			got, runs, _ := d.Unescape(nil, raw, nil)
			if string(got) != text {
				t.Fatalf("%+v: %q encoded to %q and decoded to %q", d, text, raw, got)
			}
			last := -1
			for at := range text {
				if o := RawOffset(runs, at); o < last || o >= len(raw) {
					t.Fatalf("%+v: offset %d of %q maps to %d of %q", d, at, text, o, raw)
				} else {
					last = o
				}
			}
		}
	})
}
