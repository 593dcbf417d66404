package params

import (
	"errors"
	"fmt"
	"iter"
	"strings"
)

// ParseAdGuard parses a filter list of AdGuard or uBlock Origin supplied by the
// user, such as the AdGuard URL Tracking filter, and imports its rules with the
// modifier removeparam:
// https://adguard.com/kb/general/ad-filtering/create-own-filters/#removeparam-modifier.
// The List is called "adguard"; its version is derived from the content.
// List.Skipped lists the lines that were not imported, with the reasons. These
// lines are rules of other kinds, and rules for some kinds of requests only,
// because a log does not say whether a request was for an image, or came from a
// third party.
func ParseAdGuard(data []byte) *List {
	f := newForeign("adguard", data)
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '!' || text[0] == '[' || text[0] == '#' && !strings.HasPrefix(text, "##") {
			continue
		}
		source := fmt.Sprintf("adguard:%d", line)
		if err := f.adguard(text, source); err != nil {
			f.skip(source, err.Error()+": "+text)
		}
	}
	f.shareExceptions()
	return f.List
}

// shareExceptions copies the exceptions of the list into each separate group
// that a rule has.
func (f foreign) shareExceptions() {
	rules := f.Rules
	if len(rules) > MaxRules {
		return
	}
	for _, keep := range rules {
		if keep.action != actionKeep || keep.group != "adguard" {
			continue
		}
		for _, drop := range rules {
			if drop.action == actionDrop && drop.group != "adguard" && (keep.match == matchPrefix || drop.match == matchPrefix || keep.Name == drop.Name) {
				keep.group = drop.group
				if f.Rules = append(f.Rules, keep); len(f.Rules) > MaxRules {
					return // Compile rejects the list
				}
			}
		}
	}
}

// adguard imports a line.
func (f foreign) adguard(text, source string) error {
	pattern, modifiers, ok := cutModifiers(text)
	if !ok {
		return errors.New("not a rule with removeparam")
	}
	a := adguardRule{value: "", rule: ListRule{group: "adguard", Source: source}}
	if rest, ok := strings.CutPrefix(pattern, "@@"); ok {
		pattern, a.rule.action = rest, actionKeep
	}
	for _, modifier := range splitModifiers(modifiers) {
		if err := a.modifier(modifier); err != nil {
			return err
		}
	}
	if err := a.pattern(pattern); err != nil {
		return err
	}
	rules, err := a.named()
	if err != nil {
		return err
	}
	all := a.placed(rules)
	for i := range all {
		if err := checkImported(&all[i]); err != nil {
			return err
		}
	}
	f.Rules = append(f.Rules, all...)
	return nil
}

// cutModifiers splits a rule at the '$' before its modifiers, if they include
// removeparam.
func cutModifiers(text string) (pattern, modifiers string, ok bool) {
	for _, name := range []string{"removeparam", "queryprune"} { // the older name in uBlock Origin
		before, _, found := strings.Cut(text, name)
		if !found {
			continue
		}
		dollar := strings.LastIndexByte(before, '$')
		if dollar < 0 {
			continue
		}
		return text[:dollar], text[dollar+1:], true
	}
	return "", "", false
}

// splitModifiers splits at the commas that are not escaped.
func splitModifiers(text string) (list []string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == ',':
			b.WriteByte(',')
			i++
		case text[i] == ',':
			list = append(list, b.String())
			b.Reset()
		default:
			b.WriteByte(text[i])
		}
	}
	return append(list, b.String())
}

// An adguardRule is a rule while it is read.
type adguardRule struct {
	rule     ListRule
	hosts    []string // hosts of the modifier domain; nil: any
	excepted []string // hosts of the modifier domain with '~'
	value    string   // value of removeparam
}

func (a *adguardRule) modifier(text string) error {
	name, value, _ := strings.Cut(text, "=")
	switch name {
	case "removeparam", "queryprune":
		a.value = value
	case "important", "document", "doc", "all", "match-case", "_":
		// "important" concerns conflicts between lists, and "match-case" has
		// no effect, because names of parameters are compared without regard
		// to case.
	case "domain", "from":
		for host := range strings.SplitSeq(value, "|") {
			if rest, ok := strings.CutPrefix(host, "~"); ok {
				a.excepted = append(a.excepted, rest)
			} else {
				a.hosts = append(a.hosts, host)
			}
		}
	default:
		return fmt.Errorf("unsupported modifier %q", name)
	}
	return nil
}

