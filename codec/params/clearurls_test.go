package params

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// clearSample has an item of every kind that rule files have, written for this
// test.
const clearSample = `{"providers": {
	"shop": {
		"urlPattern": "^https?:\\/\\/(?:[a-z0-9-]+\\.)*?shop(?:\\.[a-z]{2,}){1,}",
		"completeProvider": false,
		"rules": ["(?:%3F)?trk", "t_[a-z]*", "pre(?:f|v)", "(?=x)y", "\\$link", "%24link2"],
		"referralMarketing": ["aff"],
		"rawRules": ["\\/ref=[^/?]*"],
		"exceptions": [
			"^https?:\\/\\/(?:[a-z0-9-]+\\.)*?shop(?:\\.[a-z]{2,}){1,}\\/login",
			"^https?:\\/\\/pay\\.shop\\.com\\/[^?]*\\?.*?&?trk=.",
			"^https?:\\/\\/pay\\.shop\\.com\\/x\\?other=.",
			"^https?:\\/\\/pay\\.shop\\.com\\/(?:a|b\\?)",
			"ftp:\\/\\/x"
		],
		"redirections": ["^https?:\\/\\/out\\.shop\\.com\\?u=(.*)"]
	},
	"ads": {"urlPattern": "^https?:\\/\\/ads\\.example", "completeProvider": true},
	"odd": {"urlPattern": "^https?:\\/\\/git(lab)?\\.[^/]*\\/-\\/", "rules": ["ref_?"]},
	"two": {"urlPattern": "^https?:\\/\\/(?:[a-z0-9-]+\\.)*?(?:one\\.com|two.net)", "rules": ["x"]}
}}`

func TestParseClearURLs(t *testing.T) {
	l, err := ParseClearURLs([]byte(clearSample))
	if err != nil {
		t.Fatal(err)
	}
	m := compile(t, l)
	var s Scratch
	f := func(url, name, want string) {
		t.Helper()
		host, path, _ := strings.Cut(url, "/")
		rule, drop := m.Match(m.Site([]byte(host), []byte("/"+path), &s), []byte(name), nil)
		got := m.Rule(rule).Source
		if drop {
			got = "drop " + got
		}
		if got != want {
			t.Errorf("%s %s: got %q, want %q", url, name, got, want)
		}
	}
	f("www.shop.co.uk/", "TRK", "drop clearurls shop#1")
	f("www.shop.co.uk/", "?trk", "drop clearurls shop#1")
	f("shop.com/", "t_", "drop clearurls shop#2")
	f("shop.com/", "t_1", "")
	f("shop.com/", "prev", "drop clearurls shop#3")
	f("shop.com/", "y", "")
	f("shop.com/", "$link", "drop clearurls shop#5")
	f("shop.com/", "$link2", "drop clearurls shop#6")
	f("shop.com/", "aff", "")
	f("shop.com/LOGIN/x", "trk", "clearurls shop exceptions#1")
	f("pay.shop.com/1", "trk", "clearurls shop exceptions#2")
	f("pay.shop.com/1", "t_x", "drop clearurls shop#2")
	f("pay.shop.com/x", "t_x", "clearurls shop exceptions#3") // the exception applies to all parameters, because no rule drops the parameter that it names
	f("pay.shop.com/ab", "t_x", "clearurls shop exceptions#4")
	f("pay.shop.com/b", "t_x", "clearurls shop exceptions#4")
	f("pay.shop.com/bb", "t_x", "drop clearurls shop#2")
	f("git.example.org/-/a", "ref_", "drop clearurls odd#1")
	f("gitlab.x/-/a", "ref", "drop clearurls odd#1")
	f("gitlab.x/a", "ref", "")
	f("a.two.net/", "x", "drop clearurls two#1")
	f("one.com/", "x", "drop clearurls two#1")

	want := map[string]string{
		"clearurls ads":                      "blocking whole requests",
		"clearurls shop rawRules#1":          "remove text anywhere",
		"clearurls shop redirections#1":      "redirection",
		"clearurls shop#4":                   "unsupported pattern: assertion",
		"clearurls shop referralMarketing#1": "not imported",
		"clearurls shop exceptions#3":        "for every query",
		"clearurls shop exceptions#5":        "must start with",
	}
	m, err = Compile(Default(), l)
	if err != nil || len(m.Skipped()) != len(l.Skipped) || (*Matcher)(nil).Skipped() != nil {
		t.Errorf("%d items skipped, %d by the Matcher; %v", len(l.Skipped), len(m.Skipped()), err)
	}
	for _, skipped := range l.Skipped {
		if !strings.Contains(skipped.What, want[skipped.Source]) || want[skipped.Source] == "" {
			t.Errorf("skipped %s: %s", skipped.Source, skipped.What)
		}
		delete(want, skipped.Source)
	}
	if len(want) > 0 {
		t.Errorf("not reported: %v", want)
	}
}

