package logreport

import (
	_ "embed" // the page
	"html/template"
	"sync"

	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/report/insight"
)

//go:embed page.html
var pageText string

// page is the template of the report. It escapes all values. It is parsed when
// it is needed, because most runs do not need it.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Funcs(template.FuncMap{
		"int": number, "percent": percent, "bytes": terminal.FormatSize, "spark": spark, "plural": plural,
		"long": (*Report).label, "readable": insight.Readable,
		"of": func(k class, b Bucket) int64 { return k.of(&b) },
		"part": func(n, all int64) float64 {
			if all == 0 {
				return 0
			}
			return float64(n) * 100 / float64(all)
		},
		"list": func(head string, urls bool, t Table) listView { return listView{head, urls, t} },
	}).Parse(pageText))
})

// A listView is a table of values of one column.
type listView struct {
	Head  string
	URLs  bool // the values are parts of URLs
	Table Table
}

// Most returns the largest number of URLs.
func (l listView) Most() int64 {
	if len(l.Table.Rows) == 0 {
		return 0
	}
	return l.Table.Rows[0].URLs
}

// A view is what the template reads.
type view struct {
	*Report
	Chart *chart
}
