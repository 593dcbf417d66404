package config

import (
	"errors"
	"slices"

	"github.com/urlfold/urlfold/config/field"
)

// A Branch is one branch of a route: a condition with sinks, or the sinks for
// all other records. Not covered by the stability page.
type Branch struct {
	// An expression, as in the section where. The branch gets the records for which the
	// expression is true and that no earlier branch gets. Requires sinks.
	Where string `yaml:"where"`
	// The names of the sinks that get these records. An empty list drops the records
	// and counts them as filtered.
	Sinks []string `yaml:"sinks"`
	// In the last branch, instead of where and sinks: the names of the sinks for all
	// records that no other branch gets. An empty list drops these records.
	Else []string `yaml:"else"`
}

// IsElse reports whether the branch gets all remaining records.
func (b *Branch) IsElse() bool { return b.Else != nil }

// Targets returns the names of the sinks and the name of their key.
func (b *Branch) Targets() (names []string, key string) {
	if b.IsElse() {
		return b.Else, "else"
	}
	return b.Sinks, "sinks"
}

// Validate checks that the branch has either where and sinks or else, and that
// each sink is named once.
func (b *Branch) Validate() error {
	switch {
	case b.IsElse() && (b.Where != "" || b.Sinks != nil):
		return field.Wrong("else", "cannot be combined with where and sinks: write it as a separate branch, the last one")
	case b.IsElse():
	case b.Where == "":
		return errors.New("a branch must have either the keys where and sinks or the key else")
	case b.Sinks == nil:
		return field.Wrong("where", "requires sinks: the names of the sinks that get these records")
	}
	var errs field.Errors
	names, key := b.Targets()
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			errs.Wrong(element(key, i), "duplicate sink")
		}
	}
	return errors.Join(errs...)
}
