package codec

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/params"
)

// named returns the rules of steps, with their parameters.
func named(steps []Step) string {
	var rules []string
	for _, st := range steps {
		rule := st.Rule.String()
		if st.Param != "" {
			rule += " " + st.Param
		}
		rules = append(rules, rule)
	}
	return strings.Join(rules, ", ")
}

// TestTraceKey checks the rules of SEMANTICS E1, E2, E9 and E10 on the way to
// keys.
func TestTraceKey(t *testing.T) {
	f := func(n *Normalizer, lv Level, src, want string) {
		t.Helper()
		var r Result
		_, err := n.Append(nil, []byte(src), &r)
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		if got := named(r.TraceKey(lv)); got != want {
			t.Errorf("%q: %v by %q, want %q", src, lv, got, want)
		}
	}
	n := byName("equiv")
	f(n, LevelSyntax, "http://h/a^|", "add")
	f(n, LevelSyntax, "git://H/%zz", "host-lower, malformed-encode")
	f(n, LevelEquivalent, "git://@h", "")
	f(byName("rfc3986"), LevelEquivalent, "http://@h:80", "ui-empty, port-def, path-empty")
	f(n, LevelFetch, "http://h/", "")
	f(n, LevelFetch, "https://u:p@h/#f", "https-http, ui-drop, ui-drop, frag-drop")
	f(byName("rfc3986"), LevelFetch, "http://0x7f.1./a;jsessionid=x", "host-rootdot, host-ip4, psid")
	f(n, LevelFetch, "http://h/?b&a", "q-sort-name")
	f(n, LevelFetch, "http://h/?utm_source=x", "q-drop utm_source")
	f(n, LevelFetch, "http://h/?%75tm_source=x&PHPSESSID=1&&a=&c=%7e", "q-drop utm_source, qsid PHPSESSID, q-eq, q-noempty, q-form")
	f(n, LevelFetch, "http://h/?", "q-noempty")
	f(byName("rfc3986"), LevelFetch, "http://h/?a='", "add")
	f(n, LevelFetch, "http://h/?b&a&utm_source=x&X-Amz-Signature=0", "") // signed
	f(n, LevelPage, "http://www.example.com//a/index.html", "https-http, www-one, slash-one, dirindex, slash-trail")
	f(n, LevelPage, "mailto:a", "")
}

// TestTraceKeySource checks that the step for a dropped field names the list
// and the line of the rule.
func TestTraceKeySource(t *testing.T) {
	n := byName("equiv")
	var r Result
	src := []byte("http://h/?gclid=1")
	_, _ = n.Append(nil, src, &r)
	steps := r.TraceKey(LevelFetch)
	if len(steps) != 1 || !strings.HasPrefix(steps[0].Clause(), "default:") || steps[0].Reason == "" {
		t.Errorf("%+v", steps)
	}
}

// tracePolicies are policies with options that DefaultPolicy does not set.
func tracePolicies(t testing.TB) []*Policy {
	t.Helper()
	var rules []params.ListRule
	for _, text := range []string{"x", "y"} {
		rule, err := params.ParseListRule(text, "test:1")
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
