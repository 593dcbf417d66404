package pipeline

import (
	"slices"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record"
)

// OutputFormat is the form of the output records.
type OutputFormat uint8

// Output formats. OutputRewrite is the default.
const (
	OutputRewrite OutputFormat = iota // rewrite: each record, with its URLs in normal form
	OutputJSONL                       // jsonl: a JSON object for each URL
	OutputTSV                         // tsv: the fields of each URL, separated by tabs
	OutputCSV                         // csv: the fields of each URL, as RFC 4180 describes
	OutputURLs                        // urls: the normal form of each URL
	OutputKeys                        // keys: the key of each URL, a tab and the normal form
)

var outputs = []record.Render{record.RenderRewrite, record.RenderJSONL, record.RenderTSV, record.RenderCSV, record.RenderURLs, record.RenderKeys}

// outputNames are the names of the output formats.
func outputNames() (names []string) {
	for _, r := range outputs {
		names = append(names, r.String())
	}
	return names
}

// String returns the name of the format, as --to has it.
func (f OutputFormat) String() string {
	if int(f) < len(outputs) {
		return outputs[f].String()
	}
	return "unknown"
}

// MarshalText implements encoding.TextMarshaler: the name.
func (f OutputFormat) MarshalText() ([]byte, error) {
	name := f.String()
	return []byte(name), new(OutputFormat).UnmarshalText([]byte(name))
}

// UnmarshalText implements encoding.TextUnmarshaler. The error for an unknown name is a
// *codec.NameError.
func (f *OutputFormat) UnmarshalText(text []byte) error {
	names, name := outputNames(), string(text)
	i := slices.Index(names, name)
	if i < 0 {
		return &codec.NameError{What: "output format", Name: name, Near: suggest.Nearest(names, name)}
	}
	*f = OutputFormat(i)
	return nil
}
