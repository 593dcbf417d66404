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

// ParseClearURLs reads a rule file of ClearURLs (data.min.json) that the user brings: see ClearURLs. Its rules for
// referral marketing are left out.
func ParseClearURLs(data []byte) (*List, error) { return clearURLs{}.parse(data) }

// ClearURLs reads rule files of the browser extension of that name. The zero value is ready for use.
type clearURLs struct {
	Referral bool // take the parameters of referral marketing too: without them the referrer is not paid
}

// A provider is an entry of the file: https://docs.clearurls.xyz/latest/specs/rules/
type provider struct {
	URLPattern        string   `json:"urlPattern"`
	CompleteProvider  bool     `json:"completeProvider"`
	Rules             []string `json:"rules"`
	ReferralMarketing []string `json:"referralMarketing"`
	RawRules          []string `json:"rawRules"`
	Exceptions        []string `json:"exceptions"`
	Redirections      []string `json:"redirections"`
}

// Parse returns the rules of data as a List called "clearurls", with the start of the SHA-256 of the bytes as version, in the
// order of the providers' names. data is not changed or kept.
//
// The patterns of URLs become hosts and paths. A '.' that is not escaped there is one, though their syntax has it
// otherwise; and what follows a host ends it. An exception becomes Keep rules for the rules of its provider: on its host
// and path, of the parameter that it asks for, or of all. What blocks whole requests, rewrites text (rawRules) or redirects is not
// taken over. List.Skipped has all that, and each pattern that cannot run, with the reason.
//
// The error is a *ParseError if the bytes are not JSON of that form.
func (o clearURLs) parse(data []byte) (*List, error) {
	var file struct {
		Providers map[string]provider `json:"providers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, jsonError("clearurls", data, err)
	}
	if file.Providers == nil {
		return nil, &ParseError{"clearurls", 1, 1, `there is no object "providers"`}
	}
	imp := &importer{list: &List{Name: "clearurls", Version: contentVersion(data)}, referral: o.Referral}
	for _, name := range slices.Sorted(maps.Keys(file.Providers)) {
		imp.provider(name, file.Providers[name])
	}
	return imp.list, nil
}

// jsonError finds line and column of an error of encoding/json.
func jsonError(name string, data []byte, err error) error {
	offset := int64(0)
	reason := err.Error()
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset - 1 // the offset is after the byte at fault
	case errors.As(err, &kind):
		offset, reason = kind.Offset-1, "a JSON "+kind.Value+" where "+kind.Type.String()+" belongs: "+kind.Field
	}
	before := data[:min(max(int(offset), 0), len(data))]
	line := bytes.Count(before, []byte("\n")) + 1
	return &ParseError{name, line, len(before) - bytes.LastIndexByte(before, '\n'), reason}
}

// An importer turns providers into rules.
type importer struct {
	list     *List
	referral bool
	name     string // of the provider at hand
	names    []string
}

// source names an item of the provider at hand: "clearurls google#3", "clearurls google exceptions#1".
func (imp *importer) source(kind string, i int) string {
	s := "clearurls " + imp.name
	if kind != "" {
		s += " " + kind
	}
	return s + "#" + strconv.Itoa(i+1)
}

func (imp *importer) skip(source, what string) {
	imp.list.Skipped = append(imp.list.Skipped, Skipped{source, what})
}

// skipAll reports items of a kind that rules here have no words for.
func (imp *importer) skipAll(kind string, items []string, why string) {
	for i, item := range items {
		imp.skip(imp.source(kind, i), why+": "+item)
	}
}

func (imp *importer) provider(name string, p provider) {
	imp.name, imp.names = name, slices.Concat(p.Rules, p.ReferralMarketing)
	imp.skipAll("rawRules", p.RawRules, "text that is cut anywhere in a URL is not taken over")
	imp.skipAll("redirections", p.Redirections, "a redirection is not taken over")
	if p.CompleteProvider {
		imp.skip("clearurls "+name, "the blocking of whole requests is not taken over")
	}
	places, err := parseURLPattern(p.URLPattern)
	if err != nil {
		imp.skip("clearurls "+name, "urlPattern: "+err.Error()+": "+p.URLPattern)
		return
	}
	imp.rules("", p.Rules, places)
	if imp.referral {
		imp.rules("referralMarketing", p.ReferralMarketing, places)
	} else {
		imp.skipAll("referralMarketing", p.ReferralMarketing, "left out by option")
	}
	for i, exception := range p.Exceptions {
		imp.exception(imp.source("exceptions", i), exception)
	}
}

// rules adds a rule for each name in each place.
func (imp *importer) rules(kind string, items []string, places []place) {
	for i, item := range items {
		r := Rule{group: imp.name, Source: imp.source(kind, i)}
		if err := r.setPattern(item); err != nil {
			imp.skip(r.Source, err.Error()+": "+item)
			continue
		}
		for _, at := range places {
			r.Host, r.Path = at.host, at.path
			imp.list.Rules = append(imp.list.Rules, r)
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
		r := Rule{action: actionKeep, Host: at.host, Path: at.path, match: matchPrefix, group: imp.name, Source: source}
		switch named := r; {
		case at.name == "":
		case named.setPattern(at.name) == nil && imp.means(at.name):
			r = named
		default:
			imp.skip(source, "taken over for every query: "+pattern)
		}
		imp.list.Rules = append(imp.list.Rules, r)
	}
}

// means reports whether a rule of the provider at hand is about the names of a pattern: the same pattern, or one that
// matches a spelling of it.
func (imp *importer) means(name string) bool {
	n, _, err := parsePattern(name, true)
	if err != nil {
		return false
	}
	texts, _ := spellings(n)
	return slices.ContainsFunc(imp.names, func(rule string) bool {
		rule = cutQuestion(rule)
		a, err := compilePattern(rule, true, false)
		return rule == name || err == nil && slices.ContainsFunc(texts, func(text string) bool { return a.match([]byte(text)) })
	})
}

// cutQuestion cuts the optional escaped '?' that ClearURLs writes before most names: bare does it for all.
func cutQuestion(pattern string) string { return strings.TrimPrefix(pattern, "(?:%3F)?") }

// setPattern reads a name as ClearURLs writes it: a pattern, of a name that may be escaped.
func (r *Rule) setPattern(pattern string) error {
	pattern = cutQuestion(pattern)
	n, _, err := parsePattern(pattern, true)
	if err != nil {
		return err
	}
	if _, err := newAutomaton(n); err != nil {
		return err
	}
	r.match, r.Name = matchRegexp, pattern
	if texts, ok := spellings(n); ok && len(texts) == 1 {
		r.match, r.Name = matchExact, string(AppendName(nil, []byte(texts[0])))
		if equalFold([]byte(pattern), r.Name) {
			r.Name = pattern
		}
	}
	return checkRule(r)
}
