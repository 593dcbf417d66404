package codec

import (
	"bytes"
	"slices"
	"testing"

	"github.com/urlfold/urlfold/codec/percent"
)

// hitNormalizers are the profiles for which Applied is compared with its slow
// twins: the built-in ones, and some that onePass does not support.
var hitNormalizers = func() (ns []*Normalizer) {
	add := func(p Profile, opts ...Option) {
		n, err := New(p, opts...)
		if err != nil {
			panic(err)
		}
		ns = append(ns, n)
	}
	ns = append(ns, fuzzNormalizers...)
	add(Profile{Name: "rfc-few", Standard: RFC3986, Rules: RulesOf(RuleUpperEscapes, RuleLowerHost, RuleASCIIDomain, RuleEncodeIllegal)})
	add(Profile{Name: "rfc-kept", Standard: RFC3986, Rules: Rules{syntaxRules | schemeRules}, Malformed: percent.MalformedKeep})
	add(Profile{Name: "rfc-some", Standard: RFC3986, Rules: Rules{syntaxRules | 1<<RuleDefaultPort}, Malformed: percent.MalformedEncode})
	add(Profile{Name: "rfc-none", Standard: RFC3986})
	add(Profile{Name: "whatwg-decoded", Standard: WHATWG, Rules: RulesOf(RuleDecodeUnreserved)})
	add(Profile{Name: "whatwg-clean", Standard: WHATWG, Rules: Rules{escapeRules | 1<<RuleRFCClean | lossyRules | 1<<RuleFallbackRFC}})
	add(byName("crawler").Profile(), WithPolicy(&Policy{SPA: []string{"h"}}))
	add(byName("logclean").Profile(), WithStandard(RFC3986))
	add(byName("equiv").Profile(), WithQueryEncoding(latin1{}))
	return ns
}()

// hitSeeds are URLs on which several rules interact.
var hitSeeds = []string{
	"http://h/%2e%2E/%7e", "http://h/a/%7e%2f/../x%7E", "http://h/a\\%7e%2f", "http:h/%7e", "http:/h%2f", " http://h/%7e ", "http://h/\t%7e%2f",
	"http://h/?%7e#%2f", "http://h?%7E", "http://H/%7e", "http://h:080/%2f", "http://u:@h/%7e", "http://%75@h/%7e", "git://%75:%7e@h%7e/a%2f", "a:%7e%2f?%7e",
	"file:///%43|/..%7e", "file:///C|/%7e", "file:C|/%7e", "a:/..//%7e", "a:/.//%7e", "file:/..//b", "file:/.//b", "%41:b", "./a:b", "%2e/a:b", "//H/%7E",
	"http://h/%%34%31%7e", "http://h/%4%31%7e", "http://h/ %7e", "http://h/\xff%7e", "http://h/'?'%27", "http://[::FFFF:1.2.3.4]/%7e", "http://[0::A]/", "http://[v1.%7e]/",
	"file://%6cocalhost/x", "file://LOCALHOST/x", "file://\uff4cocalhost/x", "file://%EF%BD%8Cocalhost:/x", "http://%42%c3%bc/", "http://B\u00fc:80", "http://@h", "http://@", "http://:@h",
	"HTTP://u:p@h:0080/a/../%7e#f", "http://u@h/", "http://h/#f", "http://h/a#/x", "http://h/%7e#/x", "a:// :/%7e", "http://h:x/%7e", "http://h:99999/../%7e", "http://h/%7e\n#\t",
	"http://h8/a\u00fc?\u00fc%7e#\u00fc", "http://h/%c3%bc%aF", "%7e/a", "a%7e/../%2f", "/%7e", "?%7e", "#%7e", "//h", "\\x%7e",
	"http://h/a;jsessionid=x//b?b=%26&a='&&=&utm_source=1&x=2#/p?gclid=1&q", "http://h/#!a?x", "//www.example.com//a//", "x:/;sid=0123456789abcdef0123//b",
	"http://u:p@h:x/#f", "http://u:p@[::g]/a#f", "http:///u:p@h:x/", "https:\\\\u:p@h^x/", "a://u@/%7e", "file://u:p@h/C|/#f", "file://u@localhost/", "file://u:p@/x", "//u:p@h^/",
	"http://h?a;b", "https://www.example.com./INDEX.html?A=B", "git://H:/?", "http://h/?%zz=%", "http://1.2.3.4./", "http://0x7f.1./",
	"http://h/e%CC%81%EF%BC%A1?e%CC%81=1&f=A&B=2&b=2&b=2", "http://h/A%FA%CC%81?a=%CC%B8&%CD%BE", "http://h/?b&b&X-Amz-Signature=0&A", "http://h/?&utm_source=x&", "http://h/?=&a=",
}

