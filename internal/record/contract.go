package record

import (
	"github.com/urlfold/urlfold/internal/record/internal/formats"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
	"github.com/urlfold/urlfold/internal/record/internal/wire"
)

// These types connect formats and this package. Package locate defines and
// documents them, so that the formats below internal do not depend on this
// package.

type (
	// Found holds what a Locator finds in a record.
	Found = locate.Found
	// Locator finds the URLs in records.
	Locator = locate.Locator
	// Reader splits a stream into records and creates Locators.
	Reader = locate.Reader
	// Position identifies a record in its stream.
	Position = locate.Position
	// Dialect describes how a format escapes the bytes of a field.
	Dialect = locate.Dialect
	// Reason says why a record was rejected.
	Reason = locate.Reason
	// Sample is the beginning of a stream.
	Sample = locate.Sample
	// Fit says how well a format fits a Sample.
	Fit = locate.Fit
	// Guess is the result of Detect.
	Guess = formats.Guess
	// Framing finds where records end.
	Framing = locate.Framing
	// LineFraming is the Framing of records that are lines. Embed it in a
	// Reader of lines.
	LineFraming = locate.LineFraming
	// LengthFraming is a Framing of records that state their own length.
	LengthFraming = locate.LengthFraming
	// QuoteFraming is a Framing of tables, whose quoted fields can contain line
	// ends.
	QuoteFraming = locate.QuoteFraming
	// Director is implemented by Readers of streams with directives: lines,
	// such as #Fields, that describe the records after them.
	Director = locate.Director
	// Charset is the encoding of a document.
	Charset = locate.Charset
	// ConfigError describes one invalid setting in a Config.
	ConfigError = locate.ConfigError
	// Disposition selects what happens to a record that is rejected.
	Disposition = locate.Disposition
	// Extension is a field that RenderExtend adds to each record.
	Extension = locate.Extension
	// Note is a member or column that ends every record of the output.
	Note = locate.Note
	// Render selects what is written for each record.
	Render = locate.Render
	// SchemaFunc returns the text of an Avro schema.
	SchemaFunc = locate.SchemaFunc
	// Target selects which URLs of an access-log record are read.
	Target = locate.Target
	// URLParts names the fields of a record that a URL is composed of.
	URLParts = locate.URLParts
	// ZoneFunc returns the zone of a local time.
	ZoneFunc = locate.ZoneFunc
)

// Reasons that are not errors of the codec.
const (
	Unparsed     = locate.Unparsed     // the record does not match the format
	NoField      = locate.NoField      // the record lacks the configured field
	TooLong      = locate.TooLong      // the record exceeds the length limit
	Panic        = locate.Panic        // the codec panicked on the record
	Refused      = locate.Refused      // a sink permanently refused the output
	Flagged      = locate.Flagged      // a URL has a flag that the job rejects
	NotHTTP      = locate.NotHTTP      // a URL has a scheme other than http and https, and the job rejects that
	NoSchema     = locate.NoSchema     // there is no schema with the id of the record
	FirstRefused = locate.FirstRefused // the record is a duplicate, and a sink refused the first record of its key
	ColumnCount  = locate.ColumnCount  // the record has more fields than columns, so that some are in the wrong column
	Unreadable   = locate.Unreadable   // the record names an input that cannot be read
	NumReasons   = locate.NumReasons
)

// Targets of an access-log record.
const (
	TargetRequest = locate.TargetRequest // the target of the request line
	TargetReferer = locate.TargetReferer // the Referer field
	TargetAll     = locate.TargetAll     // the request, then the referer; a format may have only one of them
)

// Renderings of a record.
const (
	RenderRewrite = locate.RenderRewrite // the record, with only its URL bytes replaced
	RenderJSONL   = locate.RenderJSONL   // a JSON object for each URL
	RenderTSV     = locate.RenderTSV     // selected fields of each URL, separated by tabs
	RenderURLs    = locate.RenderURLs    // the normal form of each URL
	RenderKeys    = locate.RenderKeys    // the key, a tab and the normal form of each URL
	RenderExtend  = locate.RenderExtend  // the record with fields added; only jsonl, csv and tsv
	RenderParquet = locate.RenderParquet // a row of Job.Columns for each URL, in the form that ColumnReader reads
	RenderCSV     = locate.RenderCSV     // selected fields of each URL as a record of RFC 4180
	RenderArrow   = locate.RenderArrow   // the same rows as RenderParquet, for an Arrow stream
)

// Dispositions of a rejected record.
const (
	DispositionDefault  = locate.DispositionDefault  // follow Config.OnRejected
	DispositionPass     = locate.DispositionPass     // pass the record through, or write an object with an error
	DispositionDead     = locate.DispositionDead     // write a dead letter
	DispositionDrop     = locate.DispositionDrop     // write nothing, and count the record as dropped
	DispositionTruncate = locate.DispositionTruncate // pass the beginning of the record through unread, with its line end
	DispositionStop     = locate.DispositionStop     // neither write nor count the record; see Worker.Err
)

// DefaultMaxQuoted is the default of [Config].MaxQuoted, in bytes.
const DefaultMaxQuoted = locate.DefaultMaxQuoted

// ErrNoSchema reports that there is no schema with an id.
var ErrNoSchema = wire.ErrNoSchema

// ParseTarget returns the target with the given name. The error for an unknown
// name suggests a similar one.
func ParseTarget(name string) (Target, error) { return locate.ParseTarget(name) }

// ParseRender returns the rendering with the given name. The error for an
// unknown name suggests a similar one.
func ParseRender(name string) (Render, error) { return locate.ParseRender(name) }

// ParseDisposition returns the disposition with the given name. The error for
// an unknown name suggests a similar one.
func ParseDisposition(name string) (Disposition, error) { return locate.ParseDisposition(name) }

// Formats returns the names of the built-in formats in a new slice.
func Formats() []string { return formats.Formats() }

// DetectHeader guesses the format of a table without rows: see [formats.DetectHeader].
func DetectHeader(text []byte) (format string, ok bool) { return formats.DetectHeader(text) }

// Sparse reports whether it is normal that many records of the format called name have
// no URL.
func Sparse(name string) bool { return formats.Sparse(name) }

// IsJSONLog reports whether name is the name of a built-in format whose records
// are JSON objects with fields of known names. The format jsonl reads such
// records too, if a Config names the fields with the URL.
func IsJSONLog(name string) bool { return jsonlines.IsJSONLog(name) }

// WithoutPrefix returns the lines of text without the prefix that a format such
// as syslog+jsonl adds to JSON lines: see [formats.WithoutPrefix].
func WithoutPrefix(format string, text []byte) (lines []byte, ok bool) {
	return formats.WithoutPrefix(format, text)
}

// HoldsURL reports whether a line holds an absolute URL: see [textlog.HoldsURL].
func HoldsURL(line []byte) bool { return textlog.HoldsURL(line) }

// HoldsRequest reports whether a line holds a request line: see [textlog.HoldsRequest].
func HoldsRequest(line []byte) bool { return textlog.HoldsRequest(line) }

// IsRequestLine reports whether text is a request line: see [locate.IsRequestLine].
func IsRequestLine(text string) bool { return locate.IsRequestLine([]byte(text)) }
