package codec

import (
	"bufio"
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/internal/idna"
	"github.com/urlfold/urlfold/codec/internal/psl"
)

func TestAppendSite(t *testing.T) {
	f := func(host, registry, private string) {
		t.Helper()
		for _, want := range []string{registry, private} {
			got, ok := AppendSite([]byte("x "), []byte(host), want == private)
			if string(got) != "x "+want || ok != (want != "") {
				t.Errorf("%q: %q, %v, want %q", host, got, ok, want)
			}
			if registry == private {
				break
			}
		}
	}
	f("example.com", "example.com", "example.com")
	f("a.b.example.com", "example.com", "example.com")
	f("a.b.example.co.uk", "example.co.uk", "example.co.uk")
	f("com", "", "")
	f("co.uk", "", "")
	f("localhost", "", "") // the matching rule is "*"
	f("a.b.unlisted-tld", "b.unlisted-tld", "b.unlisted-tld")
	// Private suffixes, and names between them and the registry's suffix.
	f("user.github.io", "github.io", "user.github.io")
	f("github.io", "github.io", "")
	f("a.user.github.io", "github.io", "user.github.io")
	f("x.dualstack.us-east-1.amazonaws.com", "amazonaws.com", "dualstack.us-east-1.amazonaws.com")
	f("a.s3.dualstack.us-east-1.amazonaws.com", "amazonaws.com", "a.s3.dualstack.us-east-1.amazonaws.com")
	// Wildcards and exceptions.
	f("a.b.kobe.jp", "a.b.kobe.jp", "a.b.kobe.jp")
	f("a.city.kobe.jp", "city.kobe.jp", "city.kobe.jp")
	f("a.www.ck", "www.ck", "www.ck")
	f("b.ck", "", "")
	// Case, a trailing dot, empty labels.
	f("WwW.Example.COM", "example.com", "example.com")
	f("www.example.com.", "example.com", "example.com")
	f("", "", "")
	f(".", "", "")
	f("..", "", "")
	f("example.com..", "", "")
	f(".example.com", "", "")
	f("a..example.com", "", "")
	// Addresses, in every notation that browsers accept.
	f("1.2.3.4", "", "")
	f("1.2.3.4.", "", "")
	f("0177.0.0.0x1", "", "")
	f("2130706433", "", "")
	f("a.1.2.3.4", "", "")
	f("[2001:db8::1]", "", "")
	f("[::ffff:1.2.3.4]", "", "")
	f("::1", "", "")
	// A-labels.
	f("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn")
}

