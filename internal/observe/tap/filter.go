package tap

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record"
)

// A Filter selects samples. A sample must satisfy every condition that is set.
type Filter struct {
	Flags   codec.Flags    // at least one of these flags
	Rules   codec.Rules    // at least one of these rules was applied to the record
	Changes []codec.Change // one of these classes of change
	Site    string         // the host is this domain, or below it
	Rate    float64        // samples per second, at most
}

// Limits of Filter.Rate.
const (
	DefaultRate = 10
	maxRate     = 1000
)

// changeNames are the names of the classes of change.
var changeNames = func() (names []string) {
	for c := codec.ChangeUnchanged; c <= codec.ChangeLossy; c++ {
		names = append(names, c.String())
	}
	return names
}()

// ParseFilter parses the parameters flag, rule, change, site and rate. flag,
// rule and change may be repeated, and hold several names separated by commas.
// The error joins all mistakes.
func ParseFilter(q url.Values) (Filter, error) {
	f := Filter{Rate: DefaultRate, Site: strings.ToLower(strings.Trim(q.Get("site"), "."))}
	var errs []error
	names := func(key string, known []string, found func(name string)) {
		for _, list := range q[key] {
			for name := range strings.SplitSeq(list, ",") {
				if _, err := suggest.Index(key, known, name); err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", key, err))
					continue
				}
				found(name)
			}
		}
	}
	names("flag", codec.AllFlags().Names(), func(name string) {
		flag, _ := codec.ParseFlag(name) // suggest.Index has found it
		f.Flags = f.Flags.With(flag)
	})
	names("rule", codec.AllRules().Names(), func(name string) {
		rule, _ := codec.ParseRule(name)
		f.Rules = f.Rules.With(rule)
	})
	names("change", changeNames, func(name string) {
		var change codec.Change
		_ = change.UnmarshalText([]byte(name))
		f.Changes = append(f.Changes, change)
	})
	if text := q.Get("rate"); text != "" {
		rate, err := strconv.ParseFloat(text, 64)
		if f.Rate = rate; err != nil || !(0 < rate && rate <= maxRate) {
			errs = append(errs, fmt.Errorf("rate: must be a number of samples per second, greater than 0 and at most %d", maxRate))
		}
	}
	for key := range q {
		if !slices.Contains(Parameters, key) {
			errs = append(errs, fmt.Errorf("unknown parameter %q (must be one of: %s)", key, strings.Join(Parameters, ", ")))
		}
	}
	return f, errors.Join(errs...)
}

// Parameters are the names of the parameters that ParseFilter reads.
var Parameters = []string{"flag", "rule", "change", "site", "rate"}

// mayMatch reports whether records with these counts may contain one that f
// selects.
func (f *Filter) mayMatch(st *record.Stats) bool {
	return (f.Flags.IsZero() || anyCount(st, f.Flags)) && (f.Rules.IsZero() || !rulesIn(st).Intersect(f.Rules).IsZero())
}

func anyCount(st *record.Stats, flags codec.Flags) bool {
	for flag := range flags.All() {
		if st.Flags[flag] > 0 {
			return true
		}
	}
	return false
}

// rulesIn returns the rules that st counts.
func rulesIn(st *record.Stats) (set codec.Rules) {
	for i, n := range st.Rules {
		if n > 0 {
			set = set.With(codec.Rule(i))
		}
	}
	return set
}

// matches reports whether f selects s.
func (f *Filter) matches(s *Sample, rules codec.Rules) bool {
	switch {
	case !f.Rules.IsZero() && f.Rules.Intersect(rules).IsZero():
		return false
	case f.Site != "" && s.host != f.Site && !strings.HasSuffix(s.host, "."+f.Site):
		return false
	case len(f.Changes) > 0 && !slices.ContainsFunc(f.Changes, func(c codec.Change) bool { return c.String() == s.Change }):
		return false
	}
	return f.Flags.IsZero() || slices.ContainsFunc(s.Flags, func(name string) bool {
		flag, err := codec.ParseFlag(name)
		return err == nil && f.Flags.Has(flag)
	})
}
