package record

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// Format describes one record format, such as CSV. A Format must be immutable
// and safe for concurrent use.
//
// To add a built-in format, add a file to this package and a line to the table
// builtin. Formats of other packages are passed in Config.Formats.
type Format interface {
	// Name returns the value of Config.Format that selects the format: "jsonl".
	Name() string
	// Detect reports how well the format fits the records of a sample.
	Detect(s *Sample) Fit
	// Open returns a Reader for the target, fields and dialect in c. The error
	// joins a *ConfigError for each invalid setting. Open must reject fields of
	// c that are set but have no meaning for the format.
	Open(c *Config) (Reader, error)
}

// Reader splits a stream into records and creates Locators, which find the URLs
// in them. It retains none of the bytes that it reads and is safe for
// concurrent use.
type Reader interface {
	Framing
	// Next returns the length of the first record of in, including its line
	// end. in must hold whole records, except that the last one may lack its
	// line end; for that record Next returns len(in).
	Next(in []byte) int
	// Locator returns a new Locator, for use by one goroutine.
	Locator() Locator
}

// Locator finds the URLs in records. It owns its scratch memory and is not safe
// for concurrent use.
type Locator interface {
	// Locate adds the URLs and other parts of rec to f. The caller passes an
	// empty f, and a rec without its line end that is not blank. If rec does
	// not match the format, Locate returns the reason and the offset in rec at
	// which the match failed. It does not retain rec or at.
	Locate(f *Found, rec []byte, at *Position) (Reason, int)
}

// adder is implemented by Locators whose records have room for more fields,
// which RenderExtend adds. The format reads the names of these fields from
// Config.Extend.
type adder interface {
	// addFields appends rec with a value for each extension. s is where the URL
	// was found in rec, or nil if rec has no URL.
	addFields(out []byte, r *renderer, s *site, rec []byte, at *Position) []byte
	// addNames appends a record that is passed through, such as a header, with
	// the names of the extensions.
	addNames(out, rec []byte) []byte
}

// Director is implemented by Readers of streams with directives, which change
// how the records after them are read. Position.Head gives each record the
// directive in force: that of the records before it or, if these have none, the
// head of the stream.
type Director interface {
	// Directive returns the directive in force after block, which holds whole
	// records, if head was in force before it; head is nil at the start of a
	// stream or message. Directive returns nil if block has no directive. The
	// result may point into block. It is itself a block from which Directive
	// returns the same bytes, given a nil head.
	Directive(head, block []byte) []byte
}

// headChecker is implemented by Readers of streams with a header record, which
// must have the columns that the job names. See Job.CheckHead.
type headChecker interface{ checkHead(head []byte) error }

// validator is implemented by Readers that can detect more damage than their
// Locators, which stop reading a record as soon as they have what they need.
// See Job.NewFit.
type validator interface{ valid(rec []byte) bool }

// abridger is implemented by Readers of records that are too long to show in
// full. shown returns the part of rec to show, without a line end.
type abridger interface{ shown(rec []byte) []byte }

// keyed is implemented by Readers of indexes that are sorted by a key made from
// the URL, which rewriting does not change. See Job.Notice.
type keyed interface{ indexKeys() }

// lineCounter is implemented by Readers whose records can take more or less
// than one line.
type lineCounter interface{ multiline() }

// builtin holds the formats of this package, in the order in which they are
// listed.
var builtin = append([]Format{
	linesFormat{},
	proseFormat{},
	anyLogFormat{},
	htmlFormat{},
	logFormat{name: "clf"},
	logFormat{name: "combined", quoted: true},
	logFormat{name: "vhost_combined", quoted: true, vhost: true},
	logFormat{name: "vhost_common", vhost: true},
	jsonFormat{},
	tableFormat{name: "csv", sep: ','},
	tableFormat{name: "csv-semicolon", sep: ';'},
	tableFormat{name: "csv-pipe", sep: '|'},
	tableFormat{name: "tsv", sep: '\t'},
	w3cFormat{},
	zeekFormat{},
	logfmtFormat{},
	ltsvFormat{},
	cefFormat{},
	cdxFormat{},
	cdxjFormat{},
	gcsFormat{},
	textFormat("aws-alb"),
	textFormat("aws-elb"),
	textFormat("aws-s3"),
	textFormat("haproxy"),
	textFormat("squid"),
	textFormat("envoy"),
	textFormat("istio"),
	textFormat("uwsgi"),
	textFormat("confluence"),
	textFormat("nginx-proxy-manager"),
	watFormat{}, // before warc, which its files are
	warcFormat{},
	arcFormat{},
	journalFormat{},
	msgpackFormat{},
	protobufFormat{},
	avroFormat{},
}, jsonLogFormats()...)

