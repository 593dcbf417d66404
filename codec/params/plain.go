package params

import (
	"errors"
	"fmt"
	"strings"
)

// ParsePlain reads a list of a line a rule:
//
//	# a comment, also after a rule
//	gclid                       an exact name
//	utm_*                       a prefix
//	/ga_[a-z]+/                 a pattern, see Rule
//	sid ~alnum16                only where the value has that shape
//	example.com: ref            on that host and below; the other forms of Rule.Host too
//	example.com/path/**: sku    on those paths, see Rule.Path
//	!example.com: utm_source    an exception; "@@" for '!' will do
//	!keep
//
// Names are as a form reads them, and escapes in them are decoded, so a name can be copied from a URL. A name of the list
// stands in ParseError and, with the line, in Rule.Source. With an empty version, the version is made from the bytes.
// The error joins a *ParseError for each line that is wrong; what only Compile can see is left to it.
func ParsePlain(name, version string, data []byte) (*List, error) {
	l := &List{Name: name, Version: version}
	if version == "" {
		l.Version = contentVersion(data)
	}
	var errs []error
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		text = strings.TrimRight(cutComment(text), " \t\r\n")
		if strings.TrimLeft(text, " \t") == "" {
			continue
		}
		r, at, reason := parseRule(text)
		if reason != "" {
			errs = append(errs, &ParseError{name, line, at + 1, reason})
			continue
		}
		r.Source = fmt.Sprintf("%s:%d", name, line)
		l.Rules = append(l.Rules, r)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return l, nil
}

// ParseRule reads one rule as ParsePlain has it on a line, but for comments. The error is a *RuleError.
func ParseRule(text, source string) (Rule, error) {
	r, at, reason := parseRule(strings.TrimRight(text, " \t"))
	if reason != "" {
		return Rule{}, &RuleError{source, fmt.Sprintf("%s (at byte %d)", reason, at)}
	}
	r.Source = source
	return r, nil
}

// Allow returns the rules that drop all parameters within a scope, written "host", "host/path" or "/path" as in ParsePlain, but for those
// of the names, written as there.
func Allow(scope string, names []string, source string) ([]Rule, error) {
	all := Rule{match: matchPrefix, Source: source}
	all.Host, all.Path = cutScope(scope)
	rules := []Rule{all}
	for _, name := range names {
		r := Rule{action: actionKeep, Host: all.Host, Path: all.Path, Source: source}
		if _, reason := r.setName(name); reason != "" {
			return nil, &RuleError{source, reason}
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// cutComment cuts a '#' at the start of a line, or after white space, and all after it.
func cutComment(line string) string {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

// parseRule reads a rule. If there is a reason why that is none, at is the offset of what is wrong.
func parseRule(text string) (r Rule, at int, reason string) {
	rest := strings.TrimLeft(text, " \t")
	for _, mark := range []string{"!", "@@"} {
		if after, ok := strings.CutPrefix(rest, mark); ok {
			r.action, rest = actionKeep, strings.TrimLeft(after, " \t")
			break
		}
	}
	if i := strings.Index(rest, ": "); i >= 0 {
		if i == 0 {
			return r, len(text) - len(rest), "no host and no path before the ':'"
		}
		r.Host, r.Path = cutScope(rest[:i])
		rest = strings.TrimLeft(rest[i+2:], " \t")
	}
	if i := strings.LastIndex(rest, " ~"); i >= 0 {
		shape, ok := parseShape(rest[i+2:])
		if !ok {
			return r, len(text) - len(rest) + i + 2, "there is no such shape"
		}
		r.value, rest = shape, strings.TrimRight(rest[:i], " \t")
	}
	off, reason := r.setName(rest)
	return r, len(text) - len(rest) + off, reason
}

// cutScope cuts host from path.
func cutScope(scope string) (host, path string) {
	if i := strings.IndexByte(scope, '/'); i >= 0 {
		return scope[:i], scope[i:]
	}
	return scope, ""
}

// setName reads a name with its way of matching. If there is a reason why that is none, at is the offset of what is wrong.
func (r *Rule) setName(name string) (at int, reason string) {
	if len(name) > 2 && name[0] == '/' && name[len(name)-1] == '/' {
		r.match, r.Name = matchRegexp, name[1:len(name)-1]
		return 0, ""
	}
	if i := strings.IndexAny(name, " \t"); i >= 0 {
		return i, "white space in a name (written as '+' or %20), or no ':' before it"
	}
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		r.match, name = matchPrefix, prefix
	}
	if i := strings.IndexByte(name, '*'); i >= 0 {
		return i, "'*' that is not at the end of a name (written as %2A)"
	}
	if name == "" && r.match == matchExact {
		return 0, "no name"
	}
	r.Name = string(AppendName(nil, []byte(name)))
	return 0, ""
}
