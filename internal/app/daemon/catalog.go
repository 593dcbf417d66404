package daemon

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/sinks"
	sinkkinds "github.com/urlfold/urlfold/sinks/builtin"
	"github.com/urlfold/urlfold/sources"
	sourcekinds "github.com/urlfold/urlfold/sources/builtin"
)

// A Catalog holds the component types that a configuration may use, and the
// record formats in addition to the built-in ones.
type Catalog struct {
	// Version is the version of the program. Empty means the module's.
	Version string

	sources map[string]kinds.Source
	sinks   map[string]kinds.Sink
	formats []record.Format
}

// NewCatalog returns a catalog of the given types and formats and the built-in
// ones. It returns an error if a name is empty or occurs twice.
func NewCatalog(src []sources.Type, snk []sinks.Type, formats ...record.Format) (*Catalog, error) {
	var errs []error
	add := func(what, name string, taken bool) {
		switch {
		case name == "":
			errs = append(errs, fmt.Errorf("%s without a name", what))
		case taken:
			errs = append(errs, fmt.Errorf("duplicate %s name %q", what, name))
		}
	}
	c := &Catalog{sources: map[string]kinds.Source{}, sinks: map[string]kinds.Sink{}, formats: formats}
	sources, sinks := sourcekinds.Types(), sinkkinds.Types()
	for _, t := range src {
		sources = append(sources, kinds.Types.Source(t))
	}
	for _, t := range snk {
		sinks = append(sinks, kinds.Types.Sink(t))
	}
	for _, t := range sources {
		_, taken := c.sources[t.Name]
		add("source", t.Name, taken)
		c.sources[t.Name] = t
	}
	for _, t := range sinks {
		_, taken := c.sinks[t.Name]
		add("sink", t.Name, taken)
		c.sinks[t.Name] = t
	}
	names := record.Formats()
	for _, f := range formats {
		add("format", f.Name(), slices.Contains(names, f.Name()))
		names = append(names, f.Name())
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// Types returns the catalog in the form that package config uses.
func (cat *Catalog) Types() config.Types {
	t := config.Types{
		Sources: map[string]func() any{},
		Sinks:   map[string]func() any{},
		Check:   func(f *config.File, sound func(string) bool) error { return cat.prepare(f).check(sound) },
	}
	for name, s := range cat.sources {
		t.Sources[name] = s.Default
	}
	for name, s := range cat.sinks {
		t.Sinks[name] = s.Default
	}
	return t
}

// Formats returns the record formats in addition to the built-in ones.
func (cat *Catalog) Formats() []record.Format { return cat.formats }

// Load reads a configuration file and validates it as far as possible without
// accessing other resources. The error joins a *config.Error for each error in
// the file.
func (cat *Catalog) Load(path string) (*config.File, error) {
	return config.Load(path, cat.Types(), config.OS())
}
