package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/storage/parquet"
	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/pipeline"
	sink "github.com/urlfold/urlfold/sinks/file"
)

// This file writes Parquet files. There are two kinds:
//
//	fields    --render parquet, any input: a row of fields for each URL
//	rewrite   --render rewrite, Parquet inputs: their rows with other URLs

// parquetExt is the extension of Parquet files.
const parquetExt = ".parquet"

// isParquetName reports whether name has the extension of Parquet files.
func isParquetName(name string) bool { return strings.EqualFold(filepath.Ext(name), parquetExt) }

// resolveParquet selects the rendering parquet for an output that is named so,
// unless --render or --extend selects another. If all inputs prove to be Parquet
// files, chooseRewrite replaces it.
func (s *settings) resolveParquet(bad *mistakes) {
	fields := record.RenderParquet.String()
	switch {
	case !isParquetName(s.output):
	case s.render == "" && len(s.extend) == 0:
		s.render, s.mayRewrite = fields, len(s.fields) == 0
	case s.render == record.RenderRewrite.String():
	case s.render != fields:
		bad.add("--output", fmt.Errorf("a file named %s requires --render %s", parquetExt, fields))
	}
}

// chooseRewrite selects the rendering rewrite if --render does not select one,
// the output is named .parquet and all inputs are Parquet files. It returns the
// formats for it, and an error if the rendering is not possible.
func (s *settings) chooseRewrite(f *formats) (*formats, error) {
	tables, avros, others := s.tables.count(f)
	others += avros
	if s.mayRewrite && tables > 0 && others == 0 {
		s.record.Render = record.RenderRewrite
		var err error
		if f, err = f.with(s.record); err != nil {
			return nil, err
		}
	}
	s.rewritesTables = s.record.Render == record.RenderRewrite && tables > 0
	switch {
	case s.record.Render == record.RenderRewrite && avros > 0:
		return nil, usage(errors.New("an Avro file cannot be rewritten: use --render jsonl, tsv, urls, keys or parquet"))
	case s.mayRewrite && tables > 0 && others > 0:
		return nil, usage(errors.New("some inputs are Parquet files and others are not: use --render parquet to write the same columns for all of them"))
	case s.record.Render == record.RenderRewrite && isParquetName(s.output) && tables == 0:
		return nil, usage(errors.New("--render rewrite to a file named .parquet requires Parquet inputs; use --render parquet"))
	case !s.rewritesTables:
		return f, nil
	case others > 0:
		return nil, usage(errors.New("some inputs are Parquet files and others are not: rewrite them in two runs"))
	case s.outputDir == "" && !isParquetName(s.output):
		return nil, usage(errors.New("a Parquet file can only be rewritten to a Parquet file: use --output FILE.parquet or --output-dir, or --render jsonl, tsv, urls, keys or parquet"))
	case s.unique != "":
		return nil, usage(errors.New("--unique: not possible when Parquet files are rewritten, which keeps all rows: use --render parquet"))
	case s.record.Shard.Of > 0:
		return nil, usage(errors.New("--shard-by: records cannot be assigned when Parquet files are rewritten, which keeps all rows: use --shard-by path or --render parquet"))
	case s.unordered:
		return nil, usage(errors.New("--unordered: not possible when Parquet files are rewritten; remove the flag"))
	case s.compress != autoCompress:
		return nil, usage(errors.New("--compress: a rewritten Parquet file keeps the compression of its input; remove the flag"))
	}
	return f, nil
}

// writesTables reports whether the outputs are Parquet files.
func (s *settings) writesTables() bool {
	return s.record.Render == record.RenderParquet || s.rewritesTables
}

// newEncoder returns a function that makes the encoder of the output for an
// input, or nil if the output is text.
func (s *settings) newEncoder(f *formats) func(input string, w io.Writer) (sink.Encoder, error) {
	switch {
	case s.rewritesTables:
		return func(input string, w io.Writer) (sink.Encoder, error) {
			out, err := parquet.NewRewriter(w, openInput, input, s.tables.columns)
			return tableRewriter{out}, err
		}
	case !s.writesTables():
		return nil
	}
	columns, method := f.fallback.Columns(), s.compress
	if method == autoCompress {
		method = ""
	}
	return func(_ string, w io.Writer) (sink.Encoder, error) {
		out, err := parquet.NewWriter(w, columns, method)
		return parquetEncoder{out}, err
	}
}

// oneEncoder returns a function that makes the encoder of the only output, or
// nil if it is text.
func (s *settings) oneEncoder(f *formats) func(w io.Writer) (sink.Encoder, error) {
	newEncoder := s.newEncoder(f)
	if newEncoder == nil {
		return nil
	}
	return func(w io.Writer) (sink.Encoder, error) { return newEncoder(s.tables.first(), w) }
}

// A parquetEncoder writes the rows of batches to a Parquet file.
type parquetEncoder struct{ *parquet.Writer }

// Append implements [sink.Encoder].
func (e parquetEncoder) Append(_ *pipeline.Batch, stream *pipeline.Stream) error {
	return e.Writer.Append(stream.Bytes)
}

// A tableRewriter copies Parquet files with the URLs of batches.
type tableRewriter struct{ *parquet.Rewriter }

// Append implements [sink.Encoder]. A line of the input is a row of the file, so
// the number of the row follows from the line ends before the record.
func (e tableRewriter) Append(b *pipeline.Batch, stream *pipeline.Stream) error {
	row, at := b.Line-1, 0
	for i := range stream.Recs {
		r := &stream.Recs[i]
		for ; at < int(r.Src); at++ {
			if b.In[at] == '\n' {
				row++
			}
		}
		if err := e.Add(b.Lane.Name(), row, stream.Bytes[r.Off:r.Off+r.Len]); err != nil {
			return err
		}
	}
	return e.Flush()
}

// refuseTerminal returns an error if Parquet data would be written to a
// terminal.
func (s *settings) refuseTerminal(stdout io.Writer) error {
	if s.record.Render == record.RenderParquet && s.outputDir == "" && (s.output == "" || s.output == stdoutPath) && terminal.Is(stdout) {
		return errors.New("--render parquet writes binary data: name a file with --output, or redirect stdout")
	}
	return nil
}
