package codec

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestNoAllocs checks that nothing allocates once a Result has been used.
func TestNoAllocs(t *testing.T) {
	src := []byte("HTTP://us%65r:pw@Ex%41mple.com:0080/a/../b%7e%2f%zz%C0%AF?q=\xfc x&amp;y#\x01")
	cleanSrc := []byte("https://www.example.com/a/b?c=d#e")
	walked := []byte("HTTP://Example.COM:8080/a/../b%7e%2f%zz%C0%AF%25%41?q=\xfc x|&amp;y#[")
	base := []byte("http://a/b/c/d;p?q")
	ref := []byte("../x/./y?%41")
	literal := []byte("http://[2001:DB8:0:0::1]:80/")
	bad := []byte("http://[::1/")
	dst, keys := make([]byte, 0, 4096), make([]byte, 0, 4096)
	sha, err := New(byName("rfc3986-scheme").Profile(), WithHash(SHA256))
	if err != nil {
		t.Fatal(err)
	}
	mac, err := New(byName("rfc3986-scheme").Profile(), WithHMACKey([]byte("0123456789abcdef")))
	if err != nil {
		t.Fatal(err)
	}
	var r, rsha, rmac, rodd Result
	f := func(name string, call func()) {
		t.Helper()
		call()
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	f("Parse", func() { Parse(src, &r) })
	f("Parse clean", func() { Parse(cleanSrc, &r) })
	f("Parse error", func() { Parse(bad, &r) })
	f("Resolve", func() { Resolve(dst, base, ref) })
	for _, n := range fuzzNormalizers {
		f("Append", func() { n.Append(dst, src, &r) })
		f("Append clean", func() { n.Append(dst, cleanSrc, &r) })
		f("Append in one pass", func() { n.Append(dst, walked, &r); r.Key(LevelPage) })
		f("Append literal", func() { n.Append(dst, literal, &r) })
		f("AppendRef", func() { n.AppendRef(dst, base, ref, &r) })
		for _, lv := range keyedLevels {
			f("AppendKey", func() { n.Append(dst, src, &r); r.AppendKey(keys, lv) })
			f("Key", func() { n.Append(dst, src, &r); r.Key(lv) })
		}
	}
	odd, err := New(byName("analytics").Profile(), WithPolicy(&Policy{NFC: true, Once: true, LowerPath: true, LowerQuery: true}))
	if err != nil {
		t.Fatal(err)
	}
	nfd := []byte("http://h/A%CC%8A?e%CC%81=%EA%B0%80&b&b&a=E")
	f("Key odd", func() { odd.Append(dst, nfd, &rodd); rodd.Key(LevelPage) })
	f("Key sha256", func() { sha.Append(dst, src, &rsha); rsha.Key(LevelEquivalent) })
	f("Key hmac", func() { mac.Append(dst, src, &rmac); rmac.Key(LevelEquivalent) })
	f("Key.AppendTo", func() { Key{1, 2}.AppendTo(dst) })
	f("ParseKey", func() { ParseKey([]byte("0123456789abcdef0123456789abcdef")) })
	f("Flags.AppendTo", func() { r.Flags.AppendTo(dst) })
	f("Rules.AppendTo", func() { Rules{syntaxRules}.AppendTo(dst) })
}

// TestInlining checks that the accessors called for every URL are inlined.
func TestInlining(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: builds the package; run without -short")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	inlined := map[string]bool{}
	for _, m := range regexp.MustCompile(`can inline (\S+)`).FindAllStringSubmatch(string(out), -1) {
		inlined[m[1]] = true
	}
	for name := range strings.FieldsSeq(`Span.Len Span.In (*URL).Has (*URL).Span (*URL).Bytes (*URL).HasAuthority
		(*URL).HostKind (*URL).PortNumber (*URL).set Flags.Has Flags.With Flags.Union Flags.IsZero Key.IsZero
		(*Result).Valid isTriplet lower hasPrefix`) {
		if !inlined[name] {
			t.Errorf("%q is no longer inlinable", name)
		}
	}
}
