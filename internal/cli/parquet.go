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

// parquetExt is the extension of Parquet files.
const parquetExt = ".parquet"

// isParquetName reports whether name has the extension of Parquet files.
func isParquetName(name string) bool { return strings.EqualFold(filepath.Ext(name), parquetExt) }

// resolveParquet selects the rendering parquet for an output that is named so,
// unless --render or --extend selects another.
func (s *settings) resolveParquet(bad *mistakes) {
	parquet := record.RenderParquet.String()
	switch {
	case !isParquetName(s.output):
	case s.render == "" && len(s.extend) == 0:
		s.render = parquet
	case s.render != parquet:
		bad.add("--output", fmt.Errorf("a file named %s requires --render %s", parquetExt, parquet))
	}
}

// newEncoder returns a function that makes the encoder of an output, or
// nil if the output is text.
func (s *settings) newEncoder(f *formats) func(w io.Writer) (sink.Encoder, error) {
	if s.record.Render != record.RenderParquet {
		return nil
	}
	columns, method := f.fallback.Columns(), s.compress
	if method == autoCompress {
		method = ""
	}
	return func(w io.Writer) (sink.Encoder, error) {
		out, err := parquet.NewWriter(w, columns, method)
		return parquetEncoder{out}, err
	}
}

// A parquetEncoder writes the rows of batches to a Parquet file.
type parquetEncoder struct{ *parquet.Writer }

// Append implements [sink.Encoder].
func (e parquetEncoder) Append(_ *pipeline.Batch, stream *pipeline.Stream) error {
	return e.Writer.Append(stream.Bytes)
}

// refuseTerminal returns an error if Parquet data would be written to a
// terminal.
func (s *settings) refuseTerminal(stdout io.Writer) error {
	if s.record.Render == record.RenderParquet && s.outputDir == "" && (s.output == "" || s.output == stdoutPath) && terminal.Is(stdout) {
		return errors.New("--render parquet writes binary data: name a file with --output, or redirect stdout")
	}
	return nil
}
