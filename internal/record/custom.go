package record

import (
	"github.com/urlfold/urlfold/internal/record/internal/formats"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// Format is a format outside this package: see Config.Formats. It must be immutable
// and safe for concurrent use.
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

// customFormat is a Format among the built-in formats.
type customFormat struct {
	Format
	config Config
}

// Open implements [Format]. If the name has a prefix, as in syslog+NAME, c.Format is
// NAME. The format never gets an invalid base or dialect.
func (f customFormat) Open(s *locate.Settings) (Reader, error) {
	c := f.config
	c.Format, c.Dialect, c.Base = s.Format, s.Dialect, s.Base
	return f.Format.Open(&c)
}

// custom converts formats to the interface of the built-in formats.
func (c *Config) custom(formats []Format) (list []locate.Format) {
	for _, f := range formats {
		list = append(list, customFormat{f, *c})
	}
	return list
}

// settings returns the part of c that a format may read.
func (c *Config) settings() *locate.Settings {
	return &locate.Settings{
		Format: c.Format, Dialect: c.Dialect, Delimiter: c.Delimiter, Quote: c.Quote, Escape: c.Escape, NoHeader: c.NoHeader, MaxQuoted: c.MaxQuoted,
		Target: c.Target, URLField: c.URLField, BaseField: c.BaseField, URL: c.URL, Map: c.Map, Base: c.Base,
		Render: c.Render, Extend: c.Extend, Note: c.Note, OnOversize: c.OnOversize, Redact: c.Redact, Secrets: c.Secrets,
		Charset: c.Charset, Schemas: c.Schemas, StopNoSchema: c.StopNoSchema, Zone: c.Zone, Year: c.Year,
	}
}

// Detect guesses the format of a stream from head, its first bytes. It knows
// the built-in formats and the formats in more. It considers only formats that
// fit at least half of the first fifty records. If no format fits, it considers
// the formats after a prefix, such as a syslog header. ok is false if no format
// fits. Detect does not retain head.
func Detect(head []byte, more ...Format) (g Guess, ok bool) {
	return formats.Detect(head, new(Config).custom(more))
}

// Outside converts a []record.Format of package codec/record. That package sets
// the variable in its initialization, because this package cannot import it,
// and an exported conversion there would show internal types to other modules.
var Outside func(formats any) ([]Format, error)

// SetField sets the range of the output field FieldNames()[i] for a Locator outside
// this package. It returns false if records cannot state the field.
func SetField(f *Found, i, start, end int, d *Dialect) bool {
	s := locate.Between(start, end)
	switch id := fieldID(i); {
	case id == fMethod:
		f.Method = s
	case id == fScheme:
		f.Scheme = s
	case id == fHost:
		f.Hosts[0] = s
	case id == fPort:
		f.Port = s
	case ofAttrs.has(id):
		f.AddAttr(attrOf(id), locate.Attr{Span: s, Dialect: d})
	default:
		return false
	}
	return true
}
