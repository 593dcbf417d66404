package idna

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/internal/punycode"
)

func TestStrict(t *testing.T) {
	f := func(domain string, at int, want Error) {
		t.Helper()
		got, err := Strict([]byte(domain))
		if got != at || want == 0 && err != nil || want != 0 && !errors.Is(err, want) {
			t.Errorf("Strict(%+q) = %d, %v; want %d, %v", domain, got, err, at, want)
		}
	}
	// UTS 46 §4.1 and §4.2 with all checks on.
	f("example.com", -1, 0)
	f("faß.xn--zca.a-b", -1, 0)
	f("bücher。example", -1, 0)
	f("", 0, ErrEmpty)
	f("a..b", 2, ErrEmpty)
	f("example.com.", 12, ErrEmpty)
	f("a。\u00AD", 4, ErrEmpty)
	f("a.-b.c", 2, ErrHyphens)
	f("a.b-.c", 2, ErrHyphens)
	f("a.ab--c", 2, ErrHyphens)
	f("a.b_c", 2, ErrSTD3)
	f("ü.b c", 3, ErrSTD3)
	f("a.xn--a_-yka", 2, ErrSTD3)
	f("xn--a", 0, ErrCodePoint)
	f("www.xn--0", 4, ErrPunycode)
	f("b.xn--a-", 2, ErrASCIIOnly)
	f("b.xn--xn---epa", 2, ErrHyphens)
	f("a.b\u200Dc", 2, ErrJoiner)
	f("a.0b.\u05D0.b_c", 2, ErrBidi)
	f("a.b_c.0b.\u05D0", 2, ErrSTD3)
	f("a.\xFF", 2, ErrUTF8)
	f("a."+strings.Repeat("b", 63), -1, 0)
	f("a."+strings.Repeat("b", 64), 2, ErrLength)
	f(strings.Repeat("b.", 126)+"b", -1, 0)
	f(strings.Repeat("b.", 126)+"bb", 0, ErrLength)
}

func TestValid(t *testing.T) {
	f := func(domain string, at int, want Error) {
		t.Helper()
		got, err := Valid([]byte(domain))
		if got != at || want == 0 && err != nil || want != 0 && !errors.Is(err, want) {
			t.Errorf("Valid(%+q) = %d, %v; want %d, %v", domain, got, err, at, want)
		}
	}
	// URL Standard, domain to ASCII with beStrict false: the ToASCII errors of
	// ASCII domains that are accepted nevertheless.
	f("", -1, 0)
	f("-a_b..ab--c.", -1, 0)
	f("xn--bcher-kva.example", -1, 0)
	f("www.xn--a.com", 4, ErrCodePoint)
	f("www.xn--0", 4, ErrPunycode)
	f("xn--zca.xn--xn---epa", 8, ErrPrefix)
	f("a.0b.xn--4db", 2, ErrBidi)
}

func TestErrorText(t *testing.T) {
	seen := map[string]bool{}
	for e := Error(1); e < numErrors; e++ {
		if s := e.Error(); seen[s] || len(s) < len("idna: x") {
			t.Errorf("error %d has the text %q", e, s)
		} else {
			seen[s] = true
		}
	}
	if Error(0).Error() != Error(numErrors).Error() {
		t.Error("Error(0) and Error(numErrors) have different texts")
	}
}

// singleDigests are digests of the results of golang.org/x/net/idna v0.62.0 for
// each character after a prefix, built with its tables of Unicode 17 (which
// require Go 1.27) and the options of AppendASCII. Each is the first 16 bytes
// of the SHA-256 of lines that consist of the character in hex, a space, and
// the result or "!". The characters of singleExceptions are omitted.
var singleDigests = map[string]string{
	"":        "37ea76105dc020d65ff33f663f4fa632",
	"a":       "932dcd016f7d2605898c3e3f1568bd22",
	"\u0628":  "53c470a43dde6d35c186cbb72f671183",
	"a\u0308": "57086aacb7e00e37ca40150c59ad2e10",
}

