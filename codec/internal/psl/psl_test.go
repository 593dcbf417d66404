package psl

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestSuffixLen(t *testing.T) {
	f := func(host, wantRegistry, wantPrivate string, listed bool) {
		t.Helper()
		for _, private := range []bool{false, true} {
			want := wantRegistry
			if private {
				want = wantPrivate
			}
			n, ok := SuffixLen([]byte(host), private)
			if n < 0 || n > len(host) || host[len(host)-n:] != want || ok != listed {
				t.Errorf("%q, private %v: %d, %v, want %q, %v", host, private, n, ok, want, listed)
			}
		}
	}
	f("com", "com", "com", true)
	f("example.com", "com", "com", true)
	f("a.b.example.com", "com", "com", true)
	f("example.co.uk", "co.uk", "co.uk", true)
	f("co.uk", "co.uk", "co.uk", true)
	f("uk", "uk", "uk", true)
	// The longest rule wins, even if a partial match of a longer one fails.
	f("a.ide.kyoto.jp", "ide.kyoto.jp", "ide.kyoto.jp", true)
	f("a.b.kyoto.jp", "kyoto.jp", "kyoto.jp", true)
	f("amazonaws.com", "com", "com", true)
	f("dualstack.us-east-1.amazonaws.com", "com", "us-east-1.amazonaws.com", true)
	// Private suffixes.
	f("user.github.io", "io", "github.io", true)
	f("github.io", "io", "github.io", true)
	f("a.b.s3.dualstack.us-east-1.amazonaws.com", "com", "s3.dualstack.us-east-1.amazonaws.com", true)
	// A wildcard matches one label, and the suffix after it is not a rule
	// itself.
	f("b.ck", "b.ck", "b.ck", true)
	f("a.b.ck", "b.ck", "b.ck", true)
	f("ck", "ck", "ck", false)
	f("a.b.kobe.jp", "b.kobe.jp", "b.kobe.jp", true)
	f("kobe.jp", "jp", "jp", true)
	// An exception ends the wildcard.
	f("www.ck", "ck", "ck", true)
	f("a.www.ck", "ck", "ck", true)
	f("wwww.ck", "wwww.ck", "wwww.ck", true)
	f("a.city.kobe.jp", "kobe.jp", "kobe.jp", true)
	// No rule except "*".
	f("localhost", "localhost", "localhost", false)
	f("a.b.unlisted-tld", "unlisted-tld", "unlisted-tld", false)
	// A-labels match; U-labels and upper case do not.
	f("a.xn--55qx5d.cn", "xn--55qx5d.cn", "xn--55qx5d.cn", true)
	f("a.\u516c\u53f8.cn", "cn", "cn", true)
	f("a.CO.uk", "uk", "uk", true)
	f("a.COM", "COM", "COM", false)
	// Empty labels.
	f("", "", "", false)
	f(".", "", "", false)
	f("com.", "", "", false)
	f(".com", "com", "com", true)
	f("a..com", "com", "com", true)
	f(".ck", "ck", "ck", false)
	f("a..ck", "ck", "ck", false)
	f("..kobe.jp", "jp", "jp", true)
	// Parts of labels, and labels elsewhere in the tree.
	f("o.uk", "uk", "uk", true)
	f("aco.uk", "uk", "uk", true)
	f("co.uk.com", "com", "uk.com", true)
	f("a.kyoto", "kyoto", "kyoto", true)
	f("a.kobe", "kobe", "kobe", false)
	f(strings.Repeat("a", 1<<16), strings.Repeat("a", 1<<16), strings.Repeat("a", 1<<16), false)
	f(strings.Repeat("a.", 1<<16)+"com", "com", "com", true)
}

// TestEveryRule looks up each rule of the list and hosts close to it, and
// compares the results with the twin.
func TestEveryRule(t *testing.T) {
	list := readSlowList(t)
	for rule := range list {
		name := strings.TrimLeft(rule, "!*.")
		_, parent, _ := strings.Cut(name, ".")
		hosts := []string{
			name, "x." + name, "y.x." + name, "www." + name, "." + name, "x.." + name, parent, "x." + parent,
			"x" + name, name + "x", name[1:], name[:len(name)-1], name + "." + name, "com." + name, name + ".com",
		}
		for _, host := range hosts {
			compare(t, list, []byte(host))
		}
		if _, listed := SuffixLen([]byte("x."+name), true); !listed {
			t.Errorf("%q does not count", rule)
		}
	}
}

// compare fails if SuffixLen and its twin disagree about host.
func compare(t *testing.T, list slowList, host []byte) {
	t.Helper()
	for _, private := range []bool{false, true} {
		n, listed := SuffixLen(host, private)
		wantN, wantListed := list.suffixLen(string(host), private)
		if n != wantN || listed != wantListed {
			t.Errorf("%q, private %v: %d, %v, want %d, %v", host, private, n, listed, wantN, wantListed)
		}
		if empty := len(host) == 0 || strings.Contains("."+string(host)+".", ".."); private && !empty && IsSuffix(host) != (wantN == len(host)) {
			t.Errorf("%q is a suffix: %v, want %v", host, IsSuffix(host), wantN == len(host))
		}
	}
}

// TestSieves checks that IsSuffix need not look at most hosts twice.
func TestSieves(t *testing.T) {
	passed := 0
	const hosts = 10_000
	for i := range hosts {
		if mayBeSuffix(fmt.Appendf(nil, "example%d.%s", i*i, []string{"com", "org", "co.uk", "a.de"}[i%4])) {
			passed++
		}
	}
	if passed > hosts/8 {
		t.Errorf("the sieves pass %d of %d hosts", passed, hosts)
	}
}

// FuzzSuffixLen compares with the twin, and checks consequences of the
// algorithm: a suffix starts at a label boundary, and the private rules, which
// have no exceptions, never shorten it.
func FuzzSuffixLen(f *testing.F) {
	for _, host := range []string{
		"www.example.com", "a.b.co.uk", "x.user.github.io", "a.b.ck", "www.ck", "a.city.kobe.jp", "b.c.kobe.jp", "ck", "localhost",
		"a.s3.dualstack.us-east-1.amazonaws.com", "x.xn--55qx5d.cn", "", ".", "a..ck", "com.", "1.2.3.4", "\xff.com", "a.COM",
	} {
		f.Add([]byte(host))
	}
	list := readSlowList(f)
	f.Fuzz(func(t *testing.T, host []byte) {
		before := bytes.Clone(host)
		compare(t, list, host)
		short, _ := SuffixLen(host, false)
		long, _ := SuffixLen(host, true)
		if short > long {
			t.Errorf("%q: %d bytes, %d with private rules", host, short, long)
		}
		if short < 0 || long > len(host) || short < len(host) && host[len(host)-short-1] != '.' {
			t.Errorf("%q: %d bytes, %d with private rules: not a label boundary", host, short, long)
		}
		if !bytes.Equal(host, before) {
			t.Errorf("%q became %q", before, host)
		}
	})
}

func TestNoAllocs(t *testing.T) {
	for _, host := range benchHosts {
		host := []byte(host)
		for _, private := range []bool{false, true} {
			if n := testing.AllocsPerRun(100, func() { SuffixLen(host, private) }); n != 0 {
				t.Errorf("%q: %v allocations", host, n)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	if !regexp.MustCompile(`^20\d\d-[01]\d-[0-3]\d$`).MatchString(Version) {
		t.Errorf("%q is not a date", Version)
	}
}
