package logreport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/report/insight"
)

// appendMarkdown appends the report as tables of Markdown.
func (r *Report) appendMarkdown(dst []byte) []byte {
	w := &markdown{dst}
	c := &r.Counts
	w.line("# Report of %s", plural(int64(len(r.Files)), "input", "inputs"))
	w.line("")
	if r.From != "" {
		w.line("From %s to %s. ", r.From, r.To)
	}
	w.line("%s, %s, %s counted, %s distinct pages, %s, %s.", plural(c.Records, "record", "records"), plural(c.URLs, "URL", "URLs"),
		number(c.Counted), number(r.Pages.Distinct), plural(c.Rejected, "rejected record", "rejected records"), plural(int64(r.Damaged()), "damaged file", "damaged files"))
	w.table("Pages", []string{"page", "URLs", "share", "example"}, r.Pages.Rows, true)
	w.table("Templates", []string{"template", "URLs", "share", "example"}, r.Shapes.Rows, true)
	w.head("Duplicates by level", "level", "distinct", "merged", "what it merges")
	for _, l := range r.Levels {
		w.row(l.Name, number(l.Distinct), number(l.Merged), l.About)
	}
	if !r.Exact {
		w.line("\nThe numbers are estimates from a sample of the pages, with all URLs of each sampled page.")
	}
	w.head("Flags", "flag", "severity", "URLs", "share", "meaning")
	for _, d := range r.Flags {
		w.row(d.Flag, d.Severity, number(d.URLs), percent(d.Share), d.Meaning)
	}
	w.table("Sites", []string{"site", "URLs", "share"}, r.Sites.Rows, false)
	w.table("Parameters", []string{"parameter", "URLs", "share"}, r.Params.Rows, false)
	w.table("Campaigns", []string{"source", "medium", "campaign", "URLs", "share"}, r.Camps.Rows, false)
	w.table("Status codes", []string{"status", "URLs", "share"}, r.Status, false)
	w.traffic(r)
	w.head("Inputs", "file", "records", "rejected", "verdict")
	for _, f := range r.Files {
		w.row(f.Path, number(f.Records), number(f.Rejected), f.Verdict)
	}
	w.line("")
	w.line("urlfold %s, profile %s, format %s, keys %s, periods begin in %s.", r.Version, r.Profile, r.Format, r.Keys, r.Zone)
	return w.dst
}

type markdown struct{ dst []byte }

func (w *markdown) line(format string, args ...any) {
	w.dst = append(fmt.Appendf(w.dst, format, args...), '\n')
}

// head begins a table.
func (w *markdown) head(title string, columns ...string) {
	w.line("\n## %s\n", title)
	w.row(columns...)
	w.line("|%s", strings.Repeat("---|", len(columns)))
}

// row writes a row. It escapes what could end a cell or begin markup.
func (w *markdown) row(cells ...string) {
	for _, c := range cells {
		w.dst = append(append(append(w.dst, "| "...), escapeMarkdown(c)...), ' ')
	}
	w.dst = append(w.dst, '|', '\n')
}

// escapeMarkdown escapes the punctuation characters that can have a meaning in
// Markdown, and the colon of addresses.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for i, c := range s {
		switch {
		case c == '<':
			b.WriteString("&lt;")
			continue
		case c == '&':
			b.WriteString("&amp;")
			continue
		case strings.ContainsRune("\\`*_{}[]()#+!|~>@", c):
			b.WriteByte('\\')
		case c == ':' && !strings.HasPrefix(s[i:], ": "):
			b.WriteString("&#58;") // no address becomes a link
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

func (w *markdown) table(title string, columns []string, rows []Row, example bool) {
	if len(rows) == 0 {
		return
	}
	w.head(title, columns...)
	for _, row := range rows {
		cells := slices.Clone(row.Values)
		if example {
			cells[0] = insight.Readable(cells[0])
		}
		cells = append(cells, number(row.URLs), percent(row.Share))
		if example {
			cells = append(cells, row.Example)
		}
		w.row(cells...)
	}
}

func (w *markdown) traffic(r *Report) {
	if len(r.Traffic) == 0 {
		return
	}
	w.head("Traffic by "+r.Unit, "from", "URLs", "2xx", "3xx", "4xx", "5xx", "other")
	for _, b := range r.Traffic {
		s := b.Status
		w.row(b.Start, number(b.URLs), number(s[2]), number(s[3]), number(s[4]), number(s[5]), number(s[0]+s[1]))
	}
}

func number(n int64) string { return terminal.FormatCount(n) }

func plural(n int64, one, many string) string { return terminal.Plural(n, one, many) }

// percent formats a percentage. A share that would round to zero is written
// with a "<".
func percent(p float64) string {
	switch {
	case p == 0:
		return "0 %"
	case p < 0.05:
		return "< 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", p)
}
