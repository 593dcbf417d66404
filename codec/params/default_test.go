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
	if len(m.scopes) != 1 {
		t.Error("the default list has scopes, so every host would have to be checked")
	}
	seen := map[string]bool{}
	for i, r := range l.Rules {
		if r.Name != strings.ToLower(r.Name) || r.Reason == "" || r.action != actionDrop || seen[r.Name] {
			t.Errorf("%+v: upper case, missing reason, exception or duplicate", r)
		}
		seen[r.Name] = true
		if rule, drop := m.Match(Site{}, []byte(r.Name), nil); !drop || rule != i {
			t.Errorf("%s: rule %d, %v", r.Name, rule, drop)
		}
	}
	// Words with other meanings on some sites need a scope or a shape (D4.38).
	for _, name := range []string{"ref", "source", "sid", "id", "s", "name", "campid", "customid", "cid", "tag", "q", "page", "spm", "mc", "si", "utm"} {
		if rule, drop := m.Match(Site{}, []byte(name), []byte("0123456789abcdef0123456789abcdef")); drop {
			t.Errorf("%s is dropped on all sites by %s", name, m.Rule(rule).Source)
		}
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
