package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// provider is an entry of the file:
// https://docs.clearurls.xyz/latest/specs/rules/
type provider struct {
	URLPattern        string   `json:"urlPattern"`
	CompleteProvider  bool     `json:"completeProvider"`
	Rules             []string `json:"rules"`
	ReferralMarketing []string `json:"referralMarketing"`
	RawRules          []string `json:"rawRules"`
	Exceptions        []string `json:"exceptions"`
	Redirections      []string `json:"redirections"`
}

// ParseClearURLs parses a rule file of ClearURLs (data.min.json) supplied by
// the user. It skips the rules for referral marketing: without these
// parameters, the referrer is not paid. It does not retain data. The List is
// called "clearurls", and sorted by the names of the providers; its version is
// derived from the content of the file.
//
// It converts URL patterns to hosts and paths. Unlike ClearURLs, it treats an
// unescaped '.' in a host as a literal dot, and requires the host to end where
// its pattern ends. An exception of a provider applies to the rules of this
// provider: on the host and path of the exception, for the parameter that it
// names, or for all parameters. It does not import rules that block whole
// requests, rewrite text (rawRules) or redirect. List.Skipped lists these
// rules, and each unsupported pattern, with the reason.
//
// The error is a *ParseError if data is not JSON of the expected form.
func ParseClearURLs(data []byte) (*List, error) {
	var file struct {
		Providers map[string]provider `json:"providers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, jsonError("clearurls", data, err)
	}
	if file.Providers == nil {
		return nil, &ParseError{"clearurls", 1, 1, `missing object "providers"`}
	}
	imp := &importer{foreign: newForeign("clearurls", data)}
	for _, name := range slices.Sorted(maps.Keys(file.Providers)) {
		imp.provider(name, file.Providers[name])
	}
	return imp.List, nil
}

// jsonError converts an error of encoding/json to a ParseError with line and
// column.
func jsonError(name string, data []byte, err error) error {
	offset := int64(0)
	reason := err.Error()
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset - 1 // Offset points to the next byte
	case errors.As(err, &kind):
		offset, reason = kind.Offset-1, "JSON "+kind.Value+" instead of "+kind.Type.String()+" in "+kind.Field
	}
	before := data[:min(max(int(offset), 0), len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	return &ParseError{name, line, len(before) - bytes.LastIndexByte(before, '\n'), reason}
}

// importer converts providers to rules.
type importer struct {
	foreign
	name  string // name of the current provider
	names []string
}

// source returns the origin of an item of the current provider: "clearurls
// google#3", "clearurls google exceptions#1".
func (imp *importer) source(kind string, i int) string {
	s := "clearurls " + imp.name
	if kind != "" {
		s += " " + kind
	}
	return s + "#" + strconv.Itoa(i+1)
}

// skipAll reports all items of a kind that rules cannot express.
func (imp *importer) skipAll(kind string, items []string, why string) {
	for i, item := range items {
		imp.skip(imp.source(kind, i), why+": "+item)
	}
}

func (imp *importer) provider(name string, p provider) {
	imp.name, imp.names = name, slices.Concat(p.Rules, p.ReferralMarketing)
	imp.skipAll("rawRules", p.RawRules, "rules that remove text anywhere in a URL are not supported")
	imp.skipAll("redirections", p.Redirections, "redirections are not supported")
	if p.CompleteProvider {
		imp.skip("clearurls "+name, "blocking whole requests is not supported")
	}
	places, err := parseURLPattern(p.URLPattern)
	if err != nil {
		imp.skip("clearurls "+name, "urlPattern: "+err.Error()+": "+p.URLPattern)
		return
	}
	imp.rules(p.Rules, places)
	imp.skipAll("referralMarketing", p.ReferralMarketing, "referral marketing is not imported")
	for i, exception := range p.Exceptions {
		imp.exception(imp.source("exceptions", i), exception)
	}
}

// rules adds a rule for each name in each place.
func (imp *importer) rules(items []string, places []place) {
	for i, item := range items {
		r := ListRule{group: imp.name, Source: imp.source("", i)}
		if err := r.setPattern(item); err != nil {
			imp.skip(r.Source, err.Error()+": "+item)
			continue
		}
		for _, at := range places {
			r.Host, r.Path = at.host, at.path
			imp.Rules = append(imp.Rules, r)
		}
	}
}

func (imp *importer) exception(source, pattern string) {
	places, err := parseURLPattern(pattern)
	if err != nil {
		imp.skip(source, err.Error()+": "+pattern)
		return
	}
	for _, at := range places {
		r := ListRule{action: actionKeep, Host: at.host, Path: at.path, match: matchPrefix, group: imp.name, Source: source}
		switch named := r; {
		case at.name == "":
		case named.setPattern(at.name) == nil && imp.means(at.name):
			r = named
		default:
			imp.skip(source, "imported for every query: "+pattern)
		}
		imp.Rules = append(imp.Rules, r)
	}
}

// means reports whether a rule of the current provider covers the names that
// the pattern in name matches: the rule has the same pattern, or it matches one
// of the spellings of name.
func (imp *importer) means(name string) bool {
	tree, _, err := parsePattern(name)
	if err != nil {
		return false
	}
	texts := spellings(tree)
	return slices.ContainsFunc(imp.names, func(rule string) bool {
		rule = cutQuestion(rule)
		a, err := compilePattern(rule)
		return rule == name || err == nil && slices.ContainsFunc(texts, func(text string) bool { return a.match([]byte(text)) })
	})
}

// cutQuestion removes the optional escaped '?' that ClearURLs writes before
// most names. The function bare handles it for all names.
func cutQuestion(pattern string) string { return strings.TrimPrefix(pattern, "(?:%3F)?") }

// setPattern sets the name from ClearURLs syntax: a pattern for a name that may
// be escaped.
func (r *ListRule) setPattern(pattern string) error {
	pattern = cutQuestion(pattern)
	tree, _, err := parsePattern(pattern)
	if err != nil {
		return err
	}
	r.match, r.Name = matchRegexp, pattern
	if texts := spellings(tree); len(texts) == 1 {
		r.match, r.Name = matchExact, string(AppendName(nil, []byte(texts[0])))
		if equalFold([]byte(pattern), r.Name) {
			r.Name = pattern
		}
	}
	return checkRule(r)
}
