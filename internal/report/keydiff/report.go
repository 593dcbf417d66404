package keydiff

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
)

// A Report compares the keys of the same URLs under two profiles.
type Report struct {
	A              reportSide    `json:"a"`
	B              reportSide    `json:"b"`
	Format         string        `json:"format"`
	URLs           int64         `json:"urls"`
	GroupsA        int           `json:"groups_a"`
	GroupsB        int           `json:"groups_b"`
	Unchanged      int           `json:"unchanged"`
	Rekeyed        int           `json:"rekeyed"`
	Merges         reportEffect  `json:"merges"`
	Splits         reportEffect  `json:"splits"`
	Rejected       reportRejects `json:"rejected"`
	BadRecords     int64         `json:"bad_records"`
	WithoutExample bool          `json:"without_example,omitempty"`
}

// A reportSide identifies a profile and its keys.
type reportSide struct {
	Profile     string `json:"profile"`
	Level       string `json:"level"`
	KeyFunction string `json:"key_function"`
	Policy      string `json:"policy,omitempty"`
}

type reportEffect struct {
	Groups int           `json:"groups"`
	Parts  int           `json:"parts"`
	URLs   int64         `json:"urls"`
	Top    []reportGroup `json:"top"`
}

type reportGroup struct {
	Key      string          `json:"key"`
	URLs     int64           `json:"urls"`
	Parts    int             `json:"parts"`
	Rules    []string        `json:"rules"`
	Examples []reportExample `json:"examples"`
}

// A reportExample is one URL of a part, with the key and the count of the part.
// A rejected URL has neither.
type reportExample struct {
	URL    *string `json:"url,omitempty"`
	URLB64 string  `json:"url_b64,omitempty"`
	Key    string  `json:"key,omitempty"`
	URLs   int64   `json:"urls,omitempty"`

	raw string // the URL, redacted if necessary
}

type reportRejects struct {
	A    reportReject `json:"by_a"`
	B    reportReject `json:"by_b"`
	Both reportReject `json:"by_both"`
}

type reportReject struct {
	URLs     int64           `json:"urls"`
	Examples []reportExample `json:"examples"`
}

// A Diff compares the keys of URLs under two profiles.
type Diff struct {
	a, b     Side
	redact   *record.Worker // nil: passwords are not masked
	examples int            // maximum number of examples of a group
	graph    *graph
}

// New returns a Diff of the profiles a and b, with up to examples examples of a
// group. hidden says what to mask in the examples, as Redact of a record.Config
// does.
func New(a, b Side, examples int, hidden []string) (*Diff, error) {
	d := &Diff{a: a, b: b, examples: examples, graph: newGraph(examples)}
	var err error
	d.redact, err = newRedactor(a.Normalizer, hidden)
	return d, err
}

// newRedactor returns a worker that masks a line, or nil if nothing is hidden.
func newRedactor(n *codec.Normalizer, hidden []string) (*record.Worker, error) {
	if _, hides, err := redact.Parse(hidden); err != nil || !hides {
		return nil, err
	}
	job, err := record.New(record.Config{Format: "lines", Render: record.RenderTSV, Fields: []string{"url", "error"}, Redact: hidden, Normalizer: n})
	if err != nil {
		return nil, err
	}
	return job.NewWorker(), nil
}

// masked returns a URL masked by w, which may be nil.
func masked(w *record.Worker, url string) string {
	if w == nil {
		return url
	}
	var st record.Stats
	out, _ := w.Append(nil, nil, []byte(url), record.Position{}, &st)
	return string(tsv.AppendUnescaped(nil, splitFields(out)[0]))
}

func (d *Diff) example(e *example) reportExample { return exampleReport(e, d.redact) }

// exampleReport returns an example for a report, masked by w, which may be nil.
func exampleReport(e *example, w *record.Worker) reportExample {
	x := reportExample{raw: masked(w, e.url)}
	if utf8.ValidString(x.raw) {
		x.URL = &x.raw
	} else {
		x.URLB64 = base64.StdEncoding.EncodeToString([]byte(x.raw))
	}
	return x
}

func (s *Side) report() reportSide {
	return reportSide{s.Normalizer.Profile().Name, s.Level.String(), s.Normalizer.KeyFunction(s.Level), s.Normalizer.PolicyVersions(s.Level)}
}

// blameParts is the least number of parts of a group from which the responsible
// rules are derived, even if the report shows fewer parts.
const blameParts = 8

// Report evaluates the collected pairs. The report contains the top groups of
// each effect; format is the format of the input. The Diff must not be used
// afterwards.
func (d *Diff) Report(format string, top int) *Report {
	g := d.graph
	j := g.judge(top, max(blameParts, d.examples))
	return &Report{
		A: d.a.report(), B: d.b.report(), Format: format,
		URLs: j.urls, GroupsA: j.groupsA, GroupsB: j.groupsB, Unchanged: j.unchanged, Rekeyed: j.rekeyed,
		Merges:         d.effect(&j.merges, &d.a, &d.b, func(p *pair) codec.Key { return p.a }),
		Splits:         d.effect(&j.splits, &d.b, &d.a, func(p *pair) codec.Key { return p.b }),
		Rejected:       reportRejects{d.reject(&g.rejected[rejectedByA]), d.reject(&g.rejected[rejectedByB]), d.reject(&g.rejected[rejectedByBoth])},
		BadRecords:     g.records,
		WithoutExample: g.crowded,
	}
}

// effect reports the groups that the profile one keeps together and the profile
// apart divides.
func (d *Diff) effect(e *effect, apart, one *Side, keyOfPart func(*pair) codec.Key) reportEffect {
	out := reportEffect{Groups: e.count, Parts: e.parts, URLs: e.urls, Top: []reportGroup{}}
	for _, gr := range e.groups {
		dg := reportGroup{Key: gr.key.String(), URLs: gr.urls, Parts: gr.count, Rules: append([]string{}, blame(apart, one, gr.parts)...)}
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

func (d *Diff) reject(r *rejection) reportReject {
	out := reportReject{URLs: r.urls, Examples: []reportExample{}}
	for i := range r.examples {
		out.Examples = append(out.Examples, d.example(&r.examples[i]))
	}
	return out
}

// WriteJSON writes a report, or a group of one, as a JSON object on a line.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
