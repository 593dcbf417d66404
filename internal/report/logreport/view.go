package logreport

import (
	"fmt"
	"path"
)

// This file contains what the page shows and the other forms do not.

// NumFiles returns the number of inputs.
func (v *view) NumFiles() int64 { return int64(len(v.Files)) }

// Base returns the name of the only input without its folder.
func (v *view) Base() string { return path.Base(v.Files[0].Path) }

// leastTie is the number of rows with the same count that make a tail flat.
const leastTie = 3

// Listed returns the rows of t without a flat tail. If the list is
// incomplete and its last rows have the same count, other values may be as
// frequent as these rows.
func (*view) Listed(t Table) Table {
	n := len(t.Rows)
	if int64(n) == t.Distinct {
		return t
	}
	for n > 0 && t.Rows[n-1].URLs == t.Rows[len(t.Rows)-1].URLs {
		n--
	}
	if len(t.Rows)-n >= leastTie {
		t.Rows = t.Rows[:n]
	}
	return t
}

// Rest says what is known about the values that Listed leaves out, or nothing if
// it leaves out none.
func (v *view) Rest(t Table) string {
	n, list := int64(len(v.Listed(t).Rows)), t.Rows
	switch n {
	case t.Distinct:
		return ""
	case 0:
		return fmt.Sprintf("%s, each with at most %s.", number(t.Distinct), plural(list[0].URLs, "URL", "URLs"))
	}
	return fmt.Sprintf("The %s most frequent of %s; each of the others has at most %s.", number(n), number(t.Distinct), plural(list[len(list)-1].URLs, "URL", "URLs"))
}

// MergedShare returns how many of the distinct URLs are another spelling of a
// page, in percent.
func (v *view) MergedShare() float64 {
	first, last := v.Levels[0].Distinct, v.Levels[len(v.Levels)-1].Distinct
	if first == 0 {
		return 0
	}
	return float64(first-last) * 100 / float64(first)
}

// FlaggedShare returns the share of URLs with a flag, in percent.
func (v *view) FlaggedShare() float64 { return v.share(v.Flagged()) }

// Flagged returns the number of URLs with a flag.
func (v *view) Flagged() int64 { return v.Counts.Flagged }

// ErrorShare returns the share of server errors, in percent.
func (v *view) ErrorShare() float64 {
	n := int64(0)
	for _, s := range v.Status {
		if s.Values[0][0] == '5' {
			n += s.URLs
		}
	}
	return v.share(n)
}

// StatusTable returns the status codes as a table.
func (v *view) StatusTable() Table {
	return Table{Distinct: int64(len(v.Status)), Rows: v.Status[:min(len(v.Status), 20)]}
}

// MostCampaign returns the largest number of URLs of a campaign.
func (v *view) MostCampaign() int64 { return listView{Table: v.Camps}.Most() }

// CSS returns the class of a severity.
func (d Flag) CSS() string {
	switch d.Severity {
	case "violation":
		return "violation"
	case "notice":
		return "notice"
	}
	return "validation"
}

// Trend describes the line of a flag for people who do not see it.
func (d Flag) Trend(r *Report) string {
	peak := 0
	for i, n := range d.Series {
		if n > d.Series[peak] {
			peak = i
		}
	}
	return fmt.Sprintf("%s by %s: most at %s, with %s", d.Flag, r.Unit, r.label(r.Traffic[peak].Start), plural(d.Series[peak], "URL", "URLs"))
}

// Down returns the distance of a tick from the top.
func (t tick) Down() float64 { return 100 - t.At }