// singleExceptions are the characters whose Bidi_Class differs from that of the
// characters they map to. UTS 46 §4.1 examines the label after mapping; x/net
// decides before mapping whether a domain is a Bidi domain name.
var singleExceptions = []struct {
	first, last   rune
	in, want, why string
}{
	{0x2135, 0x2138, "a\u2135", "", "left-to-right symbols that map to Hebrew letters: RFC 5893 §2 condition 5"},
	{0xFC5E, 0xFC63, "\uFC5E", "xn-- -3ocp", "right-to-left forms that map to a space and marks: nothing is right-to-left any more"},
	{0xFE70, 0xFE7E, "\uFE70", "xn-- -1oc", "likewise"},
}

func isSingleException(r rune) bool {
	for _, e := range singleExceptions {
		if e.first <= r && r <= e.last {
			return true
		}
	}
	return false
}

func TestSingleCharacters(t *testing.T) {
	t.Parallel()
	for _, e := range singleExceptions {
		if got, err := AppendASCII(nil, []byte(e.in)); string(got) != e.want || (err == nil) != (e.want != "") {
			t.Errorf("AppendASCII(%+q) = %q, %v; want %q: %s", e.in, got, err, e.want, e.why)
		}
	}
	var in, out, lines []byte
	for prefix, want := range singleDigests {
		lines = lines[:0]
		for r := rune(0x80); r < 0x110000; r++ {
			if r >= 0xD800 && r < 0xE000 || isSingleException(r) {
				continue
			}
			in = append(append(in[:0], prefix...), string(r)...)
			var err error
			if out, err = AppendASCII(out[:0], in); err != nil {
				out = append(out[:0], '!')
			}
			lines = append(append(strconv.AppendInt(lines, int64(r), 16), ' '), out...)
			lines = append(lines, '\n')
		}
		sum := sha256.Sum256(lines)
		if got := fmt.Sprintf("%x", sum[:16]); got != want {
			t.Errorf("after %+q: digest %s, want %s", prefix, got, want)
		}
	}
}

// TestTwinSingle compares the package with its twin on every character in the
// tables, alone and in contexts that depend on its combining class, joining
// type and direction.
func TestTwinSingle(t *testing.T) {
	t.Parallel()
	for r := range rune(0xE0200) {
		if _, known := slow().props[r]; !known || r >= 0xD800 && r < 0xE000 {
			continue
		}
		if r >= 0x3400 && r < 0xD7A0 && r%16 != 0 || r >= 0x17000 && r < 0x1B000 && r%16 != 0 || r >= 0x20000 && r < 0xE0000 && r%64 != 0 {
			continue // large blocks of identical properties
		}
		checkTwin(t, string(r))
		checkTwin(t, "o\u0316"+string(r)+"\u0308")
		checkTwin(t, "\u0628"+string(r)+"\u200C\u0628")
		checkTwin(t, string(r)+"\u200D.\u05D0")
	}
}

