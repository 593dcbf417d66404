package codec

import (
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/params"
)

// traced returns the rules of the steps to a level, with their parameters, and
// the text that they end with, or start if there are none.
func traced(n *Normalizer, lv Level, src, norm []byte, r *Result, start string) (rules []string, end string) {
	end = start
	for _, st := range r.TraceKey(lv) {
		rule := st.Rule.String()
		if st.Param != "" {
			rule += " " + st.Param
		}
		rules, end = append(rules, rule), st.After
	}
	return rules, end
}

// TestTraceKey names the rules of SEMANTICS E1, E2, E9 and E10 on the way to keys.
func TestTraceKey(t *testing.T) {
	f := func(n *Normalizer, lv Level, src, want string) {
		t.Helper()
		var r Result
		norm, err := n.Append(nil, []byte(src), &r)
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		rules, _ := traced(n, lv, []byte(src), norm, &r, "")
		if got := strings.Join(rules, ", "); got != want {
			t.Errorf("%q: %v by %q, want %q", src, lv, got, want)
		}
	}
	n := byName("equiv")
	f(n, K0, "http://h/a^|", "add")
	f(n, K0, "git://H/%zz", "malformed-encode, host-lower")
	f(n, K1, "git://@h", "")
	f(byName("rfc3986"), K1, "http://@h:80", "port-def, path-empty, ui-empty")
	f(n, K2, "http://h/", "")
	f(n, K2, "https://u:p@h/#f", "ui-drop, frag-drop, https-http")
	f(byName("rfc3986"), K2, "http://0x7f.1./a;jsessionid=x", "host-rootdot, host-ip4, psid")
	f(n, K2, "http://h/?b&a", "q-sort-name")
	f(n, K2, "http://h/?utm_source=x", "q-drop utm_source")
	f(n, K2, "http://h/?%75tm_source=x&PHPSESSID=1&&a=&c=%7e", "qsid PHPSESSID, q-drop utm_source, q-eq, q-noempty, q-form")
	f(n, K2, "http://h/?", "q-noempty")
	f(byName("rfc3986"), K2, "http://h/?a='", "add")
	f(n, K2, "http://h/?b&a&utm_source=x&X-Amz-Signature=0", "") // signed
	f(n, K3, "http://www.example.com//a/index.html", "www-one, slash-one, dirindex, slash-trail, https-http")
	f(n, K3, "mailto:a", "")
}

// TestTraceKeySource holds that a dropped field is told with the list and the
// line that says so.
func TestTraceKeySource(t *testing.T) {
	n := byName("equiv")
	var r Result
	src := []byte("http://h/?gclid=1")
	_, _ = n.Append(nil, src, &r)
	steps := r.TraceKey(K2)
	if len(steps) != 1 || !strings.HasPrefix(steps[0].Clause(), "default:") || steps[0].Reason == "" {
		t.Errorf("%+v", steps)
	}
}

// tracePolicies are policies that reach what DefaultPolicy does not.
func tracePolicies(t testing.TB) []*Policy {
	t.Helper()
	var rules []params.Rule
	for _, text := range []string{"x", "y"} {
		rule, err := params.ParseRule(text, "test:1")
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rule)
	}
	site, err := params.Compile(&params.List{Name: "site", Version: "1", Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	p := DefaultPolicy()
	return []*Policy{p, {Params: p.Params, SiteParams: site, SPA: []string{"*"}, KeepHTTPS: true, LowerPath: true, LowerQuery: true}, {Params: site}, {Params: p.Params, NFC: true, Once: true}, {SiteParams: site, NFC: true, LowerPath: true, LowerQuery: true}}
}

// FuzzTraceKey holds the trace to the keys: it begins with the string of the
// level before, ends with that of its own, and has no gap.
func FuzzTraceKey(f *testing.F) {
	addSeeds(f)
	for _, s := range []string{
		"http://h/a;jsessionid=x//b?b=%26&a='&&=&utm_source=1&x=2#/p?gclid=1&q", "http://h/#!a?x", "//www.example.com//a//", "x:/;sid=0123456789abcdef0123//b",
		"http://h?a;b", "https://www.example.com./INDEX.html?A=B", "git://H:/?", "http://h/?%zz=%",
		"http://h/e%CC%81%EF%BC%A1?e%CC%81=1&f=A&B=2&b=2&b=2", "http://h/A%FA%CC%81?a=%CC%B8&%CD%BE", "http://h/?b&b&X-Amz-Signature=0&A",
	} {
		f.Add(byte(0), []byte(s))
	}
	policies := tracePolicies(f)
	f.Fuzz(func(t *testing.T, which byte, src []byte) {
		p := fuzzNormalizers[int(which)%len(fuzzNormalizers)].Profile()
		n, err := New(p, WithPolicy(policies[int(which>>4)%len(policies)]), WithStandard(Standard(which>>3&1)))
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		_, err = n.Append(nil, src, &r)
		if err != nil {
			return
		}
		for lv := range Level(numLevels) {
			before := ""
			if lv > K0 {
				before = string(r.AppendKey(nil, lv-1))
			}
			steps := r.TraceKey(lv)
			want := string(r.AppendKey(nil, lv))
			switch {
			case len(steps) == 0 && lv > K0 && want != before:
				t.Fatalf("%q: %v: no step from %q to %q", src, lv, before, want)
			case len(steps) == 0:
				continue
			case steps[len(steps)-1].After != want:
				t.Fatalf("%q: %v is %q, the steps from %q end with %q", src, lv, want, before, steps[len(steps)-1].After)
			case lv > K0 && steps[0].Before != before:
				t.Fatalf("%q: the steps to %v begin with %q, not %q", src, lv, steps[0].Before, before)
			}
			if i := slices.IndexFunc(steps[1:], func(s KeyStep) bool { return s.Before == s.After }); i >= 0 {
				t.Fatalf("%q: step %d to %v changes nothing", src, i+1, lv)
			}
		}
	})
}
