package codec

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/template"
)

// canonicalOf returns a canonical string computed with a profile.
func canonicalOf(t *testing.T, n *Normalizer, lv Level, src string) string {
	t.Helper()
	var r Result
	_, err := n.Append(nil, []byte(src), &r)
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	return string(r.AppendKey(nil, lv))
}

// TestK2 checks the rules of SEMANTICS E9, one by one.
func TestK2(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		if got := canonicalOf(t, byName("crawler"), LevelFetch, src); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
	f("http://h/a?b=1&c=2", "http://h/a?b=1&c=2")
	f("https://u:p@h/a#f", "http://h/a")
	f("wss://h/", "ws://h/")
	f("https://h:443/", "http://h/")
	f("https://h:80/", "http://h:80/")
	f("http://h./", "http://h/")                                              // host-rootdot
	f("http://0x7f.1/", "http://127.0.0.1/")                                  // host-ip4
	f("http://h/?a='", "http://h/?a=%27")                                     // D2.12
	f("http://h/a;jsessionid=0123456789ABCDEF0123456789ABCDEF", "http://h/a") // psid
	f("http://h/?jsessionid=x&a=1", "http://h/?a=1")                          // qsid
	f("http://h/?utm_source=x&gclid=y&a=1", "http://h/?a=1")                  // q-drop
	f("http://h/?utm_source=x", "http://h/")
	f("http://h/?", "http://h/") // q-noempty
	f("http://h/?a&&b", "http://h/?a&b")
	f("http://h/?a=", "http://h/?a")                    // q-eq
	f("http://h/?a=x%20y+z", "http://h/?a=x+y+z")       // q-form
	f("http://h/?b=2&a=1&b=1", "http://h/?a=1&b=2&b=1") // q-sort-name
	f("http://h/?b=2&a=1&X-Amz-Signature=0", "http://h/?b=2&a=1&X-Amz-Signature=0")
	f("http://www.h.com/a//b/index.html", "http://www.h.com/a//b/index.html") // not in K2
	f("mailto:a?subject=x", "mailto:a?subject=x")
}

// TestMayEndInIndexFile checks that the quick look rules out no index file.
func TestMayEndInIndexFile(t *testing.T) {
	files := 0
	for _, name := range []string{"index", "default", "home"} {
		for ext := range strings.FieldsSeq("html htm asp aspx xhtml shtml php php3 php4 php5 php6 php7 php8 jsp jspx cfm cgi pl") {
			if isIndexFile(name, ext) {
				files++
				for _, text := range []string{"http://h.example/", "http://h.example/a.b/", "..................../"} {
					text += name + "." + ext
					if !mayEndInIndexFile([]byte(text)) || !mayEndInIndexFile([]byte(strings.ToUpper(text))) {
						t.Errorf("%q is ruled out", text)
					}
				}
			}
		}
	}
	if files < 20 {
		t.Errorf("%d index files are known", files)
	}
	for _, text := range []string{"http://h.example/", "http://h.example/a.html", "http://h.example/xindex.html", "http://h.example/index"} {
		if mayEndInIndexFile([]byte(text)) {
			t.Errorf("%q is not ruled out", text)
		}
	}
}

// TestK3 checks the rules of SEMANTICS E10.
func TestK3(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		if got := canonicalOf(t, byName("analytics"), LevelPage, src); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
	f("https://www.example.com/a/", "example.com/a")
	f("http://www.com/", "www.com/") // no registrable domain would remain
	f("http://www.example.go.jp/", "example.go.jp/")
	f("http://www2.example.com/", "www2.example.com/")
	f("http://h/", "h/")
	f("http://h/a//b", "h/a/b")
	f("http://h/http://x/", "h/http://x")
	f("http://h/a/index.html", "h/a")
	f("http://h/a/INDEX.PHP?x", "h/a?x")
	f("http://h/a/index.html.bak", "h/a/index.html.bak")
	f("http://h/index.php", "h/")
	f("http://h:8080/a", "h:8080/a")
	f("ftp://h/a", "ftp://h/a")
	f("mailto:a@b", "mailto:a@b")
}

// TestLevels checks at which level two URLs first have the same canonical
// string.
func TestLevels(t *testing.T) {
	f := func(a, b string, want Level) {
		t.Helper()
		for lv := LevelSyntax; lv < numLevels; lv++ {
			same := canonicalOf(t, byName("equiv"), lv, a) == canonicalOf(t, byName("equiv"), lv, b)
			if same != (lv >= want) {
				t.Errorf("%q and %q: same %v is %v", a, b, lv, same)
			}
		}
	}
	f("http://h/?b=2&a=1", "http://h/?a=1&b=2", LevelFetch)
	f("http://h/a%2Fb", "http://h/a/b", numLevels)
	f("http://faß.de/", "http://fass.de/", numLevels)
	f("http://h/%7Ea", "http://h/~a", LevelSyntax)
	f("http://h/|", "http://h/%7C", LevelSyntax)
	f("http://h:80/", "http://h", LevelSyntax) // with WHATWG
	f("http://h/#a", "http://h/", LevelFetch)
	f("http://www.example.com/", "http://example.com/", LevelPage)
	f("http://evil.com\\@good.com/", "http://good.com/", numLevels)
}

