package daemon

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/config"
)

// The words of a configuration for what becomes of a record.
const toDeadLetter = "dead_letter"

// newJob returns how records are handled. facts says that a sink needs to know more
// of them than their bytes. The error joins a *config.Error for each mistake.
func newJob(f *config.File, facts bool) (*record.Job, error) {
	c := &f.Codec
	profile, _, opts := c.Resolve()
	var errs []error
	check := func(key string, err error) {
		if err != nil {
			errs = append(errs, f.ErrorAt("codec."+key, err))
		}
	}
	n, err := codec.New(profile, opts...)
	check("profile", err)
	rc := record.Config{
		Format: c.Format, Dialect: c.Dialect, URLField: c.URLField, BaseField: c.BaseField, Base: c.Base,
		Level: profile.Key, Divert: f.Pipeline.OnReject == toDeadLetter, Redact: c.Redact,
		Secrets: c.Secrets, Normalizer: n, MaxRecord: int(f.Pipeline.MaxRecordBytes), Facts: facts,
	}
	if lv, ok := codec.ParseLevel(c.Key); ok {
		rc.Level = lv
	}
	if form, ok := codec.ParseKeyForm(c.KeyFormat); ok {
		rc.KeyForm = form
	}
	rc.Target, err = record.ParseTarget(cmp.Or(c.Target, "request"))
	check("target", err)
	for i, name := range c.Repairs {
		r, err := record.ParseRepair(name)
		check(fmt.Sprintf("repairs[%d]", i), err)
		rc.Repairs |= r
	}
	check("render", setRender(&rc, &c.Render))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	job, err := record.New(rc)
	if err != nil {
		return nil, f.ErrorAt("codec", err)
	}
	return job, nil
}

// setRender sets what is written.
func setRender(rc *record.Config, r *config.Render) error {
	switch {
	case r.JSONL != nil:
		rc.Fields = r.JSONL.Fields
	case r.TSV != nil:
		rc.Fields = r.TSV.Fields
	}
	var err error
	rc.Render, err = record.ParseRender(cmp.Or(r.Form, "rewrite"))
	return err
}
