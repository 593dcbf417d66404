package keydiff

import (
	"slices"

	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
)

// This file describes single pairs of URLs with the same key.

// A Spelling is a URL as a record spells it, with its normal form.
type Spelling struct{ URL, Norm string }

// A Merged is a pair of URLs with the same key: the one that was kept, and a duplicate.
type Merged struct {
	Kept      reportExample `json:"kept"`
	Duplicate reportExample `json:"duplicate"`
	Rules     []string      `json:"rules"` // the rules that make the keys of both URLs the same
}

// A Merger describes pairs of URLs.
type Merger struct {
	side   *Side // nil: the shared identity of the URLs is not a key
	redact *record.Worker
}

// NewMerger returns a Merger for the keys of side. If keyed is not set, the
// URLs share something other than a key, and no rule is responsible. hidden is
// as for [New].
func NewMerger(side Side, keyed bool, hidden []string) (*Merger, error) {
	w, err := newRedactor(side.Normalizer, hidden)
	if err != nil {
		return nil, err
	}
	m := &Merger{redact: w}
	if keyed {
		m.side = &side
	}
	return m, nil
}

// Describe describes a pair of URLs with the same key.
func (m *Merger) Describe(kept, duplicate Spelling) Merged {
	parts := []pair{{example: exampleOf([]byte(kept.URL), []byte(kept.Norm))}, {example: exampleOf([]byte(duplicate.URL), []byte(duplicate.Norm))}}
	x := Merged{Kept: exampleReport(&parts[0].example, m.redact), Duplicate: exampleReport(&parts[1].example, m.redact), Rules: []string{}}
	if m.side != nil {
		x.Rules = append(x.Rules, blame(nil, m.side, parts)...)
	}
	return x
}

// MostTelling returns up to n of the descriptions: first each description with
// a rule that no earlier description has, then the others, in their order.
func MostTelling(all []Merged, n int) []Merged {
	var telling, rest []Merged
	var known []string
	for _, x := range all {
		before := len(known)
		for _, name := range ruleNames(x.Rules) {
			known = appendNew(known, name)
		}
		if len(known) > before {
			telling = append(telling, x)
		} else {
			rest = append(rest, x)
		}
	}
	telling = slices.Concat(telling, rest)
	return telling[:min(len(telling), n)]
}

// Texts returns both URLs for a terminal.
func (x *Merged) Texts(s terminal.Style) (kept, duplicate string) {
	return s.Escape(x.Kept.raw), s.Escape(x.Duplicate.raw)
}
