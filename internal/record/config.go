package record

import (
	"errors"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	pathtemplate "github.com/urlfold/urlfold/codec/template"
	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record/internal/formats"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/table"
	"github.com/urlfold/urlfold/internal/record/internal/wire"
)

// JobConfig returns the settings of job, a *record.Job of package codec/record.
// That package sets the variable, so that package pipeline can accept its Jobs.
var JobConfig func(job any) (Config, error)

// Config specifies how records are read and what is written for them. Format
// and Normalizer are required; every other field may be zero.
type Config struct {
	// Format is the name of a built-in format (see [Formats]), the name of a
	// format in Config.Formats, or the text of an nginx log_format or Apache
	// LogFormat.
	Format string
	// Formats are additional formats that Format can select.
	Formats []Format
	// Dialect names the escapes of a log format: nginx, nginx-json, apache or
	// none; or backslash for a table in which a backslash makes the next byte
	// literal. If it is empty, an nginx log_format uses the dialect of its
	// escape= parameter, an Apache LogFormat uses apache, and the named log
	// formats decode the escapes of both nginx and Apache, and write \xHH.
	Dialect string
	// Delimiter separates the cells of a csv table. It is one character or
	// "tab"; if it is empty, the cells are separated by commas. Quote encloses
	// the quoted cells of a table. It is one character or "none"; if it is
	// empty, it is '"', except that a line of a tab-separated table with an
	// unclosed quote is read as unquoted. If Escape is a backslash, it makes
	// the next byte of a cell literal, like the dialect backslash; otherwise a
	// quote inside a quoted cell is written twice. NoHeader says that a table
	// has no header: the first line is a row, and columns must be given by
	// number.
	Delimiter, Quote, Escape string
	NoHeader                 bool
	// DropHeader leaves out the header of a table, because the output has it already.
	DropHeader bool
	// MaxQuoted is the maximum length in bytes of a quoted cell that spans lines; 0 means
	// DefaultMaxQuoted. Such a cell may have 1,000 lines for each MiB of MaxQuoted, and at
	// least 1,000. If a cell exceeds a limit, its line does not match the
	// format, and the next line is read as a record. Only tables have quoted cells.
	MaxQuoted int
	// Target selects the URLs of an access-log record. Formats without referers
	// refuse TargetReferer; for their records, TargetRequest and TargetAll mean
	// the same.
	Target Target
	// URLField and BaseField name the fields that hold the URL and its base: by
	// field path in jsonl; by column name, or column number counted from 1, in
	// csv and tsv. These formats require URLField or URL. In logfmt and ltsv,
	// URLField is the key or label of the URL; if it is empty, the common names
	// are tried. In msgpack and avro, URLField is a field path, in protobuf a
	// path of field numbers such as 3.1; they require it.
	URLField, BaseField string
	// URL names the fields that hold the parts of the URL in jsonl, csv and
	// tsv. It cannot be combined with URLField or BaseField. The only other
	// formats that accept it are JSON logs, whose own fields it replaces.
	URL URLParts
	// Map names the fields of the records that hold the output fields time, status, bytes,
	// duration, client, agent, referer, vhost, request_id and method, in the syntax of
	// URLField: Map["status"] is the member or column with the status. Without an entry,
	// the usual names are tried. It is for formats whose records name their fields: jsonl
	// and JSON logs, tables, logfmt and ltsv.
	Map map[string]string
	// Base is an absolute URL. An origin-form target takes its scheme and host
	// from Base if the record lacks them. Other relative URLs are resolved
	// against Base, unless the record has its own base (RFC 3986 §5.1).
	//
	// The host of Base, or a part of the host, can be {name}, which is replaced
	// by the value of a field of the record; name has the syntax of URLField.
	// In an access log the name must be host, which is replaced by the host in
	// the record and must make up the whole authority. If the field is missing,
	// or its value does not form a valid host, the record gets no base.
	Base string
	// Scheme, http or https, is the scheme of URLs that have a host but no scheme, as in
	// www.example.com/a, where a field holds a whole URL. If it is empty, such URLs
	// have the flag missing-scheme-non-relative-URL, or are resolved against Base.
	Scheme string
	// Render selects what is written. Fields lists the fields that RenderJSONL,
	// RenderTSV, RenderCSV, RenderParquet and RenderArrow write, in order. If
	// Fields is empty, they write the fields from "url" to "error" of
	// FieldNames.
	Render Render
	Fields []string
	// Extend lists the fields that RenderExtend adds to each record, in order.
	Extend []Extension
	// Level is the level of the field key and of RenderKeys; zero is the level of
	// the normalizer's profile. KeyForm is the
	// text form of these keys; KeyRaw is not allowed, because output is text.
	Level   codec.Level
	KeyForm codec.KeyForm
	// OnRejected is the disposition of records that are rejected; zero means
	// DispositionPass. OnUnparsed is the disposition of records that do not
	// match the format, and OnOversize the disposition of records longer than
	// MaxRecord. The zero value of each means the value of OnRejected.
	// DispositionTruncate and DispositionStop are valid only for OnOversize.
	// Records of a table cannot be truncated, because an open quote would
	// swallow the next records.
	OnRejected, OnUnparsed, OnOversize Disposition
	// RejectFlags rejects records that have a URL with any of these flags, with
	// the Reason Flagged. RejectNotHTTP rejects records that have a URL with a
	// scheme other than http and https, with the Reason NotHTTP; URLs without a
	// scheme pass. Both settings treat the records like records whose URL
	// cannot be parsed.
	RejectFlags   codec.Flags
	RejectNotHTTP bool
	// Redact lists the values that are replaced by *** in the output and in the
	// dead letters: "passwords" of URLs, and values that are "email", "ipv4",
	// "ipv6" or "jwt", or match a regular expression between slashes. Every
	// entry also replaces passwords, except "none", which means an empty list.
	// The patterns apply to text without its escapes; see the documentation of
	// --redact. Keys are computed from the unredacted text.
	Redact []string
	// Repairs are applied to normal forms; keys are computed from the repaired
	// URLs. Use them with profiles that keep malformed percent-encodings: where
	// a profile turns '%' into %25, no %u remains to repair.
	Repairs Repair
	// Secrets are names of parameters. Everywhere in the output and in the dead
	// letters, their values are replaced by ***, and so are passwords if there is
	// at least one name: in the paths, queries and fragments of all URLs, in URLs
	// nested in these, and in other text from "NAME=" to the next '&', ';', quote
	// or white space. Keys are computed from the masked URLs. Text of records
	// that cannot be read is masked, but may hold secrets in another form:
	// [Stats.Uninspected] counts such records.
	Secrets []string
	// Params defines the OpenAPI styles of parameters, for the field params and
	// the flag param-style. Nil means the styles of the normalizer's policy.
	Params *params.Styles
	// Charset returns the encoding for a label that an HTML document names,
	// ignoring case. It returns nil for UTF-8, and false for an unknown label.
	// If Charset is nil, documents are read as UTF-8.
	Charset func(label string) (Charset, bool)
	// Schemas returns the schemas of Avro messages. The format avro requires it;
	// no other format uses it. StopNoSchema makes a message with an id without a
	// schema end the job: see [Worker.Err]. Otherwise the message is rejected
	// with the Reason NoSchema.
	Schemas      SchemaFunc
	StopNoSchema bool
	// Normalizer normalizes the URLs. It is required.
	Normalizer *codec.Normalizer
	// Zone supplies the zone, and Year the year, of times that a log writes
	// without them. If the needed Zone is nil or Year is 0, such records have
	// no field time. Zone must be safe for concurrent use.
	Zone ZoneFunc
	Year int
	// Where decides which records are kept. The others are counted as filtered. It is
	// asked once for each record, about the first URL: the URL of the request, if the
	// record has a request. Blank lines and headers are always kept. Records that are
	// rejected before their URL is read are kept unless Where reads the field error.
	// Nil keeps all records.
	Where Condition
	// Route distributes the records that Where keeps over several outputs: each
	// record goes to the outputs of the first branch that matches it (see
	// Worker.To). Records that no branch matches count as filtered. Like Where,
	// each condition is asked about the first URL; if a record is rejected
	// before its URL is read, only conditions that read the field error are
	// asked.
	Route []Branch
	// Shard selects the records of one of several processes.
	Shard Shard
	// MaxRecord is the maximum length of a record in bytes, including its line
	// end. Longer records are handled by OnOversize. 0 means no limit.
	MaxRecord int
	// MaxExpansion is the maximum total length in bytes of the output for one record if
	// every URL repeats the record in the field record. For the URL that would exceed the
	// limit and for all later URLs, this field is empty, and these URLs have the flag
	// record-omitted. 0 means 64 times the length of the record, and at least 64 MiB.
	MaxExpansion int
	// Facts makes workers collect a Fact about each record, for sinks that
	// partition their output.
	Facts bool
	// Identity makes workers collect the identity of each record.
	Identity Identity
	// Note is a field at the end of each record, with a value that another stage
	// changes. It is for the renderings jsonl, tsv, csv, extend and keys.
	Note Note
}

