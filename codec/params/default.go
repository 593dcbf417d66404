package params

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

// DefaultVersion is the version of Default.
const DefaultVersion = "2026-11-29"

//go:embed default.txt
var defaultText string

// defaultParam is a line of default.txt.
type defaultParam struct{ rule, reason string }

// The sections of default.txt.
var clickIDs, moreParams, mailParams = defaultSection("click IDs"), defaultSection("others"), defaultSection("mail")

// defaultSection returns the lines with rules below [title].
func defaultSection(title string) (list []defaultParam) {
	_, text, _ := strings.Cut(defaultText, "["+title+"]\n")
	text, _, _ = strings.Cut(text, "\n[")
	for line := range strings.Lines(text) {
		if rule, reason, ok := strings.Cut(line, " # "); ok {
			list = append(list, defaultParam{strings.TrimSpace(rule), strings.TrimSpace(reason)})
		}
	}
	return list
}

// mailPages is the ListRule.Path of pages that need mailParams: pages to
// unsubscribe, and mailings shown as web pages. A session ID in a path starts
// with ';' or '('.
const mailPages = "^[^;(]*(unsubscribe|emailwebview)"

// Default returns the built-in list in a new List: click IDs and the names of
// campaign parameters, for all hosts. A few rules apply only to values of a
// certain shape, or do not apply to links that unsubscribe. The list is based
// on the vendors' own documentation and contains no rule of another list.
func Default() *List {
	l := &List{Name: "default", Version: DefaultVersion}
	n := 0
	for i, p := range slices.Concat(clickIDs, moreParams, mailParams) {
		for rule := range strings.SplitSeq(p.rule, ", ") {
			r, _, reason := parseRule(rule)
			if reason != "" {
				panic("BUG: invalid rule in the built-in parameter list") // a test calls Default
			}
			n++
			r.Source, r.Reason, r.group = "default:"+strconv.Itoa(n), p.reason, "default"
			l.Rules = append(l.Rules, r)
			if i >= len(clickIDs)+len(moreParams) {
				r.action, r.Path = actionKeep, mailPages
				l.Rules = append(l.Rules, r)
			}
		}
	}
	return l
}
