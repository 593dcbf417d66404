package codec

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// standardProfiles returns the built-in profiles that reproduce no program.
func standardProfiles() []Profile {
	return slices.DeleteFunc(Profiles(), func(p Profile) bool { return p.Match != "" })
}

// matchSeeds are inputs that programs treat differently.
var matchSeeds = []string{
	"", " ", "a", "//h", "mailto:a@b", "http://h", "HTTP://u:p@WWW.Example.com:80/a/../b%7e/?b=2&a=1&a=#f", "http://[::1]/", "http://[x/", "http://a]b/",
	"http://b\u00fccher.example/\xff?\xfc", "http://0x7f.1/", "http://h:99999/", "http://h:x/", "\x00http:\\\\h\\a\tb", "http://h/%zz%00", "http://www2.h/;jsessionid=1",
	"http://h/?a;b=1;a&&", "file:///c|/x", "http://1.2.3.4./?", "https://h//a//b/../c/", "h:80/x", "warcinfo:x", "dns:h.example",
}

// TestMatch checks what holds for every profile that reproduces a program:
// errors, components, keys, and the steps. Its result need not be a fixed point:
// the idempotence laws of the other profiles exclude it by name.
func TestMatch(t *testing.T) {
	for _, p := range Profiles() {
		if p.Match == "" {
			continue
		}
		n, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		if p.Key != LevelMatch || p.Program() == "" || n.KeyFunction(LevelMatch) == "" || p.HasSortKeys() != lookupMatch(p.Match).sortKey {
			t.Errorf("%s: key level %v, program %q, key function %q", p.Name, p.Key, p.Program(), n.KeyFunction(LevelMatch))
		}
		for _, base := range []string{"", "http://h.example/a/b"} {
			for _, src := range matchSeeds {
				checkMatch(t, n, []byte(base), []byte(src))
			}
		}
	}
}

func checkMatch(t *testing.T, n *Normalizer, base, src []byte) {
	t.Helper()
	var r Result
	name := n.profile.Name
	norm, err := n.AppendRef([]byte("x"), base, src, &r)
	if err != nil {
		if len(norm) != 1 || err != ErrMatchRejects && err != ErrBase || r.HasKey(LevelMatch) || r.HasKey(LevelSyntax) || n.Trace(base, src) != nil {
			t.Errorf("%s %q: error %v with the result %q", name, src, err, norm)
		}
		return
	}
	norm = norm[1:]
	if !r.HasKey(LevelMatch) || !bytes.Equal(r.AppendKey(nil, LevelMatch), norm) || r.Key(LevelMatch).IsZero() {
		t.Errorf("%s %q: the key string %q is not the result %q", name, src, r.AppendKey(nil, LevelMatch), norm)
	}
	for _, lv := range keyedLevels {
		if r.HasKey(lv) == r.Key(lv).IsZero() || !r.HasKey(lv) && len(r.AppendKey(nil, lv)) > 0 {
			t.Errorf("%s %q: %v key %v", name, src, lv, r.Key(lv))
		}
	}
	if !r.Out.Has(Path) || int(r.Out.Span(Path).End) > len(norm) {
		t.Errorf("%s %q: the components of %q do not fit it", name, src, norm)
	}
	if (r.Change() == ChangeUnchanged) != bytes.Equal(src, norm) {
		t.Errorf("%s %q: change %v to %q", name, src, r.Change(), norm)
	}
	checkMatchTrace(t, n, base, src, norm)
}

// checkMatchTrace checks that each step starts where the one before ended.
func checkMatchTrace(t *testing.T, n *Normalizer, base, src, norm []byte) {
	t.Helper()
	at := string(src)
	for _, st := range n.Trace(base, src) {
		if st.Before != at || st.Rule == ruleMatch && (st.Param == "" || st.Clause() == "") {
			t.Errorf("%s %q: step %+v after %q", n.profile.Name, src, st, at)
		}
		at = st.After
	}
	if at != string(norm) {
		t.Errorf("%s %q: the steps end at %q, want %q", n.profile.Name, src, at, norm)
	}
}

