package params

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// ruleAction is the effect of a rule on the fields that it matches.
type ruleAction uint8

// Actions of a rule.
const (
	actionDrop ruleAction = iota // remove the field
	actionKeep                   // an exception: keep the field although other rules drop it
	numActions
)

// String returns "drop" or "keep".
func (a ruleAction) String() string {
	return [...]string{"drop", "keep", "unknown"}[min(a, numActions)]
}

// ruleMatch says how ListRule.Name is compared. All comparisons ignore ASCII case.
type ruleMatch uint8

// Ways to match a name.
const (
	matchExact  ruleMatch = iota // exactly this name
	matchPrefix                  // every name with this prefix; "" matches every name
	matchRegexp                  // every name that matches this pattern as a whole; see ListRule
	numMatches
)

// String returns "exact", "prefix" or "regexp".
func (m ruleMatch) String() string {
	return [...]string{"exact", "prefix", "regexp", "unknown"}[min(m, numMatches)]
}

// ListRule selects fields by name, and optionally by host, path and value, and
// drops or keeps them. [ParseListRule] and [ParsePlain] parse rules. Compile
// rejects the zero ListRule, because its name is empty.
//
// Patterns are the regular expressions that regexp/syntax and ECMAScript
// interpret in the same way: literals, '.', [classes], \d \w \s and their
// complements, escaped punctuation, groups, '|', and the repetitions ? * + {n}
// {n,} {n,m}, lazy or not. They match bytes, ignore the case of letters, and do
// not equate ASCII letters with non-ASCII letters. Patterns with assertions,
// flags or back references are rejected, with the reason.
type ListRule struct {
	action ruleAction
	// Host selects the hosts that the rule applies to:
	//
	//	""               all hosts
	//	"example.com"    this host and its subdomains
	//	"*.example.com"  its subdomains
	//	"=example.com"   only this host
	//	"google.*"       this name and its subdomains, under any registrable
	//	                 suffix: one label, or a common second-level label
	//	                 and a country ("co.uk")
	//	"^git(lab)?\..*" hosts that match the pattern as a whole
	//
	// The host must be in lower case and ASCII, as in parsed URLs. It is compared
	// with the whole host of a URL, even if the key drops "www.": "=example.com" does
	// not select www.example.com.
	Host string
	// Path selects the paths, compared as bytes with their escapes as in the URL:
	//
	//	""           all paths
	//	"/a/*/b"     '*' matches any bytes except '/', "**" any bytes; a final
	//	             "/**" also matches the folder itself
	//	"^/a/(b|c)"  paths that start with a match of the pattern, ignoring
	//	             ASCII case; a final '$' matches the end
	Path  string
	Name  string // form-decoded
	match ruleMatch
	value shape // required shape of the form-decoded value
	// group limits an exception to the rules of the same group in the same
	// list. An exception without a group applies to all rules of all lists.
	group  string
	Source string // origin of the rule: "default:17", "clearurls google#3", "user:rules.drop_params[2]"
	Reason string // explanation in one line; empty for imports
}

// String returns the rule without its source, reason and group. Rules that
// match the same fields with the same effect return the same text, so that a
// version can be a hash of the texts.
func (r ListRule) String() string {
	return fmt.Sprintf("%v %q %q %v %q %v", r.action, r.Host, r.Path, r.match, r.Name, r.value)
}

// List is a set of rules with a name and a version. If several rules match a
// field, the first one is reported as the cause. A rule that keeps a field
// takes precedence over the rules that drop it.
type List struct {
	Name, Version string
	Rules         []ListRule
	// Skipped lists the items that an import left out, or imported with another
	// meaning.
	Skipped []Skipped
}

// Skipped describes an item of an imported list for which the List has no rule,
// or only a rule with another meaning. Not covered by the stability page.
type Skipped struct {
	Source string // origin of the item
	What   string // the item and the reason
}

// RuleError reports why Compile rejected a rule, or ParseListRule its text.
type RuleError struct {
	Source string // origin of the rule
	Reason string
}

// Error returns the source and the reason.
func (e *RuleError) Error() string { return e.Source + ": " + e.Reason }

// ParseError reports a syntax error in a list.
type ParseError struct {
	Name         string // name of the list
	Line, Column int    // from 1; Column counts bytes
	Reason       string
}

// Error returns the position and the reason.
func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Column, e.Reason)
}

// contentVersion returns the version for a list without an explicit one.
func contentVersion(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
