package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/extsort"
	"github.com/urlfold/urlfold/pipeline/engine"
	sink "github.com/urlfold/urlfold/sinks/file"
)

// This file implements --sort time.

// resolveSort makes the workers collect the times of the records. It needs the results of
// resolveUnique.
func (s *settings) resolveSort() {
	if s.Sort != "" {
		id := &s.record.Identity
		id.By, id.Time = cmp.Or(id.By, record.IdentityNames()[0]), true
	}
}

// A sortedOutput writes its records to an Output in the order of their times, once it has
// all of them. The texts are in a temporary file.
type sortedOutput struct {
	sink.Output
	dir   string
	texts *extsort.Spool
	sort  *extsort.Sorter[timed]
	lane  *engine.Lane // lane of the last record
	at    record.Time  // time of the last record that has a time
	n     uint64

	job       func(path string) *record.Job
	directive []byte // the directive, such as #Fields, in force for all records; nil: no record yet
	failed    bool   // Submit has reported an error
}

// A timed is a record with its place in the texts.
type timed struct {
	at      record.Time
	ordinal uint64
	place   int64
}

// mostSorting is the maximum memory for sorting, in bytes. More memory would
// not make it faster.
const mostSorting = 128 << 20

// newSorted returns an output that sorts what it writes to out.
func newSorted(out sink.Output, s *settings, f *formats) *sortedOutput {
	compare := func(a, b timed) int {
		return cmp.Or(cmp.Compare(a.at.Seconds, b.at.Seconds), cmp.Compare(a.at.Nanos, b.at.Nanos), cmp.Compare(a.ordinal, b.ordinal))
	}
	sorter := extsort.New(min(int64(s.MaxMemory)/2, mostSorting), s.TempDir, compare, func(_, _ *timed) bool { return false })
	return &sortedOutput{Output: out, dir: s.TempDir, sort: sorter, job: f.job}
}

// Open implements [engine.Sink].
func (s *sortedOutput) Open(ctx context.Context) (err error) {
	if s.texts, err = extsort.NewSpool(s.dir); err != nil {
		return err
	}
	return s.Output.Open(ctx)
}

// Submit implements [engine.Sink].
func (s *sortedOutput) Submit(ctx context.Context, b *engine.Batch, t engine.Ticket) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	res := engine.Result{Err: s.add(b, t.Stream())}
	if res.Err != nil {
		s.failed, res.Class = true, engine.Fatal
	}
	t.Done(res)
	return nil
}

// add adds the records of b. A record without a time, such as the header of
// a table or a piece of an oversize record, stays behind the record that
// precedes it in its input.
func (s *sortedOutput) add(b *engine.Batch, stream *engine.Stream) error {
	if err := s.follow(b); err != nil {
		return err
	}
	if b.Lane != s.lane {
		s.lane, s.at = b.Lane, record.Time{Seconds: math.MinInt64}
	}
	ends := b.Piece == engine.Whole || b.Piece == engine.Last
	for i, r := range stream.Recs {
		if t := stream.Times[i]; t.Known {
			s.at = t
		}
		text, end := stream.Bytes[r.Off:][:r.Len], ""
		if ends && len(text) > 0 && text[len(text)-1] != '\n' { // only the last record of an input may lack a line feed
			end = "\n"
		}
		place, err := s.texts.Write(text, []byte(end))
		if err != nil {
			return err
		}
		s.n++
		if err := s.sort.Add(timed{s.at, s.n, place}); err != nil {
			return err
		}
	}
	return nil
}

// follow returns an error if the records of b follow a different directive than
// earlier records, because sorting could put them below the wrong directive.
func (s *sortedOutput) follow(b *engine.Batch) error {
	line, texts := b.Line, [][]byte(nil)
	if b.Lane != s.lane {
		texts, line = append(texts, b.Lane.Head()), line-1
	}
	job := s.job(b.Lane.Name())
	director, ok := job.Framing().(record.Director)
	if ok = ok && job.Headed(); ok {
		texts = slices.AppendSeq(texts, bytes.Lines(b.In))
	}
	for i, text := range texts {
		var d []byte
		if ok {
			d = bytes.TrimRight(director.Directive(nil, text), "\r\n")
		}
		switch {
		case d == nil && (i > 0 || b.Lane == s.lane):
		case s.directive == nil:
			s.directive = append([]byte{}, d...)
		case !bytes.Equal(d, s.directive):
			return fmt.Errorf("--sort: %s: line %d: another header, such as #Fields, begins here: use --to jsonl, tsv or urls", shownPath(b.Lane.Name()), max(1, line+int64(i)))
		}
	}
	return nil
}

// Close implements [engine.Sink]. It writes the records unless the run was cut short.
func (s *sortedOutput) Close(ctx context.Context) error {
	err := ctx.Err()
	if s.failed {
		err = nil
	}
	if s.texts != nil {
		if err == nil && !s.failed {
			err = s.write(ctx)
		}
		err = errors.Join(err, s.texts.Close())
	}
	return errors.Join(err, s.sort.Close(), s.Output.Close(ctx))
}

// write writes the records in order.
func (s *sortedOutput) write(ctx context.Context) error {
	const enough = 256 << 10
	if err := s.texts.Flush(); err != nil {
		return err
	}
	all, err := s.sort.Sorted()
	var text []byte
	for ok := true; ok && err == nil; {
		var t timed
		if t, ok, err = all.Next(); ok && err == nil {
			var body, end string
			body, end, err = s.texts.Read(t.place)
			text = append(append(text, body...), end...)
		}
		if err == nil && len(text) > 0 && (!ok || len(text) >= enough) {
			err = submitText(ctx, s.Output, text)
			text = text[:0]
		}
	}
	return err
}

// submitText hands text to out, which does not retain it.
func submitText(ctx context.Context, out engine.Sink, text []byte) error {
	stream := engine.Stream{Bytes: text}
	var res engine.Result
	err := out.Submit(ctx, nil, engine.NewTicket(&stream, func(r engine.Result) { res = r }))
	return errors.Join(err, res.Err)
}
