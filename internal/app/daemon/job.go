package daemon

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/recordconf"
	"github.com/urlfold/urlfold/internal/client/registry"
	"github.com/urlfold/urlfold/internal/ground/errlist"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/unique"
)

// makeJobs sets the record jobs of the sources. Sources with the same format
// share a job. facts reports whether a sink needs facts about records in
// addition to their bytes. The error joins a *config.Error for each error in
// the values that are sound; then p.jobs stays nil.
func (p *plan) makeJobs(facts bool, sound func(path string) bool) error {
	r := jobMaker{plan: p, facts: facts, sound: sound}
	for _, c := range each(p.file.Sources) {
		if c.Config != nil && r.index(&c.Format) < 0 {
			r.add(c)
		}
	}
	if len(r.sources) == 0 { // add a substitute for the sources, to find the errors in other sections
		r.add(&config.Component{Format: config.Format{From: "lines"}})
	}
	if len(r.jobs) == len(r.sources) {
		r.errs = append(r.errs, recordErrors(p.file, r.sources[0], recordconf.CheckConditions(r.jobs, r.formats(), &r.config, nil, "map: {%s: NAME} of a source"), sound))
	}
	if err := distinct(r.errs); err != nil {
		return err
	}
	for _, c := range each(p.file.Sources) {
		if i := r.index(&c.Format); i >= 0 && len(r.jobs) == len(r.sources) {
			p.jobs = append(p.jobs, r.jobs[i])
		}
	}
	return nil
}

// A jobMaker makes the record jobs of a plan.
type jobMaker struct {
	plan    *plan
	facts   bool
	sound   func(path string) bool
	sources []*config.Component // with different formats
	jobs    []*record.Job       // jobs of these sources, unless there are errors
	config  record.Config       // configuration of the first job
	errs    []error
}

// index returns the index of a job with the format f, or -1.
func (r *jobMaker) index(f *config.Format) int {
	return slices.IndexFunc(r.sources, func(c *config.Component) bool { return reflect.DeepEqual(&c.Format, f) })
}

// formats returns the names of the formats.
func (r *jobMaker) formats() (list []string) {
	for _, c := range r.sources {
		if !slices.Contains(list, c.Format.From) {
			list = append(list, c.Format.From)
		}
	}
	return list
}

// add makes the job of a source.
func (r *jobMaker) add(c *config.Component) {
	f := r.plan.file
	rc, wordErr := r.plan.catalog.recordConfig(f, c, r.plan.registry, r.sound)
	if !r.sound("codec.target") {
		rc.Target = record.TargetAll // valid for every format
	}
	rc.Facts = r.facts
	if d := f.Dedupe; d != nil && r.sound("dedupe") {
		rc.Identity = record.Identity{By: d.By, First: d.URL == "first", Time: d.Window != nil && !d.Window.ByMessage()}
		if d.Marks() {
			rc.Note = unique.MarkNote
		}
	}
	job, err := record.New(rc)
	if err == nil {
		r.jobs = append(r.jobs, job)
	}
	if len(r.sources) == 0 {
		r.config = rc
	}
	r.sources = append(r.sources, c)
	r.errs = append(r.errs, wordErr, recordErrors(f, c, err, r.sound))
}

// distinct joins errors, each once: several sources can have the same error.
func distinct(errs []error) error {
	seen := map[string]bool{}
	return errors.Join(slices.DeleteFunc(errlist.Flatten(errors.Join(errs...)), func(err error) bool {
		again := seen[err.Error()]
		seen[err.Error()] = true
		return again
	})...)
}

