package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/startup"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/arrow"
	"github.com/urlfold/urlfold/internal/storage/avro"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/storage/parquet"
	"github.com/urlfold/urlfold/internal/storage/table"
	"github.com/urlfold/urlfold/pipeline/engine"
	sink "github.com/urlfold/urlfold/sinks/file"
)

// tables opens the inputs that are Parquet or Avro files, and remembers their paths. It
// is safe for concurrent use.
type tables struct {
	columns []string // columns of the URLs; empty: the column called url or similar
	format  string   // --from
	limits  parquet.Limits
	objects *objects.Store // as in settings

	mu     sync.Mutex
	byPath map[string]tableFile
	order  []string // the keys of byPath, in the order in which they were opened
}

// A tableFile is an input with an intact schema.
type tableFile struct {
	format string // name of the format in package table
	err    error  // nil, or why the columns cannot be chosen
}

// newTables returns tables for the columns that --url-field names.
func newTables(urlField, format string) *tables {
	t := &tables{format: format, byPath: map[string]tableFile{}}
	t.limits.Expands = true
	if urlField != "" {
		t.columns = strings.Split(urlField, ",")
	}
	return t
}

// open opens the file at path as text.
func (t *tables) open(path string, f compress.Format) (compress.Table, error) {
	format := f.String()
	if t.format != "" && t.format != format {
		return nil, fmt.Errorf("this is a file of the format %s: remove --from", format)
	}
	in, err := t.openInput(path)
	if err != nil {
		return nil, err
	}
	var text compress.Table
	if f == compress.Avro {
		text, err = avro.OpenText(in, in.Size, t.columns)
	} else {
		text, err = parquet.OpenText(in, in.Size, t.columns, t.limits)
	}
	var columns *table.ColumnError
	if errors.As(err, &columns) || err == nil {
		t.note(path, tableFile{format, err})
	}
	if err != nil {
		_ = in.Close() // err is the error to report
		return nil, err
	}
	return openTable{text, in}, nil
}

// note remembers what the file at path is.
func (t *tables) note(path string, file tableFile) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.byPath[path]; !known {
		t.order = append(t.order, path)
	}
	t.byPath[path] = file
}

// first returns the path of the first file that was opened, or "".
func (t *tables) first() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) == 0 {
		return ""
	}
	return t.order[0]
}

// find returns the file at path, and whether it is a Parquet or Avro file.
func (t *tables) find(path string) (file tableFile, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	file, ok = t.byPath[path]
	return file, ok
}

// count returns how many inputs of f are Parquet files, Avro files and others.
func (t *tables) count(f *formats) (tables, avros, others int) {
	for path := range f.byPath {
		switch file, _ := t.find(path); file.format {
		case table.Parquet:
			tables++
		case table.Avro:
			avros++
		default:
			others++
		}
	}
	return tables, avros, others
}

// An openTable is a Table that closes its file.
type openTable struct {
	compress.Table
	in table.Input
}

// Close implements [compress.Table].
func (t openTable) Close() {
	t.Table.Close()
	_ = t.in.Close() // opened for reading only
}

