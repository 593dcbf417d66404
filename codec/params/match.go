package params

import "slices"

// Matcher is a compiled set of lists. It is immutable and safe for concurrent
// use. A nil Matcher contains no rules.
type Matcher struct {
	rules    []ListRule
	scope    []uint32 // index in scopes, for each rule
	group    []uint32 // for each rule: number of its list and group, 0 without a group
	lists    []*List
	versions string
	skipped  []Skipped

	index  [numActions]index
	names  *sieve  // sieve for index[actionDrop]
	except bool    // some exceptions are for names that are not in index[actionKeep]
	scopes []scope // scopes[0] applies everywhere
	wide   []uint32
	hosts  hostTable
}

// Skipped returns the Skipped items of the lists of m, in order, in a new
// slice.
func (m *Matcher) Skipped() []Skipped {
	if m == nil {
		return nil
	}
	return slices.Clone(m.skipped)
}

// Lists returns the lists that m was compiled from, in order, in a new slice.
// They must not be modified.
func (m *Matcher) Lists() []*List {
	if m == nil {
		return nil
	}
	return slices.Clone(m.lists)
}

// Rule returns the rule with the index i, as returned by Match or in Dropped.
// It returns the zero ListRule if i is out of range. Not covered by the stability page.
func (m *Matcher) Rule(i int) ListRule {
	if m == nil || i < 0 || i >= len(m.rules) {
		return ListRule{}
	}
	return m.rules[i]
}

// Versions returns the names and versions of the lists, in order:
// "default@2026-11-29,clearurls@d055d1e4612be57c". Store it with every key that
// depends on the Matcher.
func (m *Matcher) Versions() string {
	if m == nil {
		return ""
	}
	return m.versions
}

// Match reports whether a field with the given form-decoded name and value is
// dropped. rule is the first rule, in the order of the lists, that drops the
// field. If exceptions keep the field, rule is the exception to the first rule
// that would drop it. Otherwise rule is -1. Not covered by the stability page.
func (m *Matcher) Match(site Site, name, value []byte) (rule int, drop bool) {
	if m == nil {
		return -1, false
	}
	name = bare(name)
	kept := -1
	for r := m.next(actionDrop, site, name, value, -1); r != none; r = m.next(actionDrop, site, name, value, r) {
		k := m.keeps(site, name, value, m.group[r])
		if k == none {
			return r, true
		}
		if kept < 0 {
			kept = k
		}
	}
	return kept, false
}

// keeps returns the first exception for a field that a rule of the group would
// drop, or none.
func (m *Matcher) keeps(site Site, name, value []byte, group uint32) int {
	if !m.excepted(name) {
		return none
	}
	k := m.next(actionKeep, site, name, value, -1)
	for k != none && m.group[k] != 0 && m.group[k] != group {
		k = m.next(actionKeep, site, name, value, k)
	}
	return k
}

// next returns the first rule with an index greater than after that applies to
// the field, or none.
func (m *Matcher) next(action ruleAction, site Site, name, value []byte, after int) int {
	ix := &m.index[action]
	best := none
	for _, r := range ix.rules(name) {
		if r > after && m.applies(r, site, value) {
			best = r
			break
		}
	}
	best = m.first(ix.patterns(name), site, name, value, after, best)
	best = m.first(m.scopes[0].any[action], site, name, value, after, best)
	if site.scratch != nil && site.scratch.owner == m {
		for _, scope := range site.scratch.active {
			best = m.first(m.scopes[scope].any[action], site, name, value, after, best)
		}
	}
	return best
}

// first returns the index of the first rule of patterns that applies to the
// field and is between after and before, or else before.
func (m *Matcher) first(patterns []pattern, site Site, name, value []byte, after, before int) int {
	if len(patterns) == 0 { // the most common case; small enough to be inlined
		return before
	}
	return m.firstOf(patterns, site, name, value, after, before)
}

// firstOf implements first for at least one pattern.
func (m *Matcher) firstOf(patterns []pattern, site Site, name, value []byte, after, before int) int {
	for i := range patterns {
		p := &patterns[i]
		if p.rule >= before {
			break
		}
		if p.rule > after && p.matches(name) && m.applies(p.rule, site, value) {
			return p.rule
		}
	}
	return before
}

// anyName reports whether a rule for the site can drop fields whose names are
// not in the index.
func (m *Matcher) anyName(site Site) bool {
	if m == nil {
		return false
	}
	if len(m.scopes[0].any[actionDrop]) > 0 {
		return true
	}
	if site.scratch != nil && site.scratch.owner == m {
		for _, scope := range site.scratch.active {
			if len(m.scopes[scope].any[actionDrop]) > 0 {
				return true
			}
		}
	}
	return false
}

// excepted reports whether there may be an exception for a bare name.
func (m *Matcher) excepted(name []byte) bool {
	ix := &m.index[actionKeep]
	return m.except || len(ix.rules(name)) > 0 || len(ix.patterns(name)) > 0
}

// byName returns the rule that drops every field with the given bare name, or -1 if no
// rule does. ok is false if that depends on the site or the value, or if there may be
// exceptions.
func (m *Matcher) byName(name []byte) (rule int, ok bool) {
	if m == nil {
		return -1, true
	}
	ix, first := &m.index[actionDrop], none
	if rules := ix.rules(name); len(rules) > 0 {
		first = rules[0]
	}
	for i := range ix.patterns(name) {
		p := &ix.patterns(name)[i]
		if p.rule >= first {
			break
		}
		if p.matches(name) {
			first = p.rule
			break
		}
	}
	if first == none {
		return -1, true
	}
	return first, !m.excepted(name) && m.scope[first] == 0 && m.rules[first].value == shapeAny
}

// applies reports whether a rule that matches the name also matches the site
// and the value.
func (m *Matcher) applies(rule int, site Site, value []byte) bool {
	return m.rules[rule].value.matches(value) && m.covers(m.scope[rule], site)
}
