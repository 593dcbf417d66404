package params

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxRules is the number of rules that a Matcher can have. A rule takes about
// 1 KiB of memory.
const MaxRules = 100_000

// maxWide is the number of scopes whose host is a pattern. Each such scope
// takes up to a microsecond for a URL.
const maxWide = 2000

// Compile compiles lists to a Matcher. If several rules match the same field,
// the order of the lists decides only which rule is reported as the cause.
// Compile does not modify the lists, and the caller must not modify them
// afterwards.
//
// The error joins all problems, as a *RuleError for each rule: names, hosts, paths and
// patterns that can never match; a rule that drops every parameter everywhere; and, in
// a list that is not an import, a rule that keeps exactly what another rule drops. Two
// lists with the same name, or more than MaxRules rules, are an error, too.
func Compile(lists ...*List) (*Matcher, error) {
	c := &compiler{
		m:        &Matcher{scopes: make([]scope, 1), hosts: hostTable{byName: map[string]int{}}},
		scopes:   map[[2]string]uint32{{}: 0},
		groups:   map[string]uint32{},
		opposite: map[ListRule]ruleAction{},
	}
	for a := range c.names {
		c.names[a].exact = map[string][]int{}
	}
	n := 0
	for _, l := range lists {
		if n += len(l.Rules); n > MaxRules {
			return nil, fmt.Errorf("more than %d rules in all lists: leave out rules that no URL needs", MaxRules)
		}
	}
	for i, l := range lists {
		c.list(l, lists[:i])
	}
	if len(c.m.wide) > maxWide {
		c.errs = append(c.errs, fmt.Errorf("more than %d host patterns: urlfold tries each pattern on every URL with a query; write host names instead", maxWide))
	}
	if len(c.errs) > 0 {
		return nil, errors.Join(c.errs...)
	}
	for a := range c.names {
		c.m.index[a] = c.names[a].build()
	}
	c.m.names = sieveOf(&c.m.index[actionDrop])
	c.m.hosts.build()
	return c.m, nil
}

// compiler holds the state of Compile.
type compiler struct {
	m        *Matcher
	names    [numActions]names
	scopes   map[[2]string]uint32 // by Host and Path
	groups   map[string]uint32    // groups of the current list
	nGroups  uint32
	opposite map[ListRule]ruleAction // actions of the rules of the current list, without a group
	errs     []error
}

func (c *compiler) list(l *List, before []*List) {
	for _, other := range before {
		if other.Name == l.Name {
			c.errs = append(c.errs, fmt.Errorf("duplicate list name %q", l.Name))
		}
	}
	if l.Name == "" || strings.ContainsAny(l.Name+l.Version, ",@ \n") {
		c.errs = append(c.errs, fmt.Errorf("invalid list name %q or version %q: the name must not be empty, and neither can contain ',', '@' or white space", l.Name, l.Version))
	}
	c.m.lists = append(c.m.lists, l)
	if c.m.versions != "" {
		c.m.versions += ","
	}
	c.m.versions += l.Name + "@" + l.Version
	c.m.skipped = append(c.m.skipped, l.Skipped...)
	clear(c.groups)
	clear(c.opposite)
	for i := range l.Rules {
		if err := c.rule(l.Rules[i]); err != nil {
			c.errs = append(c.errs, &RuleError{l.Rules[i].Source, err.Error()})
		}
	}
}

// rule checks and adds one rule.
func (c *compiler) rule(r ListRule) error {
	if err := checkRule(&r); err != nil {
		return err
	}
	if err := c.contradiction(r); err != nil {
		return err
	}
	scope, err := c.scopeOf(&r)
	if err != nil {
		return err
	}
	id := len(c.m.rules)
	if err := c.name(&r, id, scope); err != nil {
		return err
	}
	c.m.rules = append(c.m.rules, r)
	c.m.scope = append(c.m.scope, scope)
	c.m.group = append(c.m.group, c.groupOf(r.group))
	return nil
}

// checkRule returns the errors of a rule that do not depend on other rules.
func checkRule(r *ListRule) error {
	unseen := strings.HasPrefix(r.Name, "?") || len(r.Name) >= 4 && strings.EqualFold(r.Name[:4], "amp;")
	switch {
	case r.action >= numActions || r.match >= numMatches || r.value >= numShapes:
		return errors.New("unknown action, match or shape")
	case r.match != matchPrefix && r.Name == "":
		return errors.New("missing name")
	case r.match != matchRegexp && unseen:
		return errors.New("invalid name: must not start with '?' or \"amp;\", which are ignored in URLs")
	case r.action == actionDrop && r.match == matchPrefix && r.Name == "" && r.Host == "" && r.Path == "":
		return errors.New("invalid rule: drops every parameter everywhere")
	case r.Path != "" && !strings.ContainsRune("/*^", rune(r.Path[0])):
		return errors.New("invalid path: must start with '/', '*' or '^'")
	case strings.ContainsAny(r.Path, "?#") && r.Path[0] != '^':
		return errors.New("invalid path: must not contain '?' or '#'")
	}
	return checkHost(r.Host)
}