func TestParseClearURLsErrors(t *testing.T) {
	f := func(data string, line, column int, reason string) {
		t.Helper()
		_, err := ParseClearURLs([]byte(data))
		var pe *ParseError
		if !errors.As(err, &pe) || pe.Line != line || pe.Column != column || !strings.Contains(pe.Reason, reason) {
			t.Errorf("%q: got %v", data, err)
		}
	}
	f("", 1, 1, "unexpected end")
	f("{}", 1, 1, "providers")
	f("{\n \"providers\": x}", 2, 15, "invalid character 'x'")
	f("{\"providers\": {\n\"a\": {\"rules\": [1]}}}", 2, 17, "number")
	f("[]", 1, 1, "array")
}

// TestClearURLsCorpus imports the real file.
func TestClearURLsCorpus(t *testing.T) {
	data := corpus(t, "tracking/clearurls_data.min.json")
	l, err := ParseClearURLs(data)
	if err != nil {
		t.Fatal(err)
	}
	m := compile(t, l)
	checkEveryExact(t, m)
	var file struct {
		Providers map[string]provider `json:"providers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	accounted := map[string]bool{}
	for _, r := range l.Rules {
		accounted[r.Source] = true
	}
	for _, s := range l.Skipped {
		accounted[s.Source] = true
		if strings.Contains(s.What, "unsupported pattern") || strings.Contains(s.What, "urlPattern") {
			t.Errorf("not imported: %+v", s)
		}
	}
	imp := importer{}
	n := 0
	for name, p := range file.Providers {
		imp.name = name
		for kind, items := range map[string][]string{
			"": p.Rules, "referralMarketing": p.ReferralMarketing, "rawRules": p.RawRules, "exceptions": p.Exceptions, "redirections": p.Redirections,
		} {
			for i := range items {
				n++
				if !accounted[imp.source(kind, i)] {
					t.Errorf("%s is neither a rule nor skipped", imp.source(kind, i))
				}
			}
		}
	}
	t.Logf("%d items: %d rules, %d reported", n, len(l.Rules), len(l.Skipped))
}

// checkEveryExact creates a URL for every exact Drop rule and checks that the
// rule matches it.
func checkEveryExact(t *testing.T, m *Matcher) {
	t.Helper()
	var s Scratch
	paths := []string{"/", "/s", "/learning", "/search/", "/pagead", "/ClearUrls/void/index.html", "/void/index.html"}
	checked := 0
	for i := range len(m.rules) {
		r := m.Rule(i)
		if r.match != matchExact || r.action != actionDrop {
			continue
		}
		host := strings.Replace(strings.TrimPrefix(r.Host, "="), "*.", "below.", 1)
		if before, ok := strings.CutSuffix(host, ".*"); ok {
			host = before + ".com"
		}
		if host == "" {
			host = "example.com"
		}
		hit := false
		for _, path := range paths {
			site := m.Site([]byte(host), []byte(path), &s)
			rule, drop := m.Match(site, []byte(strings.ToUpper(r.Name)), nil)
			hit = hit || drop || rule >= 0 // dropped, or kept by an exception
		}
		if !hit {
			t.Errorf("%+v: the rule matches no URL", r)
		}
		checked++
	}
	if checked < 600 {
		t.Errorf("got only %d exact rules", checked)
	}
}

// FuzzParseClearURLs checks that imported lists compile, whatever their
// patterns, and that each item becomes a rule or is skipped.
func FuzzParseClearURLs(f *testing.F) {
	f.Add(`^https?:\/\/([a-z0-9-.]*\.)x\.com.*\?h=.`, "a|", ".*")
	f.Add(`^https?:\/\/(?:[a-z0-9-]+\.)*?x(?:\.[a-z]{2,}){1,}`, "(?:%3F)?[a-z]?mc", `^https?:\/\/[^/]+\/a(?:b\?|c)=d`)
	f.Add(`wss?:\/\/git(lab)?\.[^/]*\/`, `%24x\[\]`, `^https?:\/\/x.y[^?]*\?.*?&?ref_?=.`)
	f.Add("https?://(a|b){9}.[c", `\?a`, "https?://a\\.b(?:/x)?/(?:y\\?|z)")
	f.Fuzz(func(t *testing.T, urlPattern, rule, exception string) {
		data, err := json.Marshal(map[string]any{"providers": map[string]any{
			"p": map[string]any{"urlPattern": urlPattern, "rules": []string{rule}, "exceptions": []string{exception}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		l, err := ParseClearURLs(data)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Compile(l); err != nil {
			t.Fatalf("imported rules do not compile: %v\n%+v", err, l.Rules)
		}
		if len(l.Rules)+len(l.Skipped) < 1 {
			t.Fatal("no item became a rule or was skipped")
		}
	})
}
