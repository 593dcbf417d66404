package cli

import (
	"bytes"
	"context"
	"os"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
	sink "github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sources/file"
)

// This file decides whether a file is intact without reading its records. The
// verdict comes from the source, as in a run that reads the records, so all
// commands agree.

// A judgement is the result of reading a whole file.
type judgement struct {
	file.Report
	whole int64 // length of the text up to its last line feed
}

// judge reads the whole file at path, with the framing of the format that the
// file seems to have.
func (o options) judge(sig *command.Signals, path string) (*judgement, error) {
	set, err := o.resolve([]string{path})
	if err != nil {
		return nil, err
	}
	set.Jobs, set.exact, set.tables = 1, true, newTables("", "")
	set.tables.limits.Whole, set.tables.objects = true, set.objects
	f := newFormats(set)
	source, err := set.openSource(nil, func() *formats { return f }, 1)
	if err != nil { // perhaps the file was removed in the meantime
		return nil, err
	}
	err = source.Inspect(sig.Soft, peekBytes, maxPeek, func(path string, head []byte, _ compress.Verdict) {
		_ = f.inspect(path, head) // an input without a format is read as lines
		if f.jobs[f.byPath[path]] == nil && f.format(path) != "" {
			f.config.URLField = "url" // any column will do, because the ends of records do not depend on it
			_, _ = f.add(f.byPath[path])
		}
	})
	if err != nil {
		return nil, command.Cut("interrupted")
	}
	f.fallBack()
	j := &judgement{}
	pipe, err := set.drain(source, engine.Options{NewCodec: func() engine.Codec { return unread{j} }, Ordering: engine.OrderInput})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(sig.Soft, pipe.HardStop)
	defer stop()
	if err := pipe.Run(sig.Soft); err != nil {
		return nil, err
	}
	j.Report = source.Reports()[0]
	if o := source.Object(path); o != nil && j.CompressedBytes > o.Size { // parts of a table are read twice
		j.CompressedBytes = o.Size
	}
	if t, ok := set.tables.find(path); ok && t.err != nil { // a table without a column of URLs
		j.Verdict = compress.Verdict{Kind: compress.UnsupportedFormat, Format: j.Format, Detail: t.err.Error()}
	}
	return j, nil
}

// An unread is a codec that reads no records.
type unread struct{ j *judgement }

// Process implements [engine.Codec].
func (c unread) Process(b *engine.Batch) {
	if i := bytes.LastIndexByte(b.In, '\n'); i >= 0 {
		c.j.whole = b.Off + int64(i) + 1
	}
	b.Next, b.NextMsg = len(b.In), len(b.Msgs)
}

// Reject implements [engine.Codec].
func (unread) Reject(b *engine.Batch) { b.Next = len(b.In) }

// Refuse implements [engine.Codec].
func (unread) Refuse(*engine.Batch) {}

// verify returns the report on the file at path, whose records are not read.
func (o options) verify(sig *command.Signals, path string) (sink.Report, error) {
	j, err := o.judge(sig, path)
	if err != nil {
		return sink.Report{}, err
	}
	v := compress.Verification{
		Verdict: j.Verdict, Compressed: j.CompressedBytes, Bytes: j.Bytes, Lines: j.Verified.Lines + j.Unverified.Lines, Members: j.Members, Good: j.Good,
	}
	if fi, err := os.Stat(path); err == nil {
		v.Compressed = fi.Size()
	}
	if j.Format == compress.Plain && !j.Verdict.Refused() {
		v.Good = j.whole
	}
	return sink.ReportOf(path, v), nil
}
