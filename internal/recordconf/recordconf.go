// Package recordconf converts settings in the form in which users write them to
// the configuration of a record job. Flags and configuration files use the same
// values for the same settings, so they share this parser and its lists of
// accepted values.
package recordconf

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/charset"
	"github.com/urlfold/urlfold/internal/suggest"
)

// Settings holds the settings of a record job as users write them. An empty
// string means the default.
type Settings struct {
	Format, Dialect     string
	Formats             []record.Format // formats in addition to the built-in ones
	Target              string
	URLField, BaseField string
	URL                 record.URLParts
	Delimiter, Quote    string // of tables
	Escape              string // of tables
	NoHeader            bool   // tables have no header
	Base                string
	Key, KeyFormat      string
	Render              string
	Fields              []string
	Extend              []record.Extension
	Repairs, Secrets    []string
	OnUnparsed          string
	OnOversize          string
	Timezone            string // of times without a zone: an IANA name, Local or an offset; empty: none
	Year                int    // of times without a year; 0: none
	Where               string // an expression of package where; empty: keep all records
	Route               []Branch

	Redact        []string
	Divert        bool
	MaxRecord     int // bytes; 0: no limit
	MaxQuoted     int // bytes; 0: the default
	MaxExpansion  int // bytes; 0: the default
	RejectFlags   codec.Flags
	RejectNotHTTP bool
	Params        *params.Styles
	Normalizer    *codec.Normalizer // nil if its settings are invalid
}

// A Branch is a branch of a route.
type Branch struct {
	When string // an expression of package where; empty: take all records
	To   uint64 // see [record.Branch]
}

// Config returns the configuration of the job. The error joins a
// [record.ConfigError] for each unknown value; [record.New] finds all other
// errors. The level of keys is that of the normalizer's profile unless Key sets
// it.
func (s *Settings) Config() (record.Config, error) {
	c := record.Config{
		Delimiter: s.Delimiter, Quote: s.Quote, Escape: s.Escape, NoHeader: s.NoHeader,
		Format: s.Format, Dialect: s.Dialect, Formats: s.Formats, URLField: s.URLField, URL: s.URL, BaseField: s.BaseField, Base: s.Base,
		Fields: s.Fields, Extend: s.Extend, Secrets: s.Secrets, Redact: s.Redact, Divert: s.Divert, MaxRecord: s.MaxRecord, MaxQuoted: s.MaxQuoted, MaxExpansion: s.MaxExpansion,
		RejectFlags: s.RejectFlags, RejectNotHTTP: s.RejectNotHTTP, Params: s.Params, Charset: charset.ForDocument, Normalizer: s.Normalizer, Year: s.Year,
	}
	if s.Normalizer != nil {
		c.Level = s.Normalizer.Profile().Key
	}
	errs := []error{
		set(&c.Level, "Level", named[codec.Level]("key level", Levels()), s.Key),
		set(&c.KeyForm, "KeyForm", named[codec.KeyForm]("key format", KeyFormats()), s.KeyFormat),
		set(&c.Target, "Target", record.ParseTarget, s.Target),
		set(&c.Render, "Render", record.ParseRender, s.Render),
		set(&c.OnUnparsed, "OnUnparsed", record.ParseDisposition, s.OnUnparsed),
		set(&c.OnOversize, "OnOversize", record.ParseDisposition, s.OnOversize),
		s.setTimes(&c),
	}
	for i, name := range s.Repairs {
		var r record.Repair
		errs = append(errs, set(&r, fmt.Sprintf("Repairs[%d]", i), record.ParseRepair, strings.TrimSpace(name)))
		c.Repairs |= r
	}
	if c.Render == record.RenderRewrite && len(c.Extend) > 0 {
		c.Render = record.RenderExtend
	}
	return c, errors.Join(errs...)
}

// set sets *to to the result of parsing word, unless word is empty. It returns
// the error of parse as an error in the field.
func set[T any](to *T, field string, parse func(string) (T, error), word string) error {
	if word == "" {
		return nil
	}
	v, err := parse(word)
	if err != nil {
		return mistake(field, err)
	}
	*to = v
	return nil
}

// named returns a function that parses the names of the values 0, 1 and so on.
// Its error suggests a similar name.
func named[T ~uint8](what string, names []string) func(string) (T, error) {
	return func(word string) (T, error) {
		i, err := suggest.Index(what, names, word)
		return T(i), err
	}
}

// The following functions return the accepted values of a setting, in the order
// of documentation, in a new slice.

// Levels returns the accepted values of Key.
func Levels() []string { return names(codec.KSurface) }

// KeyFormats returns the accepted values of KeyFormat: the forms that are text.
func KeyFormats() []string { return names(codec.KeyBase32) }

// Standards returns the accepted values of Normalizer.Standard.
func Standards() []string { return names(max(codec.RFC, codec.WHATWG)) }

// Hashes returns the accepted values of Normalizer.Hash.
func Hashes() []string { return names(codec.HMACSHA256) }

// Targets returns the accepted values of Target.
func Targets() []string { return names(record.TargetAll) }

// Renders returns the accepted values of Render.
func Renders() []string { return names(record.RenderCSV) }

// names returns the names of the values from 0 to last.
func names[T interface {
	~uint8
	fmt.Stringer
}](last T) []string {
	var list []string
	for v := range last + 1 {
		list = append(list, v.String())
	}
	return list
}
