package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Types are the components that there are, by the names of their types. Each
// function returns a pointer to a new struct that holds the component's defaults;
// package config/field says what it may look like.
type Types struct {
	Sources     map[string]func() any
	Sinks       map[string]func() any
	DeadLetters map[string]func() any
	// Check looks for what this package cannot see, and joins a mistake made by
	// File.ErrorAt for each. sound reports whether the part of the file that a path
	// leads into is written, and what is at the path has no mistake: what has one is not
	// to be looked at. Without Check, nothing is looked for.
	Check func(f *File, sound func(path string) bool) error
}

// of returns the types that can stand at a path.
func (t Types) of(path string) map[string]func() any {
	switch section, _, _ := strings.Cut(path, "["); section {
	case "sources":
		return t.Sources
	case "sinks":
		return t.Sinks
	}
	return t.DeadLetters
}

// A Component is a source or a sink: a mapping with one key, its type, below
// which is what the struct of that type says, and optionally its name.
type Component struct {
	Type   string // "kafka"
	Name   string // for metrics and logs; default: "kafka-1", of a sink "kafka-sink-1", and "dead_letter"
	Config any    // what Types made, filled in

	path string
}

// Path returns the path of the component's mapping, for File.ErrorAt:
// "sources[0].kafka".
func (c *Component) Path() string { return c.path }

var componentType = reflect.TypeFor[Component]()

// component reads one component.
func (d *decoder) component(c *Component, n ast.Node, at string) {
	types := d.types.of(at)
	names := sortedKeys(types)
	count, before := 0, len(d.errs)
	d.pairs(n, func(key, value ast.Node, name string) {
		count++
		path := in(at, name)
		newConfig, ok := types[name]
		switch {
		case count > 1:
			d.failAt(key, "is a second type; what belongs to a component is indented below its type")
		case !ok:
			d.failAt(key, noSuch("type", names, name))
		default:
			d.note(path, key, value)
			c.Type, c.Config, c.path = name, newConfig(), path
			d.componentConfig(c, value)
		}
	})
	if isMapping(n) && count == 0 && len(d.values(n)) == 0 {
		d.failAt(n, "the type is missing; there are "+strings.Join(names, ", "))
	}
	if len(d.errs) > before {
		d.spoil(cmp.Or(c.path, at))
	}
}

func (d *decoder) componentConfig(c *Component, n ast.Node) {
	v := reflect.ValueOf(c.Config)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		d.failAt(n, fmt.Sprintf("this program cannot read what belongs here: %T", c.Config))
		return
	}
	own := keyReader{"name", func(n ast.Node) {
		text, ok := d.text(n)
		if ok && !isName(text) {
			d.failAt(n, nameRule)
		}
		c.Name = text
	}}
	d.structure(v.Elem(), n, c.path, own)
}

// nameComponents gives the components of a section the names that they do not
// have, and tells if two have the same: their type, what they are, and a number.
func (d *decoder) nameComponents(list []Component, what string) {
	taken := map[string]bool{}
	for i := range list {
		c := &list[i]
		if c.Name != "" && taken[c.Name] {
			d.failPath(in(c.path, "name"), errors.New("duplicate component name"))
		}
		taken[c.Name] = true
	}
	for i := range list {
		c := &list[i]
		for k := 1; c.Name == "" && c.Type != ""; k++ {
			if name := c.Type + what + strconv.Itoa(k); !taken[name] {
				c.Name, taken[name] = name, true
			}
		}
	}
}
