package idna2003

import (
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/internal/table"
)

// TestAppendASCII checks each rule of ToASCII. The expected results are those of
// encodings.idna.ToASCII.
func TestAppendASCII(t *testing.T) {
	for _, c := range []struct {
		in, want string
		ok       bool
	}{
		{"B\u00dccher", "xn--bcher-kva", true},
		{"fa\u00df", "fass", true}, // mapped, not deviant
		{"\u03b2\u03cc\u03bb\u03bf\u03c2", "xn--nxasmq6b", true},
		{"ABC", "ABC", true}, // no mapping of ASCII
		{"\uff21", "a", true},
		{"a\u00adb\u200d", "ab", true},                  // table B.1
		{"\u2f868", "xn--8-df8c", true},                 // followed by 8
		{"\U0002f868", "xn--j74i", true},                // 3.2 decomposes it differently
		{"\u1e9e", "ss", true},                          // assigned after 3.2, lowered by Python's tables
		{"\u0221", "xn--6la", true},                     // unassigned in 3.2: permitted
		{"\u05d0a", "", false},                          // both directions
		{"\u05d01", "", false},                          // does not end right to left
		{"\u05d01\u05d0", "xn--1-zhcb", true},           //
		{"\u00a0\u00fc", "xn-- -eha", true},             // NFKC makes a space, which C.1.1 has
		{"\u2028\u00fc", "", false},                     // C.2.2
		{"xn--\u00fc", "", false},                       // the prefix of an ASCII form
		{"", "", false},                                 //
		{"\u00ad", "", false},                           // nothing remains
		{strings.Repeat("a", 64), "", false},            //
		{strings.Repeat("\u00fc", 64), "", false},       //
		{strings.Repeat("a", 58) + "\u00fc", "", false}, //
	} {
		got, ok := AppendASCII([]byte("x"), []rune(c.in))
		if ok != c.ok || string(got) != "x"+c.want {
			t.Errorf("%+q becomes %q, %v; want %q, %v", c.in, got, ok, c.want, c.ok)
		}
	}
	if !Unassigned('\u0221') || Unassigned('a') || !IsDot('\u3002') || IsDot('a') {
		t.Error("classes of code points")
	}
}

// TestTables checks that the tables are sorted, as the binary search requires.
func TestTables(t *testing.T) {
	d := tables()
	for _, m := range []*table.TextMap{&d.folded, &d.decomposed, &d.canonical, &d.decomposed32} {
		if !slices.IsSorted(m.Keys) || len(slices.Compact(m.Keys)) != len(m.Keys) || m.Text(len(m.Keys)-1) == "" {
			t.Error("a map is not sorted or not complete")
		}
	}
	for _, s := range [][]table.Span{d.unassigned, d.dropped, d.prohibited, d.rightToLeft, d.leftToRight, d.combining} {
		for i := 1; i < len(s); i++ {
			if s[i-1].Hi >= s[i].Lo || s[i].Lo > s[i].Hi {
				t.Errorf("span %x is not sorted", s[i])
			}
		}
	}
}

// TestNFKC checks the order of marks, composites and Hangul.
func TestNFKC(t *testing.T) {
	for in, want := range map[string]string{
		"e\u0301":             "\u00e9",
		"\u0061\u0315\u0300":  "\u00e0\u0315",
		"\ufb01":              "fi",
		"\u1100\u1161\u11a8":  "\uac01",
		"\uac00\u11a8":        "\uac01",
		"\u2126":              "\u03a9",
		"\u0958":              "\u0915\u093c", // excluded from composition
		"\u0344":              "\u0308\u0301",
		"\ufdfa":              "\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 \u0639\u0644\u064a\u0647 \u0648\u0633\u0644\u0645",
		"a\u0328\u0301\u0328": "\u0105\u0328\u0301",
	} {
		if got := string(AppendNFKC(nil, []rune(in))); got != want {
			t.Errorf("%+q becomes %+q, want %+q", in, got, want)
		}
	}
}
