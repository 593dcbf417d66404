package daemon

import (
	"reflect"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/ground/logging"
)

// secretsOf returns the secrets in a configuration, for masking in logs.
func secretsOf(f *config.File) []string {
	var found []string
	collect(reflect.ValueOf(f), &found)
	return found
}

// A maskedError is an error with the secrets in its text masked.
type maskedError struct {
	err  error
	text string
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }

// masked returns err with the secrets in its text masked. Errors of libraries
// and of the system may repeat their arguments.
func masked(m *logging.Masker, err error) error {
	if err == nil {
		return nil
	}
	return &maskedError{err, m.Mask(err.Error())}
}

var secretType = reflect.TypeFor[field.Secret]()

// collect appends the secrets in v to found. A configuration is free of cycles.
func collect(v reflect.Value, found *[]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			collect(v.Elem(), found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				collect(v.Field(i), found)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			collect(v.Index(i), found)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			collect(it.Value(), found)
		}
	case reflect.String:
		if v.Type() == secretType && v.String() != "" {
			*found = append(*found, v.String())
		}
	}
}
