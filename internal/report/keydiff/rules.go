package keydiff

import (
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
)

// This file determines which rules merge or split a group, from the rules
// applied to its examples under both profiles.

// A Side is one of the compared profiles.
type Side struct {
	Normalizer *codec.Normalizer
	Level      codec.Level // level of the keys
}

// A ruleStep is a rule applied to derive a key.
type ruleStep struct {
	rule, param, clause string
	old, new            string // the changed text, without common prefix and suffix
}

// sameRule reports whether two steps apply the same rule, regardless of the
// text.
func (s ruleStep) sameRule(o ruleStep) bool { return s.rule == o.rule && s.param == o.param }

// String returns the rule as human-readable text: "q-drop utm_source (default:12)".
func (s ruleStep) String() string {
	text := s.rule
	if s.param != "" {
		text += " " + s.param
	}
	if s.clause != "policy" && s.clause != "" {
		text += " (" + s.clause + ")"
	}
	return text
}

// steps returns the rules applied to derive the key of a URL, and whether the
// URL can be parsed.
func (s *Side) steps(url []byte) ([]ruleStep, bool) {
	var r codec.Result
	_, err := s.Normalizer.Append(nil, url, &r)
	if err != nil {
		return nil, false
	}
	var out []ruleStep
	add := func(st codec.Step) { out = append(out, stepOf(st)) }
	if s.Level == codec.LevelMatch {
		for _, st := range s.Normalizer.Trace(nil, url) {
			add(st)
		}
		return out, true
	}
	if s.Normalizer.Profile().Standard == codec.WHATWG {
		parser := codec.ParserRules(codec.WHATWG) // keys depend on these, but on none of the profile's rules
		for _, st := range s.Normalizer.Trace(nil, url) {
			if parser.Has(st.Rule) {
				add(st)
			}
		}
	}
	levels := []codec.Level{codec.LevelSyntax, codec.LevelEquivalent, codec.LevelFetch, codec.LevelPage}[:min(s.Level, codec.LevelPage)]
	if s.Level == codec.LevelShape {
		levels = []codec.Level{codec.LevelSyntax, codec.LevelEquivalent, codec.LevelFetch, codec.LevelShape}
	}
	for _, lv := range levels {
		for _, st := range r.TraceKey(lv) {
			add(st)
		}
	}
	return out, true
}

// stepOf returns what a report tells about a step.
func stepOf(st codec.Step) ruleStep {
	o, n := changed(st.Before, st.After)
	return ruleStep{st.Rule.String(), st.Param, st.Clause(), o, n}
}

// allSteps returns the rules that lead from a URL as it is spelled to its key.
// Unlike the steps method, it includes the rules of K0 and K1 that Append has
// already applied to produce the normal form.
func (s *Side) allSteps(url []byte) (out []ruleStep) {
	key, _ := s.steps(url)
	if s.Level == codec.LevelMatch {
		return key
	}
	rules := codec.KeyRules(codec.LevelSyntax).Union(codec.KeyRules(codec.LevelEquivalent))
	for _, st := range s.Normalizer.Trace(nil, url) {
		if rules.Has(st.Rule) {
			out = append(out, stepOf(st))
		}
	}
	return append(out, slices.DeleteFunc(key, func(s ruleStep) bool { return slices.Contains(out, s) })...)
}

// changed returns two texts without their common prefix and suffix.
func changed(before, after string) (string, string) {
	n := min(len(before), len(after))
	i := 0
	for i < n && before[i] == after[i] {
		i++
	}
	before, after, n = before[i:], after[i:], n-i
	i = 0
	for i < n && before[len(before)-1-i] == after[len(after)-1-i] {
		i++
	}
	return before[:len(before)-i], after[:len(after)-i]
}

// blame returns the rules responsible for merging parts of a group: the rules
// that side to applies and side from does not, and that do not change all parts
// in the same way. If every such rule changes all parts in the same way, blame
// returns all of them. A nil from means the URLs as they are.
func blame(from, to *Side, parts []pair) []string {
	sides := []*Side{to}
	if from != nil {
		sides = append(sides, from)
	}
	var extra [][]ruleStep
	for i := range parts {
		url, ok := traceable(&parts[i].example, from == nil, sides...)
		if !ok {
			continue
		}
		if from == nil {
			extra = append(extra, to.allSteps(url))
			continue
		}
		before, _ := from.steps(url)
		after, _ := to.steps(url)
		extra = append(extra, slices.DeleteFunc(after, func(s ruleStep) bool { return slices.ContainsFunc(before, s.sameRule) }))
	}
	var telling, all []string
	for _, steps := range extra {
		for _, s := range steps {
			all = appendNew(all, s.String())
			if slices.ContainsFunc(extra, func(o []ruleStep) bool { return !slices.Contains(o, s) }) {
				telling = appendNew(telling, s.String())
			}
		}
	}
	if len(telling) > 0 {
		return telling
	}
	return all
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// traceable returns an absolute URL for an example that all sides can parse:
// the URL itself, its normal form if it is relative, or its normal form after a
// made-up host. If spelled is set, a relative URL itself follows this host, because
// normal forms do not differ in spelling.
func traceable(e *example, spelled bool, sides ...*Side) ([]byte, bool) {
	texts := []string{e.url, e.norm, "http://h" + e.norm}
	if spelled && !strings.Contains(e.url, ":") {
		texts = []string{"http://h/" + strings.TrimPrefix(e.url, "/"), e.norm}
	}
	for _, text := range texts {
		ok := text != "" && strings.Contains(text, ":")
		for _, s := range sides {
			if ok {
				_, ok = s.steps([]byte(text))
			}
		}
		if ok {
			return []byte(text), true
		}
	}
	return nil, false
}
