package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
)

// A diffReport is what diff writes, as JSON and for people.
type diffReport struct {
	A              diffSide    `json:"a"`
	B              diffSide    `json:"b"`
	Format         string      `json:"format"`
	URLs           int64       `json:"urls"`
	GroupsA        int         `json:"groups_a"`
	GroupsB        int         `json:"groups_b"`
	Unchanged      int         `json:"unchanged"`
	Rekeyed        int         `json:"rekeyed"`
	Merges         diffEffect  `json:"merges"`
	Splits         diffEffect  `json:"splits"`
	Rejected       diffRejects `json:"rejected"`
	BadRecords     int64       `json:"bad_records"`
	WithoutExample bool        `json:"without_example,omitempty"`
}

// A diffSide names what keys depend on.
type diffSide struct {
	Profile     string `json:"profile"`
	Level       string `json:"level"`
	KeyFunction string `json:"key_function"`
	Policy      string `json:"policy,omitempty"`
}

type diffEffect struct {
	Groups int         `json:"groups"`
	Parts  int         `json:"parts"`
	URLs   int64       `json:"urls"`
	Top    []diffGroup `json:"top"`
}

type diffGroup struct {
	Key      string        `json:"key"`
	URLs     int64         `json:"urls"`
	Parts    int           `json:"parts"`
	Rules    []string      `json:"rules"`
	Examples []diffExample `json:"examples"`
}

// A diffExample is one URL of a part. The key and the count are those of the
// part; a reject has neither.
type diffExample struct {
	URL    *string `json:"url,omitempty"`
	URLB64 string  `json:"url_b64,omitempty"`
	Key    string  `json:"key,omitempty"`
	URLs   int64   `json:"urls,omitempty"`

	raw string // as it is shown
}

type diffRejects struct {
	A    diffReject `json:"by_a"`
	B    diffReject `json:"by_b"`
	Both diffReject `json:"by_both"`
}

type diffReject struct {
	URLs     int64         `json:"urls"`
	Examples []diffExample `json:"examples"`
}

// A diffReporter makes the report of a graph.
type diffReporter struct {
	a, b     side
	redact   *record.Worker // nil: passwords are shown
	examples int            // how many are shown of a group
}

// newRedactor returns a worker that writes a line without its passwords.
func newRedactor(n *codec.Normalizer) (*record.Worker, error) {
	job, err := record.New(record.Config{Format: "lines", Render: record.RenderTSV, Fields: []string{"url", "error"}, Redact: true, Normalizer: n})
	if err != nil {
		return nil, err
	}
	return job.NewWorker(), nil
}

// shown returns a URL as it is shown.
func (d *diffReporter) shown(url string) string {
	if d.redact == nil || !strings.ContainsRune(url, '@') {
		return url
	}
	var st record.Stats
	out, _ := d.redact.Append(nil, nil, []byte(url), record.Position{}, &st)
	return string(unescapeTSV(nil, splitFields(out)[0]))
}

func (d *diffReporter) example(e *example) diffExample {
	x := diffExample{raw: d.shown(e.url)}
	if utf8.ValidString(x.raw) {
		x.URL = &x.raw
	} else {
		x.URLB64 = base64.StdEncoding.EncodeToString([]byte(x.raw))
	}
	return x
}

func (s *side) report() diffSide {
	return diffSide{s.norm.Profile().Name, s.level.String(), s.norm.KeyFunction(s.level), s.policy}
}

// blameParts is of how many parts of a group the rules are looked at, at least.
const blameParts = 8

// report judges the graph.
func (d *diffReporter) report(g *graph, format string, top int) *diffReport {
	j := g.judge(top, max(blameParts, d.examples))
	return &diffReport{
		A: d.a.report(), B: d.b.report(), Format: format,
		URLs: j.urls, GroupsA: j.groupsA, GroupsB: j.groupsB, Unchanged: j.unchanged, Rekeyed: j.rekeyed,
		Merges:         d.effect(&j.merges, &d.a, &d.b, func(p *pair) codec.Key { return p.a }),
		Splits:         d.effect(&j.splits, &d.b, &d.a, func(p *pair) codec.Key { return p.b }),
		Rejected:       diffRejects{d.reject(&g.rejected[rejectedByA]), d.reject(&g.rejected[rejectedByB]), d.reject(&g.rejected[rejectedByBoth])},
		BadRecords:     g.records,
		WithoutExample: g.crowded,
	}
}

// effect reports the groups that one profile has as one and the other has apart.
func (d *diffReporter) effect(e *effect, apart, one *side, keyOfPart func(*pair) codec.Key) diffEffect {
	out := diffEffect{Groups: e.count, Parts: e.parts, URLs: e.urls, Top: []diffGroup{}}
	for _, gr := range e.groups {
		dg := diffGroup{Key: gr.key.String(), URLs: gr.urls, Parts: gr.count, Rules: append([]string{}, blame(apart, one, gr.parts)...)}
		for i := range gr.parts[:min(len(gr.parts), d.examples)] {
			p := &gr.parts[i]
			x := d.example(&p.example)
			x.Key, x.URLs = keyOfPart(p).String(), p.urls
			dg.Examples = append(dg.Examples, x)
		}
		out.Top = append(out.Top, dg)
	}
	return out
}

