package codec

import "testing"

func TestProfileChange(t *testing.T) {
	equiv, _ := Lookup("equiv")
	f := func(add, remove, name string) {
		t.Helper()
		a, err := ParseRules(add)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ParseRules(remove)
		if err != nil {
			t.Fatal(err)
		}
		p := equiv.Change(a, r)
		if p.Name != name || p.Rules != equiv.Rules.Minus(r).Union(a) {
			t.Errorf("+%s -%s: %s with %v", add, remove, p.Name, p.Rules)
		}
		if p.Name == equiv.Name && p != equiv {
			t.Errorf("+%s -%s is a different profile with the same name", add, remove)
		}
	}
	f("", "", "equiv")
	f("rfc-clean", "", "equiv+rfc-clean")
	f("esc-upper", "", "equiv") // the profile already has the rule
	f("rfc-clean", "esc-upper", "equiv-esc-upper+rfc-clean")
	f("", "frag-drop", "equiv") // the profile does not have the rule
}
