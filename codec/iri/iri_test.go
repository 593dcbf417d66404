package iri

import (
	"bytes"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
)

// components returns the components of text, even if it cannot be parsed.
func components(text []byte) codec.URL {
	var r codec.Result
	_ = codec.Parse(text, &r) // the components are set even on error
	return r.In
}

// normalizers are the built-in profiles, without those that reproduce a program,
// whose result can contain any byte.
var normalizers = func() (ns []*codec.Normalizer) {
	for _, p := range codec.Profiles() {
		if p.Match != "" {
			continue
		}
		n, err := codec.New(p)
		if err != nil {
			panic(err)
		}
		ns = append(ns, n)
	}
	return ns
}()

func byName(name string) *codec.Normalizer {
	for _, n := range normalizers {
		if n.Profile().Name == name {
			return n
		}
	}
	panic("no profile " + name)
}

// display returns the display form of text, which is treated as a normal form.
func display(text []byte) []byte {
	u := components(text)
	return Append(nil, text, &u)
}

func TestAppend(t *testing.T) {
	f := func(norm, want string) {
		t.Helper()
		if got := display([]byte(norm)); string(got) != want {
			t.Errorf("%q: %q, want %q", norm, got, want)
		}
	}
	f("", "")
	f("http://h/a?b#c", "http://h/a?b#c")
	// RFC 3987 §3.2: from escapes of UTF-8 to ucschar, in each component.
	f("http://%C3%A4:%C3%B6@h/%C3%BC?%C3%9F#%E2%82%AC", "http://ä:ö@h/ü?ß#€")
	f("http://h/%e9%a3%9f", "http://h/食")
	f("http://h/%F0%9F%98%80", "http://h/😀")
	f("%C3%A4/b", "ä/b")
	// §3.2 step 2: invalid UTF-8 stays, and decoding continues after it.
	f("http://h/%E4/%C3/%C3%C3%A4/%C3%A4%A4", "http://h/%E4/%C3/%C3ä/ä%A4")
	f("http://h/%C0%AF%ED%A0%80%F4%90%80%80%E2%82", "http://h/%C0%AF%ED%A0%80%F4%90%80%80%E2%82")
	f("http://h/%C3%", "http://h/%C3%")
	f("http://h/%%C3%A4%4", "http://h/%ä%4")
	// ASCII stays: §3.2 step 1 excludes "%", reserved characters, and those not
	// allowed in a URI.
	f("http://h/%C3%A4%2F%20%25%41%00", "http://h/ä%2F%20%25%41%00")
	// §2.2: iprivate in queries only; neither noncharacters nor C1 controls.
	f("http://h/%EE%80%80?%EE%80%80%F3%B0%80%80%F4%8F%BF%BD#%EE%80%80", "http://h/%EE%80%80?\uE000\U000F0000\U0010FFFD#%EE%80%80")
	f("http://h/%EF%BF%BE%EF%B7%90%F0%9F%BF%BF?%F3%BF%BF%BF%C2%85%EF%BF%BD", "http://h/%EF%BF%BE%EF%B7%90%F0%9F%BF%BF?%F3%BF%BF%BF%C2%85%EF%BF%BD")
	// §4.1: neither bidi formatting nor spaces nor invisible characters.
	f("http://h/%D7%90%E2%80%8E%E2%80%8F%E2%80%AA%E2%80%AE%E2%81%A6%E2%81%A9%D8%9C", "http://h/א%E2%80%8E%E2%80%8F%E2%80%AA%E2%80%AE%E2%81%A6%E2%81%A9%D8%9C")
	f("http://h/%C2%A0%E3%80%80%E2%80%A8%C2%AD%E2%80%8B%EF%BB%BF%EF%B8%8F%E3%85%A4", "http://h/%C2%A0%E3%80%80%E2%80%A8%C2%AD%E2%80%8B%EF%BB%BF%EF%B8%8F%E3%85%A4")
	// §5.3.2.2: not composed.
	f("http://h/e%CC%81", "http://h/e\u0301")

	// Hosts.
	f("http://xn--bcher-kva.example/", "http://bücher.example/")
	f("https://www.xn--fa-hia.de:8080/%C3%A4", "https://www.faß.de:8080/ä")
	f("http://xn--a/", "http://xn--a/")                                  // no Punycode
	f("http://xn--80ak6aa92e.com/xn--p1ai", "http://аррӏе.com/xn--p1ai") // one script; a path has no labels
	f("git://xn--bcher-kva.example/", "git://xn--bcher-kva.example/")    // opaque in WHATWG
	f("//xn--bcher-kva.example/", "//xn--bcher-kva.example/")            // unknown scheme
	f("git://b%C3%BCcher/", "git://bücher/")
	f("http://b%C3%BCcher.xn--bcher-kva/", "http://bücher.xn--bcher-kva/")
	f("http://[2001:db8::1]/%C3%A4", "http://[2001:db8::1]/ä")
	f("http://[v1.%C3%A4]/", "http://[v1.%C3%A4]/")
	f("mailto:%C3%A4@xn--bcher-kva.example", "mailto:ä@xn--bcher-kva.example")
}

