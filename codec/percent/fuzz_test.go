package percent

import (
	"bytes"
	"strings"
	"testing"
)

// The reference implementations take quadratic time, so inputs are limited to
// maxFuzz bytes.
const maxFuzz = 512

var fuzzSeeds = []string{
	"", "%", "%4", "%zz", "%u0041", "%%34%31", "%4%31", "/a b/%7e/%2F..%2f", "..%5C%2e.%2F", "%C0%AF%ED%A0%80%EF%BF%BE",
	"%F4%90%80%80%E4%B8", "%252541%25E4%25B8%25AD", "100%", "a=1&b=%26+%2B", "\x00\x7f\xff%00%7F%ff", "%25" + "2525252541",
}

func FuzzNormal(f *testing.F) {
	for i, s := range fuzzSeeds {
		f.Add([]byte(s), uint8(i), uint8(i), true, true)
	}
	f.Fuzz(func(t *testing.T, src []byte, add, malformed uint8, upper, unres bool) {
		src = src[:min(len(src), maxFuzz)]
		r := EscapeRules{Add: ByteSet(add) % ByteSet(numSets), Malformed: Malformed(malformed % 3), Upper: upper, Unreserved: unres}
		checkNormal(t, src, r)
		once, at := AppendNormal(nil, src, r)
		if at >= 0 {
			if at != IndexMalformed(src) {
				t.Fatalf("%q: rejected at %d, first malformed at %d", src, at, IndexMalformed(src))
			}
			return
		}
		if again, _ := AppendNormal(nil, once, r); !bytes.Equal(again, once) {
			t.Fatalf("%+v of %q: %q, and again %q", r, src, once, again)
		}
		// Whatever the rules, the decoded data does not change, except that a
		// malformed '%' can become data.
		if r.Malformed == MalformedKeep && !bytes.Equal(AppendDecode(nil, once), AppendDecode(nil, src)) {
			t.Fatalf("%+v of %q: %q decodes to other data", r, src, once)
		}
	})
}

func FuzzDefects(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, src []byte, limit int) {
		src = src[:min(len(src), maxFuzz)]
		checkDefects(t, src)
		all, kinds := appendDefects(nil, src, 3*len(src))
		cut, cutKinds := appendDefects(nil, src, limit)
		if len(cut) != min(max(limit, 0), len(all)) || cutKinds != kinds {
			t.Fatalf("%q: %d defects for limit %d, kinds %b want %b", src, len(cut), limit, cutKinds, kinds)
		}
		if malformed := kinds.has(kindTruncated) || kinds.has(kindNonHex) || kinds.has(kindPercentU); malformed != (Check(src) != nil) {
			t.Fatalf("%q: kinds %b, but Check returned %v", src, kinds, Check(src))
		}
	})
}

func FuzzDecodeEncode(f *testing.F) {
	for i, s := range fuzzSeeds {
		f.Add([]byte(s), uint8(i))
	}
	f.Fuzz(func(t *testing.T, src []byte, set uint8) {
		src = src[:min(len(src), maxFuzz)]
		s := ByteSet(set) % ByteSet(numSets)
		text := AppendEncode([]byte("dst"), src, s)
		if want := "dst" + slowEncode(string(src), s); string(text) != want {
			t.Fatalf("%s: encode(%q) = %q, want %q", s, src, text, want)
		}
		text = text[3:]
		back, err := appendDecodeChecked([]byte("dst"), text)
		if s == WHATWGForm {
			back = AppendDecodeForm([]byte("dst"), text)
		}
		if err != nil || string(back) != "dst"+string(src) {
			t.Fatalf("%s: %q became %q and then %q (%v)", s, src, text, back, err)
		}
		if i := s.Index(text); i >= 0 {
			t.Fatalf("%s: encode(%q) = %q has a raw byte at %d", s, src, text, i)
		}
		if got, want := AppendDecode(nil, src), slowDecode(string(src)); string(got) != want {
			t.Fatalf("decode(%q) = %q, want %q", src, got, want)
		}
		plain := strings.ReplaceAll(string(src), "+", " ")
		if got, want := AppendDecodeForm(nil, src), slowDecode(plain); string(got) != want {
			t.Fatalf("form decode(%q) = %q, want %q", src, got, want)
		}
	})
}