// undone returns the rules that the writers and the slow twin may count
// differently, because one rule reverts what another has done.
func undone(r *Result, src, norm []byte) (more, less ruleSet) {
	path := r.Out.Bytes(norm, Path)
	if r.Flags.Has(FlagDotSegments) { // segments are written, and then removed
		more = escapeRules | 1<<RuleRFCClean
	}
	if bytes.HasPrefix(path, guardedPath) { // the parser removes the guard, and restores it
		more |= asParser
	}
	if string(r.Out.Bytes(norm, Scheme)) == "file" && r.Applied().Has(RuleRFCClean) { // without it, "%43|" would become a drive
		more |= 1 << RuleDecodeUnreserved
	}
	if bytes.Equal(src, norm) {
		less = 1<<RuleRemoveDots | 1<<RuleGuardPath
	}
	if r.Out.HasAuthority() && bytes.HasPrefix(path, slashes) { // RuleFileLocalhost makes the guard needless
		less |= 1 << RuleGuardPath
	}
	return more, less
}

// checkHits compares Applied and KeyApplied with their slow twins.
func checkHits(t *testing.T, n *Normalizer, base, src []byte) {
	t.Helper()
	var r Result
	norm, err := n.AppendRef(nil, base, src, &r)
	if err != nil {
		return
	}
	got, want := n.folded(r.Applied().set), n.hits(src, norm, &r)
	if more, less := undone(&r, src, norm); got&^more != want&^more&^less|want&got&less&^more {
		t.Errorf("%s %q against %q -> %q: applied %v, by comparison %v", n.profile.Name, src, base, norm, Rules{got}, Rules{want})
	}
	if !r.KeyApplied().IsZero() {
		t.Errorf("%s %q: KeyApplied is %v before any key was computed", n.profile.Name, src, r.KeyApplied())
	}
	want = ruleSet(0)
	for _, lv := range []Level{LevelFetch, LevelPage} {
		for _, st := range r.slowTraceKey(lv) {
			want |= 1 << st.rule
		}
		norm, _ = n.AppendRef(norm[:0], base, src, &r)
		r.Key(lv)
		if got := r.KeyApplied().set; got != want {
			t.Errorf("%s %q: %v hits %v, by the slow twin %v", n.profile.Name, src, lv, Rules{got}, Rules{want})
		}
	}
}

var hitBases = []string{"", "http://a%7e/b%7e/c/../%2f?q%7e", "file:///C:/x/%7e", "http://h/", "a:%7e?x"}

func TestHits(t *testing.T) {
	for _, n := range hitNormalizers {
		for _, src := range slices.Concat(seeds, hitSeeds) {
			for _, base := range hitBases {
				checkHits(t, n, []byte(base), []byte(src))
			}
		}
	}
}

