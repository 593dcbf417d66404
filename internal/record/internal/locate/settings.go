package locate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/redact"
	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// Settings are the parts of a Config that a format may read: see record.Config.
type Settings struct {
	Format                   string
	Dialect                  string
	Delimiter, Quote, Escape string
	NoHeader                 bool
	MaxQuoted                int
	Target                   Target
	URLField, BaseField      string
	URL                      URLParts
	Map                      map[string]string
	Base                     string
	Render                   Render
	Extend                   []Extension
	Note                     Note
	OnOversize               Disposition
	Redact, Secrets          []string
	Charset                  func(label string) (Charset, bool)
	Schemas                  SchemaFunc
	StopNoSchema             bool
	Zone                     ZoneFunc
	Year                     int
}

// ZoneFunc returns the zone of a local time, in minutes east of UTC.
type ZoneFunc func(year, month, day, hour, minute int) (east int)

// BaseHost returns the name of the field in c.Base. alone reports whether the
// field makes up the whole authority. ok is false if there is no field.
func (c *Settings) BaseHost() (name string, alone, ok bool) {
	front, rest, ok := strings.Cut(c.Base, "{")
	if !ok {
		return "", false, false
	}
	name, back, _ := strings.Cut(rest, "}")
	alone = strings.HasSuffix(front, "://") && (back == "" || strings.ContainsAny(back[:1], "/?#"))
	return name, alone, true
}

// RefuseHiding returns an error if c asks for rewritten records in which
// passwords or secrets are hidden. Formats that rewrite only the URLs of a
// record call it, because they cannot hide anything in the other parts. parts
// is the word for these parts in the error.
func (c *Settings) RefuseHiding(parts string) error {
	var errs []error
	refuse := func(field, what string, is bool) {
		if is && c.Render == RenderRewrite {
			errs = append(errs, Wrong(field, "the output format rewrite cannot hide "+what+" in "+c.Format+" records, whose other "+parts+" are copied unchanged; use another output format"))
		}
	}
	_, hides, _ := redact.Parse(c.Redact) // New reports the error
	refuse("Redact", "passwords", hides)
	refuse("Secrets", "secrets", len(c.Secrets) > 0)
	return errors.Join(errs...)
}

// Target selects which URLs of an access-log record are read.
type Target uint8

// Targets of an access-log record.
const (
	TargetRequest Target = iota // the target of the request line
	TargetReferer               // the Referer field
	TargetAll                   // the request, then the referer; a format may have only one of them
)

// TargetNames are the names of the targets.
var TargetNames = []string{"request", "referer", "all"}

// String returns the target's name: "request".
func (t Target) String() string { return nameOf(TargetNames, int(t)) }

// ParseTarget returns the target with the given name. The error for an unknown
// name suggests a similar one.
func ParseTarget(name string) (Target, error) {
	i, err := suggest.Index("target", TargetNames, name)
	return Target(i), err
}

// Render selects what is written for each record.
type Render uint8

// Renderings of a record.
const (
	RenderRewrite Render = iota // the record, with only its URL bytes replaced
	RenderJSONL                 // a JSON object for each URL
	RenderTSV                   // selected fields of each URL, separated by tabs
	RenderURLs                  // the normal form of each URL
	RenderKeys                  // the key, a tab and the normal form of each URL
	RenderExtend                // the record with fields added; only jsonl, csv and tsv
	RenderParquet               // a row of Job.Columns for each URL, in the form that ColumnReader reads
	RenderCSV                   // selected fields of each URL as a record of RFC 4180
	RenderArrow                 // the same rows as RenderParquet, for an Arrow stream
)

// RenderNames are the names of the renderings.
var RenderNames = []string{"rewrite", "jsonl", "tsv", "urls", "keys", "extend", "parquet", "csv", "arrow"}

// HasFields reports whether the rendering writes Config.Fields.
func (r Render) HasFields() bool {
	return r == RenderJSONL || r == RenderTSV || r == RenderCSV || r.HasColumns()
}

// HasColumns reports whether the rendering writes rows of Job.Columns.
func (r Render) HasColumns() bool { return r == RenderParquet || r == RenderArrow }

// KeepsRecords reports whether the rendering writes whole records, including
// records without a URL.
func (r Render) KeepsRecords() bool { return r == RenderRewrite || r == RenderExtend }

// String returns the rendering's name: "rewrite".
func (r Render) String() string { return nameOf(RenderNames, int(r)) }

