// Package recordconf makes the configuration of a record job from what users write.
// Flags and configuration files use the same words for the same settings, so they
// share one parser, and one list of the words of each setting.
package recordconf

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/suggest"
)

// Settings are the settings of a record job as a user writes them. An empty text
// means the default.
type Settings struct {
	Format, Dialect     string
	Formats             []record.Format // that Format can name besides the built-in ones
	Target              string
	URLField, BaseField string
	Base                string
	Key, KeyFormat      string
	Render              string
	Fields              []string
	Extend              []record.Extension
	Repairs, Secrets    []string
	OnUnparsed          string
	OnOversize          string

	Redact, Divert bool
	MaxRecord      int // bytes; 0: no limit
	RejectFlags    codec.Flags
	RejectNotHTTP  bool
	Params         *params.Styles
	Normalizer     *codec.Normalizer // nil if there are mistakes in its settings
}

// Config returns the configuration of the job. The error joins a
// [record.ConfigError] for each word that does not exist; what else is wrong
// [record.New] finds. Level is that of the normalizer's profile, unless Key says
// otherwise.
func (s *Settings) Config() (record.Config, error) {
	c := record.Config{
		Format: s.Format, Dialect: s.Dialect, Formats: s.Formats, URLField: s.URLField, BaseField: s.BaseField, Base: s.Base,
		Fields: s.Fields, Extend: s.Extend, Secrets: s.Secrets, Redact: s.Redact, Divert: s.Divert, MaxRecord: s.MaxRecord,
		RejectFlags: s.RejectFlags, RejectNotHTTP: s.RejectNotHTTP, Params: s.Params, Normalizer: s.Normalizer,
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

// set sets *to to what parse makes of word, unless word is empty. The error is that
// of parse, as a mistake in the field.
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

// named returns a function that parses the names of values, which begin at 0. Its
// error suggests a near name, as those of package record do.
func named[T ~uint8](what string, names []string) func(string) (T, error) {
	return func(word string) (T, error) {
		i, err := suggest.Index(what, names, word)
		return T(i), err
	}
}

// The words of each setting, in the order of listings. The results are the caller's.

// Levels returns the words of Key.
func Levels() []string { return names(codec.K3) }

// KeyFormats returns the words of KeyFormat: the forms that are text.
func KeyFormats() []string { return names(codec.KeyBase32) }

// Standards returns the names of the standards.
func Standards() []string { return names(max(codec.RFC, codec.WHATWG)) }

// Hashes returns the names of the hashes of keys.
func Hashes() []string { return names(codec.HMACSHA256) }

// Targets returns the words of Target.
func Targets() []string { return names(record.TargetAll) }

// Renders returns the words of Render.
func Renders() []string { return names(record.RenderExtend) }

// names returns the names of the values up to last.
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
