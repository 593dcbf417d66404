package logreport

import "fmt"

// This file contains what the page shows and the other forms do not.

// NumFiles returns the number of inputs.
func (v *view) NumFiles() int64 { return int64(len(v.Files)) }

// NumPages returns the number of pages that are listed.
func (v *view) NumPages() int64 { return v.Len(v.Pages) }

// Len returns the number of rows of t.
func (*view) Len(t Table) int64 { return int64(len(t.Rows)) }

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
func (d Defect) CSS() string {
	switch d.Severity {
	case "violation":
		return "violation"
	case "notice":
		return "notice"
	}
	return "validation"
}

// Trend describes the line of a defect for people who do not see it.
func (d Defect) Trend(r *Report) string {
	peak := 0
	for i, n := range d.Series {
		if n > d.Series[peak] {
			peak = i
		}
	}
	return fmt.Sprintf("%s by %s: most at %s, with %s", d.Flag, r.Unit, r.label(r.Traffic[peak].Start, true), plural(d.Series[peak], "URL", "URLs"))
}

// Down returns the distance of a tick from the top.
func (t tick) Down() float64 { return 100 - t.At }