func (d *diffReporter) reject(r *rejection) diffReject {
	out := diffReject{URLs: r.urls, Examples: []diffExample{}}
	for i := range r.examples {
		out.Examples = append(out.Examples, d.example(&r.examples[i]))
	}
	return out
}

// A diffWriter writes a report for people.
type diffWriter struct {
	style
	w *bufio.Writer
}

func (w *diffWriter) line(format string, args ...any) { _, _ = fmt.Fprintf(w.w, format+"\n", args...) } // Flush tells

// count writes a line of the table.
func (w *diffWriter) count(name string, n int64, remark string) {
	line := fmt.Sprintf("  %-*s%*s", nameColumn, name, countColumn, formatCount(n))
	if remark != "" {
		line += "  " + w.paint(dim, remark)
	}
	w.line("%s", line)
}

// write writes the whole report.
func (w *diffWriter) write(r *diffReport) {
	w.line("%s", w.paint(bold, "A "+r.A.String()))
	w.line("%s", w.paint(bold, "B "+r.B.String()))
	w.count("URLs", r.URLs, "with a key under both; read as "+r.Format)
	w.count("groups under A", int64(r.GroupsA), "")
	w.count("groups under B", int64(r.GroupsB), "")
	w.count("unchanged groups", int64(r.Unchanged), r.rekeyed())
	w.count("merges", int64(r.Merges.Groups), r.Merges.remark("of %s groups of A", r.Merges.Parts))
	w.count("splits", int64(r.Splits.Groups), r.Splits.remark("into %s groups of B", r.Splits.Parts))
	for _, x := range r.rejections() {
		if x.URLs > 0 {
			w.count("rejected by "+x.by, x.URLs, "")
		}
	}
	if r.BadRecords > 0 {
		w.count("records without URL", r.BadRecords, "not of the format, or too long")
	}
	w.groups("merges: groups of A that are one under B", r.Merges)
	w.groups("splits: groups of A that are several under B", r.Splits)
	for _, x := range r.rejections() {
		w.rejected(x)
	}
	if r.WithoutExample {
		w.line("\nThere was no room to remember a URL of every group: some counts stand without one.")
	}
}

// String names a side in the heading.
func (s diffSide) String() string {
	text := s.Profile + ", keys " + s.KeyFunction
	if s.Policy != "" {
		text += ", " + s.Policy
	}
	return text
}

// rekeyed says how many of the unchanged groups have another key.
func (r *diffReport) rekeyed() string {
	switch {
	case r.A.KeyFunction != r.B.KeyFunction:
		return "the same URLs; all keys differ, as the key functions do"
	case r.Rekeyed > 0:
		return "the same URLs; " + formatCount(int64(r.Rekeyed)) + " with another key"
	}
	return "the same URLs and keys"
}

func (e *diffEffect) remark(format string, parts int) string {
	if e.Groups == 0 {
		return ""
	}
	return fmt.Sprintf(format, formatCount(int64(parts))) + ", " + plural(e.URLs, "URL", "URLs")
}

// A namedReject is a reject with whose it is.
type namedReject struct {
	by string
	diffReject
}

func (r *diffReport) rejections() []namedReject {
	return []namedReject{{"A only", r.Rejected.A}, {"B only", r.Rejected.B}, {"both", r.Rejected.Both}}
}

func (w *diffWriter) groups(title string, e diffEffect) {
	if e.Groups == 0 {
		return
	}
	w.line("\n%s", w.paint(bold, title))
	for _, g := range e.Top {
		by := ""
		if len(g.Rules) > 0 {
			by = ", by " + strings.Join(g.Rules, ", ")
		}
		w.line("  %s, %s%s", plural(g.URLs, "URL", "URLs"), plural(int64(g.Parts), "group", "groups"), w.paint(cyan, by))
		for i := range g.Examples {
			w.line("  %*s  %s", countColumn, formatCount(g.Examples[i].URLs), w.text(g.Examples[i].raw))
		}
		if more := g.Parts - len(g.Examples); more > 0 {
			w.line("  %*s  and %s more", countColumn, "", formatCount(int64(more)))
		}
	}
	if more := e.Groups - len(e.Top); more > 0 {
		w.line("  and %s more", formatCount(int64(more)))
	}
}

func (w *diffWriter) rejected(x namedReject) {
	if x.URLs == 0 || len(x.Examples) == 0 {
		return
	}
	w.line("\n%s", w.paint(bold, "rejected by "+x.by))
	for i := range x.Examples {
		w.line("  %s", w.text(x.Examples[i].raw))
	}
}

// text is a URL with what would move the cursor as escapes.
func (w *diffWriter) text(url string) string {
	var b strings.Builder
	for _, c := range w.cells([]byte(url), codec.Span{}) {
		b.WriteString(c.text)
	}
	return b.String()
}
