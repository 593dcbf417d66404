package record

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/suggest"
)

// A Format is one way to write records. A Format does not change, and may be shared.
//
// A format takes one file here, and one line in the table builtin. Formats of other
// packages are passed in Config.Formats.
type Format interface {
	// Name returns what Config.Format calls the format: "jsonl".
	Name() string
	// Detect says how well the format fits the records of a sample.
	Detect(s *Sample) Fit
	// Open returns a Reader for what c asks of the format: its target, fields and
	// dialect. The error joins a *ConfigError for each mistake; the fields that the
	// format has no use for must be empty.
	Open(c *Config) (Reader, error)
}

// A Reader cuts records out of a stream, and makes Locators, which find the URLs in
// them. It keeps nothing of what it reads, and may be shared.
type Reader interface {
	Framing
	// Next returns the length of the first record of in, line end included, which
	// holds whole records. If the last of them has no end, that is all of in.
	Next(in []byte) int
	// Locator returns a Locator for one goroutine.
	Locator() Locator
}

// A Locator finds URLs in records. Its scratch is its own.
type Locator interface {
	// Locate notes in f, which is empty, what there is in a record: rec is the
	// record without its line end, and not blank. If it is not of the format, Locate
	// returns why, and where in rec. It keeps nothing of rec and at.
	Locate(f *Found, rec []byte, at *Position) (Reason, int)
}

// An adder is a Locator of records that have room for more fields: see
// RenderExtend. Its format reads the names of these from Config.Extend.
type adder interface {
	// addFields appends the record, in which s was found, with a value for each
	// extension. s is nil if there is no URL.
	addFields(out []byte, r *renderer, s *site, rec []byte, at *Position) []byte
	// addNames appends a record that is passed through, such as a header.
	addNames(out, rec []byte) []byte
}

// A Director is a Reader of streams with directives that change how the records
// after them are read. A record is given the directive in force as Position.Head: the
// last one before it, or else the head of the stream.
type Director interface {
	// Directive returns the last directive in block, which holds whole records, or
	// nil.
	Directive(block []byte) []byte
}

// A headChecker is a Reader of streams with a header record that must hold what the
// job asks for. See Job.CheckHead.
type headChecker interface{ checkHead(head []byte) error }

// A validator is a Reader that can tell more about damage than its Locators, which
// look at no more of a record than they need. See Job.NewFit.
type validator interface{ valid(rec []byte) bool }

// An abridger is a Reader of records that are too long to be shown. shown returns the
// part of rec that is, without a line end.
type abridger interface{ shown(rec []byte) []byte }

// A lineCounter is a Reader of records that may take more or less than one line.
type lineCounter interface{ multiline() }

// builtin holds the formats of this package. The order is that of listings.
var builtin = []Format{
	linesFormat{},
	logFormat{name: "clf"},
	logFormat{name: "combined", quoted: true},
	logFormat{name: "vhost_combined", quoted: true, vhost: true},
	jsonFormat{},
	tableFormat{name: "csv", sep: ','},
	tableFormat{name: "tsv", sep: '\t'},
	w3cFormat{},
	warcFormat{},
}

// Formats returns the names of the built-in formats. The result is the caller's.
func Formats() []string { return formatNames(builtin) }

func formatNames(formats []Format) []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name()
	}
	return names
}

// formats returns the formats that c can name.
func (c *Config) formats() []Format {
	return append(builtin[:len(builtin):len(builtin)], c.Formats...)
}

// format returns the format that c names.
func (c *Config) format() (Format, error) {
	formats := c.formats()
	names := formatNames(formats)
	switch {
	case strings.ContainsAny(c.Format, "$%"):
		return layoutFormat{c.Format}, nil
	case c.Format == "":
		return nil, fmt.Errorf("a format is required: %s, or a log_format or LogFormat text", strings.Join(names, ", "))
	}
	i, err := suggest.Index("format", names, c.Format)
	if err != nil {
		return nil, err
	}
	return formats[i], nil
}

// LineFraming cuts a stream into lines. Readers of formats whose records are lines
// embed it.
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

// dialect returns the dialect that c names, if it names one.
func (c *Config) dialect() (_ *Dialect, given bool) {
	for i, name := range dialectNames {
		if name == c.Dialect {
			return namedDialects[i], true
		}
	}
	return nil, c.Dialect != ""
}

var (
	dialectNames  = []string{"nginx", "nginx-json", "apache", "none"}
	namedDialects = []*Dialect{nginxDialect, jsonDialect, apacheDialect, nil}
)

// DialectNames returns what Config.Dialect may be. The result is the caller's.
func DialectNames() []string { return slices.Clone(dialectNames) }

// refuseFields returns the mistakes of a Config that names fields where records
// have none.
func (c *Config) refuseFields() (errs []error) {
	const text = "a URL or base field belongs to jsonl, csv or tsv"
	if c.URLField != "" {
		errs = append(errs, wrong("URLField", text))
	}
	if c.BaseField != "" {
		errs = append(errs, wrong("BaseField", text))
	}
	return errs
}

// refuseDialect returns the mistake of a Config that names a dialect for a format
// that has one of its own.
func (c *Config) refuseDialect() error {
	if c.Dialect == "" || c.Dialect == "none" {
		return nil
	}
	return in("Dialect", fmt.Errorf("a dialect belongs to an access log; %s has its own escapes", c.Format))
}

// errNoRoom is the mistake of a Config that adds fields to records without room.
func errNoRoom() error {
	return wrong("Render", "fields can be added to records of jsonl, csv and tsv: those of other formats have no room for them")
}

// CheckHead checks that the header record head, as [Framing] cut it, has what the
// job is given by name. Formats without a header pass. The error joins a
// *ConfigError for each column that is missing, with the name that was most likely
// meant. It repeats no more of head than that: a table without a header begins with
// data.
func (j *Job) CheckHead(head []byte) error {
	if h, ok := j.reader.(headChecker); ok {
		return h.checkHead(head)
	}
	return nil
}
