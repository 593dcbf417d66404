package logreport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/report/insight"
)

// A Report holds what a report shows. Texts from the records are on one line
// and valid UTF-8: see text.
type Report struct {
	Version string   `json:"version"`
	Profile string   `json:"profile"`
	Keys    string   `json:"key_function"`
	Format  string   `json:"format"`
	Where   string   `json:"where,omitempty"`
	Zone    string   `json:"zone"`
	Counts  Counts   `json:"counts"`
	From    string   `json:"from,omitempty"`
	To      string   `json:"to,omitempty"`
	Unit    string   `json:"unit,omitempty"` // length of the periods of Traffic: "5 minutes", "day"
	Traffic []Bucket `json:"traffic"`
	Untimed int64    `json:"urls_without_time"`
	Levels  []Level  `json:"levels"`
	Exact   bool     `json:"levels_exact"`
	Pages   Table    `json:"pages"`
	Shapes  Table    `json:"templates"` // templates of pages, if they have a variable segment
	Sites   Table    `json:"sites"`
	Params  Table    `json:"parameters"`
	Camps   Table    `json:"campaigns"`
	Status  []Row    `json:"status"`
	Flags   []Flag   `json:"flags"`
	Files   []File   `json:"files"`
}

// Counts are the counts of the run.
type Counts struct {
	Bytes    int64 `json:"bytes"`
	Records  int64 `json:"records"`
	URLs     int64 `json:"urls"`    // URLs that were found
	Counted  int64 `json:"counted"` // URLs that could be parsed
	Changed  int64 `json:"changed"`
	Flagged  int64 `json:"flagged"`
	Filtered int64 `json:"filtered"`
	NoURL    int64 `json:"without_url"`
	Blank    int64 `json:"blank"`
	Rejected int64 `json:"rejected"`
}

// A Bucket is a period.
type Bucket struct {
	Start  string   `json:"start"`
	URLs   int64    `json:"urls"`
	Status [6]int64 `json:"status_classes"` // by class of the status; 0 for none
}

// A Level is a number of distinct URLs.
type Level struct {
	Name     string `json:"name"`
	About    string `json:"about"`
	Distinct int64  `json:"distinct"`
	Merged   int64  `json:"merged"` // URLs merged by this level: how many fewer keys it has than the level before
}

// A Table is a list of the most frequent values.
type Table struct {
	Distinct int64 `json:"distinct"`
	Rows     []Row `json:"rows"`
}

// A Row is a value with its number of URLs.
type Row struct {
	Values  []string `json:"values"`
	URLs    int64    `json:"urls"`
	Share   float64  `json:"share"` // share in all counted URLs, in percent
	Example string   `json:"example,omitempty"`
}

// A Flag is a property of URLs.
type Flag struct {
	Flag     string  `json:"flag"`
	Severity string  `json:"severity"`
	Meaning  string  `json:"meaning"`
	URLs     int64   `json:"urls"`
	Share    float64 `json:"share"`
	Series   []int64 `json:"series,omitempty"` // URLs by period of Traffic
}

// A File is an input.
type File struct {
	Path        string `json:"path"`
	Compression string `json:"compression"`
	Format      string `json:"format,omitempty"`
	Records     int64  `json:"records"`
	Rejected    int64  `json:"rejected"`
	Bytes       int64  `json:"bytes"`
	Damaged     bool   `json:"damaged"`
	Verdict     string `json:"verdict"`
}

// maxBuckets is the largest number of periods: nobody can distinguish more bars.
const maxBuckets = 72

const day = 24 * time.Hour

// units are the lengths of periods.
var units = []struct {
	size time.Duration
	name string
}{
	{time.Minute, "minute"}, {2 * time.Minute, "2 minutes"}, {5 * time.Minute, "5 minutes"}, {10 * time.Minute, "10 minutes"}, {30 * time.Minute, "30 minutes"},
	{time.Hour, "hour"}, {3 * time.Hour, "3 hours"}, {6 * time.Hour, "6 hours"}, {12 * time.Hour, "12 hours"}, {day, "day"}, {2 * day, "2 days"},
	{7 * day, "week"}, {28 * day, "4 weeks"}, {91 * day, "13 weeks"}, {364 * day, "52 weeks"},
}

// Fill derives the counts, charts and tables of r from the findings.
func (r *Report) Fill(f *insight.Findings, zone *time.Location) {
	r.Counts.Counted = f.URLs
	r.fillTraffic(f, zone)
	r.Exact = f.Exact
	for i, name := range insight.LevelNames() {
		l := Level{Name: name, About: about[i], Distinct: f.Levels[i]}
		if i > 0 {
			l.Merged = f.Levels[i-1] - l.Distinct
		}
		r.Levels = append(r.Levels, l)
	}
	r.Pages, r.Shapes, r.Sites, r.Params, r.Camps = r.table(f.Pages), r.table(f.Templates), r.table(f.Sites), r.table(f.Params), r.table(f.Campaigns)
	for code, n := range f.Status {
		if code > 0 {
			r.Status = append(r.Status, Row{Values: []string{strconv.Itoa(code)}, URLs: n, Share: r.share(n)})
		}
	}
	slices.SortFunc(r.Status, func(a, b Row) int { return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Values[0], b.Values[0])) })
}

