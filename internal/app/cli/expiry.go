package cli

import (
	"fmt"
	"strings"
	"time"
)

// maxAge is the age in days from which a list is reported as old. Parameters
// come and go faster than public suffixes.
const (
	maxAgeParams   = 180
	maxAgeSuffixes = 365
)

// oldData returns a warning for each list that is old at a time. lists has the
// form of params.Matcher.Versions; a list whose version is no date has no age.
// Only "version" and "validate" look at the clock: keys never depend on it.
func oldData(lists, suffixes string, now time.Time) (warnings []string) {
	add := func(what, version string, limit int) {
		date, err := time.Parse(time.DateOnly, version)
		if err != nil {
			return
		}
		if days := int(now.Sub(date).Hours() / 24); days > limit {
			warnings = append(warnings, fmt.Sprintf("%s is %d days old: get a newer one to recognize what was added since %s", what, days, version))
		}
	}
	for list := range strings.SplitSeq(lists, ",") {
		name, version, _ := strings.Cut(list, "@")
		add("the parameter list "+name, version, maxAgeParams)
	}
	add("the public suffix list", suffixes, maxAgeSuffixes)
	return warnings
}