// TestEvil checks SEMANTICS D3.25.
func TestEvil(t *testing.T) {
	src := []byte(`http://evil.com\@good.com/`)
	var r Result
	norm, err := byName("equiv").Append(nil, src, &r)
	if err != nil || string(norm) != "http://evil.com/@good.com/" || string(r.Out.Bytes(norm, Host)) != "evil.com" {
		t.Errorf("%q, %v", norm, err)
	}
	if !r.Flags.Has(FlagInvalidReverseSolidus) || !r.Flags.Has(FlagHostAmbiguous) {
		t.Errorf("flags %s", r.Flags.AppendTo(nil))
	}
	// If browsers cannot parse a URL, a backslash in the authority forbids
	// parsing it by RFC 3986.
	if out, err := byName("logclean").Append(nil, []byte(`http://evil.com:x\@good.com/`), &r); err == nil {
		t.Errorf("logclean gives %q", out)
	}
	out, err := byName("logclean").Append(nil, []byte(`http://h:x/`), &r)
	if err != nil || string(out) != "http://h%3Ax/" || !r.Flags.Has(FlagWHATWGReject) {
		t.Errorf("logclean: %q, %v, %s", out, err, r.Flags.AppendTo(nil))
	}
}

// TestEvilKeys checks that no key of such a URL, by either standard, is a
// key of good.com.
func TestEvilKeys(t *testing.T) {
	for _, rd := range []Standard{RFC3986, WHATWG} {
		for _, p := range standardProfiles() {
			n, err := New(p, WithStandard(rd))
			if err != nil {
				t.Fatal(err)
			}
			for _, lv := range keyedLevels {
				if evil := canonicalOf(t, n, lv, `http://evil.com\@good.com/`); evil == canonicalOf(t, n, lv, "http://good.com/") {
					t.Errorf("%s, keys on %v, %v: %q", p.Name, rd, lv, evil)
				}
			}
		}
	}
}

// TestCrawlerNorm checks that the lower keys still contain what the profile
// drops.
func TestCrawlerNorm(t *testing.T) {
	n := byName("crawler")
	f := func(src, want string) {
		t.Helper()
		var r Result
		norm, err := n.Append(nil, []byte(src), &r)
		if err != nil || string(norm) != want || r.Change() != ChangeLossy {
			t.Errorf("%q: %q, %v, %v", src, norm, err, r.Change())
		}
		if err := r.Out.Check(norm); err != nil {
			t.Error(err)
		}
		k0 := r.AppendKey(nil, LevelSyntax)
		if e := canonicalOf(t, byName("equiv"), LevelSyntax, src); string(k0) != e {
			t.Errorf("%q: K0 is %q, of equiv %q", src, k0, e)
		}
	}
	f("http://u:p@h/?a#f", "http://h/?a")
	f("http://u@h/", "http://h/")
	f("http://h/a#f", "http://h/a")
	f("HTTP://h/#f", "http://h/")
}