// ParseRender returns the rendering with the given name. The error for an
// unknown name suggests a similar one.
func ParseRender(name string) (Render, error) {
	i, err := suggest.Index("output format", RenderNames, name)
	return Render(i), err
}

// ConfigError describes one invalid setting in a Config.
type ConfigError struct {
	Field string // the field of Config, with an index for Fields and Extend: "Extend[1]"
	Err   error
}

// Error returns the message without the name of the field, because callers have
// their own names for it.
func (e *ConfigError) Error() string { return e.Err.Error() }

// Unwrap returns e.Err.
func (e *ConfigError) Unwrap() error { return e.Err }

// About returns err as a *ConfigError about field, or nil if err is nil.
func About(field string, err error) error {
	if err == nil {
		return nil
	}
	return &ConfigError{Field: field, Err: err}
}

// Wrong returns a *ConfigError about field with the message text.
func Wrong(field, text string) error { return About(field, errors.New(text)) }

// WrongIf is Wrong if bad is set, and otherwise nil.
func WrongIf(bad bool, field, text string) error {
	if !bad {
		return nil
	}
	return Wrong(field, text)
}

// nameOf returns names[i], or "unknown".
func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

// Disposition selects what happens to a record that is rejected.
type Disposition uint8

// Dispositions of a rejected record.
const (
	DispositionDefault  Disposition = iota // follow Config.OnRejected
	DispositionPass                        // pass the record through, or write an object with an error
	DispositionDead                        // write a dead letter
	DispositionDrop                        // write nothing, and count the record as dropped
	DispositionTruncate                    // pass the beginning of the record through unread, with its line end
	DispositionStop                        // neither write nor count the record; see record.Worker.Err
)

var dispositionNames = []string{"default", "pass-through", "dead-letter", "drop", "truncate", "stop"}

// String returns the disposition's name: "pass-through".
func (f Disposition) String() string { return nameOf(dispositionNames, int(f)) }

// ParseDisposition returns the disposition with the given name. The error for
// an unknown name suggests a similar one.
func ParseDisposition(name string) (Disposition, error) {
	i, err := suggest.Index("disposition", dispositionNames, name)
	return Disposition(i), err
}

// Extension is a field that RenderExtend adds to each record, and the name of the field
// in the record.
type Extension struct {
	Name  string // name of the new member or column
	Field string // one of FieldNames
}

// NamedDialect returns the dialect that c.Dialect names. given is false if c.Dialect
// is empty.
func (c *Settings) NamedDialect() (_ *Dialect, given bool) {
	for i, name := range DialectNames {
		if name == c.Dialect {
			return namedDialects[i], true
		}
	}
	return nil, c.Dialect != ""
}

var (
	// DialectNames are the values of Config.Dialect.
	DialectNames  = []string{"nginx", "nginx-json", "apache", DialectBackslash, "none"}
	namedDialects = []*Dialect{NginxDialect, JSONDialect, ApacheDialect, nil, nil} // tables have their own for backslash
)

// RefuseFields returns an error for each field that c names. Formats whose
// records have no fields call it.
func (c *Settings) RefuseFields() error {
	return errors.Join(WrongIf(c.URLField != "", "URLField", "the format "+c.Format+" has no named fields"), c.RefuseBaseField())
}

// RefuseReferer returns an error if c wants only the referers. Formats without referers
// call it.
func (c *Settings) RefuseReferer() error {
	// TargetAll is valid: it reads the URLs that the record has.
	return WrongIf(c.Target == TargetReferer, "Target", "the format "+c.Format+" has no referer")
}

// RefuseDialect returns an error if c names a dialect. Formats that define
// their own escapes call it.
func (c *Settings) RefuseDialect() error {
	return WrongIf(c.Dialect != "" && c.Dialect != "none", "Dialect", "dialects apply only to access logs (backslash only to tables), not to the format "+c.Format)
}

// RefuseExtend returns an error if c asks to add fields to records. Formats that cannot
// hold additional fields call it.
func (c *Settings) RefuseExtend() error {
	return WrongIf(c.Render == RenderExtend, "Render", "fields can be added only to JSON lines and tables: jsonl, csv, csv-semicolon, csv-pipe and tsv")
}

// SchemaFunc returns the text of the Avro schema with an id, after the texts of
// the schemas that it refers to. It may wait. The error is ErrNoSchema if there
// is no such schema; every other error ends the job: see record.Worker.Err. A
// SchemaFunc must be safe for concurrent use.
type SchemaFunc func(id uint32) (schemas []string, err error)

