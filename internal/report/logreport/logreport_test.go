package logreport

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/report/insight"
)

// group returns a group of a list.
func group(values string, n int64) insight.Group {
	return insight.Group{Values: []byte(values), Count: n, Example: []byte("https://example.com/" + values)}
}

// sample returns a report of three days.
func sample() *Report {
	f := &insight.Findings{URLs: 1100, Bins: map[string]*insight.Bin{}, Step: time.Hour, Status: map[int]int64{200: 900, 404: 150, 503: 50},
		Levels: [insight.NumLevels]int64{400, 390, 390, 380, 300, 250}, Exact: true,
		Pages:     insight.List{Distinct: 250, Top: []insight.Group{group("example.com/", 300), group("example.com/a?b=c", 20)}},
		Sites:     insight.List{Distinct: 1, Top: []insight.Group{group("example.com", 1000)}},
		Params:    insight.List{Distinct: 2, Top: []insight.Group{group("utm_source", 90), group("b", 20)}},
		Campaigns: insight.List{Distinct: 2, Top: []insight.Group{group("news\temail\tautumn", 60), group("\t\tlaunch", 30)}},
	}
	start := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for i := range 72 {
		f.Bins[start.Add(time.Duration(i)*time.Hour).Format(time.RFC3339)] = &insight.Bin{
			URLs: int64(10 + i%24), Status: [6]int64{2: int64(8 + i%24), 4: 1, 5: 1}, Flags: map[codec.Flag]int64{codec.FlagNonHex: int64(i % 5), codec.FlagLowerHex: 1},
		}
	}
	f.Bins[""] = &insight.Bin{URLs: 4, Status: [6]int64{0: 4}}
	r := &Report{
		Version: "1.2.3", Profile: "equiv", Keys: "k3-whatwg/1", Format: "combined", Zone: "UTC", Counts: Counts{Bytes: 1 << 20, Records: 1110, URLs: 1105, Flagged: 190, NoURL: 5, Rejected: 5},
		Files: []File{{Path: "a.log", Compression: "plain", Format: "combined", Records: 1000, Bytes: 1 << 20, Verdict: "complete"},
			{Path: "b.log.gz", Compression: "gzip", Format: "combined", Records: 110, Bytes: 1 << 10, Damaged: true, Verdict: "truncated at byte 60"}},
	}
	r.Fill(f, time.UTC)
	return r
}

// empty returns a report of nothing.
func empty() *Report {
	r := &Report{Version: "1.2.3", Zone: "UTC", Files: []File{{Path: "empty", Verdict: "complete"}}}
	r.Fill(&insight.Findings{}, time.UTC)
	return r
}

// evil are texts that a log can contain.
var evil = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'};alert(1)//`, `</title><svg onload=alert(1)>`, `{{.}}`, `javascript:alert(1)`,
	"\x1b[31mred\x07", "\u202Egpj.exe", "\xff\xfe", `](javascript:alert(1))`, "a|b", "`x`", "<!--", "]]>", strings.Repeat("long", 600),
}

// hostile returns a report with such texts in all places.
func hostile() *Report {
	r := sample()
	for i, text := range evil {
		g := group(text, int64(50-i))
		g.Example = []byte(text)
		t := r.table(insight.List{Distinct: 1, Top: []insight.Group{g}})
		r.Pages.Rows, r.Sites.Rows, r.Params.Rows = append(r.Pages.Rows, t.Rows...), append(r.Sites.Rows, t.Rows...), append(r.Params.Rows, t.Rows...)
		g.Values = []byte(text + "\t" + text + "\t" + text)
		r.Camps.Rows = append(r.Camps.Rows, r.table(insight.List{Top: []insight.Group{g}}).Rows...)
	}
	r.Where = evil[0]
	r.Files = append(r.Files, File{Path: evil[1], Compression: evil[0], Format: evil[3], Verdict: evil[1], Damaged: true})
	return r
}