// recordConfig returns the configuration of the record job of a source. The error joins
// a *config.Error for each error in the values that are sound.
func (cat *Catalog) recordConfig(f *config.File, source *config.Component, schemas *registry.Client, sound func(path string) bool) (record.Config, error) {
	c := &f.Codec
	var key []byte
	if text := c.HMACKey.Reveal(); text != "" && sound("codec.hash") {
		key = []byte(text)
	}
	p, policy := c.Resolve()
	n, err := recordconf.NewNormalizer(c, p, policy, key)
	if n == nil {
		n = recordconf.Probe()
	}
	rc := record.Config{Formats: cat.formats, Normalizer: n}
	rc.OnRejected, _ = record.ParseDisposition(f.OnError.Rejected) // the tags of the fields permit only valid values
	rc.OnOversize, _ = record.ParseDisposition(f.OnError.Oversize)
	rc.OnUnparsed, _ = record.ParseDisposition(f.OnError.Unparsed)
	err = errors.Join(err, recordconf.Fill(&rc, &source.Format, c, f.Where, branches(f)))
	if schemas != nil && (source.Format.From == avro || !readsAvro(f)) {
		rc.StopNoSchema = f.OnError.UnknownSchema == "stop"
		rc.Schemas = func(id uint32) ([]string, error) {
			texts, err := schemas.Schema(id)
			if errors.Is(err, registry.ErrUnknown) {
				err = fmt.Errorf("%w (%w)", record.ErrNoSchema, err)
			}
			return texts, err
		}
	}
	return rc, recordErrors(f, source, err, sound)
}

// avro is the format whose schemas are in a registry.
const avro = "avro"

// readsAvro reports whether a source has this format.
func readsAvro(f *config.File) bool {
	return slices.ContainsFunc(f.Sources, func(c config.Component) bool { return c.Format.From == avro })
}

// newRegistry returns the client of the schema registry, or nil without a
// registry or with invalid settings.
func newRegistry(f *config.File, sound func(path string) bool) *registry.Client {
	if f.Codec.Registry == nil || !sound("codec.registry") {
		return nil
	}
	return registry.New(*f.Codec.Registry)
}

// dependsOn maps a field of record.Config to the key of another value of the
// source on which errors about the field depend. For example, the URL field
// is not missing if there are parts of a URL.
var dependsOn = map[string]string{"URLField": ".url", "Quote": ".delimiter"}

// recordErrors adds positions to errors of package record about a source. It
// drops errors about values that are not sound, or that depend on such a value.
func recordErrors(f *config.File, source *config.Component, err error, sound func(path string) bool) error {
	var errs []error
	for _, err := range errlist.Flatten(err) {
		e := new(record.ConfigError)
		errors.As(err, &e)
		switch path := pathOf(f, source, e.Field); {
		case !sound(path), dependsOn[e.Field] != "" && !sound(source.Path()+dependsOn[e.Field]):
		case e.Field == "Base":
			errs = append(errs, f.ShowAt(path, fmt.Errorf("base: %w", err))) // the text contains an example URL, but nothing of the value
		default:
			errs = append(errs, f.ErrorAt(path, err))
		}
	}
	return errors.Join(errs...)
}

// pathOf returns the path in a configuration of a field of record.Config for a source.
func pathOf(f *config.File, source *config.Component, field string) string {
	r := &f.Codec.Render
	field, index, _ := strings.Cut(strings.TrimSuffix(field, "]"), "[")
	switch field {
	case "Fields":
		return fmt.Sprintf("codec.to.%s.fields[%s]", r.Form, index)
	case "Repairs":
		if index != "" {
			return fmt.Sprintf("codec.repair[%s]", index)
		}
	case "Route":
		if index != "" {
			return fmt.Sprintf("route[%s].where", index)
		}
	case "Extend":
		if k, err := strconv.Atoi(index); err == nil {
			return "codec.to.extend." + r.Names()[k]
		}
	}
	if key, ok := formatKeys()[field]; ok {
		return source.Path() + key
	}
	if path, ok := recordPaths()[field]; ok {
		return path
	}
	return "codec"
}

// formatKeys maps the fields of record.Config that a source sets to their keys.
var formatKeys = sync.OnceValue(func() map[string]string {
	return recordconf.Names(reflect.TypeFor[config.Format](), "yaml", ".")
})

// recordPaths maps the fields of record.Config that have their own key to its
// path.
var recordPaths = sync.OnceValue(func() map[string]string {
	paths := recordconf.Names(reflect.TypeFor[config.Codec](), "yaml", "codec.")
	maps.Copy(paths, map[string]string{
		"Where": "where", "Route": "route", "Extend": "codec.to.extend", "Identity": "dedupe.by", "Identity.Time": "dedupe.by", "Note": "dedupe.keep",
		"OnOversize": "on_error.oversize", "OnUnparsed": "on_error.unparsed",
	})
	return paths
})
