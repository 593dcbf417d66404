package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/unique"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sinks/discard"
)

// This file implements --unique: one record for each key.

// The values of --unique.
const (
	uniqueFirst = "first"
	uniqueLast  = "last"
	uniqueMark  = "mark"
	uniqueCount = "count"
)

// resolveUnique sets what identifies a record.
func (s *settings) resolveUnique(bad *mistakes) {
	if s.TempDir != "" {
		bad.add("--temp-dir", disk.Writable(s.TempDir))
	}
	if s.Unique == "" && !s.identified {
		return
	}
	keyOf := enumOf("key-of")
	s.By, s.KeyOf = cmp.Or(s.By, record.IdentityNames()[0]), cmp.Or(s.KeyOf, keyOf[0])
	_, errBy := suggest.Index("field", record.IdentityNames(), s.By)
	bad.add("--by", errBy)
	first, err := suggest.Index("value", keyOf, s.KeyOf)
	bad.add("--key-of", err)
	if errBy == nil {
		s.record.Identity = record.Identity{By: s.By, First: first > 0}
	}
	s.record.Note = s.uniqueNote()
}

// uniqueNote returns the field that --unique adds to each record.
func (s *settings) uniqueNote() record.Note { return noteOf(s.Unique) }

// noteOf returns the field that a mode of --unique adds.
func noteOf(mode string) record.Note {
	switch mode {
	case uniqueMark:
		return unique.MarkNote
	case uniqueCount:
		return unique.NoteOf(unique.Count)
	}
	return record.Note{}
}

// takeNote removes the name of the field that --unique adds from the end of
// --fields, because the field is always the last one.
func (s *settings) takeNote(bad *mistakes) {
	for _, mode := range []string{uniqueMark, uniqueCount} {
		name := noteOf(mode).Name
		i := slices.Index(s.Fields, name)
		switch last := len(s.Fields) - 1; {
		case i < 0:
			continue
		case s.Unique != mode:
			bad.add("--fields", fmt.Errorf("%s requires --unique=%s, which adds this field", name, mode))
		case i < last:
			bad.add("--fields", fmt.Errorf("%s must be the last field, where --unique=%s writes it", name, mode))
		case last == 0:
			bad.add("--fields", fmt.Errorf("requires another field before %s, such as url,%[1]s", name))
		}
		s.Fields = slices.DeleteFunc(slices.Clone(s.Fields), func(f string) bool { return f == name })
	}
}

// twice reports whether the mode of --unique reads the inputs twice.
func (s *settings) twice() bool { return s.Unique == uniqueLast || s.Unique == uniqueCount }

// defaultMemory is the default of --max-memory.
const defaultMemory = field.GiB

// A uniqueFilter is a filter of --unique.
type uniqueFilter interface {
	pipeline.Filter
	Close() error
}

// newFilter returns the filter of --unique or seen query, or nil without them. It
// reads the inputs for the first time if the mode reads them twice.
func (r *oneShot) newFilter(ctx context.Context) (pipeline.Filter, error) {
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
	opt := pipeline.Options{NewCodec: pipeline.NewRecordCodecs(r.out.formats.job), Ordering: pipeline.OrderInput, Logger: r.set.log, Filter: s}
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
		return nil, &exitError{code: exitCut, err: errors.New("interrupted while the inputs were read for the first time; nothing was written")}
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

// duplicateRemark says what --unique compared.
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

// mergingRules returns the rules that lead to the keys that --unique compared, with
// the numbers of the URLs that they changed. It returns none if there are no
// duplicates, or if --by is not a key.
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
	case codec.KMatch:
		return ^codec.Rules(0)
	case codec.KSurface:
		rules |= codec.KeyRules(codec.KSurface)
		lv = codec.K2
	}
	for lower := codec.K0; lower <= lv; lower++ {
		rules |= codec.KeyRules(lower)
	}
	return rules
}

// marked returns the number of records that --unique=mark has marked.
func (o *outcome) marked() int64 {
	if m, ok := o.unique.(*unique.Mark); ok {
		return m.Marked
	}
	return 0
}