// TestHTML: whatever a log contains, the page has the same elements, none that
// runs or loads anything.
func TestHTML(t *testing.T) {
	page, err := hostile().Append(nil, "html")
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(string(page)))
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{}
	for name := range strings.FieldsSeq("html head meta title style body a div header p h1 h2 span code nav ul li main b dl dt dd section svg line g rect path details summary table thead tbody tr th td footer i") {
		allowed[name] = true
	}
	ids := map[string]bool{}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode && !allowed[n.Data] {
			t.Errorf("element %s", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "src":
				t.Errorf("attribute %s", a.Key)
			case a.Key == "href" && !strings.HasPrefix(a.Val, "#"):
				t.Errorf("link to %s", a.Val)
			case a.Key == "id":
				if ids[a.Val] {
					t.Errorf("two elements with the id %s", a.Val)
				}
				ids[a.Val] = true
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	for _, bad := range []string{"\x1b", "\u202E", "ZgotmplZ", "http://", "https://www."} {
		if strings.Contains(string(page), bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	for _, want := range []string{"truncated at byte 60", "&lt;script&gt;alert(1)", "2 inputs are damaged", "−80"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestMarkdown: no text of a log ends a cell or begins markup.
func TestMarkdown(t *testing.T) {
	text, err := hostile().Append(nil, "md")
	if err != nil {
		t.Fatal(err)
	}
	columns := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		if columns > 0 && n != columns {
			t.Errorf("%d columns instead of %d: %s", n, columns, line)
		}
		columns = n
	}
	for _, bad := range []string{"<script", "](javascript", "\x1b", "://"} {
		if strings.Contains(string(text), bad) {
			t.Errorf("contains %q", bad)
		}
	}
	if got := escapeMarkdown("again: http://h"); got != "again: http&#58;//h" {
		t.Errorf("got %q: a colon in prose stays", got)
	}
}

func TestJSON(t *testing.T) {
	text, err := hostile().Append(nil, "json")
	var got Report
	if err != nil || json.Unmarshal(text, &got) != nil || len(got.Traffic) != 72 || got.Unit != "hour" || got.Untimed != 4 || got.Levels[5].Merged != 50 {
		t.Errorf("%v, %d periods by %s", err, len(got.Traffic), got.Unit)
	}
	for _, form := range Forms() {
		if text, err := empty().Append(nil, form); err != nil || len(text) == 0 {
			t.Errorf("%s of nothing: %v", form, err)
		}
	}
}

// TestPeriods: every span of time has a bounded number of periods, whose URLs add
// up.
func TestPeriods(t *testing.T) {
	f := func(hours int, unit string) {
		t.Helper()
		start := time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC)
		find := &insight.Findings{Bins: map[string]*insight.Bin{}, Step: time.Minute}
		if hours > 36 {
			find.Step = time.Hour
		}
		for _, h := range []int{0, hours / 3, hours - 1} {
			name := start.Add(time.Duration(h) * time.Hour).Format(time.RFC3339)
			if find.Bins[name] == nil {
				find.Bins[name] = &insight.Bin{}
			}
			find.Bins[name].URLs++
		}
		berlin, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			t.Fatal(err)
		}
		r := &Report{}
		r.Fill(find, berlin)
		sum := int64(0)
		for _, b := range r.Traffic {
			sum += b.URLs
		}
		if sum != 3 || r.Unit != unit || len(r.Traffic) > maxBuckets {
			t.Errorf("%d hours: %d URLs in %d periods of %s", hours, sum, len(r.Traffic), r.Unit)
		}
		c := r.trafficChart()
		for _, col := range c.Columns {
			for _, b := range col.Bars {
				if b.Y < -1e-9 || b.Y+b.H > 100+1e-9 {
					t.Errorf("%d hours: a bar from %v to %v", hours, b.Y, b.Y+b.H)
				}
			}
		}
	}
	f(1, "minute")
	f(36, "30 minutes")
	f(72, "hour")
	f(100, "3 hours")
	f(24*14, "6 hours")
	f(24*60, "day")
	f(24*365, "week")
	f(24*3650, "13 weeks")
	f(24*3650*5, "52 weeks")
}

// TestListed: a flat tail is not listed, and the note tells its height.
func TestListed(t *testing.T) {
	f := func(distinct int64, listed int, rest string, counts ...int64) {
		t.Helper()
		list := Table{Distinct: distinct}
		for _, n := range counts {
			list.Rows = append(list.Rows, Row{Values: []string{"a"}, URLs: n})
		}
		v := &view{}
		if got := v.Listed(list); len(got.Rows) != listed || v.Rest(list) != rest {
			t.Errorf("%v: %d rows, %q", counts, len(got.Rows), v.Rest(list))
		}
	}
	f(0, 0, "")
	f(4, 4, "", 9, 1, 1, 1)
	f(1000, 1, "The 1 most frequent of 1,000; each of the others has at most 1 URL.", 9, 1, 1, 1)
	f(5, 4, "The 4 most frequent of 5; each of the others has at most 2 URLs.", 9, 3, 2, 2)
	f(1000, 0, "1,000, each with at most 1 URL.", 1, 1, 1)
}

func TestScale(t *testing.T) {
	f := func(most int64, want string) {
		t.Helper()
		c := &chart{}
		c.scale(most)
		var labels []string
		for _, y := range c.Y {
			labels = append(labels, y.Label)
		}
		if got := fmt.Sprint(labels); got != want {
			t.Errorf("%d: got %s, want %s", most, got, want)
		}
	}
	f(0, "[0 1]")
	f(3, "[0 1 2 3]")
	f(17, "[0 5 10 15]")
	f(210, "[0 50 100 150 200]")
	f(7400, "[0 2000 4000 6000]")
	f(123456, "[0 50k 100k]")
	f(7_000_000, "[0 2M 4M 6M]")
}