// TestNormalization compares NFC with the twin on every decomposition and every
// pair, in order and out of order.
func TestNormalization(t *testing.T) {
	f := func(s []rune) {
		t.Helper()
		want := slow().nfc(s)
		if got := appendNFC(nil, s); !slices.Equal(got, want) {
			t.Errorf("NFC of %+q: %+q, want %+q", string(s), string(got), string(want))
		}
		if quickNFC(s) && !slices.Equal(s, want) {
			t.Errorf("%+q passes the quick check", string(s))
		}
	}
	for c, to := range slow().decomp {
		f([]rune{c})
		f(to)
		f(append([]rune{c, 0x0327}, to...))
	}
	for p := range slow().comp {
		f([]rune{p[0], 0x0334, p[1]})
		f([]rune{0x0300, p[0], 0x0300, p[1]})
		f([]rune{p[0], p[1], p[1]})
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	marks := []rune("ao\u0300\u0301\u0316\u0327\u0334\u0345\u05B0\u0F71\u0F72\u1100\u1161\u11A8\u3099\uAC00\U0001D165")
	for range 2000 {
		s := make([]rune, 1+rnd.IntN(40))
		for i := range s {
			s[i] = marks[rnd.IntN(len(marks))]
		}
		f(s)
	}
}

// TestPunycodeLong compares the algorithms for short and long labels with each
// other and with the twin.
func TestPunycodeLong(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for n := range 600 {
		label := make([]rune, n%300)
		span := []int32{2, 30, 3000, 0xD000}[n%4]
		for i := range label {
			label[i] = rnd.Int32N(span)
			if rnd.IntN(3) > 0 {
				label[i] += 0x80
			}
			if label[i] < 0x80 {
				label[i] = 'a' + label[i]%26
			}
		}
		want := slowEncode(label)
		got, ok := punycode.Append(nil, label, punycode.MaxDelta)
		if !ok || string(got) != want {
			t.Fatalf("Punycode of %+q: %q, want %q", string(label), got, want)
		}
		back, ok := punycode.AppendDecoded(nil, []rune(want))
		if !ok || !slices.Equal(back, label) {
			t.Fatalf("%q decodes to %+q, want %+q", want, string(back), string(label))
		}
	}
}

// TestHostileLength converts labels of 64 KiB that would take a naive
// implementation minutes. The test fails by hanging.
func TestHostileLength(t *testing.T) {
	for _, domain := range hostile() {
		out, err := AppendASCII(nil, domain.in)
		if (err == nil) != domain.ok {
			t.Errorf("%s: %v", domain.name, err)
		}
		if len(out) > maxGrowth*len(domain.in) {
			t.Errorf("%s: %d bytes out of %d", domain.name, len(out), len(domain.in))
		}
		_, _ = Strict(domain.in)
		AppendUnicode(nil, out)
	}
}

type hostileDomain struct {
	name string
	in   []byte
	ok   bool
}

func hostile() []hostileDomain {
	const size = 64 << 10
	var han, marks []byte
	for r := rune(0x4E00); len(han) < size; r++ {
		han = append(han, string(rune(0x4E00+(r*7919)%0x5000))...)
	}
	for i := 0; len(marks) < size; i++ {
		marks = append(marks, []string{"\u0315", "\u0300", "\u0316", "\u0327"}[i*7%4]...)
	}
	puny, _ := AppendASCII(nil, han)
	return []hostileDomain{
		{"distinct Han", han, true},
		{"marks", append([]byte("a"), marks...), true},
		{"digits", append(bytes.Repeat([]byte("a"), size), ".ß"...), true},
		{"Punycode of Han", append(puny, ".ß"...), true},
		{"Punycode at the front", append(append([]byte("xn--"), bytes.Repeat([]byte("a9"), size/2)...), ".ß"...), false},
		{"joiners", append([]byte("ب"), bytes.Repeat([]byte("\u200C"), size/3)...), false},
		{"transparent", append(bytes.Repeat([]byte("\u064B\u200C"), size/5), 'a'), false},
		{"dots", append(bytes.Repeat([]byte("."), size), "\u05D0"...), true},
		{"expansion", bytes.Repeat([]byte("\uFDFA"), size/3), false},
	}
}

func TestNoAllocs(t *testing.T) {
	buf := make([]byte, 0, 4096)
	for _, in := range []string{
		"www.Example.COM", "xn--bcher-kva.example", "www.bücher.example", "例え.テスト", "пример.испытание", "a\u0323\u0307\u1112\u1161\u11AB.de",
		"נסיון.a1", "xn--fa-hia.ｄｅ", "a\u200Db", "xn--0.ß", strings.Repeat("例", 200), strings.Repeat("xn--zca.", 300) + "ß",
	} {
		domain := []byte(in)
		if n := testing.AllocsPerRun(50, func() { _, _ = AppendASCII(buf, domain) }); n != 0 {
			t.Errorf("AppendASCII(%.40q): %v allocations", in, n)
		}
		if n := testing.AllocsPerRun(50, func() { AppendUnicode(buf, domain) }); n != 0 && len(in) < scratchLen {
			t.Errorf("AppendUnicode(%.40q): %v allocations", in, n)
		}
		if n := testing.AllocsPerRun(50, func() { _, _ = Strict(domain) }); n != 0 && len(in) < scratchLen {
			t.Errorf("Strict(%.40q): %v allocations", in, n)
		}
	}
}

// TestLongLabel checks that the memory that a label takes is bounded, however many code
// points it maps to.
func TestLongLabel(t *testing.T) {
	for _, tt := range []struct {
		label string
		n     int
		want  error
	}{
		{"é", maxLabel, nil},
		{"é", maxLabel + 2, ErrOverflow},
		{"\uFDFA", maxLabel, ErrOverflow}, // 18 code points each
	} {
		if _, err := AppendASCII(nil, []byte(strings.Repeat(tt.label, tt.n))); err != tt.want {
			t.Errorf("%d times %s: %v, want %v", tt.n, tt.label, err, tt.want)
		}
	}
}
