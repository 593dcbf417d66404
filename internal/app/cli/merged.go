package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/report/keydiff"
	"github.com/urlfold/urlfold/internal/storage/unique"
)

// This file shows which records --unique has merged: examples of URLs that differ and
// count as the same, with the rules that make them the same.

// mostSamples is the maximum number of examples in the summary and in the report.
const mostSamples = 5

// reportMerged describes the records that --unique took for duplicates.
type reportMerged struct {
	Records int64            `json:"records"` // left out, or marked
	Samples []keydiff.Merged `json:"samples"` // whose URLs differ
}

// newSamples returns the collector of examples for the filter of --unique, or nil if
// nobody will see them.
func (r *oneShot) newSamples() (*unique.Samples, error) {
	if r.set.Quiet && r.set.Report == "" {
		return nil, nil
	}
	c := r.set.record
	c.Render, c.Fields, c.Extend, c.Note = record.RenderTSV, []string{"url", "norm"}, nil, record.Note{}
	c.Redact, c.Divert, c.Where, c.Shard, c.Identity = nil, false, nil, record.Shard{}, record.Identity{}
	c.OnUnparsed, c.OnOversize = record.DispositionDefault, record.DispositionDefault
	f, err := r.out.formats.with(c)
	if err != nil {
		return nil, err
	}
	return unique.NewSamples(f.job, r.set.Unique == uniqueLast, r.set.record.Identity.First), nil
}

// merge sets what --unique has merged.
func (o *outcome) merge() error {
	if o.samples == nil {
		return nil
	}
	lv, keyed := o.set.uniqueLevel()
	m, err := keydiff.NewMerger(keydiff.Side{Normalizer: o.set.record.Normalizer, Level: lv}, keyed, redact.OrPasswords(o.set.record.Redact))
	if err != nil {
		return err
	}
	all := []keydiff.Merged{}
	for _, p := range o.samples.Pairs() {
		all = append(all, m.Describe(keydiff.Spelling(p.Kept), keydiff.Spelling(p.Duplicate)))
	}
	o.merged = &reportMerged{Records: o.stats.Duplicates + o.marked(), Samples: keydiff.MostTelling(all, mostSamples)}
	return nil
}

// uniqueLevel returns the level of the keys that --unique compares, and whether it
// compares keys.
func (s *settings) uniqueLevel() (codec.Level, bool) {
	if s.By == record.IdentityNames()[0] {
		return s.record.Level, true
	}
	lv, err := codec.ParseLevel(s.By)
	return lv, err == nil
}

// writeMerged adds the examples to the summary.
func (o *outcome) writeMerged(s *summary) {
	if o.merged == nil {
		return
	}
	verb := "dropped"
	if o.set.Unique == uniqueMark {
		verb = "marked"
	}
	for i := range o.merged.Samples {
		x := &o.merged.Samples[i]
		kept, duplicate := x.Texts(s.Style)
		by := "for example"
		if len(x.Rules) > 0 {
			by += ", by " + strings.Join(x.Rules, ", ")
		}
		s.text("    " + s.Paint(terminal.Dim, by))
		s.text("      kept     " + kept)
		s.text("      " + verb + strings.Repeat(" ", len("dropped  ")-len(verb)) + duplicate)
	}
}

// add returns r with the records and examples of o, another shard. Both may be nil.
func (r *reportMerged) add(o *reportMerged) *reportMerged {
	if r == nil || o == nil {
		return cmp.Or(r, o)
	}
	all := slices.Concat(r.Samples, o.Samples)
	return &reportMerged{Records: r.Records + o.Records, Samples: keydiff.MostTelling(all, mostSamples)}
}
