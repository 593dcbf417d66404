package daemon

import (
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/sinks"
	"github.com/urlfold/urlfold/sources"
)

// A Catalog holds the types of components that a configuration may name.
type Catalog struct {
	sources map[string]sources.Type
	sinks   map[string]sinks.Type
}

// NewCatalog returns a catalog of these types. The error names every type that
// has no name, or the name of another one.
func NewCatalog(src []sources.Type, snk []sinks.Type) (*Catalog, error) {
	var errs []error
	add := func(what, name string, taken bool) {
		switch {
		case name == "":
			errs = append(errs, fmt.Errorf("a type of %s has no name", what))
		case taken:
			errs = append(errs, fmt.Errorf("two types of %s are called %q", what, name))
		}
	}
	c := &Catalog{map[string]sources.Type{}, map[string]sinks.Type{}}
	for _, t := range src {
		_, taken := c.sources[t.Name]
		add("source", t.Name, taken)
		c.sources[t.Name] = t
	}
	for _, t := range snk {
		_, taken := c.sinks[t.Name]
		add("sink", t.Name, taken)
		c.sinks[t.Name] = t
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// Types returns the catalog as package config needs it.
func (c *Catalog) Types() config.Types {
	t := config.Types{
		Sources:     map[string]func() any{},
		Sinks:       map[string]func() any{},
		DeadLetters: map[string]func() any{},
		Check:       func(f *config.File, sound func(string) bool) error { return c.prepare(f).check(sound) },
	}
	for name, s := range c.sources {
		t.Sources[name] = s.Default
	}
	for name, s := range c.sinks {
		t.Sinks[name] = s.Default
		t.DeadLetters[name] = s.Default
	}
	return t
}

// Load reads a configuration from a file, and checks all of it that can be checked
// without touching anything else. The error joins a *config.Error for each mistake.
func (c *Catalog) Load(path string) (*config.File, error) {
	return config.Load(path, c.Types(), config.OS())
}