// share returns n as a percentage of the counted URLs.
func (r *Report) share(n int64) float64 {
	if r.Counts.Counted == 0 {
		return 0
	}
	return float64(n) * 100 / float64(r.Counts.Counted)
}

// fillTraffic divides the time of the log into periods, and sets traffic and
// flags.
func (r *Report) fillTraffic(f *insight.Findings, zone *time.Location) {
	from, to, ok := f.Span()
	size, n := day, 0
	if ok {
		from = from.In(zone)
		unit := 0
		for unit < len(units)-1 && (units[unit].size < f.Step || to.Sub(from) > units[unit].size*maxBuckets) {
			unit++
		}
		size = units[unit].size
		from = from.Add(-(sinceMidnight(from) % min(size, day)))
		n = min(int((to.Sub(from)+size-1)/size), 10*maxBuckets)
		r.From, r.To, r.Unit = from.Format(time.RFC3339), to.In(zone).Format(time.RFC3339), units[unit].name
	}
	for i := range n {
		r.Traffic = append(r.Traffic, Bucket{Start: from.Add(time.Duration(i) * size).Format(time.RFC3339)})
	}
	at := func(name string) int {
		t, err := time.Parse(time.RFC3339, name)
		if err != nil || n == 0 {
			return -1
		}
		return min(int(t.Sub(from)/size), n-1)
	}
	r.fillFlags(f, n, at)
	for name, b := range f.Bins {
		i := at(name)
		if i < 0 {
			r.Untimed += b.URLs
			continue
		}
		r.Traffic[i].URLs += b.URLs
		for class, k := range b.Status {
			r.Traffic[i].Status[class] += k
		}
	}
}

// sinceMidnight returns the time of day of t by its clock.
func sinceMidnight(t time.Time) time.Duration {
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
}

func (r *Report) fillFlags(f *insight.Findings, n int, at func(bin string) int) {
	for _, flag := range f.Flags() {
		d := Flag{Flag: flag.String(), Severity: flag.Severity().String(), Meaning: flag.Meaning(), Series: make([]int64, n)}
		for name, b := range f.Bins {
			d.URLs += b.Flags[flag]
			if i := at(name); i >= 0 {
				d.Series[i] += b.Flags[flag]
			}
		}
		d.Share = r.share(d.URLs)
		r.Flags = append(r.Flags, d)
	}
}

// about describes the levels.
var about = [insight.NumLevels]string{
	"URLs as the input has them", "normal forms of the profile", "case, escapes and dot segments", "default ports, empty paths, spelling of hosts",
	"session ids, tracking parameters, order of parameters, http and https", "www., index files, repeated and final slashes",
}

// table returns the rows of a list.
func (r *Report) table(l insight.List) Table {
	t := Table{Distinct: l.Distinct, Rows: []Row{}}
	for _, g := range l.Top {
		row := Row{URLs: g.Count, Share: r.share(g.Count), Example: text(g.Example)}
		for v := range bytes.SplitSeq(g.Values, []byte{'\t'}) {
			row.Values = append(row.Values, text(v))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// text returns a value that was escaped for tsv, on one line and in UTF-8.
func text(v []byte) string {
	s := strings.ToValidUTF8(string(tsv.AppendUnescaped(nil, v)), "\uFFFD")
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7F || c >= 0x80 && c < 0xA0 || isBidi(c) {
			return '\uFFFD'
		}
		return c
	}, s)
}

// isBidi reports whether c changes the direction of text, with which a URL could look
// like another text.
func isBidi(c rune) bool {
	return c == 0x061C || c == 0x200E || c == 0x200F || c >= 0x202A && c <= 0x202E || c >= 0x2066 && c <= 0x2069
}

// Damaged returns the number of damaged files.
func (r *Report) Damaged() (n int) {
	for i := range r.Files {
		if r.Files[i].Damaged {
			n++
		}
	}
	return n
}

// Forms returns the names of the forms that Append writes.
func Forms() []string { return []string{"html", "md", "json"} }

// Append appends the report in a form.
func (r *Report) Append(dst []byte, form string) ([]byte, error) {
	switch form {
	case "html":
		b := bytes.NewBuffer(dst)
		err := page().Execute(b, &view{r, r.trafficChart()})
		return b.Bytes(), err
	case "md":
		return r.appendMarkdown(dst), nil
	case "json":
		text, err := json.MarshalIndent(r, "", "  ")
		return append(append(dst, text...), '\n'), err
	}
	return dst, fmt.Errorf("unknown format %q", form)
}
