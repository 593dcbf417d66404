// Package recordconf makes the configuration of a record job from the settings that
// users write. Flags and configuration files fill the same struct, so they share
// this parser and its lists of accepted values.
package recordconf

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/charset"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record"
)

// A Branch is a branch of a route.
type Branch struct {
	When string // an expression of package where; empty: take all records
	To   uint64 // see [record.Branch]
}

// Fill sets the fields of rc that f, c, filter (a condition of package where)
// and route configure. The caller has set all other fields; Fields, Extend and
// Params stay unless c sets them. The error joins a [record.ConfigError] for
// each unknown value; [record.New] finds all other errors. The level of keys
// comes from the normalizer's profile unless c sets it.
func Fill(rc *record.Config, f *config.Format, c *config.Codec, filter string, route []Branch) error {
	rc.Format, rc.Dialect, rc.Delimiter, rc.Quote, rc.Escape, rc.NoHeader = f.From, f.Dialect, f.Delimiter, f.Quote, f.Escape, f.InputHeader == "no"
	rc.URLField, rc.URL, rc.Map, rc.BaseField, rc.Base, rc.MaxQuoted, rc.Year = f.URLField, record.URLParts(f.URL), f.Map, f.BaseField, f.Base, int(f.MaxQuoted), f.Year
	rc.Scheme, rc.Secrets, rc.Redact, rc.MaxExpansion, rc.MaxRecord = c.Scheme, c.Secrets, c.Redact, int(c.MaxExpansion), int(c.MaxRecord)
	rc.RejectFlags, rc.RejectNotHTTP, rc.Charset = c.Rejected().Flags, c.Rejected().NotHTTP, charset.ForDocument
	rc.Params = cmp.Or(c.Styles(), rc.Params)
	if rc.Normalizer != nil {
		rc.Level = rc.Normalizer.Profile().Key
	}
	errs := []error{
		set(&rc.Level, "Level", Level, c.Key),
		set(&rc.KeyForm, "KeyForm", named[codec.KeyForm]("key format", KeyFormats()), c.KeyFormat),
		set(&rc.Target, "Target", record.ParseTarget, c.Target),
		set(&rc.Render, "Render", record.ParseRender, c.Render.Form),
		setTimes(rc, f, filter, route),
	}
	for i, name := range c.Repairs {
		var r record.Repair
		errs = append(errs, set(&r, fmt.Sprintf("Repairs[%d]", i), record.ParseRepair, strings.TrimSpace(name)))
		rc.Repairs |= r
	}
	switch r := &c.Render; {
	case r.JSONL != nil:
		rc.Fields = r.JSONL.Fields
	case r.TSV != nil:
		rc.Fields = r.TSV.Fields
	case r.CSV != nil:
		rc.Fields = r.CSV.Fields
	}
	for _, name := range c.Render.Names() {
		rc.Extend = append(rc.Extend, record.Extension{Name: name, Field: c.Render.Extend[name]})
	}
	if rc.Render == record.RenderRewrite && len(rc.Extend) > 0 {
		rc.Render = record.RenderExtend
	}
	return errors.Join(errs...)
}

// Names maps fields of record.Config to the names of the fields of the struct t
// that set them. The names come from the struct tag called tag and get the
// prefix.
func Names(t reflect.Type, tag, prefix string) map[string]string {
	names := map[string]string{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get(tag), ","); name != "" {
			names[cmp.Or(f.Tag.Get("job"), f.Name)] = prefix + name
		}
	}
	return names
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

// Level parses the name of a key level. Its error suggests a similar name.
func Level(word string) (codec.Level, error) {
	if lv, err := codec.ParseLevel(word); err == nil {
		return lv, nil
	}
	_, err := suggest.Index("key level", Levels(), word)
	return 0, err
}

// standard parses the name of a standard. Its error suggests a similar name.
func standard(word string) (codec.Standard, error) {
	i, err := suggest.Index("standard", Standards(), word)
	return standards[i], err
}

// standards are in the order of documentation.
var standards = [...]codec.Standard{codec.RFC3986, codec.WHATWG}

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
func Levels() []string { return names(codec.LevelShape)[codec.LevelSyntax:] }

// KeyFormats returns the accepted values of KeyFormat: the forms that are text.
func KeyFormats() []string { return names(codec.KeyBase32) }

// Standards returns the accepted values of Standard.
func Standards() []string {
	var list []string
	for _, std := range standards {
		list = append(list, std.String())
	}
	return list
}

// Hashes returns the accepted values of Hash.
func Hashes() []string { return names(codec.HMACSHA256) }

// Renders returns the accepted values of Render.
func Renders() []string { return names(record.RenderArrow) }

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