// TestHidden compares the table with the derivation of the properties in the
// Unicode Character Database, as far as Go's tables contain them.
func TestHidden(t *testing.T) {
	for r := rune(0xA0); r < 0xE0000; r++ {
		if r >= 0xE000 && r <= 0xF8FF || !isShown(r, false) && !isHidden(r) {
			continue // not ucschar
		}
		// DerivedCoreProperties.txt on Default_Ignorable_Code_Point.
		want := unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector, unicode.White_Space) &&
			!unicode.In(r, unicode.Prepended_Concatenation_Mark) &&
			(r < 0xFFF9 || r > 0xFFFB) && // interlinear annotation
			(r < 0x13430 || r > 0x13440) // Egyptian hieroglyph format controls
		if isHidden(r) != want {
			t.Errorf("%U: %v, want %v (Unicode %s)", r, isHidden(r), want, unicode.Version)
		}
		if unicode.Is(unicode.Bidi_Control, r) && !isHidden(r) {
			t.Errorf("%U is a bidi control", r)
		}
	}
}

// TestShown compares the classes with the grammar, RFC 3987 §2.2.
func TestShown(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		ucschar := 0xA0 <= r && r <= 0xD7FF || 0xF900 <= r && r <= 0xFDCF || 0xFDF0 <= r && r <= 0xFFEF ||
			r >= 0x10000 && r <= 0xEFFFD && r&0xFFFF <= 0xFFFD && (r < 0xE0000 || r >= 0xE1000)
		iprivate := 0xE000 <= r && r <= 0xF8FF || 0xF0000 <= r && r <= 0xFFFFD || 0x100000 <= r && r <= 0x10FFFD
		if got, want := isShown(r, false), ucschar && !isHidden(r); got != want {
			t.Fatalf("%U: %v, want %v", r, got, want)
		}
		if got, want := isShown(r, true), ucschar && !isHidden(r) || iprivate; got != want {
			t.Fatalf("%U in a query: %v, want %v", r, got, want)
		}
	}
}

// seeds are normal forms whose display form differs.
var seeds = []string{
	"", "/", "http://u:p@h/", "mailto:a@b", "http://[::1]:80/a/../b", "HTTP://Ex%41mple.com:0080/a/../b%zz?q=\u00fc#x", "file:///C|/x",
	"http://xn--bcher-kva.example/%C3%A4?%EE%80%80#%E2%80%8E", "http://b%C3%BCcher.example/", "http://b\u00FCcher.xn--fa-hia.de./%c3%a4%%C3%A4",
	"git://xn--bcher-kva/%C3%A4", "data:text/plain,%C3%A4 %E4", "http://h/%EF%BC%8F?%EF%BC%83", "http://xn--mgbh0fb.xn--kgbechtv/", "file://xn--4ca/C|/",
	"http://a.xn--zwj/", "http://%EF%BC%85%30%30/", "http://xn--80ak6aa92e.xn--4dbcagdahymbxekheh6e0a7fei0b/", "http://h/%F4%8F%BF%BF%ED%A0%80%4%C3%A4%31",
}

// FuzzIRI checks that normalizing the display form gives the same K1, except
// for hosts with U-labels in RFC 3986 profiles, and that the display form is a
// fixed point.
func FuzzIRI(f *testing.F) {
	for i := range normalizers {
		for _, s := range seeds {
			f.Add(byte(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, src []byte) {
		n := normalizers[int(which)%len(normalizers)]
		var r codec.Result
		norm, err := n.Append(nil, src, &r)
		if err != nil {
			return
		}
		iri := Append([]byte("canary"), norm, &r.Out)
		if string(iri[:6]) != "canary" {
			t.Fatal("the existing content of dst has changed")
		}
		iri = iri[6:]
		if !utf8.Valid(iri) || len(iri) > len(norm) && !bytes.Contains(norm, []byte("xn--")) {
			t.Fatalf("%q -> %q", norm, iri)
		}
		if twice := display(iri); !bytes.Equal(twice, iri) {
			t.Fatalf("%q -> %q -> %q", norm, iri, twice)
		}
		sameK1(t, byName("equiv"), norm, iri, true)
		sameK1(t, byName("rfc3986-scheme"), norm, iri, !bytes.Contains(r.Out.Bytes(norm, codec.Host), []byte("xn--")))
	})
}

// sameK1 checks that n gives norm and iri the same codec.LevelEquivalent; without hosts, the
// same except for the host.
func sameK1(t *testing.T, n *codec.Normalizer, norm, iri []byte, hosts bool) {
	t.Helper()
	var r1, r2 codec.Result
	_, err1 := n.Append(nil, norm, &r1)
	_, err2 := n.Append(nil, iri, &r2)
	if err1 != err2 {
		t.Fatalf("%q: %v, %q: %v", norm, err1, iri, err2)
	}
	if err1 != nil {
		return
	}
	k1, k2 := r1.AppendKey(nil, codec.LevelEquivalent), r2.AppendKey(nil, codec.LevelEquivalent)
	if !hosts {
		k1, k2 = withoutHost(k1), withoutHost(k2)
	}
	if !bytes.Equal(k1, k2) {
		t.Fatalf("%v: %q has K1 %q, its display form %q has %q", n.Profile().Name, norm, k1, iri, k2)
	}
}

func withoutHost(key []byte) []byte {
	u := components(key)
	return append(bytes.Clone(key[:u.Span(codec.Host).Start]), key[u.Span(codec.Host).End:]...)
}

func TestNoAllocs(t *testing.T) {
	dst := make([]byte, 0, 1024)
	for _, norm := range [][]byte{[]byte("http://h/a?b"), []byte("http://xn--bcher-kva.example/%C3%A4?%E4"), []byte("http://%C3%A4/")} {
		u := components(norm)
		if n := testing.AllocsPerRun(100, func() { Append(dst, norm, &u) }); n != 0 {
			t.Errorf("%s: %v allocations", norm, n)
		}
	}
}
