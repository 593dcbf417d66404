package idna

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// maxGrowth bounds the output per input byte. U+FDFA turns 3 bytes into 18 code
// points. A code point takes at most 11 digits of Punycode, because a delta has
// 32 bits and each digit except the last divides it by at least 10. The rest is
// for xn-- and the delimiter.
const maxGrowth = 18*11/3 + 6

// The twin takes quadratic time, so inputs are truncated to maxFuzz bytes.
const maxFuzz = 600

func addSeeds(f *testing.F) {
	for _, v := range vectors {
		f.Add([]byte(v.in))
	}
	for _, s := range []string{
		"xn--1ch.xn--ssa73l", strings.Repeat("\u0300\u0316", 150), strings.Repeat("例", 80) + strings.Repeat("え", 80),
		"a\u0300\u0316\u0334.\u1100\u1161\u11A8", "\u0928\u094D\u200D\u0926", "ヴァン・ダイク.jp", "1\u0660.\u05D0", "\U0001F600.ws",
	} {
		f.Add([]byte(s))
	}
}

func FuzzASCII(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, domain []byte) {
		domain = domain[:min(len(domain), maxFuzz)]
		checkTwin(t, string(domain))
		buf := append(make([]byte, 0, 64), "pre"...)
		out, err := AppendASCII(buf, domain)
		if !bytes.HasPrefix(out, []byte("pre")) || err != nil && len(out) != 3 {
			t.Fatalf("%+q: dst became %q", domain, out)
		}
		if err != nil {
			return
		}
		out = out[3:]
		if !ascii.Only(out) || len(out) > maxGrowth*len(domain) {
			t.Fatalf("%+q: %q", domain, out)
		}
		if again, err := AppendASCII(nil, out); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%+q: %q, and again %q, %v", domain, out, again, err)
		}
		// The result for a non-ASCII domain passes ToASCII as well, not only
		// the check for ASCII.
		if _, err := slowToASCII(string(out), false); err != nil && !ascii.Only(domain) {
			t.Fatalf("%+q: %q does not pass ToASCII", domain, out)
		}
	})
}

func FuzzUnicode(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, domain []byte) {
		domain = domain[:min(len(domain), maxFuzz)]
		result, err := AppendASCII(nil, domain)
		if err != nil {
			result = domain
		}
		shown := AppendUnicode([]byte("pre"), result)
		if !bytes.HasPrefix(shown, []byte("pre")) {
			t.Fatalf("%q: dst became %q", result, shown)
		}
		shown = shown[3:]
		if err != nil {
			if !bytes.Equal(shown, domain) && !ascii.Only(domain) {
				t.Fatalf("%+q is not ASCII, but became %+q", domain, shown)
			}
			return
		}
		if back, err := AppendASCII(nil, shown); err != nil || !bytes.Equal(back, result) {
			t.Fatalf("%q is shown as %+q, which is %q, %v", result, shown, back, err)
		}
		for _, r := range string(shown) {
			if propsOf(r).flags&hiddenDisplay != 0 && r >= 0x80 {
				t.Fatalf("%q is shown as %+q", result, shown)
			}
		}
	})
}
