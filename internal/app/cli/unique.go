package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/report/keydiff"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/unique"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/discard"
)

// This file implements --dedupe: one record for each key.

// The values of --dedupe.
const (
	uniqueFirst = "first"
	uniqueLast  = "last"
	uniqueMark  = "mark"
	uniqueCount = "count"
)

// resolveUnique sets what identifies a record.
func (s *settings) resolveUnique(bad *command.Mistakes) {
	if s.TempDir != "" {
		bad.Add("--temp-dir", disk.Writable(s.TempDir))
	}
	if s.Unique == "" && !s.identified {
		return
	}
	keyOf := enumOf("dedupe-url")
	s.KeyOf = cmp.Or(s.KeyOf, keyOf[0])
	by, errBy := record.IdentityName(cmp.Or(s.By, record.IdentityNames()[0]))
	s.By = by
	bad.Add("--by", errBy)
	first, err := suggest.Index("value", keyOf, s.KeyOf)
	bad.Add("--dedupe-url", err)
	if errBy == nil {
		s.record.Identity = record.Identity{By: s.By, First: first > 0}
	}
	s.record.Note = s.uniqueNote()
}

// uniqueNote returns the field that --dedupe adds to each record.
func (s *settings) uniqueNote() record.Note { return noteOf(s.Unique) }

// noteOf returns the field that a mode of --dedupe adds.
func noteOf(mode string) record.Note {
	switch mode {
	case uniqueMark:
		return unique.MarkNote
	case uniqueCount:
		return unique.NoteOf(unique.Count)
	}
	return record.Note{}
}

// takeNote removes the name of the field that --dedupe adds from the end of
// --fields, because the field is always the last field.
func (s *settings) takeNote(bad *command.Mistakes) {
	for _, mode := range []string{uniqueMark, uniqueCount} {
		name := noteOf(mode).Name
		i := slices.Index(s.Fields, name)
		switch last := len(s.Fields) - 1; {
		case i < 0:
			continue
		case s.Unique != mode:
			bad.Addf("--fields", "%s requires --dedupe=%s, which adds this field", name, mode)
		case i < last:
			bad.Addf("--fields", "%s must be the last field, where --dedupe=%s writes it", name, mode)
		case last == 0:
			bad.Addf("--fields", "requires another field before %s, such as url,%[1]s", name)
		}
		s.Fields = slices.DeleteFunc(slices.Clone(s.Fields), func(f string) bool { return f == name })
	}
}

// twice reports whether the mode of --dedupe reads the inputs twice.
func (s *settings) twice() bool { return s.Unique == uniqueLast || s.Unique == uniqueCount }

// defaultMemory is the default of --max-memory.
const defaultMemory = 256 * field.MiB

// A uniqueFilter is a filter of --dedupe.
type uniqueFilter interface {
	engine.Filter
	Close() error
}

// newFilter returns the filter of --dedupe or seen query, or nil without them. It
// reads the inputs for the first time if the mode reads them twice.
func (r *oneShot) newFilter(ctx context.Context) (engine.Filter, error) {
	switch {
	case r.set.asked != nil:
		return r.set.asked.filter(), nil
	case r.set.Unique == "":
		return nil, nil
	}
	samples, err := r.newSamples()
	if err != nil {
		return nil, err
	}
	r.out.samples = samples
	o := keyset.Options{MaxMemory: int64(r.set.MaxMemory), Dir: r.set.TempDir}
	switch r.set.Unique {
	case uniqueFirst:
		f := unique.NewFirst(o)
		f.Samples, r.out.unique = samples, f
	case uniqueMark:
		f := unique.NewMark(o, r.set.record.Render)
		f.Samples, r.out.unique = samples, f
	default:
		f, err := r.survey(ctx, o)
		if err != nil {
			return nil, err
		}
		f.Samples, r.out.unique = samples, f
	}
	return r.out.unique, nil
}

// survey reads the inputs, and returns the filter that reads them again.
func (r *oneShot) survey(ctx context.Context, o keyset.Options) (chosen *unique.Chosen, err error) {
	mode := unique.Last
	if r.set.Unique == uniqueCount {
		mode = unique.Count
	}
	s := unique.NewSurvey(mode, o)
	defer func() { err = errors.Join(err, s.Close()) }()
	parallel, err := r.set.parallelInputs(disk.MaxOpen(), r.set.log)
	if err != nil {
		return nil, err
	}
	source, err := r.set.newSource(nil, func() *formats { return r.out.formats }, parallel)
	if err != nil {
		return nil, err
	}
	opt := engine.Options{NewCodec: engine.NewRecordCodecs(r.out.formats.job), Ordering: engine.OrderInput, Logger: r.set.log, Filter: s}
	if r.output.dead != nil {
		opt.DeadLetter = discard.New(discard.Config{})
	}
	p, err := r.set.drain(source, opt)
	if err != nil {
		return nil, err
	}
	if err := p.Run(ctx); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, command.Cut("interrupted while the inputs were read for the first time; nothing was written")
	}
	return s.Choose(r.set.record.Render)
}