// checkHost rejects hosts that no parsed URL has.
func checkHost(host string) error {
	kind, name := splitHost(host)
	if kind == hostAny || kind == hostPattern {
		return nil
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 0x80:
			return errors.New("invalid host: must be ASCII, with xn-- labels")
		case 'A' <= c && c <= 'Z':
			return errors.New("invalid host: must be in lower case")
		case kinds[c]&kindAlnum == 0 && !strings.ContainsRune("-._:[]~!$&'()+,;=", rune(c)):
			return fmt.Errorf("invalid host: unexpected character %q", c)
		}
	}
	if name == "" || name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, "..") {
		return errors.New("invalid host: empty label")
	}
	return nil
}

// contradiction rejects a rule if another rule of the same list has the
// opposite effect on the same fields. It accepts rules with a group, because
// imported lists cannot be edited; there, exceptions take precedence.
func (c *compiler) contradiction(r ListRule) error {
	if r.group != "" {
		return nil
	}
	action := r.action
	r.action, r.Source, r.Reason, r.Name = 0, "", "", lowerASCII(r.Name)
	if before, ok := c.opposite[r]; ok && before != action {
		return errors.New("contradicts another rule of the list for the same fields")
	}
	c.opposite[r] = action
	return nil
}

func (c *compiler) groupOf(group string) uint32 {
	if group == "" {
		return 0
	}
	if _, ok := c.groups[group]; !ok {
		c.nGroups++
		c.groups[group] = c.nGroups
	}
	return c.groups[group]
}

// scopeOf returns the scope of a rule, and creates it if necessary.
func (c *compiler) scopeOf(r *ListRule) (uint32, error) {
	key := [2]string{r.Host, r.Path}
	if id, ok := c.scopes[key]; ok {
		return id, nil
	}
	var s scope
	var err error
	kind, name := splitHost(r.Host)
	if kind == hostPattern {
		if s.host, err = compilePattern(name); err != nil {
			return 0, fmt.Errorf("host: %w", err)
		}
	}
	if s.path, err = compilePath(r.Path); err != nil {
		return 0, fmt.Errorf("path: %w", err)
	}
	id := uint32(len(c.m.scopes))
	c.m.scopes = append(c.m.scopes, s)
	c.scopes[key] = id
	if kind == hostAny || kind == hostPattern {
		c.m.wide = append(c.m.wide, id)
	} else {
		c.m.hosts.add(kind, name, id)
	}
	return id, nil
}

// compilePath returns the automaton for ListRule.Path, or nil for all paths.
func compilePath(path string) (*automaton, error) {
	switch {
	case path == "":
		return nil, nil
	case len(path) > maxPositions:
		return nil, errTooLong
	case path[0] != '^':
		return newGlob(path), nil
	}
	tree, anchored, err := parsePattern(path)
	if err != nil {
		return nil, err
	}
	return newAutomaton(tree, !anchored), nil
}

// compilePattern returns the automaton for a pattern that matches the whole text.
func compilePattern(src string) (*automaton, error) {
	tree, _, err := parsePattern(src)
	if err != nil {
		return nil, err
	}
	return newAutomaton(tree, false), nil
}

// name registers a rule under its name.
func (c *compiler) name(r *ListRule, id int, scope uint32) error {
	ns := &c.names[r.action]
	p := pattern{prefix: lowerASCII(r.Name), rule: id}
	switch r.match {
	case matchExact:
		ns.addExact(r.Name, id)
		return nil
	case matchRegexp:
		tree, _, err := parsePattern(r.Name)
		if err != nil {
			return err
		}
		texts := spellings(tree)
		if texts != nil && !slices.Contains(texts, "") {
			for _, text := range texts {
				ns.addExact(text, id)
			}
			return nil
		}
		p.prefix, p.auto = literalPrefix(tree), newAutomaton(tree, false)
	}
	if p.prefix == "" {
		s := &c.m.scopes[scope]
		s.any[r.action] = append(s.any[r.action], p)
		c.m.except = c.m.except || r.action == actionKeep
	} else {
		ns.prefixed = append(ns.prefixed, p)
	}
	return nil
}
