package daemon

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/client/registry"
	"github.com/urlfold/urlfold/internal/errlist"
	"github.com/urlfold/urlfold/internal/recordconf"
	"github.com/urlfold/urlfold/internal/unique"
)

// toDeadLetter is the disposition of records that go to the dead letter.
const toDeadLetter = "dead_letter"

// newJob returns the record job for f. facts reports whether a sink needs facts
// about records in addition to their bytes, and schemas is the schema registry
// or nil. The error joins a *config.Error for each error in the values that are
// sound.
func (cat *Catalog) newJob(f *config.File, facts bool, schemas *registry.Client, sound func(path string) bool) (*record.Job, error) {
	rc, wordErr := cat.recordConfig(f, schemas, sound)
	if !sound("codec.target") {
		rc.Target = record.TargetAll // valid for every format
	}
	rc.Facts = facts
	if d := f.Dedupe; d != nil && sound("dedupe") {
		rc.Identity = record.Identity{By: d.By, First: d.KeyOf == "first", Time: d.Window != nil && !d.Window.ByMessage()}
		if d.Marks() {
			rc.Note = unique.MarkNote
		}
	}
	job, err := record.New(rc)
	if err == nil {
		err = recordconf.CheckConditions(job, &rc)
	}
	if err := errors.Join(wordErr, recordErrors(f, err, sound)); err != nil {
		return nil, err
	}
	return job, nil
}

// recordConfig returns the configuration of the record job for f. The error
// joins a
// *config.Error for each error in the values that are sound.
func (cat *Catalog) recordConfig(f *config.File, schemas *registry.Client, sound func(path string) bool) (record.Config, error) {
	c := &f.Codec
	normalizer := recordconf.Normalizer{Standard: c.Standard, Hash: c.Hash, QueryEncoding: c.QueryEncoding}
	normalizer.Profile, normalizer.Policy = c.Resolve()
	if key := c.HMACKey.Reveal(); key != "" && sound("codec.hash") {
		normalizer.HMACKey = []byte(key)
	}
	n, err := normalizer.New()
	if n == nil {
		n = recordconf.Probe()
	}
	rejected := c.Rejected()
	settings := recordconf.Settings{
		Delimiter: c.Delimiter, Quote: c.Quote, Escape: c.Escape, NoHeader: c.NoHeader,
		Format: c.Format, Formats: cat.formats, Dialect: c.Dialect, Target: c.Target,
		URLField: c.URLField, URL: record.URLParts(c.URL), BaseField: c.BaseField, Base: c.Base,
		Key: c.Key, KeyFormat: c.KeyFormat, Render: c.Render.Form, Repairs: c.Repairs, Secrets: c.Secrets,
		OnUnparsed: c.OnUnparsed, OnOversize: f.Pipeline.OnOversize,
		Redact: c.Redact, Divert: f.Pipeline.OnReject == toDeadLetter, MaxRecord: int(f.Pipeline.MaxRecordBytes), MaxQuoted: int(c.MaxQuoted), MaxExpansion: int(c.MaxExpansion),
		RejectFlags: rejected.Flags, RejectNotHTTP: rejected.NotHTTP, Params: c.Styles(), Normalizer: n,
		Timezone: c.Timezone, Year: c.Year, Where: f.Filter, Route: branches(f),
	}
	switch r := &c.Render; {
	case r.JSONL != nil:
		settings.Fields = r.JSONL.Fields
	case r.TSV != nil:
		settings.Fields = r.TSV.Fields
	case r.CSV != nil:
		settings.Fields = r.CSV.Fields
	}
	for _, name := range c.Render.Names() {
		settings.Extend = append(settings.Extend, record.Extension{Name: name, Field: c.Render.Extend[name]})
	}
	rc, settingsErr := settings.Config()
	if schemas != nil {
		rc.Schemas, rc.StopNoSchema = schemaFunc(schemas), c.Registry.OnUnknown == "stop"
	}
	return rc, recordErrors(f, errors.Join(err, settingsErr), sound)
}

