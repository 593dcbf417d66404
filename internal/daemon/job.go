package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/errlist"
)

// toDeadLetter is the word of a configuration for what goes to the dead letter.
const toDeadLetter = "dead_letter"

// newJob returns how records are handled. facts says that a sink needs to know more
// of them than their bytes. The error joins a *config.Error for each mistake in what
// is sound.
func (c *Catalog) newJob(f *config.File, facts bool, sound func(path string) bool) (*record.Job, error) {
	rc, err := c.recordConfig(f)
	if !sound("codec") {
		err = nil // the mistakes in single keys were told
	}
	if err != nil {
		return nil, err
	}
	if !sound("codec.target") {
		rc.Target = record.TargetAll // which any format with a URL has
	}
	rc.Facts = facts
	job, err := record.New(rc)
	if err != nil {
		return nil, recordErrors(f, err, sound)
	}
	return job, nil
}

// recordConfig returns what the configuration says of records, in the words of
// package record. The error joins a *config.Error for each mistake.
func (cat *Catalog) recordConfig(f *config.File) (record.Config, error) {
	c := &f.Codec
	profile, _, opts := c.Resolve()
	var errs []error
	check := func(path string, err error) {
		if err != nil {
			errs = append(errs, f.ErrorAt(path, err))
		}
	}
	n, err := codec.New(profile, opts...)
	check("codec.profile", err)
	rejected := c.Rejected()
	rc := record.Config{
		Format: c.Format, Formats: cat.formats, Dialect: c.Dialect, URLField: c.URLField, BaseField: c.BaseField, Base: c.Base,
		Level: profile.Key, Divert: f.Pipeline.OnReject == toDeadLetter, Redact: c.Redact,
		RejectFlags: rejected.Flags, RejectNotHTTP: rejected.NotHTTP,
		Secrets: c.Secrets, Params: c.Styles(), Normalizer: n, MaxRecord: int(f.Pipeline.MaxRecordBytes),
	}
	if lv, err := codec.ParseLevel(c.Key); err == nil {
		rc.Level = lv
	}
	if form, err := codec.ParseKeyForm(c.KeyFormat); err == nil {
		rc.KeyForm = form
	}
	rc.Target, err = record.ParseTarget(cmp.Or(c.Target, "request"))
	check("codec.target", err)
	for i, name := range c.Repairs {
		r, err := record.ParseRepair(name)
		check(fmt.Sprintf("codec.repairs[%d]", i), err)
		rc.Repairs |= r
	}
	rc.OnUnparsed, err = record.ParseDisposition(cmp.Or(c.OnUnparsed, record.DispositionDefault.String()))
	check("codec.on_unparsed", err)
	rc.OnOversize, err = record.ParseDisposition(cmp.Or(f.Pipeline.OnOversize, record.DispositionDefault.String()))
	check("pipeline.on_oversize", err)
	check("codec.render", setRender(&rc, &c.Render))
	return rc, errors.Join(errs...)
}

// setRender sets what is written.
func setRender(rc *record.Config, r *config.Render) error {
	switch {
	case r.JSONL != nil:
		rc.Fields = r.JSONL.Fields
	case r.TSV != nil:
		rc.Fields = r.TSV.Fields
	}
	for _, name := range r.Names() {
		rc.Extend = append(rc.Extend, record.Extension{Name: name, Field: r.Extend[name]})
	}
	var err error
	rc.Render, err = record.ParseRender(cmp.Or(r.Form, "rewrite"))
	return err
}

// recordErrors gives the mistakes that package record has found in what is sound
// their places.
func recordErrors(f *config.File, err error, sound func(path string) bool) error {
	var errs []error
	for _, err := range errlist.Flatten(err) {
		e := new(record.ConfigError)
		errors.As(err, &e)
		switch path := pathOf(f, e.Field); {
		case !sound(path):
		case e.Field == "Base":
			errs = append(errs, f.ShowAt(path, err)) // it shows how one looks, and nothing of this one
		default:
			errs = append(errs, f.ErrorAt(path, err))
		}
	}
	return errors.Join(errs...)
}

// pathOf returns where in a configuration a field of record.Config is written.
func pathOf(f *config.File, field string) string {
	r := &f.Codec.Render
	field, index, _ := strings.Cut(strings.TrimSuffix(field, "]"), "[")
	switch field {
	case "Fields":
		return fmt.Sprintf("codec.render.%s.fields[%s]", r.Form, index)
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

// recordPaths says where the fields of record.Config are written that have a key of
// their own.
var recordPaths = map[string]string{
	"Format": "codec.format", "Base": "codec.base", "Dialect": "codec.dialect", "URLField": "codec.url_field", "BaseField": "codec.base_field",
	"Target": "codec.target", "KeyForm": "codec.key_format", "Repairs": "codec.repairs",
	"Render": "codec.render", "Extend": "codec.render.extend",
	"MaxRecord": "pipeline.max_record_bytes", "OnUnparsed": "codec.on_unparsed", "OnOversize": "pipeline.on_oversize",
}
