package record

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// DefaultMaxRecord is the default of Job.MaxRecord, in bytes.
const DefaultMaxRecord = 1 << 20

// NoQuote as Job.Quote says that the cells of a table are never quoted.
const NoQuote rune = -1

// A Job says how records are read. The zero Job detects the format, and reads the requests
// of access logs and the URLs of other records with the profile equiv.
type Job struct {
	// Format is the name of a built-in format (see [Formats]), a prefix and a built-in
	// name (syslog+combined), the name of a format in Formats, or the text of an nginx
	// log_format or Apache LogFormat. It is a string because programs and users define
	// formats. Empty: it is detected from the first 64 KiB.
	Format string
	// Formats are formats in addition to the built-in ones.
	Formats []Format
	// Name is the field file of the records.
	Name string
	// Target selects the URLs of a request.
	Target Target
	// URLField and BaseField name the fields with the URL and its base: a field path in JSON,
	// a column name or a number from 1 in tables. Tables and JSON lines without known names
	// require URLField.
	URLField, BaseField string
	// Base is an absolute URL: the origin of targets whose host the record does not state,
	// and the base of relative URLs.
	Base string
	// Dialect is how a log or a table escapes bytes.
	Dialect Dialect
	// Delimiter and Quote are the ASCII characters between and around the cells of a table.
	// Escape is '\\', or equal to Quote if quotes are doubled. 0 selects the usual one.
	// NoHeader: the first line of the table is a row.
	Delimiter, Quote, Escape rune
	NoHeader                 bool
	// Normalizer normalizes the URLs. Nil: a Normalizer of the profile equiv.
	Normalizer *codec.Normalizer
	// Level is the level of FieldKey.
	Level codec.Level
	// MaxRecord is the maximum length of a record in bytes, which bounds the memory of a
	// reader. A longer record has the Reason TooLong. 0: DefaultMaxRecord.
	MaxRecord int
	// Location is the time zone, and Year the year, of times that lack them. Nil and 0:
	// such times are absent.
	Location *time.Location
	Year     int
	// Fields are the fields that AppendJSON writes. Nil: the fields from
	// FieldURL to FieldError.
	Fields []Field
}

func init() {
	record.JobConfig = func(job any) (record.Config, error) {
		j := job.(*Job)
		c, err := j.engine()
		c.Fields = j.fields()
		return c, explain(err)
	}
}

// fields returns the names of j.Fields.
func (j *Job) fields() []string {
	var names []string
	for _, f := range j.Fields {
		names = append(names, f.String())
	}
	return names
}

// engine returns the settings of the engine, without a format if it is to be detected.
func (j *Job) engine() (c record.Config, err error) {
	var errs []error
	c = record.Config{
		Format: j.Format, Dialect: j.Dialect.String(), Delimiter: character(j.Delimiter), Quote: character(j.Quote), Escape: character(j.Escape), NoHeader: j.NoHeader,
		Target: record.Target(j.Target), URLField: j.URLField, BaseField: j.BaseField, Base: j.Base,
		Normalizer: j.Normalizer, Level: j.Level, MaxRecord: cmp.Or(j.MaxRecord, DefaultMaxRecord), Year: j.Year,
	}
	if c.Normalizer == nil {
		c.Normalizer = codec.MustNamed("equiv")
	}
	c.Formats, err = adapt(j.Formats)
	errs = append(errs, err)
	if loc := j.Location; loc != nil {
		c.Zone = func(year, month, day, hour, minute int) int {
			_, east := time.Date(year, time.Month(month), day, hour, minute, 0, 0, loc).Zone()
			return east / 60
		}
	}
	return c, errors.Join(errs...)
}

// character returns r as the engine's settings have it.
func character(r rune) string {
	switch r {
	case 0:
		return ""
	case NoQuote:
		return "none"
	}
	return string(r)
}

// explain returns err with the names of the settings that it is about.
func explain(err error) error {
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for i, err := range list {
		var wrong *record.ConfigError
		if inner, ok := err.(interface{ Unwrap() []error }); ok && len(inner.Unwrap()) > 0 {
			list[i] = explain(err)
		} else if errors.As(err, &wrong) {
			list[i] = fmt.Errorf("record.Job.%s: %w", wrong.Field, err)
		}
	}
	return errors.Join(list...)
}