// verifyTwice returns an error if the inputs changed between the two times that
// they were read.
func (o *outcome) verifyTwice() error {
	if c, ok := o.unique.(*unique.Chosen); ok {
		return c.Verify()
	}
	return nil
}

// duplicateName is the name of the count of records that the filter left out.
func (o *outcome) duplicateName() string {
	if o.set.asked != nil {
		return "left out"
	}
	return "duplicates"
}

// duplicateRemark says what --dedupe compared.
func (o *outcome) duplicateRemark() string {
	if o.set.asked != nil {
		return o.set.asked.remark()
	}
	by := o.set.By
	if by == "key" {
		by += " (" + o.set.record.Level.String() + ")"
	}
	if o.set.Unique == uniqueLast {
		return "same " + by + " as a later record"
	}
	return "same " + by + " as an earlier record"
}

// mostMerging is the maximum number of rules in the summary.
const mostMerging = 10

// mergingRules returns the rules that lead to the keys that --dedupe compared,
// with the number of URLs that each rule changed. It returns none if there are
// no duplicates, or if --by is not a key.
func (o *outcome) mergingRules() (found []count) {
	if o.set.Unique == "" || o.stats.Duplicates+o.marked() == 0 {
		return nil
	}
	lv, keyed := o.set.uniqueLevel()
	if !keyed {
		return nil
	}
	rules := rulesOf(o.set.record.Normalizer.Profile().Standard, lv)
	found = counts(o.stats.Rules[:], ruleName)
	found = slices.DeleteFunc(found, func(c count) bool {
		return !slices.ContainsFunc(slices.Collect(rules.All()), func(r codec.Rule) bool { return r.String() == c.name })
	})
	return found[:min(len(found), mostMerging)]
}

// rulesOf returns the rules that lead from a URL to its key of a level, if the
// standard parses it. The rules of a profile that reproduces a program are not
// divided into levels.
func rulesOf(std codec.Standard, lv codec.Level) codec.Rules {
	rules := codec.ParserRules(std)
	switch lv {
	case codec.LevelMatch:
		return codec.AllRules()
	case codec.LevelShape:
		rules = rules.Union(codec.KeyRules(codec.LevelShape))
		lv = codec.LevelFetch
	}
	for lower := codec.LevelSyntax; lower <= lv; lower++ {
		rules = rules.Union(codec.KeyRules(lower))
	}
	return rules
}

// marked returns the number of records that --dedupe=mark has marked.
func (o *outcome) marked() int64 {
	if m, ok := o.unique.(*unique.Mark); ok {
		return m.Marked
	}
	return 0
}

// The rest of this file shows which records --dedupe has merged: examples of
// different URLs with the same key, and the rules that make their keys the
// same.

// mostSamples is the maximum number of examples in the summary and in the report.
const mostSamples = 5

// reportMerged describes the records that --dedupe took for duplicates.
type reportMerged struct {
	Records int64            `json:"records"` // records that were left out, or marked
	Samples []keydiff.Merged `json:"samples"` // samples with different URLs
}

// newSamples returns the collector of examples for the filter of --dedupe, or nil if
// nobody will see them.
func (r *oneShot) newSamples() (*unique.Samples, error) {
	if r.set.Quiet && r.set.Report == "" {
		return nil, nil
	}
	c := r.set.record
	c.Render, c.Fields, c.Extend, c.Note = record.RenderTSV, []string{"url", "norm"}, nil, record.Note{}
	c.Redact, c.Where, c.Shard, c.Identity = nil, nil, record.Shard{}, record.Identity{}
	c.OnRejected, c.OnUnparsed, c.OnOversize = record.DispositionDefault, record.DispositionDefault, record.DispositionDefault
	f, err := r.out.formats.with(c)
	if err != nil {
		return nil, err
	}
	return unique.NewSamples(f.job, r.set.Unique == uniqueLast, r.set.record.Identity.First), nil
}

// merge sets o.merged to the examples of records that --dedupe has merged.
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

// uniqueLevel returns the level of the keys that --dedupe compares, and whether it
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
