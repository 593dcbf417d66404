package record

import (
	"errors"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/suggest"
)

// A Target says which URLs of an access-log record are read.
type Target uint8

// The targets.
const (
	TargetRequest Target = iota // the target of the request line
	TargetReferer               // the Referer field
	TargetAll                   // both, the request first; in a format with one of them, that one
)

var targetNames = []string{"request", "referer", "all"}

// String returns the target's name: "request".
func (t Target) String() string { return nameOf(targetNames, int(t)) }

// ParseTarget returns the target of that name. The error suggests a near name.
func ParseTarget(name string) (Target, error) {
	i, err := suggest.Index("target", targetNames, name)
	return Target(i), err
}

// A Render says what is written for a record.
type Render uint8

// The renderings.
const (
	RenderRewrite Render = iota // the record, with only its URL bytes replaced
	RenderJSONL                 // a JSON object for each URL
	RenderTSV                   // the chosen fields of each URL, tabs between them
	RenderURLs                  // the normal form of each URL
	RenderKeys                  // the key, a tab, the normal form
	RenderExtend                // the record, with fields added; jsonl, csv, tsv
)

var renderNames = []string{"rewrite", "jsonl", "tsv", "urls", "keys", "extend"}

// keepsRecords reports whether records come out as records, those without a URL
// too.
func (r Render) keepsRecords() bool { return r == RenderRewrite || r == RenderExtend }

// String returns the rendering's name: "rewrite".
func (r Render) String() string { return nameOf(renderNames, int(r)) }

// ParseRender returns the rendering of that name. The error suggests a near
// name.
func ParseRender(name string) (Render, error) {
	i, err := suggest.Index("rendering", renderNames, name)
	return Render(i), err
}

// Config says how records are read and what is written for them. The zero
// Config lacks a Format and a Normalizer, the two fields that have no default.
type Config struct {
	// Format is one of Formats(), the name of one of Formats, or the text of an nginx
	// log_format or Apache LogFormat.
	Format string
	// Formats are more formats that Format can name.
	Formats []Format
	// Dialect says how the writer of a log format escapes: nginx, nginx-json,
	// apache or none. Empty means: for an nginx format what its escape=
	// parameter says, apache for an Apache format, and for the named formats the
	// union of nginx and Apache, which rewriting writes as \xHH.
	Dialect string
	// Target chooses among the URLs of an access-log record. The formats lines,
	// jsonl, csv and tsv have one URL a record, and it means nothing there.
	Target Target
	// URLField and BaseField are a field path (jsonl) or a column's name or
	// number, counted from 1 (csv, tsv). URLField is required in these formats.
	URLField, BaseField string
	// Base is an absolute URL. An origin-form target gets its scheme and host if
	// the record has none; other relative URLs are resolved against it, unless
	// the record has a base of its own (RFC 3986 §5.1).
	//
	// {name} in the place of its host, or of a part of that, stands for a field of
	// the record, named as in URLField; in an access log {host} for the host that
	// the record is of, and then for all of the authority. Without the field, or
	// if the value does not make a host, the record has no base.
	Base string
	// Render says what is written, Fields which fields jsonl and tsv write, in
	// that order. No Fields means those from "url" to "error" of FieldNames.
	Render Render
	Fields []string
	// Extend is what RenderExtend adds to each record, in this order.
	Extend []Extension
	// Level is the level of the field key and of RenderKeys, and KeyForm how these
	// keys are written. It is not KeyRaw: output is text.
	Level   codec.Level
	KeyForm codec.KeyForm
	// Divert sends records without a reading to the dead stream. Otherwise they
	// pass through, or become an object with an error.
	Divert bool
	// OnUnparsed is what becomes of a record that is not of the format, and
	// OnOversize of one that is longer than MaxRecord. Default: as Divert says.
	// DispositionDrop is for OnUnparsed alone, DispositionTruncate and DispositionStop are for
	// OnOversize. A table is not truncated: an open quote would swallow the records
	// behind it.
	OnUnparsed, OnOversize Disposition
	// RejectFlags are flags of which a URL may have none, RejectNotHTTP says that
	// its scheme must be http or https, if it has one: otherwise it counts as
	// without a reading, with the Reason Flagged or NotHTTP.
	RejectFlags   codec.Flags
	RejectNotHTTP bool
	// Redact writes *** for every password.
	Redact bool
	// Repairs are made to normal forms; keys are then those of the repaired URLs.
	// They are meant for profiles that keep a '%' that starts no escape: where it
	// became %25 there is no %u left to repair.
	Repairs Repair
	// Secrets are names of parameters whose values become *** in normal forms, in
	// queries and fragments, and with any of them passwords do. Keys are then those
	// of the URLs without these values. The fields url and record, records that are
	// passed through, and URLs without a reading still hold them.
	Secrets []string
	// Params says how parameters are written, for the field params and the flag
	// param-style. Default: what the policy of the normalizer says.
	Params *params.Styles
	// Normalizer is the profile at work. It is required.
	Normalizer *codec.Normalizer
	// MaxRecord is the length in bytes from which on a record is rejected as
	// record-too-long. 0 means no limit.
	MaxRecord int
	// Facts has workers collect a Fact of each record, for sinks that partition.
	Facts bool
}

