package params

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// compile compiles lists that must be valid.
func compile(t testing.TB, lists ...*List) *Matcher {
	t.Helper()
	m, err := Compile(lists...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// plain parses a list that must be valid.
func plain(t testing.TB, text string) *List {
	t.Helper()
	l, err := ParsePlain("test", "1", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestMatch(t *testing.T) {
	m := compile(t, plain(t, `gclid
utm_*
/ga_[a-z]+/
sid ~alnum16
example.com: ref
*.example.org: ref
=example.net: ref
google.*: ved
shop.example.com/cart/**: sku
/print/*: layout
!example.com: utm_source
!www.example.com/mail/**: *
!gclidx
example.com/only/**: *
!example.com/only/**: page
`))
	var s Scratch
	f := func(url, name, value string, want string) {
		t.Helper()
		host, path, _ := strings.Cut(url, "/")
		rule, drop := m.Match(m.Site([]byte(host), []byte("/"+path), &s), []byte(name), []byte(value))
		got := "none"
		if rule >= 0 {
			got = m.Rule(rule).action.String() + " " + m.Rule(rule).Source
		}
		if drop != strings.HasPrefix(got, "drop") || got != want {
			t.Errorf("%s %s=%s: got %s, %v, want %s", url, name, value, got, drop, want)
		}
	}
	f("a.b", "gclid", "", "drop test:1")
	f("a.b", "GCLID", "", "drop test:1") // ASCII case does not matter: D4.38
	f("a.b", "gclidx", "", "none")
	f("a.b", "utm_", "", "drop test:2")
	f("a.b", "UTM_Source", "", "drop test:2")
	f("a.b", "utm", "", "none")
	f("a.b", "?utm_source", "", "drop test:2") // %3Futm_source: D4.38
	f("a.b", "amp;utm_source", "", "drop test:2")
	f("a.b", "ga_x", "", "drop test:3")
	f("a.b", "GA_X", "", "drop test:3")
	f("a.b", "ga_", "", "none")
	f("a.b", "ga_x1", "", "none")
	f("a.b", "sid", "5", "none")
	f("a.b", "sid", "0123456789abcdef", "drop test:4")
	f("a.b", "", "", "none")
	f("a.b", "ref", "", "none")

	// Hosts.
	f("example.com", "ref", "", "drop test:5")
	f("a.example.com", "ref", "", "drop test:5")
	f("EXAMPLE.com", "ref", "", "drop test:5")
	f("anexample.com", "ref", "", "none")
	f("example.com.evil.net", "ref", "", "none")
	f("example.org", "ref", "", "none")
	f("a.example.org", "ref", "", "drop test:6")
	f("example.net", "ref", "", "drop test:7")
	f("a.example.net", "ref", "", "none")
	f("google.com", "ved", "", "drop test:8")
	f("www.google.de", "ved", "", "drop test:8")
	f("www.google.co.uk", "ved", "", "drop test:8")
	f("www.google.com.au", "ved", "", "drop test:8")
	f("google.evil.com", "ved", "", "none") // evil.com is the registered name
	f("google", "ved", "", "none")
	f("google.1", "ved", "", "none")
	f("notgoogle.com", "ved", "", "none")

	// Paths.
	f("shop.example.com/cart/1/2", "sku", "", "drop test:9")
	f("shop.example.com/cart", "sku", "", "drop test:9")
	f("shop.example.com/carts", "sku", "", "none")
	f("example.com/cart/1", "sku", "", "none")
	f("a.b/print/1", "layout", "", "drop test:10")
	f("a.b/print/1/2", "layout", "", "none")

	// Exceptions.
	f("example.com", "utm_source", "", "keep test:11")
	f("example.com", "utm_medium", "", "drop test:2")
	f("www.example.com/mail/1", "gclid", "", "keep test:12")
	f("www.example.com/mail/1", "page", "", "none") // no rule to make an exception from
	f("www.example.com", "gclid", "", "drop test:1")

	// An allow list is a rule for all parameters with exceptions.
	f("example.com/only/1", "x", "", "drop test:14")
	f("example.com/only/1", "page", "", "keep test:15")
	f("example.com/only/1", "", "1", "drop test:14")
}

func TestGroups(t *testing.T) {
	l := &List{Name: "g", Version: "1", Rules: []ListRule{
		{Name: "ref", group: "a", Source: "a#1"},
		{action: actionKeep, Host: "example.com", match: matchPrefix, group: "a", Source: "a exceptions#1"},
		{Host: "example.com", Name: "id", group: "b", Source: "b#1"},
		{Host: "sub.example.com", Name: "ref", group: "b", Source: "b#2"},
	}}
	other := &List{Name: "h", Version: "1", Rules: []ListRule{{Name: "x", group: "a", Source: "h#1"}}}
	m := compile(t, l, other)
	var s Scratch
	f := func(host, name, want string, drop bool) {
		t.Helper()
		rule, got := m.Match(m.Site([]byte(host), nil, &s), []byte(name), nil)
		if got != drop || m.Rule(rule).Source != want {
			t.Errorf("%s %s: %q, %v", host, name, m.Rule(rule).Source, got)
		}
	}
	f("a.b", "ref", "a#1", true)
	f("example.com", "ref", "a exceptions#1", false)
	f("example.com", "id", "b#1", true)      // an exception of group a
	f("sub.example.com", "ref", "b#2", true) // kept from a#1 but not from b#2
	f("example.com", "x", "h#1", true)       // the group with this name in another list
}

func TestNilMatcher(t *testing.T) {
	var m *Matcher
	var s Scratch
	site := m.Site([]byte("example.com"), []byte("/"), &s)
	if rule, drop := m.Match(site, []byte("gclid"), nil); rule != -1 || drop || m.Versions() != "" || m.Rule(0) != (ListRule{}) {
		t.Error("a nil Matcher has rules")
	}
	if out, present, why := appendKeyQuery(nil, []byte("gclid=1"), m, site, &s); string(out) != "gclid=1" || !present || why != 0 {
		t.Errorf("got %q, %v, %v", out, present, why)
	}
}

// TestForeignSite uses a site of another Matcher, and a site whose Scratch has
// been used for another site.
func TestForeignSite(t *testing.T) {
	a := compile(t, plain(t, "example.com: x\nexample.com/1: y\nexample.org: x"))
	b := compile(t, plain(t, "example.com: x"))
	var s Scratch
	site := a.Site([]byte("example.com"), []byte("/1"), &s)
	if _, drop := b.Match(site, []byte("x"), nil); drop {
		t.Error("the site of another Matcher has scopes")
	}
	b.Site([]byte("example.com"), nil, &s)
	if _, drop := a.Match(site, []byte("x"), nil); drop {
		t.Error("a site has scopes after its Scratch was used for another Matcher")
	}
	if _, drop := a.Match(a.Site([]byte("example.org"), nil, &s), []byte("x"), nil); !drop {
		t.Error("a site has no scopes after its Scratch was used for another Matcher")
	}
}

// randomLists returns lists with few names and hosts, so that rules often
// conflict.
func randomLists(r *rand.Rand) []*List {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	var lists []*List
	for _, name := range []string{"one", "two"} {
		l := &List{Name: name, Version: "1"}
		for i := range r.IntN(12) {
			rule := ListRule{
				action: ruleAction(r.IntN(int(numActions))),
				Host:   pick("", "", "b.com", "*.b.com", "=b.com", "b.*", "a.b.*", "^(a|c)\\.b\\..*", "com", "xb.com"),
				Path:   pick("", "", "/", "/a/**", "/*/b", "^/a", "**b"),
				match:  ruleMatch(r.IntN(int(numMatches))),
				group:  pick("", "g", "h"),
				Source: name + string(rune('a'+i)),
			}
			switch rule.match {
			case matchRegexp:
				rule.Name = pick("a.*", "[ab]", "(ab?|b){1,2}", ".*b", "A_?b", "(?:)a*", "utm_[a-z]{2}")
			default:
				rule.Name = pick("a", "B", "ab", "a_b", "utm_", "utm_ab", "_")
			}
			if r.IntN(8) == 0 {
				rule.value = shapeInt
			}
			l.Rules = append(l.Rules, rule)
		}
		lists = append(lists, l)
	}
	return lists
}

func FuzzMatch(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed, "", "", "", "")
		f.Add(seed, "a.b.co.uk", "/a/b", "?amp;AB", "7")
	}
	f.Fuzz(func(t *testing.T, seed uint64, host, path, name, value string) {
		r := rand.New(rand.NewPCG(seed, 1))
		lists := randomLists(r)
		m, err := Compile(lists...)
		if err != nil {
			return // contradictions; see TestCompileErrors
		}
		ascii := func(s string) string {
			return strings.Map(func(r rune) rune { return min(r, 'x') }, strings.ToValidUTF8(s, "x"))
		}
		pick := func(given string, from ...string) string {
			if i := r.IntN(len(from) + 1); i < len(from) {
				return from[i]
			}
			return ascii(given)
		}
		var s Scratch
		for range 20 {
			h := pick(host, "b.com", "a.b.com", "c.b.co.uk", "b.x.com", "xb.com", "com", "A.B.COM", "b.de")
			p := pick(path, "", "/", "/a", "/a/b", "/A/x", "/x/b/b")
			n := pick(name, "a", "b", "AB", "ba", "a_b", "utm_ab", "UTM_abc", "?a", "amp;b", "", "_")
			v := pick(value, "", "1", "x")
			rule, drop := m.Match(m.Site([]byte(h), []byte(p), &s), []byte(n), []byte(v))
			if slowRule, slowDrop := slowMatch(lists, h, p, n, v); rule != slowRule || drop != slowDrop {
				t.Fatalf("%q %q %q=%q: %v %v, want %v %v\n%+v", h, p, n, v, m.Rule(rule), drop, m.Rule(slowRule), slowDrop, lists)
			}
		}
	})
}
