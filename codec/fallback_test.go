package codec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// fallbackProfiles combine rfc-fallback with all sets of the rules that can change
// its result.
func fallbackProfiles() (ns []*Normalizer) {
	others := []ruleSet{1 << RuleDropUserinfo, 1 << RuleDropFragment, escapeRules, escapeRules | 1<<RuleRFCClean}
	for set := range 1 << len(others) {
		rules := ruleSet(1 << RuleFallbackRFC)
		for i, more := range others {
			if set>>i&1 != 0 {
				rules |= more
			}
		}
		ns = append(ns, mustNew(Profile{Name: fmt.Sprintf("fallback-%d", set), Standard: WHATWG, Rules: Rules{rules}}))
	}
	return ns
}

// oddURL returns a URL with a userinfo that holds a secret, most of which browsers
// cannot parse.
func oddURL(rnd *rand.Rand) []byte {
	of := func(list ...string) string { return list[rnd.IntN(len(list))] }
	userinfo := of("user:SECRET", "SECRET", ":SECRET", "SECRET:", "a%40b:SECRET", "a b:SECRET", "\u00fc:SECRET|", "SECRET@x", "%zz:SECRET")
	return []byte(of("http", "HTTPS", "ws", "ftp", "file", "git", "a", "x-y") + of(":", "", " :") + of("//", "//", "//", "///", "\\\\", "/") + userinfo + "@" +
		of("h", "h:x", "[::g]", "[::1", "h^x", "h%zz", "h%00", "", ":80", "localhost", "a b", "h:99999", "\xff", "xn--a", "1.2.3.400", "h\t:x", "v@w:x") +
		of("", "/", "/a/../%7e", "/C|/%7e", "?q=%zz", "/#f", "/a#f|", "\\b", "/v@h/", "//w@h/"))
}

// TestFallbackLaws: with rfc-fallback and ui-drop no normal form holds the
// userinfo, and every normal form is its own normal form.
func TestFallbackLaws(t *testing.T) {
	ns := fallbackProfiles()
	rnd := rand.New(rand.NewPCG(10, 1))
	parsed, dropped := 0, 0
	for range 40_000 {
		n, src := ns[rnd.IntN(len(ns))], oddURL(rnd)
		var r, again Result
		norm, err := n.Append(nil, src, &r)
		if err != nil {
			continue
		}
		parsed++
		for c := Username; c <= Password; c++ {
			if n.rules.Has(RuleDropUserinfo) && r.Out.Has(c) {
				t.Fatalf("%v %q: %q has a userinfo", (Rules{n.rules}).Names(), src, norm)
			}
		}
		if n.rules.Has(RuleDropUserinfo) && r.In.Has(Username) {
			dropped++
			if bytes.Contains(norm, []byte("SECRET")) && !strings.Contains(string(src), "SECRET@x@") {
				t.Fatalf("%v %q: %q", (Rules{n.rules}).Names(), src, norm)
			}
		}
		if r.Flags.Has(FlagInvalidCredentials) && n.rules.Has(RuleDropUserinfo) && bytes.Contains(norm, []byte("SECRET")) {
			t.Fatalf("%v %q: %q holds what browsers see as userinfo", (Rules{n.rules}).Names(), src, norm)
		}
		if n.rules.Has(RuleDropFragment) && r.Out.Has(Fragment) {
			t.Fatalf("%v %q: %q has a fragment", (Rules{n.rules}).Names(), src, norm)
		}
		if twice, err := n.Append(nil, norm, &again); err != nil || !bytes.Equal(twice, norm) {
			t.Fatalf("%v %q: %q, and then %q, %v", (Rules{n.rules}).Names(), src, norm, twice, err)
		}
		checkTrace(t, n, nil, src)
	}
	if parsed < 10_000 || dropped < 2_000 {
		t.Errorf("%d URLs were parsed, %d had a userinfo to drop", parsed, dropped)
	}
}
