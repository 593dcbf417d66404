package config

import (
	"fmt"
	"reflect"

	"github.com/goccy/go-yaml/ast"

	"github.com/urlfold/urlfold/config/field"
)

// Format says how the records of a source are read. Every source has these keys
// besides the keys of its type. Package internal/record validates them.
// Not covered by the stability page.
type Format struct {
	// The record format: a name such as combined or jsonl
	// (docs/reference/formats.md lists them), or the text of an nginx log_format
	// or Apache LogFormat. Default of the source stdin: lines.
	From string `yaml:"from,required" min:"1" flag:"from,f" for:"readers,check" arg:"format" job:"Format" help:"read records in this format: {}, or the text of an nginx log_format or Apache LogFormat. Default: detect it from the first records of each input"`
	// The server whose escapes are undone in fields. backslash is for tables in
	// which a backslash makes the next byte literal. Default: the dialect of
	// the format.
	Dialect string `yaml:"dialect" enum:"nginx,nginx-json,apache,backslash,none" flag:"dialect" for:"readers" arg:"server"`
	// The character between the cells of csv, such as ";", or tab. Default: a
	// comma.
	Delimiter string `yaml:"delimiter" flag:"delimiter" for:"readers" arg:"character" help:"read csv with this character between cells, such as ; or |, or tab. Implies --from csv. Default: a comma"`
	// The character that quotes cells of a table, or none. Default: '"'. By
	// default, a line of tsv with an unclosed quote is read as unquoted.
	Quote string `yaml:"quote" flag:"quote" for:"readers" arg:"character"`
	// The escape character of cells, which can only be a backslash. Default:
	// none; a quote inside a quoted cell is written twice.
	Escape string `yaml:"escape" flag:"escape" for:"readers" arg:"backslash"`
	// Whether the first row of a table is its header: yes or no. Without a header,
	// url_field and the like must be numbers of columns.
	InputHeader string `yaml:"input_header" enum:"yes,no" flag:"input-header" for:"readers" arg:"ANSWER" noun:"value" job:"NoHeader" help:"read the first row of a table as its header: ANSWER is yes or no. Without a header, --url-field and the like must be numbers of columns"`
	// The maximum size of a quoted cell that spans lines. Such a cell may have 1,000 lines
	// for each MiB of this size, and at least 1,000. If a cell exceeds a limit, its
	// line counts as damaged, and the lines after it are read as rows.
	MaxQuoted field.Size `yaml:"max_quoted" min:"1KiB" max:"256MiB" flag:"max-quoted" for:"readers" arg:"size" bounds:"1,256MiB" group:"Limits"`
	// The location of the URL: a path such as request.uri (jsonl, msgpack, avro),
	// the name or number of a column (tables), a key (logfmt, ltsv, journal-export),
	// or a path of field numbers such as 3.1 (protobuf).
	URLField string `yaml:"url_field" flag:"url-field" for:"readers,check" arg:"path" help:"read the URL at this path: a member such as request.uri (jsonl), the name or number of a column (tables), the names of up to three columns (parquet, avro), or a key (logfmt, ltsv, journal-export)"`
	// The locations of the parts of a URL that several fields make up, in jsonl, csv
	// and tsv. Cannot be combined with url_field or base_field.
	URL URLParts `yaml:"url"`
	// The names of the members (jsonl, JSON logs), columns (tables), keys or labels
	// (logfmt, ltsv) that hold output fields besides the URL, in the syntax of url_field:
	// time, status, bytes, duration, client, agent, referer, vhost, request_id and method,
	// such as {status: sc, client: src.ip}. A duration is in seconds unless its name ends
	// with a unit, as elapsed_ms does. Default: the usual names.
	Map map[string]string `yaml:"map"`
	// The location of the base URL for relative URLs, in the syntax of
	// url_field.
	BaseField string `yaml:"base_field" flag:"base-field" for:"readers" arg:"location"`
	// The base URL for all relative URLs. A name in braces is a field of the
	// record: https://{host}/ takes the host from the field host.
	Base string `yaml:"base" flag:"base" for:"readers,explain" arg:"URL"`
	// The time zone of timestamps without a zone: an IANA name such as
	// Europe/Berlin, Local, or an offset such as +02:00. Default: the field
	// time is absent for such records.
	Timezone string `yaml:"timezone" flag:"timezone" for:"count,query" arg:"zone" job:"Zone"`
	// The year of timestamps without a year. Default: the field time is absent
	// for such records.
	Year int `yaml:"year" min:"0" max:"9999" flag:"year" for:"count,query" arg:"year"`
}

// URLParts locates the parts of a composed URL, in the syntax of url_field. Each
// list holds alternatives; the first field with a value is used.
// Not covered by the stability page.
type URLParts struct {
	// An absolute URL. If a record has one, it is used instead of the other parts.
	Absolute []string `yaml:"absolute"`
	// The scheme. Default: the base's, or else https for port 443 and http for
	// other ports.
	Scheme []string `yaml:"scheme"`
	// The host, with or without a port.
	Host []string `yaml:"host"`
	// The port, if the host contains no port.
	Port []string `yaml:"port"`
	// The path, with or without a query.
	Path []string `yaml:"path"`
	// The query, if the path contains no query.
	Query []string `yaml:"query"`
}

// stdin is the source type whose format has a default, for "- stdin".
const stdin = "stdin"

// DefaultFormat returns the defaults of [Format].
// Not covered by the stability page.
func DefaultFormat() Format { return Format{MaxQuoted: field.MiB, InputHeader: "yes"} }

// formatFields returns the fields of [Format].
func formatFields() []structField {
	fields, _ := fieldsOf(reflect.TypeFor[Format]()) // a test proves that this cannot fail
	return fields
}

// formatKeys returns the readers of the keys of a source's format.
func (d *decoder) formatKeys(c *Component) (list []keyReader) {
	c.Format = DefaultFormat()
	if c.Type == stdin {
		c.Format.From = "lines"
	}
	v := reflect.ValueOf(&c.Format).Elem()
	for _, f := range formatFields() {
		list = append(list, keyReader{f.name, func(n ast.Node) { d.value(v.FieldByIndex(f.index), n, in(c.path, f.name), f.rules) }})
	}
	return list
}

// checkOwn returns an error if the struct of a type of source has a key of [Format].
func checkOwn(fields []structField) error {
	for _, f := range formatFields() {
		for _, g := range fields {
			if f.name == g.name {
				return fmt.Errorf("config: the key %s is a key of every source", f.name)
			}
		}
	}
	return nil
}
