package params

import (
	"errors"
	"fmt"
	"strings"
)

// ParsePlain parses a list with one rule per line:
//
//	# a comment, also after a rule
//	gclid                       an exact name
//	utm_*                       a prefix
//	/ga_[a-z]+/                 a pattern, see ListRule
//	sid ~alnum16                only if the value has this shape
//	example.com: ref            on this host and its subdomains; other forms as
//	                            in ListRule.Host
//	example.com/path/**: sku    on these paths, see ListRule.Path
//	!example.com: utm_source    an exception; can also start with "@@"
//	!keep
//
// Names are decoded as in a form, so they can be copied from a URL. name is the
// name of the list; ParseError and ListRule.Source contain it together with the
// line. If version is empty, it is derived from data. The error joins a
// *ParseError for each invalid line. Compile makes further checks.
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

// ParseListRule parses one rule in the syntax of a line of ParsePlain, without
// comments. The error is a *RuleError.
func ParseListRule(text, source string) (ListRule, error) {
	r, at, reason := parseRule(strings.TrimRight(text, " \t"))
	if reason != "" {
		return ListRule{}, &RuleError{source, fmt.Sprintf("%s (at byte %d)", reason, at)}
	}
	r.Source = source
	return r, nil
}

// Allow returns the rules that drop all parameters within a scope except those
// with the given names. The scope has the form "host", "host/path" or "/path".
// Scope and names have the syntax of ParsePlain.
func Allow(scope string, names []string, source string) ([]ListRule, error) {
	all := ListRule{match: matchPrefix, Source: source}
	all.Host, all.Path = cutScope(scope)
	rules := []ListRule{all}
	for _, name := range names {
		r := ListRule{action: actionKeep, Host: all.Host, Path: all.Path, Source: source}
		if _, reason := r.setName(name); reason != "" {
			return nil, &RuleError{source, reason}
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// cutComment removes a comment: from a '#' at the start of the line or after
// white space to the end of the line.
func cutComment(line string) string {
	for i := range len(line) {
		if line[i] == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return line[:i]
		}
	}
	return line
}

// parseRule parses a rule. If reason is not empty, the rule is invalid and at
// is the offset of the error.
func parseRule(text string) (r ListRule, at int, reason string) {
	rest := strings.TrimLeft(text, " \t")
	for _, mark := range []string{"!", "@@"} {
		if after, ok := strings.CutPrefix(rest, mark); ok {
			r.action, rest = actionKeep, strings.TrimLeft(after, " \t")
			break
		}
	}
	if i := strings.Index(rest, ": "); i >= 0 {
		if i == 0 {
			return r, len(text) - len(rest), "missing host or path before ':'"
		}
		r.Host, r.Path = cutScope(rest[:i])
		rest = strings.TrimLeft(rest[i+2:], " \t")
	}
	if i := strings.LastIndex(rest, " ~"); i >= 0 {
		shape, ok := parseShape(rest[i+2:])
		if !ok {
			return r, len(text) - len(rest) + i + 2, "unknown shape"
		}
		r.value, rest = shape, strings.TrimRight(rest[:i], " \t")
	}
	off, reason := r.setName(rest)
	return r, len(text) - len(rest) + off, reason
}

// cutScope splits a scope into host and path.
func cutScope(scope string) (host, path string) {
	if i := strings.IndexByte(scope, '/'); i >= 0 {
		return scope[:i], scope[i:]
	}
	return scope, ""
}

// setName parses a name and how it matches. If reason is not empty, the name is
// invalid and at is the offset of the error.
func (r *ListRule) setName(name string) (at int, reason string) {
	if len(name) > 2 && name[0] == '/' && name[len(name)-1] == '/' {
		r.match, r.Name = matchRegexp, name[1:len(name)-1]
		return 0, ""
	}
	if i := strings.IndexAny(name, " \t"); i >= 0 {
		return i, "white space in a name: write it as '+' or %20, or add ':' after the host"
	}
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		r.match, name = matchPrefix, prefix
	}
	if i := strings.IndexByte(name, '*'); i >= 0 {
		return i, "'*' not at the end of a name: write a literal one as %2A"
	}
	if name == "" && r.match == matchExact {
		return 0, "missing name"
	}
	r.Name = string(AppendName(nil, []byte(name)))
	return 0, ""
}