// Formats returns the names of the built-in formats in a new slice.
func Formats() []string { return formatNames(builtin) }

func formatNames(formats []Format) []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name()
	}
	return names
}

// formats returns the built-in formats and those of c.Formats, which replace
// built-in formats with the same name.
func (c *Config) formats() []Format {
	own := formatNames(c.Formats)
	list := slices.DeleteFunc(slices.Clone(builtin), func(f Format) bool { return slices.Contains(own, f.Name()) })
	return append(list, c.Formats...)
}

// format returns the format that c.Format selects.
func (c *Config) format() (Format, error) {
	formats := c.formats()
	names := formatNames(formats)
	switch {
	case strings.ContainsAny(c.Format, "$%"):
		return layoutFormat{c.Format}, nil
	case c.Format == "":
		return nil, fmt.Errorf("missing format: must be one of %s, or the text of an nginx log_format or Apache LogFormat", strings.Join(names, ", "))
	}
	if f, ok := c.prefixedFormat(); ok {
		return f, nil
	}
	i, err := suggest.Index("format", names, c.Format)
	if err != nil {
		return nil, cmp.Or(c.prefixError(names), err)
	}
	return formats[i], nil
}

// LineFraming implements the methods of [Framing], and Next of [Reader], for
// records that are lines. Embed it in a Reader of such records.
type LineFraming struct{}

// Cut implements [Framing].
func (LineFraming) Cut(block []byte) int { return bytes.LastIndexByte(block, '\n') + 1 }

// Head implements [Framing].
func (LineFraming) Head([]byte) int { return 0 }

// Next implements [Reader].
func (LineFraming) Next(in []byte) int {
	if n := bytes.IndexByte(in, '\n') + 1; n > 0 {
		return n
	}
	return len(in)
}

// dialect returns the dialect that c.Dialect names. given is false if c.Dialect
// is empty.
func (c *Config) dialect() (_ *Dialect, given bool) {
	for i, name := range dialectNames {
		if name == c.Dialect {
			return namedDialects[i], true
		}
	}
	return nil, c.Dialect != ""
}

var (
	dialectNames  = []string{"nginx", "nginx-json", "apache", dialectBackslash, "none"}
	namedDialects = []*Dialect{nginxDialect, jsonDialect, apacheDialect, escapedDialect, nil}
)

// refuseFields returns an error for each field that c names. Formats whose
// records have no fields call it.
func (c *Config) refuseFields() (errs []error) {
	if c.URLField != "" {
		errs = append(errs, wrong("URLField", "the format "+c.Format+" has no named fields"))
	}
	return append(errs, c.refuseBaseField())
}

// refuseReferer returns an error if c wants only the referers. Formats that have none
// call it.
func (c *Config) refuseReferer() error {
	if c.Target != TargetReferer {
		return nil // TargetAll reads those that exist
	}
	return wrong("Target", "the format "+c.Format+" has no referer")
}

// refuseDialect returns an error if c names a dialect. Formats that define
// their own escapes call it.
func (c *Config) refuseDialect() error {
	if c.Dialect == "" || c.Dialect == "none" {
		return nil
	}
	return in("Dialect", fmt.Errorf("dialects apply only to access logs (backslash only to tables), not to the format %s", c.Format))
}

// errNoRoom returns the error for RenderExtend with a format that cannot hold
// additional fields.
func errNoRoom() error {
	return wrong("Render", "fields can be added only to JSON lines and tables: jsonl, csv, csv-semicolon, csv-pipe and tsv")
}

// CheckHead checks that the header record head, as returned by [Framing] Head,
// has the columns that the configuration names. It returns nil for formats
// without a header. The error joins a *ConfigError for each missing column, and
// suggests the most similar column name. It quotes nothing else of head,
// because the head of a table without a header is data.
func (j *Job) CheckHead(head []byte) error {
	if h, ok := j.reader.(headChecker); ok {
		return h.checkHead(head)
	}
	return nil
}

// Notice returns a sentence that users should know about the output, or "".
func (j *Job) Notice() string {
	if _, ok := j.reader.(keyed); ok && j.render == RenderRewrite {
		return "the URLs of the index were rewritten, but not its keys, by which it is sorted"
	}
	return ""
}
