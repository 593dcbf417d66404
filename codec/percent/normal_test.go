package percent

import (
	"bytes"
	"encoding/json"
	"testing"
)

// full returns all rules at once, as the profiles use them.
func full(add ByteSet, s Malformed) EscapeRules {
	return EscapeRules{Add: add, Malformed: s, Upper: true, Unreserved: true}
}

func TestAppendNormal(t *testing.T) {
	f := func(r EscapeRules, src, want string) {
		t.Helper()
		got, malformed := AppendNormal([]byte("dst"), []byte(src), r)
		if string(got) != "dst"+want || malformed != -1 {
			t.Errorf("%+v of %q:\n got %q, malformed at %d\nwant %q", r, src, got, malformed, "dst"+want)
		}
	}
	keep, encode := full(None, MalformedKeep), full(None, MalformedEncode)

	f(EscapeRules{}, "", "")
	f(EscapeRules{}, "%zz%4a%7E %", "%zz%4a%7E %") // the zero Rules change nothing
	f(keep, "plain", "plain")

	// RFC 3986 §6.2.2.1: upper-case digits. §2.1: %zz is not an escape, because
	// only hexadecimal digits count.
	f(EscapeRules{Upper: true}, "%2f%aB%Fa%zz%2F", "%2F%AB%FA%zz%2F")
	f(EscapeRules{Upper: true}, "%7e", "%7E")
	// RFC 3986 §6.2.2.2: escapes of unreserved bytes are decoded. This rule
	// alone does not change the case of others.
	f(EscapeRules{Unreserved: true}, "%7e%41%2d%2E%5f%30%2f", "~A-._0%2f")
	// RFC 3986 §2.2: no escape of a reserved byte is decoded. %21 %27 %28 %29
	// %2A were marks in RFC 2396 and are sub-delims now.
	reserved := "%3A%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D"
	f(keep, reserved, reserved)
	f(encode, reserved, reserved)
	// Nor is any other escape of a byte that is not unreserved.
	f(keep, "%25%00%20%5C%7F%C3%A9", "%25%00%20%5C%7F%C3%A9")

	// add(S): RFC 3986 §2.1, upper-case digits. '%' never changes, even if the
	// set contains it.
	f(full(RFC3986Path, MalformedKeep), "/a b\xc3\xa9|%zz", "/a%20b%C3%A9%7C%zz")
	f(EscapeRules{Add: WHATWGComponent}, "a/%41%", "a%2F%41%")
	f(EscapeRules{Add: WHATWGC0}, "\x00 \x7f", "%00 %7F")

	// esc-unres follows add, so '~' stays raw although RFC 1738 §2.2 calls it
	// unsafe.
	f(EscapeRules{Add: RFC1738Path}, "~%7e%41", "%7E%7e%41")
	f(full(RFC1738Path, MalformedKeep), "~%7e%41", "~~A")

	// A malformed '%' and the escapes after it.
	f(encode, "100%", "100%25")
	f(encode, "%4%31", "%2541")
	f(encode, "%%750041", "%25u0041")
	f(keep, "%4%31", "%4%31")
	f(keep, "%%34%31", "%%341") // only the first one would follow the '%' directly
	f(keep, "%%34%31%32", "%%3412")
	f(keep, "%%7E%31", "%~1") // after a decoded byte that is not a hexadecimal digit nothing needs to be kept
	f(keep, "%z%31", "%z1")
	f(keep, "%%67", "%g") // 'g' is not a hexadecimal digit
	f(keep, "%4%67", "%4g")
	f(keep, "%4%7e%31", "%4~1")
	f(keep, "%25%34%31", "%2541") // %25 is not malformed
	f(full(RFC3986Path, MalformedKeep), "% %31", "%%201")
	f(keep, "%a%2f", "%a%2F")
}

func TestAppendNormalReject(t *testing.T) {
	f := func(src string, want int) {
		t.Helper()
		dst := make([]byte, 3, 64)
		copy(dst, "dst")
		got, malformed := AppendNormal(dst, []byte(src), full(RFC3986Path, MalformedReject))
		if malformed != want {
			t.Errorf("%q: malformed at %d, want %d", src, malformed, want)
		}
		if want >= 0 && string(got) != "dst" {
			t.Errorf("%q: dst was returned as %q", src, got)
		}
	}
	f("", -1)
	f("%41%2f", -1)
	f("%", 0)
	f(" %41%4", 4)
	f("%41%%41", 3)
	f("a%u0041", 1)
}