// TestMatchKeys checks that K0 to K3 of a URL do not depend on the program.
func TestMatchKeys(t *testing.T) {
	plain, err := New(Profile{Name: "plain", Standard: RFC3986})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := Lookup("ssurt")
	n, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range matchSeeds {
		var want, got Result
		if _, err := plain.Append(nil, []byte(src), &want); err != nil {
			continue
		}
		if _, err := n.Append(nil, []byte(src), &got); err != nil {
			continue
		}
		if got.Flags != want.Flags || !slices.Equal(got.Diagnostics, want.Diagnostics) {
			t.Errorf("%q: flags %v, want %v", src, got.Flags, want.Flags)
		}
		for lv := LevelSyntax; lv <= LevelPage; lv++ {
			if got.Key(lv) != want.Key(lv) {
				t.Errorf("%q: %v %q, want %q", src, lv, got.AppendKey(nil, lv), want.AppendKey(nil, lv))
			}
		}
	}
}

// TestMatchRefusals checks the settings that do not go with a program.
func TestMatchRefusals(t *testing.T) {
	for name, p := range map[string]Profile{
		"unknown":  {Name: "a", Standard: RFC3986, Match: "nonsense", Key: LevelMatch},
		"rules":    {Name: "a", Standard: RFC3986, Match: "ssurt", Rules: Rules{syntaxRules}},
		"whatwg":   {Name: "a", Match: "ssurt", Standard: WHATWG},
		"no match": {Name: "a", Key: LevelMatch},
	} {
		if _, err := New(p); err == nil {
			t.Errorf("%s: New accepts the profile", name)
		}
	}
	if _, err := New(Profile{Name: "a", Standard: RFC3986, Match: "ssurt", Key: LevelFetch}); err != nil {
		t.Error(err)
	}
}

// TestMatchNoAllocs checks that everyday URLs need no memory once the scratch
// space has grown.
func TestMatchNoAllocs(t *testing.T) {
	src := []byte("http://www.example.com/a/b.html?b=2&a=1")
	for _, m := range matches {
		p, _ := Lookup(m.name)
		n, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		dst, err := n.Append(nil, src, &r)
		if err != nil {
			t.Fatal(err)
		}
		if allocs := testing.AllocsPerRun(100, func() {
			dst, _ = n.Append(dst[:0], src, &r)
			_ = r.Key(LevelMatch)
		}); allocs > 0 {
			t.Errorf("%s: %v allocations", m.name, allocs)
		}
	}
}

// TestMatchOpenWayback computes the keys of the CDX file that the tests of
// OpenWayback use.
func TestMatchOpenWayback(t *testing.T) {
	root := os.Getenv("URLFOLD_CORPORA")
	if root == "" {
		t.Skip("skipped: cdx/openwayback_test-cdx.txt; set URLFOLD_CORPORA to the folder of the corpora")
	}
	data, err := os.ReadFile(filepath.Join(root, "cdx", "openwayback_test-cdx.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n := matchNormalizer(t, "surt-ia")
	var r Result
	keys := 0
	for line := range bytes.Lines(data) {
		f := bytes.Fields(line)
		if len(f) < 3 {
			continue
		}
		keys++
		if norm, err := n.Append(nil, f[2], &r); err != nil || !bytes.Equal(norm, f[0]) {
			t.Errorf("%q becomes %q, error %v, want %q", f[2], norm, err, f[0])
		}
	}
	if keys != 2144 {
		t.Errorf("%d keys, want 2144", keys)
	}
}

// FuzzMatchPrograms checks what holds for every profile that reproduces a
// program, on any input and on many copies of it, which is how repeated work
// would show.
func FuzzMatchPrograms(f *testing.F) {
	for _, src := range matchSeeds {
		f.Add(byte(0), []byte(src))
	}
	for i, src := range []string{
		"http://h/%25%32%35%2525", "http://a.b.c.d.e.example/1/2/3/4/5?6", "http://0x7f.0300.1/", "http://[::ffff:1.2.3.4%25en0]:0080/", "http://h/?b=1;a=2&b=%26",
		"http://h/(s(abcdefghijklmnopqrstuvwx))/a.aspx?jsessionid=0123456789abcdef0123456789abcdef", "http://xn--bcher-kva.\u00fc\u0301\u200d.example/", "a%2Fb@http:///\\h\\..",
	} {
		f.Add(byte(i), []byte(src))
	}
	var all []*Normalizer
	for _, m := range matches {
		p, _ := Lookup(m.name)
		n, err := New(p)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, n)
	}
	f.Fuzz(func(t *testing.T, which byte, src []byte) {
		for i, n := range all {
			checkMatch(t, n, nil, src)
			if i == int(which)%len(all) && len(src) > 0 && len(src) < 512 {
				var r Result
				_, _ = n.Append(nil, bytes.Repeat(src, 1+1<<14/len(src)), &r)
				checkMatch(t, n, []byte("http://h.example/a/b"), src)
			}
		}
	})
}
