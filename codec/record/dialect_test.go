package record

import (
	"bytes"
	"testing"
)

func TestUnescape(t *testing.T) {
	f := func(e encoding, raw, want string, offsets ...int) {
		t.Helper()
		text, runs, _ := e.unescape(nil, []byte(raw), nil)
		if string(text) != want {
			t.Errorf("%d: %q is %q, want %q", e, raw, text, want)
		}
		for at, wantAt := range offsets {
			if got := rawOffset(runs, at); got != wantAt {
				t.Errorf("%q: offset %d leads to %d, want %d", raw, at, got, wantAt)
			}
		}
	}
	// nginx escapes '"', '\', below 20h and above 7Eh as \xHH, and nothing else.
	f(encNginx, `a\x22b`, `a"b`, 0, 1, 5, 6)
	f(encNginx, `\x5C\xE9`, "\\\xe9", 0, 4, 8)
	f(encNginx, `\"\n\xZZ\x4`, `\"\n\xZZ\x4`)
	// Apache: ap_escape_logitem.
	f(encApache, `\"\\\n\r\t\b\v\x7f`, "\"\\\n\r\t\b\v\x7f", 0, 2, 4, 6, 8, 10, 12, 14, 18)
	f(encApache, `\a\`, `\a\`)
	f(encUnion, `\x22\"`, `""`, 0, 4, 6)
	// JSON, RFC 8259 §7.
	f(encJSON, `\u0041\/\ud83d\ude00x`, "A/😀x", 0, 6, 8, 8, 8, 8, 20)
	f(encJSON, `\ud83d`, "\xed\xa0\xbd", 0, 0, 0, 6)
	f(encJSON, `\ud83dA\u00e9`, "\xed\xa0\xbdAé", 0, 0, 0, 6, 7, 7, 13)
	// Quoted cells, RFC 4180 §2.7.
	f(encQuoted, `a""b`, `a"b`, 0, 1, 3)
	f(encNone, `a\x22`, `a\x22`)
	f(encCell, `a""`, `a""`)
}

func TestEscape(t *testing.T) {
	f := func(e encoding, text, want string) {
		t.Helper()
		if got := e.escape(nil, []byte(text), ','); string(got) != want {
			t.Errorf("%d: %q is written %q, want %q", e, text, got, want)
		}
	}
	f(encNginx, "a\"\\\n\xe9", `a\x22\x5C\x0A\xE9`)
	f(encUnion, "a\"\\\n\xe9", `a\x22\x5C\x0A\xE9`)
	f(encApache, "a\"\\\n\xe9", `a\"\\\x0a\xe9`)
	f(encJSON, "a\"\\\n\x01é😀/", `a\"\\\n\u0001\u00e9\ud83d\ude00/`)
	f(encCell, "a b", "a b")
	f(encCell, "a,b", `"a,b"`)
	f(encCell, `a"b`, `"a""b"`)
	f(encQuoted, `a"b"`, `a""b""`)
	f(encNone, `a"\`, `a"\`)
}

// What is escaped and read again is the same, in every dialect.
func FuzzEscape(f *testing.F) {
	f.Add("a\"\\\n\x00\xe9é😀,")
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range []encoding{encNginx, encApache, encUnion, encJSON, encQuoted} {
			if e == encJSON && !bytes.Equal([]byte(text), bytes.ToValidUTF8([]byte(text), []byte("\uFFFD"))) {
				continue
			}
			raw := e.escape(nil, []byte(text), ',')
			got, runs, _ := e.unescape(nil, raw, nil)
			if string(got) != text {
				t.Fatalf("%d: %q is written %q and read %q", e, text, raw, got)
			}
			last := -1
			for at := range text {
				if o := rawOffset(runs, at); o < last || o >= len(raw) {
					t.Fatalf("%d: offset %d of %q leads to %d of %q", e, at, text, o, raw)
				} else {
					last = o
				}
			}
		}
	})
}
