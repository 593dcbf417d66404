package params

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// A ruleAction is what a rule does to the fields that it matches.
type ruleAction uint8

// The actions.
const (
	actionDrop ruleAction = iota // the field does not count
	actionKeep                   // an exception: what Drop rules say about the field is void
	numActions
)

// String returns "drop" or "keep".
func (a ruleAction) String() string {
	return [...]string{"drop", "keep", "unknown"}[min(a, numActions)]
}

// A ruleMatch says how Rule.Name is to be read. All matching is without regard to ASCII case.
type ruleMatch uint8

// The ways to match.
const (
	matchExact  ruleMatch = iota // the name
	matchPrefix                  // every name that begins with it; "" is every name
	matchRegexp                  // a pattern that the whole name must match, see below
	numMatches
)

// String returns "exact", "prefix" or "regexp".
func (m ruleMatch) String() string {
	return [...]string{"exact", "prefix", "regexp", "unknown"}[min(m, numMatches)]
}

// A Rule says what becomes of the fields of one name, or of names like it. [ParseRule] and [ParsePlain] read rules from text.
// The zero Rule is refused by Compile, as its name is empty.
//
// Patterns are the regular expressions that regexp/syntax and ECMAScript read alike: literals, '.', [classes], \d \w \s and their
// complements, escaped punctuation, groups, '|', and the repetitions ? * + {n} {n,} {n,m}, lazy or not. They work on bytes
// and without regard to ASCII case. There are no assertions, flags or back references; such a pattern is refused with the reason.
type Rule struct {
	action ruleAction
	// Host is where the rule applies:
	//
	//	""               everywhere
	//	"example.com"    that host and all below it
	//	"*.example.com"  all below it
	//	"=example.com"   that host alone
	//	"google.*"       that name and all below it, under any registrable suffix: one label, or a usual
	//	                 second-level label and a country ("co.uk")
	//	"^git(lab)?\..*" hosts that match the pattern as a whole
	//
	// A host is in lower case and ASCII, as URLs have it after parsing.
	Host string
	// Path is on which of that host's paths, compared as bytes, with escapes as the URL has them:
	//
	//	""           all
	//	"/a/*/b"     '*' stands for any bytes but '/', "**" for any bytes; a final "/**" is for the folder itself too
	//	"^/a/(b|c)"  paths that begin with a match of the pattern, without regard to ASCII case; a final '$' ties its end
	Path  string
	Name  string // form-decoded
	match ruleMatch
	value shape // what the form-decoded value must look like
	// group ties a Keep rule to the Drop rules of the same group in the same list. The zero value keeps from all rules of all lists.
	group  string
	Source string // where it is written: "default:17", "clearurls google#3", "user:rules.drop_params[2]"
	Reason string // why, in one line; imports have none
}

// String returns what the rule says, without Group, Source and Reason. Rules that match the same fields for the same end have
// one text, so it can be hashed to a version.
func (r Rule) String() string {
	return fmt.Sprintf("%v %q %q %v %q %v", r.action, r.Host, r.Path, r.match, r.Name, r.value)
}

// A List is a set of rules with a name and a version. Where several rules match a field, the first one is named as the cause; Keep wins over Drop.
type List struct {
	Name, Version string
	Rules         []Rule
	// Skipped is what an import did not take over, and what it took over as something else.
	Skipped []Skipped
}

// Skipped is one item of an imported list that is not, or not quite, among its rules.
type Skipped struct {
	Source string // where it is written
	What   string // the item, and why
}

// A RuleError says why Compile refused a rule, or ParseRule its text.
type RuleError struct {
	Source string // of the rule
	Reason string
}

// Error returns source and reason.
func (e *RuleError) Error() string { return e.Source + ": " + e.Reason }

// A ParseError is a mistake in a list.
type ParseError struct {
	Name         string // of the list
	Line, Column int    // from 1; Column counts bytes
	Reason       string
}

// Error returns the place and the reason.
func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Column, e.Reason)
}

// contentVersion is the version of a list that names none.
func contentVersion(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