// TestPolicy checks fragments that identify pages, and the parameter lists of a
// site.
func TestPolicy(t *testing.T) {
	list, err := params.ParsePlain("site", "1", []byte("shop.example.com: sku\n"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := params.Compile(list)
	if err != nil {
		t.Fatal(err)
	}
	p := DefaultPolicy()
	p.SPA, p.SiteParams, p.LowerPath = []string{"example.com"}, m, true
	profile, _ := Lookup("analytics")
	n, err := New(profile, WithPolicy(p))
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]string{
		"http://app.example.com/#/a?utm_source=x": "app.example.com/#/a",
		"http://app.example.com/#!b:~:text=c":     "app.example.com/#!b",
		"http://app.example.com/#top":             "app.example.com/",
		"http://example.org/#/a":                  "example.org/",
		"http://shop.example.com/A?sku=1&b=2":     "shop.example.com/a?b=2",
		"http://example.com/?sku=1":               "example.com/?sku=1",
	} {
		if got := canonicalOf(t, n, LevelPage, src); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
	if v := p.Versions(); v == "" || v == DefaultPolicy().Versions() {
		t.Errorf("versions %q", v)
	}
}

// TestPolicyOptions checks the options of K3 in SEMANTICS E10, 8.
func TestPolicyOptions(t *testing.T) {
	profile, _ := Lookup("analytics")
	f := func(p Policy, src, want string) {
		t.Helper()
		p.Params = DefaultPolicy().Params
		n, err := New(profile, WithPolicy(&p))
		if err != nil {
			t.Fatal(err)
		}
		if got := canonicalOf(t, n, LevelPage, src); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
	f(Policy{LowerQuery: true}, "http://h/A?B=X&a=%C3%89", "h/A?a=%C3%89&b=x") // sorted again
	f(Policy{LowerPath: true}, "http://h/A%2F?B", "h/a%2F?B")
	f(Policy{Once: true}, "http://h/?a=1&b=2&a=2&a=1&b=%32", "h/?a=1&a=2&b=2")
	f(Policy{LowerQuery: true, Once: true}, "http://h/?a=x&A=X", "h/?a=x")
	f(Policy{Once: true}, "http://h/?b&b&X-Amz-Signature=0", "h/?b&b&X-Amz-Signature=0")
	f(Policy{LowerQuery: true, NFC: true}, "http://h/?e%CC%81=A&X-Amz-Signature=0", "h/?e%CC%81=A&X-Amz-Signature=0")

	nfc := Policy{NFC: true}
	f(nfc, "http://h/e\u0301?e%CC%81&f=A%CC%8A", "h/%C3%A9?f=%C3%85&%C3%A9")
	f(nfc, "http://h/\u212B\u1100\u1161", "h/%C3%85%EA%B0%80")
	f(nfc, "http://h/%FA%CC%81?a=%CC%B8", "h/%FA%CC%81?a=%CC%B8") // neither a digit of an escape nor a delimiter is a base character
	f(nfc, "http://h/%3C%CC%B8", "h/%3C%CC%B8")                   // a reserved escape is never decoded
	f(nfc, "http://h/\u037Ea\u1FEFb\u212A", "h/%3Ba%60bK")
	f(nfc, "http://h/%CC%81e/%ED%A0%80e%CC%81%CC", "h/%CC%81e/%ED%A0%80%C3%A9%CC")
}

// TestVersions checks that every option and every list of a policy is named.
func TestVersions(t *testing.T) {
	list, err := params.ParsePlain("l", "1", []byte("x\n"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := params.Compile(list)
	if err != nil {
		t.Fatal(err)
	}
	templates := func(text string) *template.Templates {
		ts, err := template.Compile([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		return ts
	}
	seen := map[string]bool{}
	for _, p := range []Policy{
		{}, {Params: m}, {SiteParams: m}, {KeepHTTPS: true}, {LowerPath: true}, {LowerQuery: true}, {NFC: true}, {Once: true},
		{SPA: []string{"a"}}, {SPA: []string{"b"}}, {SPA: []string{"a", "b"}}, {Templates: templates("/{x}")}, {Templates: templates("/{y}")},
	} {
		if v := p.Versions(); seen[v] {
			t.Errorf("%+v: version %q again", p, v)
		} else {
			seen[v] = true
		}
	}
	a, b := Policy{SPA: []string{"a", "b"}}, Policy{SPA: []string{"b", "a", "b"}}
	if a.Versions() != b.Versions() {
		t.Error("the order of the hosts must not matter")
	}
	if got := DefaultPolicy().Versions(); got != params.Default().Name+"@"+params.Default().Version {
		t.Errorf("the default policy is %q", got)
	}
}

// TestWithStandard checks keys by another standard than that of the normal
// form.
func TestWithStandard(t *testing.T) {
	f := func(profile string, rd Standard, src, want string) {
		t.Helper()
		p, _ := Lookup(profile)
		n, err := New(p, WithStandard(rd))
		if err != nil {
			t.Fatal(err)
		}
		if got := canonicalOf(t, n, LevelEquivalent, src); got != want {
			t.Errorf("%s, keys on %v: %q: %q, want %q", profile, rd, src, got, want)
		}
		other := byName("rfc3986-scheme")
		if rd == WHATWG {
			other = byName("equiv")
		}
		var r, r2 Result
		_, _ = n.Append(nil, []byte(src), &r)
		_, err = other.Append(nil, []byte(src), &r2)
		if err == nil && r.Key(LevelEquivalent) != r2.Key(LevelEquivalent) {
			t.Errorf("%s, keys on %v: %q: not the key of %s", profile, rd, src, other.Profile().Name)
		}
	}
	f("equiv", RFC3986, `http://a\b/`, "http://a%5Cb/")
	f("equiv", RFC3986, "http://0x7f.1/", "http://0x7f.1/")
	f("equiv", RFC3986, "http://h/a", "http://h/a")
	f("crawler", RFC3986, "HTTP://u@h/#f", "http://u@h/#f")
	f("rfc3986", WHATWG, `http://a\b/`, "http://a/b/")
	f("rfc3986-scheme", WHATWG, "http://0x7f.1/", "http://127.0.0.1/")
	f("rfc3986-scheme", WHATWG, "http://h:x/", "http://h%3Ax/") // browsers cannot parse it
	n, err := New(byName("equiv").Profile(), WithStandard(RFC3986))
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	_, err = n.AppendRef(nil, []byte("http://a/b/c"), []byte("../d|e"), &r)
	if got := r.AppendKey(nil, LevelEquivalent); err != nil || string(got) != "http://a/d%7Ce" {
		t.Errorf("%q, %v", got, err)
	}
}
