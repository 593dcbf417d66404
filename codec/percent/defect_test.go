package percent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// describe formats defects as "at:kind", with the details of kindDoubleEncoded.
func describe(ds []Defect) string {
	var out []string
	for _, d := range ds {
		s := fmt.Sprintf("%d:%s", d.At, d.Kind)
		if d.Depth > 0 {
			s += fmt.Sprintf("(%d", d.Depth)
			if d.Bits&WouldBeUTF8 != 0 {
				s += " utf8"
			}
			if d.Bits&WouldDelimit != 0 {
				s += " delim"
			}
			s += ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// defectsOf returns a function that checks the defects of a component, and that
// the set of kinds matches them.
func defectsOf(t *testing.T) func(src, want string) {
	return func(src, want string) {
		t.Helper()
		got, kinds := appendDefects(nil, []byte(src), 100)
		if describe(got) != want {
			t.Errorf("%q:\n got %s\nwant %s", src, describe(got), want)
		}
		var all Kinds
		for _, d := range got {
			all |= 1 << d.Kind
		}
		if kinds != all {
			t.Errorf("%q: kinds %b, the defects have %b", src, kinds, all)
		}
	}
}

func TestDefectsNone(t *testing.T) {
	f := defectsOf(t)
	f("", "")
	f("/plain/../path", "")
	f("%2F%20%25", "")
}

func TestDefectsMalformed(t *testing.T) {
	f := defectsOf(t)
	// Malformed '%', RFC 3986 §2.1.
	f("%", "0:truncated")
	f("a%4", "1:truncated")
	f("%%", "0:non-hex 1:truncated")
	f("%g", "0:non-hex")
	f("%4g", "0:non-hex")
	f("%zz", "0:non-hex")
	f("%%20", "0:non-hex")
	f("%u0041%U00e9x", "0:percent-u 6:percent-u")
	f("%u004", "0:non-hex")
	f("%u004g", "0:non-hex")
	f("%%750041", "0:non-hex 1:needless-escape")
}

func TestDefectsControls(t *testing.T) {
	f := defectsOf(t)
	f("%00%01%1F%20%7F", "0:nul 3:control 6:control 12:control")
	f("%0a", "0:control 0:lower-hex")
}

func TestDefectsUTF8(t *testing.T) {
	f := defectsOf(t)
	// UTF-8, RFC 3629 §3, §4.
	f("%C3%A9%E4%B8%AD%F0%9F%98%80%EF%BF%BD", "")
	f("%e4%B8%ad", "0:lower-hex 6:lower-hex")
	f("%E9", "0:bad-utf8")
	f("%80%BF", "0:bad-utf8 3:bad-utf8")
	f("%E4%B8", "0:bad-utf8")
	f("%E4%B8%41", "0:bad-utf8 6:needless-escape")
	f("%E4%B8%C3%A9", "0:bad-utf8")
	f("%E4a%B8%AD", "0:bad-utf8 4:bad-utf8 7:bad-utf8") // the escapes of a sequence must be adjacent
	f("%C3\xa9", "0:bad-utf8")
	f("%C0%AF", "0:overlong-utf8")
	f("%C0%AF%C1%BF%C2%80", "0:overlong-utf8 6:overlong-utf8")
	f("%E0%80%AF%E0%9F%BF%E0%A0%80", "0:overlong-utf8 9:overlong-utf8")
	f("%F0%80%80%AF%F0%8F%BF%BF%F0%90%80%80", "0:overlong-utf8 12:overlong-utf8")
	f("%ED%9F%BF%ED%A0%80%ED%BF%BF", "9:surrogate-utf8 18:surrogate-utf8")
	f("%F4%8F%BF%BD%F4%90%80%80", "12:bad-utf8")
	f("%F5%80%80%80%F8%88%80%80%80%FE%FF", "0:bad-utf8 12:bad-utf8 27:bad-utf8 30:bad-utf8")
	f("%EF%B7%8F%EF%B7%90%EF%B7%AF%EF%B7%B0", "9:noncharacter 18:noncharacter") // U+FDCF, FDD0, FDEF, FDF0
	f("%EF%BF%BE%F4%8F%BF%BF", "0:noncharacter 9:noncharacter")                 // U+FFFE, U+10FFFF
}

// TestDefectsIncomplete checks that only complete sequences (a lead byte and
// the continuation bytes that it requires, all escaped) are overlong forms or
// surrogates. Text that only starts like one is in another charset and not an
// attack.
func TestDefectsIncomplete(t *testing.T) {
	f := defectsOf(t)
	f("%C1lvarez", "0:bad-utf8") // Álvarez in Latin-1
	f("%C0", "0:bad-utf8")
	f("%C1%C1", "0:bad-utf8 3:bad-utf8")
	f("%C0%2F", "0:bad-utf8")
	f("%E0%80", "0:bad-utf8")
	f("%E0%80x", "0:bad-utf8")
	f("%E0%80%41", "0:bad-utf8 6:needless-escape")
	f("%F0%80%80", "0:bad-utf8")
	f("%F0%8F%BF.%BF", "0:bad-utf8 10:bad-utf8")
	f("%ED%A0", "0:bad-utf8")
	f("%EDa", "0:bad-utf8")
	f("%ED%BF%C3%A9", "0:bad-utf8")
	f("%E0%80%AF%80", "0:overlong-utf8 9:bad-utf8") // one continuation byte too many
	f("%ED%A0%80%C0", "0:surrogate-utf8 9:bad-utf8")
	f("%F8%80%80%80%AF%FC%80%80%80%80%AF", "0:bad-utf8 15:bad-utf8") // not lead bytes in RFC 3629
	// A raw byte is not part of a sequence of escapes.
	f("%C0\xAF", "0:bad-utf8")
	f("%E0%80\xAF", "0:bad-utf8")
	f("%E0\x80%AF", "0:bad-utf8 4:bad-utf8")
	f("%ED%A0\x80", "0:bad-utf8")
	f("\xC0%AF", "1:bad-utf8")
	f("\xC0\xAF\xED\xA0\x80", "")
}

func TestDefectsDouble(t *testing.T) {
	f := defectsOf(t)
	// Double escapes.
	f("%2541", "0:double-encoded(1 utf8)")
	f("%252541", "0:double-encoded(2 utf8)")
	f("%2525252F", "0:double-encoded(3 utf8 delim)")
	f("%255c", "0:double-encoded(1 utf8 delim)")
	f("%2525", "0:double-encoded(1 utf8)")
	f("%25254", "0:double-encoded(1 utf8)")
	f("%25%41", "3:needless-escape")
	f("%254", "")
	f("%25zz", "")
	f("%25E4%25B8%25AD", "0:double-encoded(1 utf8) 5:double-encoded(1 utf8) 10:double-encoded(1 utf8)")
	f("%25C3%2525A9", "0:double-encoded(1 utf8) 5:double-encoded(2 utf8)")
	f("%25E4%25B8", "0:double-encoded(1) 5:double-encoded(1)")
	f("%25C3%2541%25A9", "0:double-encoded(1) 5:double-encoded(1 utf8) 10:double-encoded(1)")
	f("%25C3 %25A9", "0:double-encoded(1) 6:double-encoded(1)")
	f("%25"+strings.Repeat("25", 300)+"41", "0:double-encoded(255 utf8)")
}

func TestDefectsTraversal(t *testing.T) {
	f := defectsOf(t)
	// Traversal: '..' between separators, at least one of which is escaped. A
	// '..' between raw separators is an ordinary dot segment.
	f("..%2F", "0:encoded-traversal")
	f("%2e%2e%2f", "0:encoded-traversal 0:lower-hex 0:needless-escape 3:lower-hex 3:needless-escape 6:lower-hex")
	f("a/.%2E%5Cb", "2:encoded-traversal 3:needless-escape")
	f("%2F..", "3:encoded-traversal")
	f("%2F../x", "3:encoded-traversal")
	f(`%2F..\x`, "3:encoded-traversal")
	f("%5c..%2F..%5C", "0:lower-hex 3:encoded-traversal 8:encoded-traversal")
	f(`\..%2Fx`, "1:encoded-traversal")
	f("/%2E%2E/", "1:needless-escape 4:needless-escape")
	f("a..%2F", "")
	f("...%2F", "")
	f("..%2E%2F", "2:needless-escape")
	f("../%2F.", "")
	f("%2F..a", "")
	f("%41..%2F", "0:needless-escape")
	f("/..%2", "3:truncated")
	f("../a/b%2F", "")
}

func TestAppendDefectsLimit(t *testing.T) {
	src := []byte("%zz%41%00%C0%AF%2541%")
	all, kinds := appendDefects(nil, src, 100)
	for limit := -1; limit <= len(all)+1; limit++ {
		dst := []Defect{{At: 7}}
		got, k := appendDefects(dst, src, limit)
		want := append(dst, all[:min(max(limit, 0), len(all))]...)
		if !slices.Equal(got, want) || k != kinds {
			t.Errorf("limit %d: got %s, kinds %b, want %s, kinds %b", limit, describe(got), k, describe(want), kinds)
		}
	}
	if !kinds.has(kindTruncated) || !kinds.has(kindDoubleEncoded) || kinds.has(kindPercentU) {
		t.Errorf("kinds of %q are %b", src, kinds)
	}
}

func TestKindString(t *testing.T) {
	want := "truncated non-hex percent-u nul control bad-utf8 overlong-utf8 surrogate-utf8 noncharacter double-encoded encoded-traversal lower-hex needless-escape"
	var names []string
	for k := range Kind(numKinds) {
		names = append(names, k.String())
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := WellFormed.String(); got != "kind(13)" {
		t.Errorf("out-of-range kind: got %q", got)
	}
}

// TestSlowDefects compares with the reference implementation on all short
// strings over three alphabets: malformed '%', dots and separators, and double
// escapes.
func TestSlowDefects(t *testing.T) {
	for _, alphabet := range []string{"%30u2gA", `%2eF./`, "%25EB8"} {
		forAll(alphabet, 5, func(s []byte) { checkDefects(t, s) })
	}
}

// TestSlowUTF8 compares with the reference implementation on all sequences of
// up to three escapes of the bytes at which the rules change, and of up to four
// escapes of those that matter for sequences of four.
func TestSlowUTF8(t *testing.T) {
	var once, twice []byte
	check := func(s []byte) {
		once, twice = once[:0], twice[:0]
		for _, c := range s {
			once = AppendEscape(once, c)
			twice = append(twice, '%', '2', '5', upperHex[c>>4], upperHex[c&15])
		}
		checkDefects(t, once)
		checkDefects(t, twice)
	}
	forAll("\x41\x80\x8f\x90\x9f\xa0\xaf\xb7\xbe\xbf\xc0\xc2\xe0\xed\xef\xf0\xf4\xf5\xf8\xfc\xff", 3, check)
	forAll("\x80\x8f\x90\xbe\xbf\xef\xf0\xf4", 4, check)
}

func checkDefects(t *testing.T, src []byte) {
	t.Helper()
	got, _ := appendDefects(nil, src, len(src)*3)
	if want := slowDefects(string(src)); !slices.Equal(got, want) {
		t.Fatalf("%q:\n got %s\nwant %s", src, describe(got), describe(want))
	}
}

// TestDefectsOf checks that kinds that are not wanted do not count towards the
// limit.
func TestDefectsOf(t *testing.T) {
	src := []byte(strings.Repeat("..%2F", 9) + "%zz%7E")
	got, kinds := AppendDefectsOf(nil, src, AllKinds&^(1<<EncodedTraversal), 2)
	if want := "45:non-hex 48:needless-escape"; describe(got) != want {
		t.Errorf("got %s, want %s", describe(got), want)
	}
	if want := Kinds(1<<EncodedTraversal | 1<<kindNonHex | 1<<kindNeedlessEscape); kinds != want {
		t.Errorf("kinds %b, want %b", kinds, want)
	}
}

// appendDefects calls AppendDefectsOf for all kinds.
func appendDefects(dst []Defect, src []byte, limit int) ([]Defect, Kinds) {
	return AppendDefectsOf(dst, src, AllKinds, limit)
}
