package params

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Compile makes a Matcher of lists; the first has precedence where several rules mean the same field, which decides
// nothing but the rule that is named as the cause. The lists are not kept or changed. The error joins all that is wrong,
// a *RuleError for each rule: names, hosts, paths and patterns that cannot match; a rule that drops every parameter
// everywhere; a rule without Group that keeps exactly what another one of the same list drops; and two lists of one name.
func Compile(lists ...*List) (*Matcher, error) {
	c := &compiler{
		m:        &Matcher{scopes: make([]scope, 1), hosts: hostTable{byName: map[string]int{}}},
		scopes:   map[[2]string]uint32{{}: 0},
		groups:   map[string]uint32{},
		opposite: map[Rule]ruleAction{},
	}
	for a := range c.names {
		c.names[a].exact = map[string][]int{}
	}
	for i, l := range lists {
		c.list(l, lists[:i])
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

// A compiler holds what Compile needs until it is done.
type compiler struct {
	m        *Matcher
	names    [numActions]names
	scopes   map[[2]string]uint32 // by Host and Path
	groups   map[string]uint32    // of the list at hand
	nGroups  uint32
	opposite map[Rule]ruleAction // what was said about a rule's fields in the list at hand
	errs     []error
}

func (c *compiler) list(l *List, before []*List) {
	for _, other := range before {
		if other.Name == l.Name {
			c.errs = append(c.errs, fmt.Errorf("two lists are called %q", l.Name))
		}
	}
	if l.Name == "" || strings.ContainsAny(l.Name+l.Version, ",@ \n") {
		c.errs = append(c.errs, fmt.Errorf("a list is called %q, version %q: it must have a name, and neither may hold ',', '@' or white space", l.Name, l.Version))
	}
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

// rule adds one rule, or says what is wrong with it.
func (c *compiler) rule(r Rule) error {
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
	c.m.except = c.m.except || r.action == actionKeep
	c.m.scope = append(c.m.scope, scope)
	c.m.group = append(c.m.group, c.groupOf(r.group))
	return nil
}

// checkRule refuses what can be seen without context.
func checkRule(r *Rule) error {
	unseen := strings.HasPrefix(r.Name, "?") || len(r.Name) >= 4 && strings.EqualFold(r.Name[:4], "amp;")
	switch {
	case r.action >= numActions || r.match >= numMatches || r.value >= numShapes:
		return errors.New("an action, a way to match or a shape that does not exist")
	case r.match != matchPrefix && r.Name == "":
		return errors.New("no name")
	case r.match != matchRegexp && unseen:
		return errors.New("a name never begins with '?' or \"amp;\": both are passed over")
	case r.action == actionDrop && r.match == matchPrefix && r.Name == "" && r.Host == "" && r.Path == "":
		return errors.New("drops every parameter everywhere")
	case r.Path != "" && !strings.ContainsRune("/*^", rune(r.Path[0])):
		return errors.New("a path begins with '/', '*' or '^'")
	case strings.ContainsAny(r.Path, "?#") && r.Path[0] != '^':
		return errors.New("a path holds no '?' and no '#'")
	}
	return checkHost(r.Host)
}

// checkHost refuses hosts that no URL has after parsing.
func checkHost(host string) error {
	kind, name := splitHost(host)
	if kind == hostAny || kind == hostPattern {
		return nil
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 0x80:
			return errors.New("a host beyond ASCII: write it as URLs have it, in xn-- labels")
		case 'A' <= c && c <= 'Z':
			return errors.New("a host in capitals: URLs have it in lower case")
		case kinds[c]&kindAlnum == 0 && !strings.ContainsRune("-._:[]~!$&'()+,;=", rune(c)):
			return fmt.Errorf("a host with %q in it", c)
		}
	}
	if name == "" || name[0] == '.' || name[len(name)-1] == '.' || strings.Contains(name, "..") {
		return errors.New("a host with an empty label")
	}
	return nil
}

// contradiction refuses a rule whose fields the same list does the opposite to. In a Group that may be: what is imported is as
// others wrote it, and Keep wins.
func (c *compiler) contradiction(r Rule) error {
	if r.group != "" {
		return nil
	}
	action := r.action
	r.action, r.Source, r.Reason, r.Name = 0, "", "", lowerASCII(r.Name)
	if before, ok := c.opposite[r]; ok && before != action {
		return errors.New("the same list drops and keeps exactly this")
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

// scopeOf returns the scope of a rule, a new one if there is none yet.
func (c *compiler) scopeOf(r *Rule) (uint32, error) {
	key := [2]string{r.Host, r.Path}
	if id, ok := c.scopes[key]; ok {
		return id, nil
	}
	var s scope
	var err error
	kind, name := splitHost(r.Host)
	if kind == hostPattern {
		if s.host, err = compilePattern(name, true, false); err != nil {
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

// compilePath makes the automaton of Rule.Path, nil for all paths.
func compilePath(path string) (*automaton, error) {
	switch {
	case path == "":
		return nil, nil
	case path[0] == '^':
		return compilePattern(path, true, true)
	}
	return newAutomaton(parseGlob(path))
}

// compilePattern makes the automaton of a pattern. With open, a text may go on after a match, if the pattern does not
// end in '$'.
func compilePattern(src string, fold, open bool) (*automaton, error) {
	n, anchored, err := parsePattern(src, fold)
	if err != nil {
		return nil, err
	}
	if open && !anchored {
		n = &node{kind: nodeConcat, subs: []*node{n, anything()}}
	}
	return newAutomaton(n)
}

// name files a rule under its name.
func (c *compiler) name(r *Rule, id int, scope uint32) error {
	ns := &c.names[r.action]
	p := pattern{prefix: lowerASCII(r.Name), rule: id}
	switch r.match {
	case matchExact:
		ns.addExact(r.Name, id)
		return nil
	case matchRegexp:
		n, _, err := parsePattern(r.Name, true)
		if err != nil {
			return err
		}
		if p.auto, err = newAutomaton(n); err != nil {
			return err
		}
		texts, ok := spellings(n)
		if ok && !slices.Contains(texts, "") {
			for _, text := range texts {
				ns.addExact(text, id)
			}
			return nil
		}
		p.prefix = literalPrefix(n)
	}
	if p.prefix == "" {
		s := &c.m.scopes[scope]
		s.any[r.action] = append(s.any[r.action], p)
	} else {
		ns.prefixed = append(ns.prefixed, p)
	}
	return nil
}