// forAll calls f with every string of up to n bytes of alphabet. The bytes are
// valid only until f returns.
func forAll(alphabet string, n int, f func(s []byte)) {
	buf := make([]byte, n)
	var rec func(i int)
	rec = func(i int) {
		f(buf[:i])
		if i == n {
			return
		}
		for _, c := range []byte(alphabet) {
			buf[i] = c
			rec(i + 1)
		}
	}
	rec(0)
}

// TestNormalLaws checks the laws of escape normalization on all short strings,
// which contain every combination of malformed '%', escapes, and digits that
// could join them.
func TestNormalLaws(t *testing.T) {
	n := 7
	if testing.Short() {
		n = 5
	}
	keep, encode := full(None, MalformedKeep), full(None, MalformedEncode)
	var k, e, again []byte
	failures := 0
	forAll("%341fgu", n, func(s []byte) {
		k, _ = AppendNormal(k[:0], s, keep)
		e, _ = AppendNormal(e[:0], s, encode)
		if again, _ = AppendNormal(again[:0], k, keep); !bytes.Equal(again, k) {
			failures++
			t.Errorf("keep(%q) = %q, second run %q", s, k, again)
		}
		if again, _ = AppendNormal(again[:0], k, encode); !bytes.Equal(again, e) {
			failures++
			t.Errorf("encode(%q) = %q, but encode(keep) = %q", s, e, again)
		}
		if again, _ = AppendNormal(again[:0], e, encode); !bytes.Equal(again, e) {
			failures++
			t.Errorf("encode(%q) = %q, second run %q", s, e, again)
		}
		if i := IndexMalformed(e); i >= 0 {
			failures++
			t.Errorf("encode(%q) = %q has a malformed '%%' at %d", s, e, i)
		}
		if failures > 10 {
			t.FailNow()
		}
	})
}

// TestReservedStays checks on all short strings with escapes of '/' and '+'
// that no escape of a reserved byte is decoded: output and input have the same
// reserved bytes.
func TestReservedStays(t *testing.T) {
	n := 8
	if testing.Short() {
		n = 6
	}
	count := func(s []byte) (n int) {
		for _, c := range s {
			if IsReserved(c) {
				n++
			}
		}
		return n
	}
	var out []byte
	forAll("%2Fb/", n, func(s []byte) {
		for _, p := range []Malformed{MalformedKeep, MalformedEncode} {
			if out, _ = AppendNormal(out[:0], s, full(None, p)); count(out) != count(s) {
				t.Fatalf("%q became %q", s, out)
			}
		}
	})
}

// TestSlowNormal checks the reference implementation on short strings, for
// which the results can be verified by hand.
func TestSlowNormal(t *testing.T) {
	rules := []EscapeRules{full(None, MalformedKeep), full(None, MalformedEncode), {Unreserved: true}, {Upper: true, Add: WHATWGPath}, full(RFC3986Path, MalformedReject)}
	forAll("%34ag ", 5, func(s []byte) {
		for _, r := range rules {
			checkNormal(t, s, r)
		}
	})
}

// checkNormal compares AppendNormal with its reference implementation, and
// checks that it writes only to the result.
func checkNormal(t *testing.T, src []byte, r EscapeRules) {
	t.Helper()
	want, wantMalformed := slowNormal(string(src), r)
	in := bytes.Clone(src)
	for _, free := range []int{0, 2, 3*len(src) + 8} {
		backing := append([]byte("dst"), bytes.Repeat([]byte{0xCC}, free+4)...)
		got, malformed := AppendNormal(backing[:3:3+free], src, r)
		if string(got) != "dst"+want || malformed != wantMalformed {
			t.Fatalf("%+v of %q:\n got %q, %d\nwant %q, %d", r, src, got, malformed, "dst"+want, wantMalformed)
		}
		if string(backing[:3]) != "dst" || string(backing[3+free:]) != "\xcc\xcc\xcc\xcc" {
			t.Fatalf("%+v of %q wrote outside of dst[len:cap]", r, src)
		}
	}
	if !bytes.Equal(in, src) {
		t.Fatalf("%+v changed its input %q to %q", r, in, src)
	}
}

// TestMalformedText: a policy is stored by name.
func TestMalformedText(t *testing.T) {
	in := EscapeRules{Malformed: MalformedReject}
	text, err := json.Marshal(in.Malformed)
	if string(text) != `"reject"` || err != nil {
		t.Fatalf("%s, %v", text, err)
	}
	var out Malformed
	if err := json.Unmarshal(text, &out); err != nil || out != in.Malformed {
		t.Errorf("%v, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`"unknown"`), &out); err == nil || out != MalformedReject {
		t.Errorf("an unknown name gives %v, %v", out, err)
	}
	if _, err := json.Marshal(Malformed(3)); err == nil || Malformed(3).String() != "unknown" {
		t.Error("an undefined policy has a name")
	}
}