// Job is a checked Config, ready for use. It is immutable and safe for
// concurrent use.
type Job struct {
	reader      Reader
	wholeURLs   bool                // every field with a URL holds a whole URL, unlike the links of a document
	lengths     locate.BinaryReader // reader, if its records are binary
	base        jobBase
	render      Render
	fields      []fieldID
	wants       fieldSet // fields that are written
	reads       fieldSet // wants, and the fields that where reads
	computed    []*Computed
	keeps       jobKeeps
	level       codec.Level
	keyForm     codec.KeyForm
	extend      []fieldID
	rejects     jobRejects
	redact      bool
	patterns    *redact.Patterns // redact is then set, too
	repairs     Repair
	secrets     [][]byte // lower case; redact is then set, too
	mends       bool     // repairs or secrets are set
	styles      *params.Styles
	templates   *pathtemplate.Templates // path templates of the normalizer's policy
	readsParams bool                    // whether the parameters of each URL are read
	norm        *codec.Normalizer
	sortKeys    bool              // whether normal forms are sort keys
	whatwg      bool              // whether the standard of norm is WHATWG
	constants   [numFields][]byte // values of the fields in ofJob; nil: absent

	notes                   jobNote
	maxRecord, maxExpansion int
	dropHeader              bool
	facts                   bool // workers collect a Fact about each record
	id                      identity
	zone                    ZoneFunc
	year                    int
}

