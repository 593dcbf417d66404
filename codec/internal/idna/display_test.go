package idna

import (
	"slices"
	"testing"
)

func TestAppendUnicode(t *testing.T) {
	f := func(domain, want string) {
		t.Helper()
		if got := string(AppendUnicode([]byte("pre"), []byte(domain))); got != "pre"+want {
			t.Errorf("AppendUnicode(%q) = %+q; want pre%s", domain, got, want)
		}
	}
	same := func(domain string) {
		t.Helper()
		f(domain, domain)
	}
	same("")
	same("www.Example.COM.")
	f("xn--bcher-kva.example", "bücher.example")
	f("XN--Bcher-KVA.Example", "bücher.Example")
	f("xn--fa-hia.de", "faß.de")
	f("xn--nxasmm1c.com", "βόλος.com")
	f("xn--1ch", "≠")
	f("xn--4db.com", "א.com")
	f("xn--0ca.xn--ssa73l", "à.א\u0308")

	// UTS 39 §5.1: scripts that are used together, and others.
	f(toASCII(t, "日本語のテスト"), "日本語のテスト")            // Han, Hiragana, Katakana
	f(toASCII(t, "ヴァン・ダイク"), "ヴァン・ダイク")            // the middle dot occurs with Katakana
	f(toASCII(t, "漢한글"), "漢한글")                    // Han, Hangul
	f(toASCII(t, "漢ㄅ"), "漢ㄅ")                      // Han, Bopomofo
	same(toASCII(t, "pаypal"))                     // Cyrillic а among Latin
	same(toASCII(t, "aβ"))                         // Latin, Greek
	same(toASCII(t, "のㄅ"))                         // Hiragana, Bopomofo
	same(toASCII(t, "한の"))                         // Hangul, Hiragana
	f(toASCII(t, "pаypal.日本"), "xn--pypal-4ve.日本") // each label is judged separately

	// RFC 3987 §4.1, and characters that look like others.
	same(toASCII(t, "क\u094D\u200D"))               // a joiner is invisible
	same(toASCII(t, "evil.com⁄foo"))                // looks like a slash
	same(toASCII(t, "a꞉80"))                        // looks like a colon
	same("xn--a.xn--zca")                           // one label is invalid: a.ß would not convert back
	same("0a.xn--4db")                              // RFC 5893: the domain violates the Bidi Rule
	same("bücher.xn--zca")                          // not ASCII
	same("xn--zca\xFF")                             // not valid
	f(toASCII(t, "\U0001F600.ws"), "\U0001F600.ws") // a symbol without a script
}

func toASCII(t *testing.T, domain string) string {
	t.Helper()
	out, err := AppendASCII(nil, []byte(domain))
	if err != nil {
		t.Fatalf("%+q: %v", domain, err)
	}
	return string(out)
}

func TestDelimiterLike(t *testing.T) {
	if !slices.IsSorted(delimiterLike) {
		t.Error("not sorted")
	}
	for _, r := range delimiterLike {
		if mapValue(r) != valid {
			t.Errorf("%U is not valid in a label, so it need not be in the list", r)
		}
	}
}

// TestScripts compares the tables with a few values of Script_Extensions.
func TestScripts(t *testing.T) {
	meet := func(a, b rune) bool {
		for i, word := range scriptsOf(a) {
			if word&scriptsOf(b)[i] != 0 {
				return true
			}
		}
		return false
	}
	f := func(a, b rune, want bool) {
		t.Helper()
		if meet(a, b) != want {
			t.Errorf("%U and %U have a script in common: %t", a, b, !want)
		}
	}
	f('a', 'z', true)
	f('a', 'а', false)
	f('1', 'а', true)       // Common
	f('а', 0x0308, true)    // Inherited, used with Cyrillic
	f('क', 0x0964, true)    // danda: used by many Indian scripts
	f('a', 0x0964, false)   //
	f('ァ', 0x30FC, true)    // the length mark occurs with Hiragana and Katakana
	f('a', 0x30FC, false)   //
	f('a', 0x0378, false)   // unassigned
	f('a', 0x10FFFF, false) // beyond the tables
}