// openInput opens a file or an object.
func (t *tables) openInput(path string) (table.Input, error) {
	if t.objects != nil && objects.Is(path) {
		return t.openObject(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return table.Input{}, err
	}
	fi, err := f.Stat()
	if err != nil {
		return table.Input{}, errors.Join(err, f.Close())
	}
	return table.Input{ReaderAt: f, Closer: f, Size: fi.Size()}, nil
}

// openObject opens an object.
func (t *tables) openObject(path string) (table.Input, error) {
	o, err := t.objects.Head(context.Background(), path)
	if err != nil {
		return table.Input{}, err
	}
	r, err := t.objects.Open(context.Background(), o)
	if err != nil {
		return table.Input{}, err
	}
	return table.Input{ReaderAt: r, Closer: r, Size: o.Size}, nil
}

// The rest of this file writes Parquet, Avro and Arrow files, in one of two
// ways:
//
//	fields    --to parquet or arrow, any input: a row of fields for each URL
//	rewrite   --to rewrite, Parquet or Avro inputs: their rows with other URLs

// The extensions of Parquet, Avro and Arrow files.
const (
	parquetExt = ".parquet"
	avroExt    = ".avro"
	arrowExt   = ".arrow"
	featherExt = ".feather" // another extension of Arrow files
)

// hasExt reports whether name has an extension.
func hasExt(name, ext string) bool { return strings.EqualFold(filepath.Ext(name), ext) }

// resolveParquet selects the rendering parquet or arrow by the extension of the
// output, unless --to or --extend selects another rendering. If all inputs
// prove to be Parquet files, chooseRewrite replaces parquet by rewrite.
func (s *settings) resolveParquet(bad *command.Mistakes) {
	fields, ext := record.RenderParquet.String(), parquetExt
	if hasExt(s.Output, arrowExt) || hasExt(s.Output, featherExt) {
		fields, ext = record.RenderArrow.String(), filepath.Ext(s.Output)
	}
	switch {
	case !hasExt(s.Output, ext):
	case s.Render.Form == "" && len(s.Extend) == 0:
		s.Render.Form, s.mayRewrite = fields, len(s.Fields) == 0 && ext == parquetExt
	case s.Render.Form == record.RenderRewrite.String() && ext == parquetExt:
	case s.Render.Form != fields:
		bad.Addf("--output", "a file named %s requires --to %s", ext, fields)
	}
}

// chooseRewrite selects the rendering rewrite if --to does not select one,
// the output is named .parquet and all inputs are Parquet files. It returns the
// formats for it, and an error if the rendering is not possible.
func (s *settings) chooseRewrite(f *formats) (*formats, error) {
	tables, avros, others := s.tables.count(f)
	if s.mayRewrite && tables > 0 && avros+others == 0 {
		s.record.Render = record.RenderRewrite
		var err error
		if f, err = f.with(s.record); err != nil {
			return nil, err
		}
	}
	rewrites := s.record.Render == record.RenderRewrite
	if s.mayRewrite && tables > 0 && avros+others > 0 {
		return nil, command.Usagef("some inputs are Parquet files and others are not: use --to parquet to write the same columns for all of them")
	}
	for _, kind := range []struct {
		ext, article, name string
		inputs             int
	}{{parquetExt, "a", "Parquet", tables}, {avroExt, "an", "Avro", avros}} {
		switch {
		case !rewrites:
		case kind.inputs > 0 && kind.inputs < tables+avros+others:
			return nil, command.Usagef("some inputs are %s files and others are not: rewrite them in two runs", kind.name)
		case kind.inputs > 0 && !s.perInput() && !s.DryRun && !hasExt(s.Output, kind.ext):
			return nil, command.Usagef("%s %s file can only be rewritten to %[1]s %[2]s file: use --output FILE%s or --output-dir, or --to jsonl, tsv, urls, keys or parquet", kind.article, kind.name, kind.ext)
		case kind.inputs == 0 && hasExt(s.Output, kind.ext):
			return nil, command.Usagef("--to rewrite to a file named %s requires %s inputs; use --to parquet", kind.ext, kind.name)
		}
	}
	if s.rewritesTables = rewrites && tables+avros > 0; s.rewritesTables {
		return f, s.checkRewrite()
	}
	return f, nil
}

// checkRewrite returns an error if an option does not apply when Parquet or Avro
// files are rewritten.
func (s *settings) checkRewrite() error {
	const files = "not possible when Parquet or Avro files are rewritten"
	switch {
	case s.record.Shard.Of > 0:
		return command.Usagef("--shard-by: cannot divide the rows of Parquet or Avro files that are rewritten: use --shard-by path or --to parquet")
	case s.hides():
		return command.Usagef("--redact, --secret: " + files + ", which copies the other columns: use --to parquet")
	case s.unordered():
		return command.Usagef("--order: " + files + "; remove the option")
	case s.Compress != autoCompress:
		return command.Usagef("--compress: a rewritten Parquet or Avro file keeps the compression of its input; remove the option")
	}
	return nil
}

// writesTables reports whether the outputs are Parquet, Arrow or Avro files.
func (s *settings) writesTables() bool {
	return s.record.Render.HasColumns() || s.rewritesTables
}

// newEncoder returns a function that makes the encoder of the output for an
// input, or nil if the output is text.
func (s *settings) newEncoder(f *formats) func(input string, w io.Writer) (sink.Encoder, error) {
	switch {
	case s.rewritesTables:
		return s.newRewriter
	case !s.writesTables():
		return nil
	}
	columns, method := f.fallback.Columns(), s.Compress
	if method == autoCompress {
		method = ""
	}
	if s.record.Render == record.RenderArrow {
		file := s.perInput() || s.Output != "" && s.Output != stdoutPath
		return func(_ string, w io.Writer) (sink.Encoder, error) {
			return rowEncoder{arrow.NewWriter(w, columns, file)}, nil
		}
	}
	return func(_ string, w io.Writer) (sink.Encoder, error) {
		out, err := parquet.NewWriter(w, columns, method)
		return rowEncoder{out}, err
	}
}

// newRewriter returns the encoder that rewrites an input.
func (s *settings) newRewriter(input string, w io.Writer) (sink.Encoder, error) {
	if file, _ := s.tables.find(input); file.format == table.Avro {
		startup.SetGOGC(25) // two blocks of up to 64 MiB stay allocated; collecting more often costs little
		out, err := avro.NewRewriter(w, s.tables.openInput, input, s.tables.columns)
		return tableRewriter{out}, err
	}
	out, err := parquet.NewRewriter(w, s.tables.openInput, input, parquet.RewriterOptions{Columns: s.tables.columns, Limits: s.tables.limits, TempDir: s.TempDir})
	return tableRewriter{out}, err
}

// oneEncoder returns a function that makes the encoder of the only output, or
// nil if the output is text.
func (s *settings) oneEncoder(f *formats) func(w io.Writer) (sink.Encoder, error) {
	newEncoder := s.newEncoder(f)
	if newEncoder == nil {
		return nil
	}
	return func(w io.Writer) (sink.Encoder, error) { return newEncoder(s.tables.first(), w) }
}

// A rowEncoder writes the rows of batches to a Parquet or Arrow file.
type rowEncoder struct{ rowAppender }

// A rowAppender is a Writer of package parquet or arrow.
type rowAppender interface {
	Append(rows []byte) error
	Close() error
}

// Append implements [sink.Encoder].
func (e rowEncoder) Append(_ *engine.Batch, stream *engine.Stream) error {
	return e.rowAppender.Append(stream.Bytes)
}

// A tableRewriter copies Parquet or Avro files with the URLs of batches.
type tableRewriter struct{ rowWriter }

// A rowWriter is a Rewriter of package parquet or avro.
type rowWriter interface {
	Add(name string, row int64, text []byte) error
	Flush() error
	Close() error
}

// Append implements [sink.Encoder]. A line of the input is a row of the file, so
// the number of the row follows from the line ends before the record.
func (e tableRewriter) Append(b *engine.Batch, stream *engine.Stream) error {
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

// refuseTerminal returns an error if Parquet or Arrow data would be written to a
// terminal.
func (s *settings) refuseTerminal(stdout io.Writer) error {
	if s.record.Render.HasColumns() && !s.perInput() && (s.Output == "" || s.Output == stdoutPath) && terminal.Is(stdout) {
		return fmt.Errorf("--to %s writes binary data: name a file with --output, or redirect stdout", s.record.Render)
	}
	return nil
}