// jobBase holds Config.Base and its parts.
type jobBase struct {
	url      []byte    // Config.Base, or nil
	origin   []byte    // its scheme and authority: "https://example.com"
	scheme   []byte    // its scheme: "https"
	template *template // Config.Base if it holds {name}; url and origin are then nil
	bare     []byte    // Config.Scheme and "://", or nil
}

// jobKeeps says which records are kept, and where they go.
type jobKeeps struct {
	where      Condition
	shard      *sharder    // the same as where, if there is a shard
	shardRules codec.Rules // rules of keys that only the shard needs, which do not count
	asksWhy    bool        // where is also asked about records that are rejected before their URL is read
	routes     bool        // the condition in where is a router
	blanks     uint64      // outputs of blank lines, if routes
}

// jobRejects says which records are rejected, and what happens to them.
type jobRejects struct {
	on         Disposition // OnRejected; never DispositionDefault
	onUnparsed Disposition
	onOversize Disposition
	flags      codec.Flags
	notHTTP    bool
	filters    bool // flags or notHTTP are set
}

// jobNote is Config.Note.
type jobNote struct {
	value, name, member []byte // member is name and value as the member of a JSON object; nil: none
}

// New checks c and returns a Job for it. The error joins a *ConfigError for
// each invalid setting.
func New(c Config) (*Job, error) {
	if c.Level == codec.LevelDefault && c.Normalizer != nil {
		c.Level = c.Normalizer.Profile().Key
	}
	j := &Job{
		render: c.Render, level: c.Level, keyForm: c.KeyForm,
		rejects: jobRejects{flags: c.RejectFlags, notHTTP: c.RejectNotHTTP},
		norm:    c.Normalizer, whatwg: c.Normalizer != nil && c.Normalizer.Profile().Standard == codec.WHATWG, maxRecord: c.MaxRecord, maxExpansion: c.MaxExpansion, dropHeader: c.DropHeader,
		repairs: c.Repairs, facts: c.Facts, zone: c.Zone, year: c.Year,
	}
	var errRedact error
	j.patterns, j.redact, errRedact = redact.Parse(c.Redact)
	j.redact = j.redact || len(c.Secrets) > 0
	for _, name := range c.Secrets {
		j.secrets = append(j.secrets, appendLower(nil, name))
	}
	j.rejects.filters = j.rejects.notHTTP || !j.rejects.flags.IsZero()
	j.mends = j.repairs != 0 || len(j.secrets) > 0
	errBase := j.setBase(&c)
	if c.Scheme != "" {
		j.base.bare = []byte(c.Scheme + "://")
	}
	errScheme := locate.WrongIf(c.Scheme != "" && c.Scheme != "http" && c.Scheme != "https", "Scheme", "must be http or https")
	errs := []error{j.setFormat(c, errBase == nil), locate.About("Base", errBase), errScheme, locate.About("Redact", errRedact), j.setFields(c.Fields), j.setExtend(&c), j.setDispositions(&c)}
	if c.Normalizer == nil {
		errs = append(errs, locate.Wrong("Normalizer", "missing normalizer"))
	} else {
		j.setConstants(c.Normalizer)
		j.templates = c.Normalizer.Policy().Templates
		errs = append(errs, j.setMatch(&c))
	}
	j.reads |= j.wants
	errs = append(errs, j.setWhere(&c))
	errs = append(errs, j.setIdentity(c.Identity, c.Target), j.setNote(c.Note))
	j.setParams(&c)
	errs = append(errs,
		locate.WrongIf(int(c.Render) >= len(locate.RenderNames), "Render", "unknown output format"),
		locate.WrongIf(int(c.Target) >= len(locate.TargetNames), "Target", "unknown target"),
		locate.WrongIf(c.KeyForm >= codec.KeyRaw, "KeyForm", "keys must be written as hex or base32, because output is text"),
		locate.WrongIf(c.Repairs&^allRepairs != 0, "Repairs", "unknown repair"),
		locate.WrongIf(c.MaxRecord < 0, "MaxRecord", "the record limit must not be negative"),
		locate.WrongIf(c.MaxExpansion < 0, "MaxExpansion", "the limit of the output must not be negative"),
		locate.WrongIf(j.reader != nil && c.Format != wire.AvroName && c.Schemas != nil, "Schemas", "the schema registry applies only to the format avro"))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return j, nil
}

