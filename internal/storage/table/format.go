// Package table presents the URLs of files of rows, such as Parquet, as text: a
// line for each row, with a tab between the columns that hold URLs. A value
// escapes tab, line feed, carriage return and backslash as \t, \n, \r and \\. A
// value that is null or empty is an empty cell.
package table

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
)

// The names of the formats.
const (
	Parquet = "parquet"
	Avro    = "avro"
	Arrow   = "arrow"
)

// A Format is the record format of this text. Its value is the name of the
// format of the file. It cannot be detected, because the caller has identified
// its inputs.
type Format string

// Name implements record.Format.
func (f Format) Name() string { return string(f) }

// Detect implements record.Format.
func (Format) Detect(*record.Sample) record.Fit { return record.Fit{} }

// Open implements record.Format. Config.URLField is ignored here: whoever opens
// the file chooses its columns.
func (Format) Open(c *record.Config) (record.Reader, error) {
	var errs []error
	for _, bad := range []struct {
		is    bool
		field string
		why   string
	}{
		{c.Dialect != "" && c.Dialect != "none", "Dialect", "dialects apply only to access-log formats"},
		{c.Target == record.TargetReferer, "Target", "the rows of Parquet and Avro files and of Arrow streams have no referer"},
		{c.BaseField != "", "BaseField", "not possible with files of rows: use a fixed base"},
		{c.Render == record.RenderExtend, "Render", "fields cannot be added to the rows of Parquet and Avro files; write the fields with the output format parquet"},
	} {
		if bad.is {
			errs = append(errs, &record.ConfigError{Field: bad.field, Err: errors.New(bad.why)})
		}
	}
	return textReader{}, errors.Join(errs...)
}

// A textReader reads lines of cells.
type textReader struct{ record.LineFraming }

// Rows marks the reader as one of rows.
func (textReader) Rows() {}

// Locator implements record.Reader.
func (r textReader) Locator() record.Locator { return r }

// Locate implements record.Locator.
func (textReader) Locate(f *record.Found, rec []byte, _ *record.Position) (record.Reason, int) {
	for start, n := 0, 0; n < MaxColumns; n++ {
		end := bytes.IndexByte(rec[start:], '\t')
		last := end < 0
		if last {
			end = len(rec)
		} else {
			end += start
		}
		if end > start {
			f.AddURL(start, end, cells)
		}
		if last {
			break
		}
		start = end + 1
	}
	return 0, 0
}

// cells describes the escapes of a cell.
var cells = &record.Dialect{
	Mark:   '\\',
	Decode: tsv.Decode,
	Encode: func(dst, text []byte, _ byte) []byte { return tsv.AppendEscaped(dst, text) },
}
