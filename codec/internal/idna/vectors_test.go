package idna

import (
	"errors"
	"strings"
	"testing"
)

// vectors are our own cases, each with the clause that decides it. They do not
// need the corpora.
var vectors = []struct {
	in, want string
	err      Error
	clause   string
}{
	// URL Standard, domain to ASCII: ASCII domains.
	{"", "", 0, "URL: the empty domain is ASCII; the caller rejects it"},
	{"Example.COM", "example.com", 0, "URL: ASCII is lower-cased"},
	{"xn--a", "xn--a", 0, "URL, 2026-06-25: ASCII is accepted although xn--a is not Punycode"},
	{"XN--A.com", "xn--a.com", 0, "URL, 2026-06-25: likewise, lower-cased"},
	{"xn--8i7caa", "xn--8i7caa", 0, "URL, 2026-06-25: encodes invalid text"},
	{"a..b.", "a..b.", 0, "URL: VerifyDnsLength is false"},
	{"-a-.ab--c", "-a-.ab--c", 0, "URL: CheckHyphens is false"},
	{"a_b c%\x00", "a_b c%\x00", 0, "URL: the caller checks forbidden code points"},

	// UTS 46, section 4, step 1: mapping.
	{"faß.de", "xn--fa-hia.de", 0, "UTS 46 §4: deviation character, nontransitional"},
	{"Faẞ.de", "xn--fa-hia.de", 0, "UTS 46 §5: U+1E9E maps to ß since revision 31"},
	{"βόλος.com", "xn--nxasmm1c.com", 0, "UTS 46 §4: final sigma is a deviation character"},
	{"bücher.example", "xn--bcher-kva.example", 0, "RFC 3492"},
	{"BÜCHER.example", "xn--bcher-kva.example", 0, "UTS 46 §4: case is mapped"},
	{"ｅｘａｍｐｌｅ．ＣＯＭ", "example.com", 0, "UTS 46 §4: full width letters and stop"},
	{"a。b｡ü", "a.b.xn--tda", 0, "UTS 46 §2.3: ideographic full stops"},
	{"ex\u00ADample.com", "example.com", 0, "UTS 46 §4: the soft hyphen is ignored"},
	{"\u00AD", "", 0, "UTS 46 §4: empty; the caller rejects it"},
	{"\uFEFFa", "a", 0, "UTS 46 §4: the byte order mark is ignored"},
	{"ﷺ", "", ErrBidi, "UTS 46 §5: U+FDFA maps to 18 code points, including spaces: RFC 5893 §2 condition 2"},
	{"1⁄2", "xn--12-c6t", 0, "UTS 46 §5: the fraction slash is valid"},
	{"½", "xn--12-c6t", 0, "UTS 46 §5: a fraction maps to digits and slash"},
	{"≠", "xn--1ch", 0, "UTS 46 revision 33: valid in spite of STD3"},

	// Step 2: normalization.
	{"u\u0308", "xn--tda", 0, "UAX 15: composition"},
	{"\u1112\u1161\u11AB", "xn--6q8b", 0, "Unicode §3.12: Hangul L, V, T compose"},
	{"\uD558\u11AB", "xn--6q8b", 0, "Unicode §3.12: Hangul LV, T compose"},
	{"a\u0323\u0307b\u0307\u0323", "xn--rsaa348r1ra", 0, "UAX 15: canonical ordering"},
	{"\u212B", "xn--5ca", 0, "UTS 46 §5: the ångström sign maps to å"},

	// Step 4: labels.
	{"xn--0.ß", "", ErrPunycode, "UTS 46 §4 step 4: IgnoreInvalidPunycode is false"},
	{"xn---a.ß", "", ErrPunycode, "RFC 3492 §6.2: a delimiter with nothing before it is not a digit"},
	{"xn--99999999.ß", "", ErrPunycode, "RFC 3492 §6.4: overflow"},
	{"xn--a.ß", "", ErrCodePoint, "UTS 46 §4.1 criterion 7: encodes U+0080"},
	{"xn--.ß", "", ErrASCIIOnly, "UTS 46 §4 step 4, revision 33: empty"},
	{"xn--a-.ß", "", ErrASCIIOnly, "UTS 46 §4 step 4, revision 33: ASCII only"},
	{"xn--té", "", ErrPunycode, "UTS 46 §4 step 4: not ASCII after xn--"},
	{"xn--é-", "", ErrPunycode, "UTS 46 §4 step 4: likewise, before the delimiter"},
	{"ｘn--zca", "xn--zca", 0, "UTS 46 §4: mapping precedes the check for xn--"},
	{"xn--zca.ß", "xn--zca.xn--zca", 0, "UTS 46 §4 step 4"},
	{"xn--u-ccb.ß", "", ErrNFC, "UTS 46 §4.1 criterion 1"},
	{"xn--xn---epa.ß", "", ErrPrefix, "UTS 46 §4.1 criterion 4"},
	{"\u0308a", "", ErrMark, "UTS 46 §4.1 criterion 6"},
	{"a\u2028b", "", ErrCodePoint, "UTS 46 §4.1 criterion 7: disallowed"},
	{"\U000E0001", "", ErrCodePoint, "UTS 46 §4.1 criterion 7: a tag"},
	{"\U0010FFFF", "", ErrCodePoint, "UTS 46 §4.1 criterion 7: a noncharacter"},
	{"a\x80", "", ErrUTF8, "Encoding: not UTF-8"},
	{"\xED\xA0\x80", "", ErrUTF8, "Encoding: a surrogate is not UTF-8"},
	{"a\uFFFD", "", ErrCodePoint, "UTS 46 §4.1 criterion 7: the result of decoding invalid UTF-8"},
	{"-ü-", "xn-----xka", 0, "URL: CheckHyphens is false"},
	{"a_ü", "xn--a_-yka", 0, "URL: UseSTD3ASCIIRules is false"},
	{strings.Repeat("ü", 64), "xn--tda" + strings.Repeat("a", 63), 0, "URL: VerifyDnsLength is false"},

	// Criterion 8: RFC 5892 A.1 and A.2.
	{"a\u200Bb", "ab", 0, "UTS 46 §5: the zero width space is ignored"},
	{"a\u200Cb", "", ErrJoiner, "RFC 5892 A.1"},
	{"a\u200Db", "", ErrJoiner, "RFC 5892 A.2: not ab"},
	{"\u200D", "", ErrJoiner, "RFC 5892 A.2: nothing before"},
	{"\u0915\u094D\u200D", "xn--11b6iy14e", 0, "RFC 5892 A.2: after a virama"},
	{"\u0915\u094D\u200C", "xn--11b6iv14e", 0, "RFC 5892 A.1: after a virama"},
	{"\u0628\u200C\u0628", "xn--ngba799q", 0, "RFC 5892 A.1: between characters that join"},
	{"\u0628\u064B\u200C\u064B\u0628", "xn--ngba8ha8704a", 0, "RFC 5892 A.1: marks are transparent"},
	{"\u0628\u200C", "", ErrJoiner, "RFC 5892 A.1: nothing after it"},
	{"\u0627\u200C\u0628", "", ErrJoiner, "RFC 5892 A.1: alef joins on its right side only"},
	{"\u0628\u200D\u0628", "", ErrJoiner, "RFC 5892 A.2: joining types do not permit ZWJ"},

	// Criterion 9: RFC 5893, section 2.
	{"\u05D0", "xn--4db", 0, "RFC 5893 §2"},
	{"a.\u05D0", "a.xn--4db", 0, "RFC 5893 §2: next to a left-to-right label"},
	{"0a.\u05D0", "", ErrBidi, "RFC 5893 §2 condition 1"},
	{"-.\u05D0", "", ErrBidi, "RFC 5893 §2 condition 1, in ASCII"},
	{"0a.ü", "0a.xn--tda", 0, "RFC 5893 §1.4: not a Bidi domain name"},
	{"\u05D0a", "", ErrBidi, "RFC 5893 §2 condition 2"},
	{"\u05D0-", "", ErrBidi, "RFC 5893 §2 condition 3"},
	{"\u05D0\u0308", "xn--ssa73l", 0, "RFC 5893 §2 condition 3: a mark at the end"},
	{"\u05D01\u0661", "", ErrBidi, "RFC 5893 §2 condition 4"},
	{"a\u05D0", "", ErrBidi, "RFC 5893 §2 condition 5"},
	{"a!.\u05D0", "", ErrBidi, "RFC 5893 §2 condition 6"},
	{"a1.\u05D0", "a1.xn--4db", 0, "RFC 5893 §2 condition 6: a digit at the end"},
	{"xn--4db.0ü", "", ErrBidi, "RFC 5893 §1.4: the decoded text counts"},
	{"..\u05D0.", "..xn--4db.", 0, "RFC 5893 §2: empty labels contain no characters to reject"},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		got, err := AppendASCII([]byte("pre"), []byte(v.in))
		if v.err != 0 {
			if !errors.Is(err, v.err) || string(got) != "pre" {
				t.Errorf("AppendASCII(%+q) = %q, %v; want dst unchanged, %v (%s)", v.in, got, err, v.err, v.clause)
			}
			continue
		}
		if err != nil || string(got) != "pre"+v.want {
			t.Errorf("AppendASCII(%+q) = %q, %v; want pre%s (%s)", v.in, got, err, v.want, v.clause)
		}
	}
}
