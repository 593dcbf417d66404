package codec

import "testing"

// TestDropActions checks that a diagnostic about a component that a rule
// removed says so, whichever parser found the defect.
func TestDropActions(t *testing.T) {
	for _, rules := range []Rules{{}, RulesOf(RuleUpperEscapes, RuleDecodeUnreserved)} {
		p, _ := Lookup("whatwg")
		p.Name, p.Rules = "drop", p.Rules.Union(rules).With(RuleDropUserinfo, RuleDropFragment)
		n, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		for src, want := range map[string]int{
			"http://u:p@h/": 1, "http://u%7e@h/a": 1, "http://:p@h/": 1, "http://h/#%7e": 1, "http://h/#\u00e9": 1,
			"http://u:%zz@h/%7e#a b": 3, "http://h/a#b": 0, "http://h/a#b c": 1, "http://EXAMPLE.com/%7e#%zz": 1,
		} {
			if _, err := n.Append(nil, []byte(src), &r); err != nil {
				t.Errorf("%s: %v", src, err)
			}
			dropped := 0
			for _, d := range r.Diagnostics {
				if d.Component != Username && d.Component != Password && d.Component != Fragment {
					continue
				}
				dropped++
				if d.Action != ActionRemoved {
					t.Errorf("%s: %v in the %v is %v", src, d.Flag, d.Component, d.Action)
				}
			}
			if dropped < want {
				t.Errorf("%s: %d diagnostics, want %d: %v", src, dropped, want, r.Diagnostics)
			}
		}
	}
}
