package parquet

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/codec/record"
)

// FormatName is the name of Format.
const FormatName = "parquet"

// Format is the record format of a [Text]. It cannot be detected, because the
// caller knows which inputs are Parquet files.
type Format struct{}

// Name implements record.Format.
func (Format) Name() string { return FormatName }

// Detect implements record.Format.
func (Format) Detect(*record.Sample) record.Fit { return record.Fit{} }

// Open implements record.Format. Config.URLField has an effect on OpenText only.
func (Format) Open(c *record.Config) (record.Reader, error) {
	var errs []error
	for _, bad := range []struct {
		is    bool
		field string
		why   string
	}{
		{c.Dialect != "" && c.Dialect != "none", "Dialect", "dialects apply only to access-log formats"},
		{c.BaseField != "", "BaseField", "not possible with Parquet files: use a fixed base"},
		{c.Render == record.RenderExtend, "Render", "fields cannot be added to Parquet files: write them with the rendering parquet"},
	} {
		if bad.is {
			errs = append(errs, &record.ConfigError{Field: bad.field, Err: errors.New(bad.why)})
		}
	}
	return textReader{}, errors.Join(errs...)
}

// A textReader reads the lines of a Text.
type textReader struct{ record.LineFraming }

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

// cells describes the escapes of a Text.
var cells = &record.Dialect{
	Mark:   '\\',
	Decode: decodeEscape,
	Encode: func(dst, text []byte, _ byte) []byte { return appendEscaped(dst, text) },
}
