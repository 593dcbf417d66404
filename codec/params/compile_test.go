package params

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestCompileErrors(t *testing.T) {
	f := func(want string, rules ...ListRule) {
		t.Helper()
		for i := range rules {
			rules[i].Source = fmt.Sprint("r", i)
		}
		_, err := Compile(&List{Name: "l", Version: "1", Rules: rules})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", rules, err, want)
		}
		var re *RuleError
		if !errors.As(err, &re) || re.Source != fmt.Sprint("r", len(rules)-1) {
			t.Errorf("%+v: error %v does not name the last rule", rules, err)
		}
	}
	f("missing name", ListRule{})
	f("missing name", ListRule{match: matchRegexp})
	f("unknown action", ListRule{Name: "a", action: 2})
	f("unknown action", ListRule{Name: "a", match: 3})
	f("unknown action", ListRule{Name: "a", value: numShapes})
	f("must not start with", ListRule{Name: "?a"})
	f("must not start with", ListRule{Name: "AMP;a", match: matchPrefix})
	f("drops every parameter everywhere", ListRule{match: matchPrefix})
	f("invalid path: must start with", ListRule{Name: "a", Path: "a"})
	f("must not contain", ListRule{Name: "a", Path: "/a?b"})
	f("must be ASCII", ListRule{Name: "a", Host: "é.com"})
	f("in lower case", ListRule{Name: "a", Host: "A.com"})
	f("unexpected character '/'", ListRule{Name: "a", Host: "a/b"})
	f("unexpected character '*'", ListRule{Name: "a", Host: "a.*.b"})
	f("empty label", ListRule{Name: "a", Host: "*."})
	f("empty label", ListRule{Name: "a", Host: "a..b"})
	f("empty label", ListRule{Name: "a", Host: "="})
	f("host: unsupported pattern", ListRule{Name: "a", Host: "^("})
	f("path: unsupported pattern", ListRule{Name: "a", Path: "^/("})
	f("path: unsupported pattern", ListRule{Name: "a", Path: "/" + strings.Repeat("x", maxPositions)})
	f("unsupported pattern", ListRule{Name: "(", match: matchRegexp})
	f("contradicts another rule", ListRule{Name: "a", Host: "b"}, ListRule{Name: "A", Host: "b", action: actionKeep})
}

func TestCompileReportsAll(t *testing.T) {
	_, err := Compile(
		&List{Name: "l", Version: "1", Rules: []ListRule{{Source: "one"}, {Name: "a", Source: "fine"}, {Name: "b", Path: "x", Source: "two"}}},
		&List{Name: "l", Version: "1", Rules: []ListRule{{Name: "c", Host: "C", Source: "three"}}},
		&List{Name: "a,b", Version: "1"},
	)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"one: ", "two: ", "three: ", `duplicate list name "l"`, `"a,b"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "fine") {
		t.Errorf("error for a valid rule: %v", err)
	}
}

// TestExceptionsOfOthers checks that a list can keep what another one drops.
func TestExceptionsOfOthers(t *testing.T) {
	m := compile(t, Default(), plain(t, "!gclid"))
	if rule, drop := m.Match(Site{}, []byte("gclid"), nil); drop || m.Rule(rule).Source != "test:1" {
		t.Errorf("%+v, %v", m.Rule(rule), drop)
	}
}

func TestVersions(t *testing.T) {
	m := compile(t, Default(), plain(t, "x"))
	if got, want := m.Versions(), "default@"+DefaultVersion+",test@1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := compile(t).Versions(); got != "" {
		t.Errorf("versions without a list: %q", got)
	}
}
