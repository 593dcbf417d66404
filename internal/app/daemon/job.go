package daemon

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
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

// toDeadLetter is the disposition of records that go to the dead letter.
const toDeadLetter = "dead-letter"

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
		rc.Identity = record.Identity{By: d.By, First: d.URL == "first", Time: d.Window != nil && !d.Window.ByMessage()}
		if d.Marks() {
			rc.Note = unique.MarkNote
		}
	}
	job, err := record.New(rc)
	if err == nil {
		err = recordconf.CheckConditions(job, &rc, nil, "codec.map: {%s: NAME}")
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
	var key []byte
	if text := c.HMACKey.Reveal(); text != "" && sound("codec.hash") {
		key = []byte(text)
	}
	p, policy := c.Resolve()
	n, err := recordconf.NewNormalizer(c, p, policy, key)
	if n == nil {
		n = recordconf.Probe()
	}
	rc := record.Config{Formats: cat.formats, Divert: f.OnError.Rejected == toDeadLetter, Normalizer: n}
	rc.OnOversize, _ = record.ParseDisposition(f.OnError.Oversize) // their tags have the values
	rc.OnUnparsed, _ = record.ParseDisposition(f.OnError.Unparsed)
	err = errors.Join(err, recordconf.Fill(&rc, c, f.Where, branches(f)))
	if schemas != nil {
		rc.StopNoSchema = f.OnError.UnknownSchema == "stop"
		rc.Schemas = func(id uint32) ([]string, error) {
			texts, err := schemas.Schema(id)
			if errors.Is(err, registry.ErrUnknown) {
				err = fmt.Errorf("%w (%w)", record.ErrNoSchema, err)
			}
			return texts, err
		}
	}
	return rc, recordErrors(f, err, sound)
}

// newRegistry returns the client of the schema registry, or nil if there is
// none or its settings are invalid.
func newRegistry(f *config.File, sound func(path string) bool) *registry.Client {
	if f.Codec.Registry == nil || !sound("codec.registry") {
		return nil
	}
	return registry.New(*f.Codec.Registry)
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
		return fmt.Sprintf("codec.to.%s.fields[%s]", r.Form, index)
	case "Repairs":
		if index != "" {
			return fmt.Sprintf("codec.repairs[%s]", index)
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
	if path, ok := recordPaths()[field]; ok {
		return path
	}
	return "codec"
}

// recordPaths maps the fields of record.Config that have their own key to its
// path.
var recordPaths = sync.OnceValue(func() map[string]string {
	paths := recordconf.Names(reflect.TypeFor[config.Codec](), "yaml", "codec.")
	maps.Copy(paths, map[string]string{
		"Where": "where", "Route": "route", "Extend": "codec.to.extend", "Identity": "dedupe.by", "Note": "dedupe.keep",
		"OnOversize": "on_error.oversize", "OnUnparsed": "on_error.unparsed",
	})
	return paths
})
