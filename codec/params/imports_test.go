package params

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// checkImport checks what an imported list does: each line is a URL without
// scheme, a name, and the source of the rule that drops it, or "-".
func checkImport(t *testing.T, l *List, cases string) {
	t.Helper()
	m := compile(t, l)
	var s Scratch
	for line := range strings.Lines(cases) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		host, path, _ := strings.Cut(words[0], "/")
		rule, drop := m.Match(m.Site([]byte(host), []byte("/"+path), &s), []byte(words[1]), nil)
		got := "-"
		if drop {
			got = strings.ReplaceAll(m.Rule(rule).Source, " ", "_")
		}
		if got != words[2] {
			t.Errorf("%s %s: %s, want %s", words[0], words[1], got, words[2])
		}
	}
}

// checkSkipped checks that exactly these items are reported as skipped, each
// with a part of the reason.
func checkSkipped(t *testing.T, l *List, want map[string]string) {
	t.Helper()
	for _, s := range l.Skipped {
		if want[s.Source] == "" || !strings.Contains(s.What, want[s.Source]) {
			t.Errorf("skipped %s: %s", s.Source, s.What)
		}
		delete(want, s.Source)
	}
	for source := range want {
		t.Errorf("%s is not reported", source)
	}
}

func TestParseAdGuard(t *testing.T) {
	l := ParseAdGuard([]byte(`[Adblock Plus 2.0]
! Title: written for this test
$removeparam=gclid
||shop.example^$removeparam=trk
||shop.example/item/*/view$removeparam=item_ref
||amazon.*^$removeparam=tag
$removeparam=ref,domain=a.example|b.example
$removeparam=src,domain=~c.example
$removeparam=/^cm_[a-z]+=/
$removeparam=/^mkt_(a|b)/i
||only.example^$removeparam=~id
||none.example^$removeparam
@@||shop.example/login^$removeparam=gclid
@@||d.example^$removeparam
$removeparam=/tail$/
$removeparam=/^x.*=1/
$removeparam=/^a|^b/
$xmlhttprequest,removeparam=xhr
||ads.example^$third-party
|https://e.example/$removeparam=q
example.com##.banner
$removeparam
$removeparam=old,queryprune=x,badfilter
||f.example^$removeparam=comma\,name
`))
	checkImport(t, l, `
		h/ gclid adguard:3
		h/ GCLID adguard:3
		www.shop.example/a trk adguard:4
		h/ trk -
		shop.example/item/a/b/view/x item_ref adguard:5
		shop.example/item item_ref -
		www.amazon.co.uk/ tag adguard:6
		b.example/ ref adguard:7
		h/ ref -
		h/ src adguard:8
		www.c.example/ src -
		h/ cm_abc adguard:9
		h/ cm_abc1 -
		h/ mkt_alpha adguard:10
		h/ mkt_c -
		only.example/ id -
		only.example/ x adguard:11
		none.example/ x adguard:12
		shop.example/login/x gclid -
		shop.example/login trk adguard:4
		d.example/ gclid -
		d.example/ src -
		f.example/ comma,name adguard:24
	`)
	checkSkipped(t, l, map[string]string{
		"adguard:15": "must start with",
		"adguard:16": "can match a value",
		"adguard:17": "alternatives",
		"adguard:18": `modifier "xmlhttprequest"`,
		"adguard:19": "not a rule with removeparam",
		"adguard:20": "unsupported pattern",
		"adguard:21": "not a rule with removeparam",
		"adguard:22": "drops every parameter everywhere",
		"adguard:23": `modifier "badfilter"`,
	})
}

func TestParseBrave(t *testing.T) {
	l, err := ParseBrave([]byte(`[
		{"include": ["*://*/*"], "exclude": ["*://app.hive.example/*"], "params": ["h_sid", "h_slt"]},
		{"include": ["*://*.x.example/*"], "exclude": ["*://*.x.example/i/redirect?*"], "params": ["s", "t"]},
		{"include": ["https://www.books.example/book/show/*", "*://*.video.example/watch?*"], "params": ["qid"]},
		{"include": ["ftp://h/*", "*://a*b/*", "*://h/a?b=*"], "exclude": ["nonsense"], "params": ["z"]}
	]`))
	if err != nil {
		t.Fatal(err)
	}
	checkImport(t, l, `
		h/ h_sid brave#1
		app.hive.example/x h_sid -
		www.x.example/ s brave#2
		x.example/i/redirect s -
		x.example/i/redirect/more s brave#2
		app.hive.example/ s -
		www.books.example/book/show/1/2 qid brave#3
		m.www.books.example/book/show/1 qid -
		www.video.example/watch qid brave#3
		www.video.example/watch/2 qid -
	`)
	if len(l.Skipped) != 5 { // one is a note about https
		t.Errorf("skipped: %v", l.Skipped)
	}
	var pe *ParseError
	if _, err := ParseBrave([]byte("{}")); !errors.As(err, &pe) {
		t.Errorf("an object: %v", err)
	}
}

