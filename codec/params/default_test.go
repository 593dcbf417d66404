package params

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
)

func TestDefault(t *testing.T) {
	l := Default()
	m := compile(t, l)
	if len(m.hosts.entries) > 0 || len(m.wide) > 1 {
		t.Error("the default list has rules for hosts, so every host would have to be checked")
	}
	seen := map[string]bool{}
	for i, r := range l.Rules {
		text := r.action.String() + r.Name
		if r.Name != strings.ToLower(r.Name) || r.Reason == "" || seen[text] {
			t.Errorf("%+v: upper case, missing reason or duplicate", r)
		}
		seen[text] = true
		if rule, drop := m.Match(Site{}, []byte(r.Name), []byte(shaped[r.value])); r.action == actionDrop && (!drop || rule != i) {
			t.Errorf("%s: rule %d, %v", r.Name, rule, drop)
		}
	}
	// Words with other meanings on some sites need a scope or a shape (D4.38).
	for _, name := range []string{"ref", "source", "sid", "id", "s", "name", "campid", "customid", "cid", "tag", "q", "page", "spm", "elq", "__s", "mc", "si", "utm", "at_", "at_home", "sfmc_", "sfmc_page", "cm_", "et_", "a8", "awc"} {
		for _, value := range []string{"", "1", "page-2", "0123456789.abcdef"} {
			if rule, drop := m.Match(Site{}, []byte(name), []byte(value)); drop {
				t.Errorf("%s=%s is dropped on all sites by %s", name, value, m.Rule(rule).Source)
			}
		}
	}
}

// shaped has a value of each shape that the default list uses.
var shaped = [numShapes]string{shapeHex32: "d41d8cd98f00b204e9800998ecf8427e", shapeAlnum16: "k4nzq3ht8v0oz1c2q8bf", shapeDotted: "a2g0o.home.1000002.1"}

// TestDefaultMail: parameters of mailings are dropped, except where the subscription
// depends on them.
func TestDefaultMail(t *testing.T) {
	m := compile(t, Default())
	var s Scratch
	for _, test := range []struct {
		path, query, want string
	}{
		{"/", "a=1&mkt_tok=eyJpIjoi", "a=1"},
		{"/index.php/email", "MKT_TOK=1", ""},
		{"/UnsubscribePage.html", "mkt_tok=1", "mkt_tok=1"},
		{"/a/unsubscribe", "utm_source=x&ck_subscriber_id=2&mkt_tok=1", "ck_subscriber_id=2&mkt_tok=1"},
		{"/index.php/email/emailWebview", "mkt_tok=1", "mkt_tok=1"},
		{"/index.php/email/emailWebview", "%3Fmkt_tok=1&amp;mkt%5Ftok=2", "%3Fmkt_tok=1&amp%3Bmkt_tok=2"},
		{"/news/unsubscribe", "_hsenc=1&mc_eid=2", ""}, // only where the page needs the parameter
		{"/a;jsessionid=unsubscribe", "mkt_tok=1", ""},
		{"/(S(unsubscribe0123456789abc))/a.aspx", "mkt_tok=1", ""},
		{"/item/1.html", "spm=a2g0o.home.1000002.1&id=3", "id=3"},
		{"/item/1.html", "spm=1&elq=7&__s=home", "__s=home&elq=7&spm=1"},
		{"/item/1.html", "elq=d41d8cd98f00b204e9800998ecf8427e&__s=k4nzq3ht8v0oz1c2q8bf", ""},
	} {
		site := m.Site([]byte("example.com"), []byte(test.path), &s)
		out, _, _ := AppendFiltered(nil, []byte(test.query), m, site, &s)
		key, _, _ := AppendChanged(nil, []byte(test.query), m, site, &s)
		if test.query == test.want {
			key = out // AppendChanged appends nothing
		}
		if string(key) != test.want {
			t.Errorf("%s?%s: %s, want %s", test.path, test.query, key, test.want)
		}
	}
	// Only the exceptions of this list apply.
	own := compile(t, Default(), plain(t, "mkt_tok"))
	if rule, drop := own.Match(own.Site(nil, []byte("/unsubscribe"), &s), []byte("mkt_tok"), nil); !drop {
		t.Errorf("the user's own rule is not applied: %s", own.Rule(rule).Source)
	}
}

// TestRegistry compares the default list with a public registry of names. The
// default list lacks only names that need a scope or a shape, or that are
// internal to a vendor.
func TestRegistry(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(corpus(t, "tracking/tracking-query-params.csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	m := compile(t, Default())
	found := 0
	var missing []string
	for _, row := range rows[1:] {
		name := strings.TrimSpace(row[0])
		if _, drop := m.Match(Site{}, []byte(name), nil); drop {
			found++
		} else {
			missing = append(missing, name)
		}
		l, err := ParsePlain("registry", "1", []byte(name))
		if err != nil || len(l.Rules) != 1 {
			t.Errorf("%q as a plain list: %v", name, err)
		}
	}
	for _, must := range []string{"gclid", "fbclid", "msclkid", "utm_source", "mc_eid", "twclid", "yclid", "_kx", "srsltid", "gbraid"} {
		for _, name := range missing {
			if name == must {
				t.Errorf("%s is in the registry but not in the default list", name)
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d names of the registry are in the default list", found)
	}
	t.Logf("%d names of the registry are in the default list, %d are not: %s", found, len(missing), strings.Join(missing, " "))
}