// TestHitNames checks the applied rules of a few URLs by name.
func TestHitNames(t *testing.T) {
	f := func(profile, src, want, wantKey string) {
		t.Helper()
		n := byName(profile)
		var r Result
		_, err := n.Append(nil, []byte(src), &r)
		if err != nil {
			t.Fatal(err)
		}
		r.Key(n.profile.Key)
		if got := r.Applied().String(); got != want {
			t.Errorf("%s %q: %s, want %s", profile, src, got, want)
		}
		if got := r.KeyApplied().String(); got != wantKey {
			t.Errorf("%s %q: key %s, want %s", profile, src, got, wantKey)
		}
	}
	f("rfc3986-scheme", "HTTP://H:80/a/../%7e b", "add,esc-upper,esc-unres,scheme-lower,host-lower,dots,port-def", "")
	f("rfc3986", "http://h/%2f%", "malformed-encode,esc-upper", "")
	f("equiv", "http://h/%2f%", "esc-upper", "")
	f("equiv", "http://h", "path-empty", "")
	f("equiv", "http://h/", "", "")
	f("logclean", "http://h:x/%7e", "rfc-fallback", "")
	f("crawler", "https://u@h/#f", "ui-drop,frag-drop", "ui-drop,frag-drop,https-http")
	f("crawler", "http://h/#f", "frag-drop", "frag-drop")
	f("crawler", "http://h/?b&a=&utm_source=x", "", "q-drop,q-eq,q-sort-name")
	f("analytics", "http://www.h.de//a/index.html", "", "https-http,www-one,slash-one,dirindex,slash-trail")
}

// TestHitsCorpora compares Applied with its slow twins on real URLs.
func TestHitsCorpora(t *testing.T) {
	for _, name := range []string{
		"urls/blns.txt", "urls/isaacs_files.txt", "urls/kasztp.txt", "urls/opendns-top-domains.txt",
		"attack/payloads_Open-Redirect.txt", "attack/payloads_Traversal.txt", "attack/payloads_openredirects.txt",
	} {
		lines := bytes.Split(corpus(t, name), []byte("\n"))
		step := 1 + len(lines)/5000
		for i := 0; i < len(lines); i += step {
			n := hitNormalizers[i/step%len(hitNormalizers)]
			checkHits(t, n, nil, lines[i])
			checkHits(t, n, []byte("https://a.example/b/c%7e?d"), lines[i])
		}
	}
}

func TestHitsNoAllocs(t *testing.T) {
	for _, n := range hitNormalizers {
		if n.queries != nil {
			continue
		}
		var r Result
		var norm []byte
		for _, src := range slices.Concat(seeds, hitSeeds) {
			src := []byte(src)
			f := func() {
				var err error
				if norm, err = n.Append(norm[:0], src, &r); err == nil {
					r.Applied()
				}
			}
			f()
			if allocs := testing.AllocsPerRun(5, f); allocs != 0 {
				t.Errorf("%s %q: %v allocations", n.profile.Name, src, allocs)
			}
		}
	}
}

// FuzzHits compares Applied and KeyApplied with their slow twins.
func FuzzHits(f *testing.F) {
	for i := range hitNormalizers {
		for j, s := range slices.Concat(seeds, hitSeeds) {
			f.Add(byte(i), byte(j), []byte(hitBases[j%len(hitBases)]), []byte(s))
		}
	}
	policies := tracePolicies(f)
	f.Fuzz(func(t *testing.T, which, policy byte, base, src []byte) {
		n := *hitNormalizers[int(which)%len(hitNormalizers)]
		n.policy = policies[int(policy)%len(policies)]
		checkHits(t, &n, base, src)
	})
}

func BenchmarkHits(b *testing.B) {
	for _, bm := range []struct{ name, src string }{
		{"clean", "https://www.example.com/a/b.html?c=d"},
		{"port", "http://www.example.com:80/products/list?page=2"},
		{"dots", "http://www.example.com/a/./b/../c.html?x=y"},
		{"escapes", "http://www.example.com/%7euser/caf%c3%a9 x?q=%2f"},
		{"segments", "http://www.example.com/%2e%2e/%7euser"},
		{"climb", "file:///a/../%7euser"},
	} {
		for _, profile := range []string{"rfc3986-scheme", "equiv"} {
			b.Run(bm.name+"/"+profile, func(b *testing.B) {
				n, src := byName(profile), []byte(bm.src)
				var r Result
				_, err := n.Append(nil, src, &r)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					r.Applied()
				}
			})
		}
	}
}