func TestParseFirefox(t *testing.T) {
	for _, data := range []string{
		`{"data": [{"schema": 1, "stripList": ["fbclid", "_hsenc"], "allowList": ["allowed.example"]}], "timestamp": 1}`,
		`[{"stripList": ["fbclid", "_hsenc"], "allowList": ["allowed.example"]}]`,
	} {
		l, err := ParseFirefox([]byte(data))
		if err != nil {
			t.Fatal(err)
		}
		checkImport(t, l, `
			h/ fbclid firefox#1
			h/ x -
			www.allowed.example/ fbclid -
		`)
	}
	l, err := ParseFirefox([]byte(`{"global": {"queryParams": ["gclid"], "topLevelSites": ["*"]}, "v": {"queryParams": ["si"], "topLevelSites": ["www.video.example", "v.example"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	checkImport(t, l, `
		h/ gclid firefox_global
		www.video.example/ si firefox_v
		m.video.example/ si -
	`)
	for _, data := range []string{"", "1", `{"a": {"queryParams": ["x"]}}`, `{"a": 1}`} {
		var pe *ParseError
		if _, err := ParseFirefox([]byte(data)); !errors.As(err, &pe) {
			t.Errorf("%q: %v", data, err)
		}
	}
}

func TestParseRobots(t *testing.T) {
	l := ParseRobots("www.example.com", []byte("\ufeffUser-agent: Yandex\nDisallow: /x # comment\nClean-param: s /forum/showthread.php\nclean-param:sid&sort # all pages\nClean-param: ref /some_dir/*.html\nClean-param: a b c\nClean-param:\n"))
	checkImport(t, l, `
		www.example.com/forum/showthread.php s robots:3
		www.example.com/forum/showthread.php/x s robots:3
		www.example.com/ s -
		www.example.com/ sid robots:4
		www.example.com/a sort robots:4
		example.com/ sid -
		www.example.com/some_dir/a/b.html ref robots:5
		www.example.com/some_dir/b.txt ref -
	`)
	checkSkipped(t, l, map[string]string{"robots:6": "must be names", "robots:7": "must be names"})
}

// TestHubSpot checks that names of the default list are whole names and no
// prefixes: a parameter that only contains one stays.
func TestHubSpot(t *testing.T) {
	checkImport(t, Default(), "h/ hsa_xsrc -\nh/ hsa_ -\nh/ hsa_src2 -\nh/ my_hsa_src -\nh/ xhsa_tgt -\nh/ hsa_version -")
	m := compile(t, Default())
	var s Scratch
	for _, name := range []string{"hsa_src", "hsa_tgt", "hsa_ver", "HSA_SRC"} {
		if _, drop := m.Match(m.Site([]byte("h"), []byte("/"), &s), []byte(name), nil); !drop {
			t.Errorf("%s is kept", name)
		}
	}
}

// TestLongPaths checks that an imported rule whose path is too long for an automaton is
// skipped, and does not make the whole list invalid.
func TestLongPaths(t *testing.T) {
	long := strings.Repeat("s", 600)
	brave, err := ParseBrave(fmt.Appendf(nil, `[{"include": ["*://a/%s"], "exclude": ["*://a/%s"], "params": ["x"]}]`, long, long))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		list    *List
		skipped int
	}{
		{brave, 2}, {ParseAdGuard([]byte("||a.example/" + long + "*$removeparam=x")), 1}, {ParseRobots("h.example", []byte("Clean-param: x /"+long)), 1},
	} {
		if _, err := Compile(c.list); err != nil || len(c.list.Rules) > 0 || len(c.list.Skipped) != c.skipped || !strings.Contains(c.list.Skipped[0].What, "too long") {
			t.Errorf("%s: %v, %d rules, skipped %.200q", c.list.Name, err, len(c.list.Rules), c.list.Skipped)
		}
	}
}

func FuzzImports(f *testing.F) {
	f.Add("||a.example/b*$removeparam=/^x(a|b)=/,domain=~c\n@@$removeparam=y")
	f.Add(`[{"include": ["*://*/*"], "exclude": ["*://a/b?*"], "params": ["x"]}]`)
	f.Add("Clean-param: a&b /c*d")
	f.Fuzz(func(t *testing.T, data string) {
		lists := []*List{ParseAdGuard([]byte(data)), ParseRobots("h.example", []byte(data))}
		if l, err := ParseBrave([]byte(data)); err == nil {
			lists = append(lists, l)
		}
		if l, err := ParseFirefox([]byte(data)); err == nil {
			lists = append(lists, l)
		}
		for _, l := range lists {
			if _, err := Compile(l); err != nil {
				t.Errorf("%s of %q: %v", l.Name, data, err)
			}
		}
	})
}
