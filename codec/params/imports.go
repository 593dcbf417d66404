package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// This file has the common parts of the imports of other programs' lists, and the
// imports of the lists in JSON: of Brave and of Firefox.

// A foreign is a list of another program while it is imported.
type foreign struct{ *List }

func newForeign(name string, data []byte) foreign {
	return foreign{&List{Name: name, Version: contentVersion(data)}}
}

// skip records an item that rules cannot express exactly.
func (f foreign) skip(source, what string) {
	f.Skipped = append(f.Skipped, Skipped{source, what})
}

// add adds a copy of r for each name.
func (f foreign) add(r ListRule, names ...string) {
	for _, name := range names {
		r.match, r.Name = matchExact, string(AppendName(nil, []byte(name)))
		if err := checkImported(&r); err != nil {
			f.skip(r.Source, err.Error()+": "+name)
			continue
		}
		f.Rules = append(f.Rules, r)
	}
}

// keepAll adds an exception for every parameter.
func (f foreign) keepAll(r ListRule) {
	r.action, r.match, r.Name = actionKeep, matchPrefix, ""
	if err := checkImported(&r); err != nil {
		f.skip(r.Source, err.Error())
		return
	}
	f.Rules = append(f.Rules, r)
}

// checkImported returns the error of a rule that cannot be compiled. The
// importers skip these rules, so that the rest of the list can be used.
func checkImported(r *ListRule) error {
	if err := checkRule(r); err != nil {
		return err
	}
	if _, err := compilePath(r.Path); err != nil {
		return fmt.Errorf("path: %w", err)
	}
	return nil
}

// globPath returns the ListRule.Path for a path in which '*' matches any bytes.
func globPath(path string) string {
	if strings.Trim(path, "*") == "/" && path != "/" {
		return ""
	}
	return strings.ReplaceAll(path, "*", "**")
}

// ParseBrave parses a list of the browser Brave supplied by the user:
// clean-urls.json or query-filter.json. The List is called "brave"; its version
// is derived from the content. List.Skipped lists the items that were not
// imported, or were imported with another meaning. The error is a *ParseError
// if data is not JSON of the expected form.
func ParseBrave(data []byte) (*List, error) {
	var file []struct {
		Include []string `json:"include"`
		Exclude []string `json:"exclude"`
		Params  []string `json:"params"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, jsonError("brave", data, err)
	}
	f := newForeign("brave", data)
	for i, entry := range file {
		r := ListRule{Source: fmt.Sprintf("brave#%d", i+1)}
		r.group = r.Source
		for _, pattern := range entry.Include {
			if err := r.setMatchPattern(pattern); err != nil {
				f.skip(r.Source, err.Error()+": "+pattern)
				continue
			}
			if !strings.HasPrefix(pattern, "*") {
				f.skip(r.Source, "imported for http and https: "+pattern)
			}
			f.add(r, entry.Params...)
		}
		for _, pattern := range entry.Exclude {
			if err := r.setMatchPattern(pattern); err != nil {
				f.skip(r.Source, "exclude: "+err.Error()+": "+pattern)
				continue
			}
			f.keepAll(r)
		}
	}
	return f.List, nil
}

// setMatchPattern sets host and path from a match pattern of a browser
// extension, such as "*://*.example.com/a/*":
// https://developer.chrome.com/docs/extensions/develop/concepts/match-patterns.
func (r *ListRule) setMatchPattern(pattern string) error {
	scheme, rest, ok := strings.Cut(pattern, "://")
	if !ok || scheme != "*" && scheme != "http" && scheme != "https" {
		return errors.New("not a match pattern for http and https")
	}
	host, path, ok := strings.Cut(rest, "/")
	if !ok {
		return errors.New("match pattern without a path")
	}
	under, isUnder := strings.CutPrefix(host, "*.")
	switch {
	case host == "*":
		r.Host = ""
	case isUnder:
		r.Host = under
	case strings.Contains(host, "*"):
		return errors.New("unsupported host in a match pattern")
	default:
		r.Host = "=" + host
	}
	path, query, hasQuery := strings.Cut("/"+path, "?")
	if hasQuery && query != "*" {
		return errors.New("conditions on other parameters are not supported")
	}
	r.Path = globPath(path)
	return nil
}

// firefoxStrip is a record of the collection query-stripping.
type firefoxStrip struct {
	StripList []string `json:"stripList"`
	AllowList []string `json:"allowList"`
}

// ParseFirefox parses a list of the browser Firefox supplied by the user: the
// collection query-stripping of its remote settings, or StripOnShare.json. The
// List is called "firefox"; its version is derived from the content. The error
// is a *ParseError if data is not JSON of the expected form.
func ParseFirefox(data []byte) (*List, error) {
	f := newForeign("firefox", data)
	var records struct {
		Data []firefoxStrip `json:"data"`
	}
	if err := json.Unmarshal(data, &records); err == nil && records.Data != nil {
		f.strips(records.Data)
		return f.List, nil
	}
	if err := json.Unmarshal(data, &records.Data); err == nil {
		f.strips(records.Data)
		return f.List, nil
	}
	var share map[string]struct {
		QueryParams   []string `json:"queryParams"`
		TopLevelSites []string `json:"topLevelSites"`
	}
	if err := json.Unmarshal(data, &share); err != nil {
		return nil, jsonError("firefox", data, err)
	}
	for _, name := range slices.Sorted(maps.Keys(share)) {
		entry := share[name]
		if len(entry.QueryParams) == 0 || len(entry.TopLevelSites) == 0 {
			return nil, &ParseError{"firefox", 1, 1, fmt.Sprintf("missing queryParams or topLevelSites in %q", name)}
		}
		for _, site := range entry.TopLevelSites {
			r := ListRule{Source: "firefox " + name}
			if site != "*" {
				r.Host = "=" + site
			}
			f.add(r, entry.QueryParams...)
		}
	}
	return f.List, nil
}

// strips adds the records of the collection query-stripping. Its exceptions are
// sites, with all of their hosts.
func (f foreign) strips(records []firefoxStrip) {
	for i, record := range records {
		r := ListRule{Source: fmt.Sprintf("firefox#%d", i+1), group: "firefox"}
		f.add(r, record.StripList...)
		for _, site := range record.AllowList {
			r.Host = site
			f.keepAll(r)
		}
	}
}
