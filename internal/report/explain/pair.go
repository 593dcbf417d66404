package explain

import (
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
)

// A Pair is two URLs whose keys are compared.
type Pair struct {
	a, b   *Explanation
	shares bool // the keys of the requested level are equal
}

// Compare explains two URLs and compares their keys. The Pair retains a and b.
func (x *Explainer) Compare(a, b []byte) *Pair {
	x.forget()
	p := &Pair{a: x.explain(a), b: x.explain(b)}
	p.shares = p.parsed() && p.a.keys[x.level].text == p.b.keys[x.level].text
	return p
}

// SharesKey reports whether both URLs can be parsed and have the same key.
func (p *Pair) SharesKey() bool { return p.shares }

// parsed reports whether both URLs can be parsed.
func (p *Pair) parsed() bool { return p.a.err == nil && p.b.err == nil }

// meetingLevel returns the lowest level at which the keys are equal, if there
// is one.
func (p *Pair) meetingLevel() (codec.Level, bool) {
	for lv := codec.LevelSyntax; lv <= codec.LevelPage; lv++ {
		if p.a.keys[lv].text == p.b.keys[lv].text {
			return lv, true
		}
	}
	return 0, false
}

// apart returns the components in which the keys of a level differ.
func (p *Pair) apart(lv codec.Level) []difference {
	return differences(p.a.wholeKey(lv), p.b.wholeKey(lv))
}

// mergers returns the rules that make the keys of a level equal although the
// keys of the previous level differ: the rules that change what was different.
func (p *Pair) mergers(lv codec.Level) []string {
	apart := p.apart(lv - 1)
	ea, eb := edits(lv, p.a, apart), edits(lv, p.b, apart)
	var rules []string
	add := func(mine, other []edit) {
		for _, m := range mine {
			if !slices.Contains(other, m) && !slices.Contains(rules, m.rule) {
				rules = append(rules, m.rule)
			}
		}
	}
	add(ea, eb)
	add(eb, ea)
	return rules
}

// An edit is the change that a rule makes to a URL. An edit that two URLs have
// in common does not make them equal.
type edit struct{ rule, cut, put string }

// edits returns the edits of the steps to a level in the components that
// differ.
func edits(lv codec.Level, e *Explanation, apart []difference) []edit {
	var out []edit
	for i := range e.keys[lv].steps {
		st := &e.keys[lv].steps[i]
		d := stepDifference(st)
		if slices.ContainsFunc(apart, func(o difference) bool { return o.component == d.component }) {
			cut, put := trimShared(d.before, d.after)
			out = append(out, edit{keyRule(st), cut, put})
		}
	}
	return out
}

// trimShared removes the common prefix and suffix of a and b, and then
// delimiters at the ends of the rest.
func trimShared(a, b string) (string, string) {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	a, b = a[n:], b[n:]
	n = 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return strings.Trim(a[:len(a)-n], "&"), strings.Trim(b[:len(b)-n], "&")
}
