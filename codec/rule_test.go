package codec

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/ground/scan"
)

// TestRuleTable checks that every rule has a complete entry, and that rules are
// numbered in the order of their stages.
func TestRuleTable(t *testing.T) {
	if numRules > 64 {
		t.Fatalf("%d rules do not fit in a set", numRules)
	}
	seen := map[string]bool{}
	last := stagePrepare
	for r := range AllRules().All() {
		e := &ruleTable[r]
		if e.name == "" || seen[e.name] || e.clause == "" || e.before == "" || e.after == "" {
			t.Errorf("rule %d: %+v", r, e)
		}
		if got, err := ParseRule(e.name); got != r || err != nil {
			t.Errorf("ParseRule(%q): %v, %v", e.name, got, err)
		}
		if e.stage < last {
			t.Errorf("%v follows a rule of stage %d, but has stage %d", r, last, e.stage)
		}
		if e.level == 0 || (e.level&atNorm != 0) != (e.chosen|e.always != 0) || (e.level&atNorm == 0) != (e.stage >= stageK2) {
			t.Errorf("%v: level %b, stage %d, standards %b and %b", r, e.level, e.stage, e.chosen, e.always)
		}
		seen[e.name], last = true, e.stage
	}
	if Rule(numRules).String() != "unknown" {
		t.Error("a rule after the last one has a name")
	}
	all := ProfileRules().With(ruleMatch)
	for _, more := range []Rules{KeyRules(LevelFetch), KeyRules(LevelPage), KeyRules(LevelShape), ParserRules(RFC3986), ParserRules(WHATWG)} {
		all = all.Union(more)
	}
	if all != AllRules() {
		t.Errorf("no standard and no level contains %v", AllRules().Minus(all))
	}
}

// TestRuleExamples checks that every example is correct, whatever the processor: a
// rule that parseClean, its twin without vectors or a fast path does not know of fails
// here.
func TestRuleExamples(t *testing.T) {
	t.Run("as it is", testRuleExamples)
	scan.WithoutVectors(func() { t.Run("without vectors", testRuleExamples) })
}

func testRuleExamples(t *testing.T) {
	for r := range AllRules().All() {
		before, after := r.Example()
		e := &ruleTable[r]
		p := Profile{Name: "example", Standard: RFC3986, Rules: Rules{syntaxRules | schemeRules}, Malformed: percent.MalformedEncode} // onePass supports it
		p.Rules.set.set(r, e.chosen&byRFC != 0)
		if (e.chosen|e.always)&byRFC == 0 {
			p = Profile{Name: "example", Standard: WHATWG, Rules: Rules{escapeRules}}
			p.Rules.set.set(r, e.chosen&byWHATWG != 0)
		}
		if r == ruleMalformed {
			p.Malformed = 1
		}
		if e.stage == stageK2 { // the rule changes the result of the browser parser
			p = Profile{Name: "example", Standard: RFC3986, Rules: Rules{syntaxRules | schemeRules}}
		}
		if r == ruleMatch {
			p = Profile{Name: "example", Standard: RFC3986, Match: "ssurt"}
		}
		var charset QueryEncoding
		if r == ruleCharset {
			charset = latin1{}
		}
		n, err := New(p, WithQueryEncoding(charset), WithPolicy(&Policy{Params: DefaultPolicy().Params, NFC: r == ruleNFC, Once: r == ruleOnce, LowerPath: r == ruleLowerPath, LowerQuery: r == ruleLowerQuery}))
		if err != nil {
			t.Fatal(err)
		}
		var res Result
		var base []byte
		if r == ruleResolve {
			base = []byte("http://h/a/")
		}
		norm, err := n.AppendRef(nil, base, []byte(before), &res)
		if err != nil {
			t.Errorf("%v: %q: %v", r, before, err)
			continue
		}
		got, applied := string(norm), res.Applied()
		switch e.stage {
		case stageK2, stageK3:
			got = string(res.AppendKey(nil, LevelFetch+Level(e.stage-stageK2)))
			applied = res.KeyApplied()
		case stageSurface:
			got = string(res.AppendKey(nil, LevelShape))
			applied = res.KeyApplied()
		}
		if got != after || !applied.Has(r) {
			t.Errorf("%v: %q becomes %q by %v, want %q", r, before, got, applied, after)
		}
	}
}

func TestRuleSets(t *testing.T) {
	for set := ruleSet(1); set < AllRules().set; set = set*3 + 1 {
		set &= AllRules().set
		r := Rules{set}
		if got, err := ParseRules(r.String()); got != r || err != nil {
			t.Errorf("%v: %v, %v", r, got, err)
		}
		if names := slices.Collect(r.All()); len(names) != r.Len() || strings.Join(r.Names(), ",") != r.String() {
			t.Errorf("%v has the rules %v", r, names)
		}
	}
	_, err := ParseRules("dots,nonsense")
	var unknown *NameError
	if !errors.As(err, &unknown) || unknown.Name != "nonsense" {
		t.Errorf("error %v", err)
	}
	all := params.Why(1<<8 - 1)
	if got := "q-signed," + (Rules{queryRules(all)}).String(); got != all.String() {
		t.Errorf("rules of queries are %s, want %v", got, all)
	}
	if s := RulesOf(RuleLowerHost, RuleRemoveDots); !s.Has(RuleLowerHost) || s.Has(RuleLowerScheme) || s.Intersect((Rules{syntaxRules})) != s || !s.Intersect((Rules{lossyRules})).IsZero() || s.Minus((Rules{syntaxRules})) != (Rules{}) || (Rules{}).String() != "" {
		t.Error("sets of rules")
	}
}

// TestFlagTable checks that every flag has a complete entry.
func TestFlagTable(t *testing.T) {
	seen := map[string]bool{}
	for f := range AllFlags().All() {
		if name := f.String(); name == "" || seen[name] || f.Meaning() == "" || strings.HasSuffix(f.Meaning(), ".") {
			t.Errorf("flag %d: name %q, meaning %q", f, name, f.Meaning())
		}
		seen[f.String()] = true
		if f.Clause() == "" && f.Severity() != SeverityNotice {
			t.Errorf("%v: no clause for a %v", f, f.Severity())
		}
		if got, err := ParseFlag(f.String()); got != f || err != nil {
			t.Errorf("ParseFlag(%v): %v, %v", f, got, err)
		}
	}
}