// A Job is a Config made ready for use. It is immutable and may be shared.
type Job struct {
	reader        Reader
	baseURL       []byte    // Config.Base, nil if there is none
	origin        []byte    // its scheme and authority: "https://example.com"
	scheme        []byte    // "https"
	template      *template // Config.Base, if a field is to be put in; then baseURL and origin are nil
	render        Render
	fields        []fieldID
	wants         fieldSet
	level         codec.Level
	keyForm       codec.KeyForm
	extend        []fieldID
	divert        bool
	onUnparsed    Disposition // never DispositionDefault
	onOversize    Disposition
	rejectFlags   codec.Flags
	rejectNotHTTP bool
	redact        bool
	repairs       Repair
	secrets       [][]byte // in lower case
	styles        *params.Styles
	readsParams   bool // of each URL
	norm          *codec.Normalizer
	whatwg        bool // norm reads as browsers do
	profile       []byte
	maxRecord     int
	facts         bool
}

// A ConfigError is one mistake in a Config.
type ConfigError struct {
	Field string // the name of the field of Config; of Fields and Extend with an index: "Extend[1]"
	Err   error
}

// Error returns what is wrong, without the name of the field: callers have names of
// their own for it.
func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *ConfigError) Unwrap() error { return e.Err }

// in makes err, unless it is nil, the mistake in a field.
func in(field string, err error) error {
	if err == nil {
		return nil
	}
	return &ConfigError{Field: field, Err: err}
}

// wrong is the mistake in a field, in words.
func wrong(field, text string) error { return in(field, errors.New(text)) }

// New makes c ready for use. The error joins a *ConfigError for each mistake in c.
func New(c Config) (*Job, error) {
	j := &Job{
		render: c.Render, level: c.Level, divert: c.Divert, redact: c.Redact,
		norm: c.Normalizer, whatwg: c.Normalizer != nil && c.Normalizer.Profile().Standard == codec.WHATWG, maxRecord: c.MaxRecord,
		rejectFlags: c.RejectFlags, rejectNotHTTP: c.RejectNotHTTP,
		repairs: c.Repairs, facts: c.Facts,
	}
	j.keyForm = c.KeyForm
	for _, name := range c.Secrets {
		j.secrets = append(j.secrets, appendLower(nil, name))
	}
	errBase := j.setBase(&c)
	errs := []error{j.setFormat(c, errBase == nil), in("Base", errBase), j.setFields(c.Fields), j.setExtend(&c), j.setDispositions(&c)}
	if c.Normalizer == nil {
		errs = append(errs, wrong("Normalizer", "a normalizer is required"))
	} else {
		j.profile = []byte(c.Normalizer.Profile().Name)
	}
	j.setParams(&c)
	if int(c.Render) >= len(renderNames) {
		errs = append(errs, wrong("Render", "there is no such rendering"))
	}
	if int(c.Target) >= len(targetNames) {
		errs = append(errs, wrong("Target", "there is no such target"))
	}
	if c.KeyForm >= codec.KeyRaw {
		errs = append(errs, wrong("KeyForm", "a key is written as hex or base32: output is text"))
	}
	if c.Repairs&^allRepairs != 0 {
		errs = append(errs, wrong("Repairs", "there is no such repair"))
	}
	if c.MaxRecord < 0 {
		errs = append(errs, wrong("MaxRecord", "the record limit is negative"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return j, nil
}

// setParams reads Params. Fields, Extend and RejectFlags have been read.
func (j *Job) setParams(c *Config) {
	j.styles = c.Params
	if j.styles == nil && c.Normalizer != nil {
		j.styles = c.Normalizer.Policy().Styles
	}
	j.readsParams = j.wants.has(fParams) || c.RejectFlags.Has(codec.ParamStyle)
}

// setFormat reads Format and Dialect, and has the format read what else is its own.
// It is not asked for the host of a Base that is a mistake.
func (j *Job) setFormat(c Config, baseOK bool) error {
	var errDialect error
	if c.Dialect != "" {
		_, errDialect = suggest.Index("dialect", dialectNames, c.Dialect)
	}
	if !baseOK {
		c.Base = ""
	}
	f, err := c.format()
	if err != nil {
		return errors.Join(in("Dialect", errDialect), in("Format", err))
	}
	j.reader, err = f.Open(&c)
	return errors.Join(in("Dialect", errDialect), err)
}

// nameOf returns names[i], or "unknown".
func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}