// setMatch checks the settings that depend on whether the profile matches
// another program.
func (j *Job) setMatch(c *Config) error {
	p := c.Normalizer.Profile()
	j.sortKeys = p.HasSortKeys()
	return errors.Join(
		locate.WrongIf(p.Match == "" && c.Level == codec.LevelMatch, "Level", "the key level match requires a profile that matches another program"),
		locate.WrongIf(p.Match != "" && c.Repairs != 0, "Repairs", "a profile that matches another program allows no repairs"),
		locate.WrongIf(p.Match != "" && len(c.Secrets) > 0, "Secrets", "a profile that matches another program cannot redact parameters"))
}

// setParams sets the styles of parameters. It needs the results of setFields
// and setExtend.
func (j *Job) setParams(c *Config) {
	j.styles = c.Params
	if j.styles == nil && c.Normalizer != nil {
		j.styles = c.Normalizer.Policy().Styles
	}
	j.readsParams = j.reads.has(fParams) || c.RejectFlags.Has(codec.FlagParamStyle)
}

// setFormat sets the reader from Format, Dialect and the fields that the format
// itself checks. If baseOK is false, Base is invalid and the format does not
// see it.
func (j *Job) setFormat(c Config, baseOK bool) error {
	var errDialect error
	if c.Dialect != "" {
		if _, errDialect = suggest.Index("dialect", locate.DialectNames, c.Dialect); errDialect != nil {
			c.Dialect = "" // the format must not report the name again
		}
	}
	if !baseOK {
		c.Base = ""
	}
	f, err := formats.FindFormat(c.Format, c.custom(c.Formats))
	if err != nil {
		return errors.Join(locate.About("Dialect", errDialect), locate.About("Format", err))
	}
	settings := c.settings()
	errMap := settings.CheckMap()
	j.reader, err = f.Open(settings)
	if _, ok := j.reader.(locate.Mapped); err == nil && !ok && len(c.Map) > 0 {
		err = locate.Wrong("Map", "records of the format "+c.Format+" do not name their fields, so none can be mapped")
	}
	err = errors.Join(errors.Join(errMap...), err)
	j.lengths, _ = j.reader.(locate.BinaryReader)
	_, document := j.reader.(locate.Extractor)
	j.wholeURLs = !document
	if _, ok := j.reader.(*table.Reader); err == nil && !ok && c.Dialect == locate.DialectBackslash {
		err = locate.Wrong("Dialect", "the dialect backslash applies only to the formats csv, csv-semicolon, csv-pipe and tsv")
	}
	if _, ok := f.(table.Format); !ok {
		err = errors.Join(err, errors.Join(table.RefuseTableSyntax(settings)...))
	}
	return errors.Join(locate.About("Dialect", errDialect), err)
}