// newRegistry returns the client of the schema registry, or nil if there is
// none or its settings are invalid.
func newRegistry(f *config.File, sound func(path string) bool) *registry.Client {
	if f.Codec.Registry == nil || !sound("codec.registry") {
		return nil
	}
	return registry.New(*f.Codec.Registry)
}

// schemaFunc returns the schemas of c in the form that package record uses.
func schemaFunc(c *registry.Client) record.SchemaFunc {
	return func(id uint32) ([]string, error) {
		texts, err := c.Schema(id)
		if errors.Is(err, registry.ErrUnknown) {
			err = fmt.Errorf("%w (%w)", record.ErrNoSchema, err)
		}
		return texts, err
	}
}

// dependsOn maps a field of record.Config to the path of another value on which errors
// about it depend: the URL field is not missing if there are parts of a URL.
var dependsOn = map[string]string{"URLField": "codec.url", "Quote": "codec.delimiter"}

// recordErrors adds positions to errors of package record. It drops errors
// about values that are not sound, or that depend on one which is not.
func recordErrors(f *config.File, err error, sound func(path string) bool) error {
	var errs []error
	for _, err := range errlist.Flatten(err) {
		e := new(record.ConfigError)
		errors.As(err, &e)
		switch path := pathOf(f, e.Field); {
		case !sound(path), dependsOn[e.Field] != "" && !sound(dependsOn[e.Field]):
		case e.Field == "Base":
			errs = append(errs, f.ShowAt(path, fmt.Errorf("base: %w", err))) // the text contains an example URL, but nothing of the value
		default:
			errs = append(errs, f.ErrorAt(path, err))
		}
	}
	return errors.Join(errs...)
}

// pathOf returns the path in a configuration of a field of record.Config.
func pathOf(f *config.File, field string) string {
	r := &f.Codec.Render
	field, index, _ := strings.Cut(strings.TrimSuffix(field, "]"), "[")
	switch field {
	case "Fields":
		return fmt.Sprintf("codec.render.%s.fields[%s]", r.Form, index)
	case "Repairs":
		if index != "" {
			return fmt.Sprintf("codec.repairs[%s]", index)
		}
	case "Route":
		if index != "" {
			return fmt.Sprintf("route[%s].when", index)
		}
	case "Extend":
		if k, err := strconv.Atoi(index); err == nil {
			return "codec.render.extend." + r.Names()[k]
		}
	}
	if path, ok := recordPaths[field]; ok {
		return path
	}
	return "codec"
}

// recordPaths maps the fields of record.Config that have their own key to its
// path.
var recordPaths = map[string]string{
	"Format": "codec.format", "Base": "codec.base", "Dialect": "codec.dialect", "Delimiter": "codec.delimiter", "Quote": "codec.quote", "MaxQuoted": "codec.max_quoted", "MaxExpansion": "codec.max_expansion", "Escape": "codec.escape", "NoHeader": "codec.no_header", "URLField": "codec.url_field", "URL": "codec.url", "BaseField": "codec.base_field",
	"Profile": "codec.profile", "Standard": "codec.standard", "Hash": "codec.hash", "HMACKey": "codec.hmac_key", "QueryEncoding": "codec.query_encoding",
	"Target": "codec.target", "Level": "codec.key", "KeyForm": "codec.key_format", "Repairs": "codec.repairs", "Redact": "codec.redact",
	"Zone": "codec.timezone", "Year": "codec.year", "Where": "filter", "Route": "route", "Render": "codec.render", "Extend": "codec.render.extend",
	"Identity": "dedupe.by", "Note": "dedupe.keep", "Schemas": "codec.registry", "MaxRecord": "pipeline.max_record_bytes", "OnUnparsed": "codec.on_unparsed", "OnOversize": "pipeline.on_oversize",
}