// pattern sets host and path from the part before the modifiers.
func (a *adguardRule) pattern(text string) error {
	if text == "" || text == "*" {
		return nil
	}
	rest, ok := strings.CutPrefix(text, "||")
	if !ok {
		return errors.New("unsupported pattern: must start with '||' or be empty")
	}
	if len(a.hosts) > 0 {
		return errors.New("a pattern together with the modifier domain is not supported")
	}
	end := strings.IndexAny(rest, "/^|")
	if end < 0 {
		end = len(rest)
	}
	host, path := rest[:end], rest[end:]
	if strings.Contains(strings.TrimSuffix(host, ".*"), "*") {
		return errors.New("unsupported pattern: '*' in the host")
	}
	path = strings.TrimPrefix(path, "^")
	path, separated := strings.CutSuffix(path, "^")
	if strings.ContainsAny(path, "^|?#") {
		return errors.New("unsupported pattern")
	}
	a.hosts = []string{host}
	switch {
	case path == "" || path == "*":
	case path[0] != '/':
		return errors.New("unsupported pattern")
	case separated:
		a.rule.Path = globPath(strings.TrimSuffix(path, "/") + "/*")
	default:
		a.rule.Path = globPath(strings.TrimSuffix(path, "*") + "*")
	}
	return nil
}

// named returns the rules for the value of removeparam, without hosts.
func (a *adguardRule) named() ([]ListRule, error) {
	r := a.rule
	switch rest, negated := strings.CutPrefix(a.value, "~"); {
	case a.value == "":
		r.match = matchPrefix
		return []ListRule{r}, nil
	case negated:
		if r.action == actionKeep || strings.HasPrefix(rest, "/") {
			return nil, errors.New("unsupported negation")
		}
		keep := r
		r.match = matchPrefix
		r.group = r.Source
		keep.action, keep.group = actionKeep, r.Source
		keep.Name = string(AppendName(nil, []byte(rest)))
		return []ListRule{r, keep}, nil
	case strings.HasPrefix(a.value, "/"):
		name, err := namePattern(a.value)
		if err != nil {
			return nil, err
		}
		if err := r.setPattern(name); err != nil {
			return nil, err
		}
		return []ListRule{r}, nil
	}
	r.Name = string(AppendName(nil, []byte(a.value)))
	return []ListRule{r}, nil
}

// namePattern returns the pattern for a name from a regular expression that
// AdGuard compares with "name=value". The expression must start with '^'. If it
// ends in '=', the pattern is for the whole name. Otherwise the pattern is for
// the start of a name, provided that no part of the expression can match '='.
func namePattern(text string) (string, error) {
	end := strings.LastIndexByte(text, '/')
	flags := text[end+1:]
	body, ok := strings.CutPrefix(text[1:max(end, 1)], "^")
	switch {
	case end == 0 || strings.Trim(flags, "i") != "":
		return "", errors.New("invalid regular expression")
	case !ok:
		return "", errors.New("unsupported regular expression: must start with '^'")
	}
	for _, rest := range []string{".*$", ".*", "$"} {
		if cut, ok := strings.CutSuffix(body, "="+rest); ok && rest != "$" {
			body = cut + "="
			break
		}
	}
	name, whole := strings.CutSuffix(body, "=")
	if depth0Bar(name) {
		return "", errors.New("unsupported regular expression: alternatives outside of a group")
	}
	if strings.Contains(name, "=") || strings.HasSuffix(name, "$") || strings.Contains(name, "[^") || strings.Contains(name, `\W`) || strings.Contains(name, `\S`) || strings.Contains(name, `\D`) || hasDot(name) {
		return "", errors.New("unsupported regular expression: can match a value")
	}
	if !whole {
		name = "(?:" + name + ").*"
	}
	return name, nil
}

// depth0Bar reports whether a regular expression has a '|' outside groups.
func depth0Bar(pattern string) bool {
	for c, depth := range operators(pattern) {
		if c == '|' && depth == 0 {
			return true
		}
	}
	return false
}

// hasDot reports whether a regular expression has a '.' that matches any
// character.
func hasDot(pattern string) bool {
	for c := range operators(pattern) {
		if c == '.' {
			return true
		}
	}
	return false
}

// operators returns the bytes of a regular expression that are neither escaped
// nor in a class, each with the number of groups that are open.
func operators(pattern string) iter.Seq2[byte, int] {
	return func(yield func(byte, int) bool) {
		depth, class := 0, false
		for i := 0; i < len(pattern); i++ {
			switch c := pattern[i]; {
			case c == '\\':
				i++
				continue
			case class:
				class = c != ']'
				continue
			case c == '[':
				class = true
			case c == '(':
				depth++
			case c == ')':
				depth--
			}
			if !yield(pattern[i], depth) {
				return
			}
		}
	}
}

// placed returns the rules for each host, and their exceptions.
func (a *adguardRule) placed(rules []ListRule) (all []ListRule) {
	hosts := a.hosts
	if hosts == nil {
		hosts = []string{""}
	}
	for _, r := range rules {
		for _, host := range hosts {
			r.Host = host
			all = append(all, r)
		}
	}
	if len(a.excepted) == 0 {
		return all
	}
	for i := range all {
		all[i].group = a.rule.Source // the exceptions concern this rule only
	}
	for _, host := range a.excepted {
		keep := ListRule{action: actionKeep, match: matchPrefix, Host: host, group: a.rule.Source, Source: a.rule.Source}
		all = append(all, keep)
	}
	return all
}