// RefuseBaseHost returns an error if c wants the host of the base URL from a
// field. Formats whose records have no host call it. The error ends with why,
// which may be empty.
func (c *Settings) RefuseBaseHost(why string) error {
	_, _, ok := c.BaseHost()
	return WrongIf(ok, "Base", "the base URL cannot contain a field with the format "+c.Format+why)
}

// CheckRequestHost checks that an access-log format can supply the host that
// c.Base asks for. known reports whether its records contain the host of the
// request.
func (c *Settings) CheckRequestHost(known bool) error {
	name, alone, ok := c.BaseHost()
	switch {
	case !ok:
		return nil
	case name != "host" && name != "vhost":
		return About("Base", fmt.Errorf("invalid field {%s} in the base URL: for an access log it must be {host}", name))
	case !alone:
		return Wrong("Base", "invalid base URL: for an access log {host} must be the whole authority, as in https://{host}/")
	case !known:
		return Wrong("Base", "the format has no host for the base URL: use vhost_combined or vhost_common, or a log format with $host, %v or similar")
	}
	return nil
}

// A Charset is the encoding of a document. It must be safe for concurrent use.
type Charset interface {
	codec.QueryEncoding
	// AppendChar appends the character at the start of s in UTF-8 and returns
	// the number of bytes of s that it takes, at least 1. s is not empty. Bytes
	// that are not a character become U+FFFD.
	AppendChar(dst, s []byte) ([]byte, int)
}

// RefuseBaseField returns an error if c names a field with the base, or fields
// with the parts of a URL.
func (c *Settings) RefuseBaseField() error {
	return errors.Join(
		WrongIf(c.BaseField != "", "BaseField", "base fields apply only to the format jsonl and tables such as csv"),
		WrongIf(!c.URL.IsZero(), "URL", "a URL can be composed only of the fields of the format jsonl and of tables such as csv"))
}

// A Note is a member or column at the end of each output record with a URL that
// has a normal form. A later stage can change its value: see
// record.Worker.AppendIdentity. Records that are passed through, such as blank
// lines, have none.
type Note struct {
	Name  string
	Value string // a JSON number or literal, such as false
}

// DialectBackslash is the value of Config.Dialect for tables in which a
// backslash starts an escape.
const DialectBackslash = "backslash"

// DefaultMaxQuoted is the default of [Config].MaxQuoted, in bytes.
const DefaultMaxQuoted = 1 << 20

// URLParts names the fields of a record that a URL is composed of: field paths
// in jsonl, columns in csv and tsv. The first field of a list that is not empty
// is used. An absent field, null, an empty text and "-" are empty.
//
// A URL in a field of Absolute is used as it is. Otherwise the URL is composed
// of the other parts. A path may include the query; the fields of Query are
// used only if it does not.
type URLParts struct {
	Absolute, Scheme, Host, Port, Path, Query []string
}

// PartNames and URLPartIDs hold the parts in the order of URLParts.
var (
	PartNames  = []string{"absolute", "scheme", "host", "port", "path", "query"}
	URLPartIDs = []Use{UseURL, UseScheme, UseHost, UsePort, UsePath, UseQuery}
)

// Lists returns the lists in the order of PartNames.
func (u *URLParts) Lists() [6]*[]string {
	return [6]*[]string{&u.Absolute, &u.Scheme, &u.Host, &u.Port, &u.Path, &u.Query}
}

// Add adds a field as the last alternative for a part. The error for an unknown
// part suggests a similar one.
func (u *URLParts) Add(part, field string) error {
	i, err := suggest.Index("URL part", PartNames, part)
	if err != nil {
		return err
	}
	list := u.Lists()[i]
	*list = append(*list, field)
	return nil
}

// IsZero reports whether u names no field.
func (u *URLParts) IsZero() bool {
	for _, list := range u.Lists() {
		if len(*list) > 0 {
			return false
		}
	}
	return true
}

// RefuseRewriting returns an error if c asks to write records. Formats that
// only find URLs call it.
func (c *Settings) RefuseRewriting() error {
	return WrongIf(c.Render.KeepsRecords(), "Render", "records of the format "+c.Format+" cannot be written back, because it only finds their URLs; use the output format urls, keys, jsonl, tsv or csv")
}

// RefuseResizing returns an error for each setting in c that would change a
// part of a record whose length the record states. parts says what the records
// consist of.
func (c *Settings) RefuseResizing(parts string) error {
	return errors.Join(c.RefuseHiding(parts),
		WrongIf(c.OnOversize == DispositionTruncate, "OnOversize", "records of the format "+c.Format+" cannot be truncated, because they state their own length"))
}