func TestCutWWW(t *testing.T) {
	f := func(host, want string) {
		t.Helper()
		if got := cutWWW([]byte(host)); string(got) != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
	f("www.example.com", "example.com")
	f("www.a.example.co.uk", "a.example.co.uk")
	f("www.example.com.", "example.com.")
	f("www.www.example.com", "www.example.com") // only one "www." is removed
	f("www.user.github.io", "user.github.io")
	f("www.www.ck", "www.ck")
	// The rest is a public suffix, or not a name.
	f("www.com", "www.com")
	f("www.com.", "www.com.")
	f("www.co.uk", "www.co.uk")
	f("www.github.io", "www.github.io")
	f("www.ck", "www.ck")
	f("www.localhost", "www.localhost")
	f("www.", "www.")
	f("www..com", "www..com")
	f("www.1.2.3.4", "www.1.2.3.4")
	f("www.0x7f.1", "www.0x7f.1")
	// No leading "www.".
	f("www", "www")
	f("www2.example.com", "www2.example.com")
	f("wwwexample.com", "wwwexample.com")
	f("a.www.example.com", "a.www.example.com")
	f("", "")
	if cutWWW(nil) != nil {
		t.Error("cutWWW(nil) is not nil")
	}
}

func TestSiteListVersion(t *testing.T) {
	if v := SiteListVersion(); !regexp.MustCompile(`^20\d\d-\d\d-\d\d$`).MatchString(v) {
		t.Errorf("%q is not a date", v)
	}
}

// TestPublicSuffixVectors runs the tests of the Public Suffix List's own
// repository, which include the private section. Both files contain the same
// cases, in two notations.
func TestPublicSuffixVectors(t *testing.T) {
	plain := regexp.MustCompile(`^(\S+) (\S+)$`)
	calls := regexp.MustCompile(`^checkPublicSuffix\('?([^']+?)'?, '?([^']+?)'?\);$`)
	for name, form := range map[string]*regexp.Regexp{"psl/tests.txt": plain, "psl/test_psl.txt": calls} {
		cases := 0
		for s := bufio.NewScanner(bytes.NewReader(corpus(t, name))); s.Scan(); {
			if strings.HasPrefix(s.Text(), "//") || strings.TrimSpace(s.Text()) == "" {
				continue
			}
			m := form.FindStringSubmatch(s.Text())
			if m == nil {
				t.Fatalf("%s: %q is not a test case", name, s.Text())
			}
			if m[1] == "null" {
				m[1] = ""
			}
			cases++
			got, ok := AppendSite(nil, aLabels(t, m[1]), true)
			if !ok {
				got = []byte("null")
			}
			if want := aLabels(t, m[2]); !bytes.Equal(got, want) {
				t.Errorf("%s: %q: %q, want %q", name, m[1], got, want)
			}
		}
		if cases < 70 {
			t.Errorf("%s: only %d cases", name, cases)
		}
	}
}

func aLabels(t *testing.T, host string) []byte {
	t.Helper()
	out, err := idna.AppendASCII(nil, []byte(host))
	if err != nil {
		t.Fatalf("%q: %v", host, err)
	}
	return out
}

// FuzzSite checks the properties of a site: it ends the host at a label
// boundary, has one label before its suffix, is the site of itself, and is the
// site of a name below it unless that name is a suffix: kobe.jp is a site, and
// *.kobe.jp are suffixes.
func FuzzSite(f *testing.F) {
	for _, host := range []string{"www.example.com", "a.b.c.github.io.", "1.2.3.4", "a..b", "x.compute.amazonaws.com", "[::1]", "c.b.kobe.jp", "koBe.jp", "::1", "%", "%41.com"} {
		f.Add([]byte(host))
	}
	f.Fuzz(func(t *testing.T, host []byte) {
		before := bytes.Clone(host)
		var sites [2][]byte
		for i, private := range []bool{false, true} {
			site, ok := AppendSite(nil, exact(host), private)
			sites[i] = site
			if !ok {
				if len(site) > 0 {
					t.Fatalf("%q: dst is %q", host, site)
				}
				continue
			}
			lowered := appendLower(nil, bytes.TrimSuffix(host, rootDot))
			head, found := bytes.CutSuffix(lowered, site)
			if !found || len(head) > 0 && head[len(head)-1] != '.' || bytes.IndexByte(site, '.') < 1 {
				t.Fatalf("%q: %q", host, site)
			}
			if again, ok := AppendSite(nil, site, private); !ok || !bytes.Equal(again, site) {
				t.Fatalf("%q: %q, but of that it is %q", host, site, again)
			}
			below := append([]byte("x."), lowered...)
			suffix, _ := psl.SuffixLen(below, private)
			if again, ok := AppendSite(nil, below, private); ok && !bytes.Equal(again, site) || !ok && suffix < len(below) {
				t.Fatalf("%q: %q, but of %q it is %q", host, site, below, again)
			}
		}
		if len(sites[1]) > 0 && !bytes.HasSuffix(sites[1], sites[0]) {
			t.Fatalf("%q: %q with private suffixes, %q without", host, sites[1], sites[0])
		}
		cut := cutWWW(host)
		if !bytes.Equal(host, before) || !bytes.HasSuffix(host, cut) || len(cut) != len(host) && len(cut) != len(host)-len("www.") {
			t.Fatalf("%q: %q", before, cut)
		}
	})
}

// TestSiteAllocs checks that neither AppendSite nor a key that uses the list
// allocates.
func TestSiteAllocs(t *testing.T) {
	dst, keys := make([]byte, 0, 256), make([]byte, 0, 256)
	f := func(name string, call func()) {
		t.Helper()
		call()
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	domain, address := []byte("a.example.co.uk"), []byte("127.0.0.1")
	for _, private := range []bool{false, true} {
		f("AppendSite", func() { AppendSite(dst, domain, private) })
		f("AppendSite of a suffix", func() { AppendSite(dst, domain[len("a.example."):], private) })
		f("AppendSite of an address", func() { AppendSite(dst, address, private) })
	}
	cut, kept := []byte("www.example.com."), []byte("www.co.uk")
	f("cutWWW", func() { cutWWW(cut) })
	f("cutWWW that cuts nothing", func() { cutWWW(kept) })
	var r Result
	for _, n := range fuzzNormalizers {
		for _, src := range []string{"http://www.example.com/a?b", "http://www.co.uk/", "http://www.a.b.kobe.jp:8080/"} {
			src := []byte(src)
			f(n.Profile().Name+": K3 of "+string(src), func() { n.Append(dst, src, &r); r.Key(LevelPage) })
			f(n.Profile().Name+": the bytes of K3 of "+string(src), func() { n.Append(dst, src, &r); r.AppendKey(keys, LevelPage) })
		}
	}
}
